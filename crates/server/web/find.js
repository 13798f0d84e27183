// Find: symbols, files, code in words, text and documents at once, while one types. Without a question, the repository at a glance.

import { ask, get, state } from '/assets/api.js';
import { empty, encoded, failure, fileAddress, h, kindMark, loading, number, parts, put, section, shown, symbolAddress, symbolLink } from '/assets/dom.js';
import { go } from '/assets/main.js';

const PAUSE = 70;

// Where to look: how it is asked, how many in all are there, and how one is shown.
const PLACES = [
  {
    key: 'symbols', name: 'Symbols', few: 12, many: 100,
    ask: (query, limit, signal) => ask('search_symbols', { query, limit }, signal),
    rows: (found) => found.results,
    row: (one) => [h('div', { class: 'row' }, kindMark(one.kind), symbolLink(one.id, { line: one.line })),
      one.sig ? h('span', { class: 'said' }, shown(one.sig)) : null],
  },
  {
    key: 'files', name: 'Files', few: 8, many: 200,
    ask: (query, limit, signal) => get('files', { query, limit }, signal),
    rows: (found) => found.files,
    row: (one) => h('div', { class: 'row' }, h('a', { class: 'name', href: fileAddress(one.path) }, shown(one.path)),
      h('span', { class: 'path' }, `${one.language} · ${number(one.lines)} lines`)),
  },
  {
    key: 'code', name: 'Code in words', few: 6, many: 50,
    ask: (query, limit, signal) => ask('search_code', { query, limit }, signal),
    rows: (found) => found.results,
    row: (one) => [h('div', { class: 'row' }, kindMark(one.kind), symbolLink(one.id, { line: one.location.start_line })),
      h('span', { class: 'said' }, shown(one.description || firstLine(one.snippet) || one.signature))],
  },
  {
    // Reads every file: it is asked when one has stopped typing.
    key: 'text', name: 'Text', few: 8, many: 300, patience: 200, least: 2,
    ask: (query, limit, signal) => ask('search_text', { query, limit }, signal),
    rows: (found) => found.matches,
    row: (one, query) => [h('div', { class: 'row' }, h('a', { class: 'name', href: fileAddress(one.path, one.line) }, `${shown(one.path)}:${one.line}`),
      one.symbol ? h('span', { class: 'path' }, `in ${shown(one.symbol)}`) : null),
    h('span', { class: 'said' }, marked(one.text.trim(), query))],
  },
  {
    key: 'docs', name: 'Documents', few: 4, many: 50,
    ask: (query, limit, signal) => ask('search_docs', { query, limit }, signal),
    rows: (found) => found.results,
    row: (one) => [h('div', { class: 'row' },
      h('a', { class: 'name', href: fileAddress(one.location.file_path, one.location.start_line) }, shown(one.name || parts(one.id).name)),
      h('span', { class: 'path' }, `${shown(one.location.file_path)}:${one.location.start_line}`)),
    h('span', { class: 'said' }, shown(firstLine(one.snippet)))],
  },
];

// How everything is laid out side by side.
const COLUMNS = [['symbols'], ['files', 'text'], ['code', 'docs']];

function firstLine(text) {
  return (text ?? '').split('\n').map((line) => line.trim()).find((line) => line && !line.startsWith('#')) ?? '';
}

function marked(text, query) {
  const line = text.slice(0, 300);
  const at = line.toLowerCase().indexOf(query.toLowerCase());
  if (at < 0 || !query) return shown(line);
  const end = at + query.length;
  return [shown(line.slice(0, at)), h('mark', {}, shown(line.slice(at, end))), shown(line.slice(end))];
}

/** What of the address stays while one types. */
export function kept() {
  const only = new URLSearchParams(location.search).get('in');
  return location.pathname === '/find' && only ? `&in=${encodeURIComponent(only)}` : '';
}

export function draw({ root, signal, title }) {
  const box = document.getElementById('query');
  let before = null;
  let waiting = 0;
  let search = null;

  function show() {
    const address = new URLSearchParams(location.search);
    const query = (address.get('q') ?? '').trim();
    const only = address.get('in');
    if (document.activeElement !== box) box.value = address.get('q') ?? '';
    title(query ? `${query} – find` : 'Find');
    const asked = JSON.stringify([query, only]);
    if (asked === before) return;
    const wasTyped = before !== null;
    before = asked;
    clearTimeout(waiting);
    search?.abort();
    search = new AbortController();
    const own = search.signal;
    if (!query) return void glance(root, own);
    waiting = setTimeout(() => results(root, query, only, own), wasTyped ? PAUSE : 0);
  }

  signal.addEventListener('abort', () => { clearTimeout(waiting); search?.abort(); });
  show();
  return { follow() { show(); return true; }, refresh() { before = null; show(); } };
}

