// The frame: which view an address is, the search box, what the index is doing, light and dark.

import { enter, follow, onState, state, useToken } from '/assets/api.js';
import { empty, failure, h, number, put, shown } from '/assets/dom.js';
import * as find from '/assets/find.js';
import * as symbol from '/assets/symbol.js';
import * as graph from '/assets/graph.js';
import * as pack from '/assets/pack.js';
import * as truth from '/assets/truth.js';
import * as savings from '/assets/savings.js';
import * as gateway from '/assets/gateway.js';

// A view: what its address begins with, and what draws it. Drawing gets the rest of the address, and a signal that ends it.
const VIEWS = [
  { path: '/find', name: 'Find', draw: find.draw },
  { path: '/symbol/', draw: symbol.drawSymbol },
  { path: '/file/', draw: symbol.drawFile },
  { path: '/graph', name: 'Graph', draw: graph.draw },
  { path: '/map', name: 'Map', draw: graph.drawMap },
  { path: '/pack', name: 'Pack', draw: pack.draw },
  { path: '/index', name: 'Index', draw: truth.draw },
  { path: '/savings', name: 'Savings', draw: savings.draw },
];

// The views of a page about a gateway.
const GATEWAY_VIEWS = [
  { path: '/gateway', name: 'Gateway', draw: gateway.drawGateway },
  { path: '/routing', name: 'Routing', draw: gateway.drawRouting },
  { path: '/catalog', name: 'Catalog', draw: gateway.drawCatalog },
  { path: '/catalog/', draw: gateway.drawTool },
];
const views = () => (gateway.isGateway() ? GATEWAY_VIEWS : VIEWS);

const root = document.getElementById('view');
const query = document.getElementById('query');
let current = null;

/** Goes to an address of this page. */
export function go(address, { replace = false } = {}) {
  const same = address === location.pathname + location.search + location.hash;
  history[replace || same ? 'replaceState' : 'pushState'](null, '', address);
  open();
}

function viewOf(path) {
  if (path === '/') return views()[0];
  return views().find((view) => (view.path.endsWith('/') ? path.startsWith(view.path) : path === view.path));
}

function open() {
  const view = viewOf(location.pathname);
  const rest = view?.path.endsWith('/') ? decoded(location.pathname.slice(view.path.length)) : '';
  // A view that can follow its own address does so, which keeps what was typed and where one was.
  if (current && current.view === view && current.follow?.(rest)) return mark(view);
  current?.end.abort();
  const end = new AbortController();
  current = { view, end };
  put(root);
  mark(view);
  if (!view) {
    document.title = 'Not found · Lacon';
    root.append(empty('There is nothing at this address', h('p', {}, h('a', { href: '/' }, 'Start from the beginning'))));
    return;
  }
  const place = { root, rest, signal: end.signal, title: (text) => { document.title = `${shown(text)} · Lacon`; } };
  place.title(view.name ?? rest);
  const drawn = view.draw(place);
  if (drawn) Object.assign(current, drawn);
  window.scrollTo(0, 0);
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function mark(view) {
  put(document.getElementById('views'), ...views().filter((one) => one.name).map((one) =>
    h('a', { href: one.path, 'aria-current': one === view ? 'page' : null }, one.name)));
  if (view?.path !== '/find') query.value = '';
}

// Links of this page change the view; the browser does everything else as usual.
document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || link.target || to.pathname.startsWith('/assets/')) return;
  if (to.pathname === location.pathname && to.search === location.search && to.hash) return;
  event.preventDefault();
  go(to.pathname + to.search + to.hash);
  root.focus({ preventScroll: true });
});
window.addEventListener('popstate', open);
window.addEventListener('hashchange', () => current?.hash?.());