function results(root, query, only, signal) {
  const chip = (key, name) => h('button', {
    type: 'button', 'aria-pressed': String((only ?? '') === key),
    onclick: () => go(`/find?q=${encodeURIComponent(query)}${key ? `&in=${key}` : ''}`),
  }, name);
  const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'Where to look' }, chip('', 'Everything'), PLACES.map((place) => chip(place.key, place.name)));
  const looked = PLACES.filter((place) => !only || place.key === only);
  const boxes = looked.map((place) => h('section', { 'data-place': place.key }));
  // What was found before stays until the new answer is there, so that nothing flickers while one types.
  const old = root.querySelector('[data-results]');
  const grid = h('div', { class: only ? null : 'three', 'data-results': looked.map((place) => place.key).join(' ') });
  if (old?.dataset.results === grid.dataset.results) {
    old.querySelectorAll('section').forEach((child) => { boxes[looked.findIndex((place) => place.key === child.dataset.place)] = child; });
  } else {
    looked.forEach((place, at) => boxes[at].append(h('h2', {}, place.name), loading('Looking')));
  }
  grid.append(...(only ? boxes : COLUMNS.map((keys) => h('div', {}, keys.map((key) => boxes[looked.findIndex((place) => place.key === key)])))));
  put(root, h('h1', { class: 'unseen' }, `Find ${shown(query)}`), chips, grid);
  let found = 0;
  let answered = 0;
  looked.forEach(async (place, at) => {
    const limit = only ? place.many : place.few;
    if (!only && query.length < (place.least ?? 0)) {
      put(boxes[at], h('h2', {}, place.name), h('p', { class: 'muted' }, `Type ${place.least} letters`));
      answered += 1;
      return;
    }
    try {
      if (!only && place.patience) await new Promise((resolve) => setTimeout(resolve, place.patience));
      if (signal.aborted) return;
      const answer = await place.ask(query, limit, signal);
      if (signal.aborted) return;
      const rows = place.rows(answer) ?? [];
      const total = answer.total ?? rows.length;
      found += rows.length;
      put(boxes[at], h('h2', {}, place.name, h('span', { class: 'count' }, number(total))),
        rows.length ? h('ol', { class: 'rows' }, rows.map((row) => h('li', {}, place.row(row, query))))
          : h('p', { class: 'muted' }, 'Nothing'),
        total > rows.length && !only ? h('button', { type: 'button', class: 'more', onclick: () => go(`/find?q=${encodeURIComponent(query)}&in=${place.key}`) }, `Show more of ${number(total)}`)
          : total > rows.length ? h('p', { class: 'muted more' }, `The first ${number(rows.length)} of ${number(total)}: say more to narrow it down`) : null);
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      put(boxes[at], h('h2', {}, place.name), failure(error, () => results(root, query, only, signal)));
    }
    answered += 1;
    if (answered === looked.length) document.getElementById('said').textContent = `${found} results for ${query}`;
  });
}

/** The repository at a glance. */
async function glance(root, signal) {
  const several = state.index?.prefixed;
  const names = (state.index?.repositories ?? []).map((repository) => repository.name);
  put(root, h('div', { class: 'head' }, h('h1', {}, names.map(shown).join(', ') || 'Find')), loading('Reading the outline'));
  const outlines = await Promise.all((names.length ? names : [null]).map(async (name) => {
    try {
      return { name, found: await ask('get_repo_outline', several && name ? { repo: name } : {}, signal) };
    } catch (error) {
      return { name, error };
    }
  }));
  if (signal.aborted) return;
  put(root, h('div', { class: 'head' }, h('h1', {}, names.map(shown).join(', ') || 'Find'),
    h('span', { class: 'muted' }, 'Type to search. ', h('kbd', {}, '/'), ' goes to the box, arrows walk through what is found.')));
  for (const { name, found, error } of outlines) {
    if (several) root.append(h('h2', {}, shown(name)));
    if (error) { root.append(failure(error, () => glance(root, signal))); continue; }
    if (!found.total_nodes) {
      root.append(empty('There is no code here that Lacon reads', h('p', {}, 'The ', h('a', { href: '/index' }, 'Index'), ' says which files were left out, and why.')));
      continue;
    }
    const most = Math.max(...found.languages.map((one) => one.nodes), 1);
    const prefix = several ? `${name}/` : '';
    root.append(h('div', { class: 'flow' },
      section('Most used and most tangled', null, h('ol', { class: 'rows' }, found.hotspots.map((one) => h('li', {},
        h('div', { class: 'row' }, symbolLink(one.id), h('span', { class: 'tier', title: 'Hotspot score: 100 is the hottest' }, one.score.toFixed(0))))))),
      section('Where it begins', found.entry_points.length, found.entry_points.length
        ? h('ol', { class: 'rows' }, found.entry_points.slice(0, 12).map((id) => h('li', {}, h('div', { class: 'row' }, symbolLink(id)))))
        : h('p', { class: 'muted' }, 'No entry points are known')),
      section('Most imported', null, h('ol', { class: 'rows' }, found.most_imported.map((path) => h('li', {}, h('a', { class: 'name', href: symbolAddress(path) }, shown(path)))))),
      section('What belongs together', null, h('ol', { class: 'rows' }, found.communities.map((one) => h('li', {},
        h('div', { class: 'row' }, h('a', { class: 'name', href: `/map?path=${encoded(folderOf(one.name))}${prefix ? `&repo=${encoded(name)}` : ''}` }, shown(one.name)),
          h('span', { class: 'tier', title: 'Symbols' }, number(one.size))))))),
      section('Languages', null, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Language'), h('th', { class: 'n' }, 'Symbols'), h('th', {}, 'Share'))), h('tbody', {}, found.languages.map((one) => h('tr', {},
        h('td', {}, one.name), h('td', { class: 'n' }, number(one.nodes)),
        h('td', {}, h('span', { class: 'bar', style: { width: `${Math.max(2, (80 * one.nodes) / most)}px` } }))))))),
    ));
  }
}

function folderOf(community) {
  return parts(community.replace(/ \(.*$/, '')).path;
}