document.getElementById('search').addEventListener('submit', (event) => {
  event.preventDefault();
  root.querySelector('.rows a')?.click();
});
query.addEventListener('input', () => {
  const address = query.value.trim() ? `/find?q=${encodeURIComponent(query.value)}${find.kept()}` : '/find';
  // One entry of the history for one search, however many letters it had.
  go(address, { replace: location.pathname === '/find' && Boolean(location.search) });
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    query.focus();
    query.select();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && (event.target === query || event.target.closest?.('.rows'))) {
    const links = [...root.querySelectorAll('.rows > li a.name')];
    if (!links.length || (event.target !== query && !links.includes(event.target))) return;
    event.preventDefault();
    const at = links.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1);
    (at < 0 ? query : links[Math.min(at, links.length - 1)]).focus();
  } else if (event.key === 'Escape' && event.target === query) {
    query.blur();
  }
});

// What the index is doing.
const said = document.getElementById('state');
onState((isNew) => {
  const repositories = state.index?.repositories ?? [];
  const about = state.index?.gateway;
  document.body.classList.toggle('of-gateway', Boolean(about));
  const note = state.index?.missing ?? repositories.map((one) => one.incomplete).find(Boolean);
  const symbols = repositories.reduce((sum, one) => sum + one.symbols, 0);
  const name = repositories.map((one) => one.name).join(', ');
  const text = !state.connected ? 'Server away, trying again' : note ? note : about ? `${number(about.upstreams.filter((one) => one.state === 'ready').length)} of ${number(about.upstreams.length)} upstreams ready · ${number(about.calls)} calls` : `${name} · ${number(symbols)} symbols`;
  said.className = !state.connected ? 'away' : note ? 'waits' : '';
  said.title = text;
  put(said, h('span', { class: 'dot', 'aria-hidden': 'true' }), shown(text));
  document.body.classList.toggle('away', !state.connected);
  if (!isNew || !current) return;
  if (current.view && !views().includes(current.view)) return void open();
  // Views that are looked at follow the files; those without a way to do so are drawn anew.
  if (current.refresh) current.refresh();
  else if (current.view) {
    const top = window.scrollY;
    current.follow = null;
    open();
    window.scrollTo(0, top);
  }
});

// Light and dark: the system's, until one is chosen.
const theme = document.getElementById('theme');
function paint() {
  const chosen = localStorage.getItem('lacon-theme');
  document.documentElement.classList.toggle('dark', chosen === 'dark');
  document.documentElement.classList.toggle('light', chosen === 'light');
  put(theme, isDark() ? '☾' : '☀');
  current?.repaint?.();
}
function isDark() {
  const chosen = localStorage.getItem('lacon-theme');
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
theme.addEventListener('click', () => {
  localStorage.setItem('lacon-theme', isDark() ? 'light' : 'dark');
  paint();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

/** Asks for the token, where the browser has none that holds. */
function door(error) {
  current?.end.abort();
  current = null;
  document.title = 'Lacon';
  const field = h('input', { type: 'password', 'aria-label': 'Token', autocomplete: 'off', placeholder: 'Token' });
  put(root, h('div', { class: 'door' },
    h('h1', {}, 'Who is there?'),
    h('p', {}, 'This browser was not let in yet, or the server was started again. Open the address that ', h('code', {}, 'lacon web'),
      ' prints, or give the token that stands beside it.'),
    error ? failure(error) : null,
    h('form', { onsubmit: (event) => { event.preventDefault(); useToken(field.value.trim()); start(); } }, field,
      h('button', { type: 'submit', class: 'main' }, 'Come in'))));
  field.focus();
}

async function start() {
  let refused = null;
  try { await enter(); } catch (error) { refused = error; }
  const ended = follow();
  const first = await Promise.race([ended, new Promise((resolve) => onceConnected(resolve))]);
  if (first === 'unauthorized') return door(refused);
  open();
  if (await ended === 'unauthorized') door(null);
}

function onceConnected(resolve) {
  onState(() => { if (state.connected || state.index === null) resolve('open'); });
}

paint();
start();
