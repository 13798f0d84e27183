// The graph around a symbol, and the map of folders. What is shown is written in the address: where one began and what was opened, so
// that a link shows the same.

import { ask, get, state } from '/assets/api.js';
import { Picture } from '/assets/canvas.js';
import { empty, encoded, failure, fileAddress, h, loading, number, parts, put, shown, symbolAddress, symbolLink } from '/assets/dom.js';
import { go } from '/assets/main.js';
import { tier } from '/assets/symbol.js';

// Ways to go on from a symbol.
const WAYS = [
  { key: 'callers', name: 'Callers', tool: 'get_callers' },
  { key: 'calls', name: 'Calls', tool: 'get_call_chain' },
  { key: 'needs', name: 'Needs', tool: 'get_dependencies' },
  { key: 'needed', name: 'Needed by', tool: 'get_dependents' },
  { key: 'types', name: 'Implementations', tool: 'find_implementations' },
];
const MOST = 5000;
const KINDS = [
  { name: 'calls', has: ['calls', 'instantiates', 'decorated'], colour: '--call' },
  { name: 'types', has: ['extends', 'implements', 'overrides'], colour: '--type' },
  { name: 'values', has: ['reads', 'writes'], colour: '--value' },
  { name: 'mentions', has: ['references', 'contains', 'tests'], colour: '--muted' },
  { name: 'imports', has: ['imports'], colour: '--string' },
  { name: 'contracts', has: ['provides', 'consumes'], colour: '--bad' },
];
const TIERS = [['lsp_dispatch', 'Compiler only'], ['ast_resolved', 'Resolved or better'], ['ast_inferred', 'Inferred as well'], ['text_matched', 'All, text matches too']];
const NODE_COLOURS = ['--call', '--type', '--value', '--muted', '--string', '--accent'];

function kindOf(edge) {
  const at = KINDS.findIndex((kind) => kind.has.includes(edge.kind));
  return at < 0 ? 3 : at;
}

function colourOf(node) {
  if (node.isBox) return 5;
  if (/function|method|constructor|macro/.test(node.kind)) return 0;
  if (/class|type|interface|enum|struct|trait/.test(node.kind)) return 1;
  if (/field|variable|constant|property/.test(node.kind)) return 2;
  return node.kind === 'file' || node.kind === 'module' ? 4 : 3;
}

/** The address of a graph. */
function addressOf(shows) {
  const address = new URLSearchParams();
  for (const id of shows.from) address.append('from', id);
  for (const { way, depth, id } of shows.opened) address.append('open', `${way}.${depth}.${id}`);
  if (shows.tier !== 'ast_inferred') address.set('tier', shows.tier);
  if (!shows.tests) address.set('tests', 'no');
  if (shows.boxes) address.set('boxes', 'yes');
  return `/graph?${address}`;
}

function shownBy(address) {
  const opened = address.getAll('open').map((text) => /^(\w+)\.(\d+)\.(.+)$/s.exec(text)).filter(Boolean)
    .map(([, way, depth, id]) => ({ way, depth: Math.min(Number(depth), 6), id })).filter((one) => WAYS.some((way) => way.key === one.way));
  const from = address.getAll('from');
  return {
    from,
    opened: opened.length || !from.length ? opened : from.flatMap((id) => [{ way: 'callers', depth: 1, id }, { way: 'needs', depth: 1, id }]),
    tier: address.get('tier') ?? 'ast_inferred', tests: address.get('tests') !== 'no', boxes: address.get('boxes') === 'yes',
  };
}

export function draw({ root, signal, title }) {
  let shows = shownBy(new URLSearchParams(location.search));
  title('Graph');
  if (!shows.from.length) return void begin(root, signal);
  title(`${parts(shows.from[0]).name} – graph`);

  const hidden = { kinds: new Set(), external: false };
  const canvas = h('canvas', { tabindex: '0', role: 'img', 'aria-label': 'The graph. Arrows move, plus and minus zoom, 0 shows all. The list beside it holds the same.' });
  const tally = h('div', { class: 'tally', role: 'status' });
  const note = h('div', {});
  const stage = h('div', { class: 'stage' }, canvas, tally, h('div', { class: 'tools' },
    h('button', { type: 'button', 'aria-label': 'Zoom in', onclick: () => picture.zoom(1.4) }, '+'),
    h('button', { type: 'button', 'aria-label': 'Zoom out', onclick: () => picture.zoom(1 / 1.4) }, '−'),
    h('button', { type: 'button', onclick: () => picture.fit() }, 'All')));
  const filters = h('div', { class: 'filters' });
  const side = h('div', { class: 'side' });
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Around ', h('span', { class: 'mono' }, shows.from.map((id) => shown(parts(id).name)).join(', ')))), note,
    h('div', { class: 'graph' }, filters, stage, side));

  const picture = new Picture(canvas, { onpick: pick, onhover: hover, colours: palette() });
  const worker = new Worker(layoutAddress());
  const places = new Map();
  let nodes = [];
  let edges = [];
  let chosen = null;
  let pathFrom = null;
  let path = null;
  let round = 0;
  const openBoxes = new Set();
  const all = { nodes: new Map(), edges: new Map() };
  signal.addEventListener('abort', () => { worker.terminate(); picture.end(); });

  worker.onmessage = ({ data }) => {
    if (data.key !== round) return;
    nodes.forEach((node, at) => places.set(node.id, [data.x[at], data.y[at]]));
    picture.move(data.x, data.y);
    if (data.done) stage.dataset.laidOut = String(Math.round(data.milliseconds));
  };

  /** Asks for everything that the address says, and shows it. */
  async function load() {
    put(note, loading('Asking the graph'));
    all.nodes.clear();
    all.edges.clear();
    let cut = null;
    try {
      const answers = await Promise.all(shows.opened.map(({ way, depth, id }) => ask(WAYS.find((one) => one.key === way).tool, {
        id, depth, limit: MOST, min_tier: shows.tier, ...(shows.tests ? {} : { exclude_tests: true }),
      }, signal)));
      if (signal.aborted) return;
      for (const answer of answers) {
        for (const node of answer.nodes) all.nodes.set(node.id, node);
        for (const edge of answer.edges) all.edges.set(`${edge.from}\n${edge.to}\n${edge.kind}`, edge);
        if (answer.truncated) cut = `Only the nearest ${number(answer.nodes.length)} of ${number(answer.total_nodes)} are shown.`;
      }
      put(note, cut ? h('p', { class: 'muted' }, cut) : '');
    } catch (error) {
      if (error.name === 'AbortError') return;
      put(note, failure(error, load));
      if (!all.nodes.size) return;
    }
    build();
  }

  /** Makes numbers of what is to be seen, and has it laid out. */
  function build() {
    const isSeen = (node) => !hidden.external || node.path;
    const box = (node) => {
      const folder = node.path ? node.path.split('/').slice(0, -1).join('/') || '.' : 'elsewhere';
      return shows.boxes && !openBoxes.has(folder) && !shows.from.includes(node.id) ? folder : null;
    };
    const seen = new Map();
    const of = new Map();
    for (const node of all.nodes.values()) {
      if (!isSeen(node)) continue;
      const folder = box(node);
      const id = folder === null ? node.id : `folder:${folder}`;
      if (!seen.has(id)) seen.set(id, folder === null ? { ...node, members: 1 } : { id, name: folder, kind: 'folder', isBox: true, members: 0, folder });
      if (folder !== null) seen.get(id).members += 1;
      of.set(node.id, id);
    }
    nodes = [...seen.values()];
    const numberOf = new Map(nodes.map((node, at) => [node.id, at]));
    const merged = new Map();
    for (const edge of all.edges.values()) {
      const kind = kindOf(edge);
      const [from, to] = [numberOf.get(of.get(edge.from)), numberOf.get(of.get(edge.to))];
      if (hidden.kinds.has(kind) || from === undefined || to === undefined || from === to) continue;
      const key = `${from} ${to} ${kind}`;
      if (!merged.has(key)) merged.set(key, { from, to, colour: kind, isFaint: /inferred|text/.test(edge.origin ?? '') ? 1 : 0, edge, count: 0 });
      merged.get(key).count += 1;
    }
    edges = [...merged.values()];
    // Hiding a kind hides what only it led to.
    const degree = new Uint32Array(nodes.length);
    for (const edge of edges) { degree[edge.from] += 1; degree[edge.to] += 1; }
    if (hidden.kinds.size) {
      const stays = nodes.map((node, at) => degree[at] > 0 || shows.from.includes(node.id));
      const renumbered = [];
      let next = 0;
      stays.forEach((one, at) => { renumbered[at] = one ? next++ : -1; });
      edges = edges.map((edge) => ({ ...edge, from: renumbered[edge.from], to: renumbered[edge.to] }));
      nodes = nodes.filter((_, at) => stays[at]);
    }
    const links = new Uint32Array(nodes.length);
    for (const edge of edges) { links[edge.from] += 1; links[edge.to] += 1; }
    nodes.forEach((node, at) => { node.links = links[at]; });
    const x = new Float32Array(nodes.length).fill(NaN);
    const y = new Float32Array(nodes.length).fill(NaN);
    nodes.forEach((node, at) => { const known = places.get(node.id); if (known) [x[at], y[at]] = known; });
    round += 1;
    delete stage.dataset.laidOut;
    worker.postMessage({ key: round, x: x.slice(), y: y.slice(), from: Uint32Array.from(edges, (edge) => edge.from), to: Uint32Array.from(edges, (edge) => edge.to) });
    const drawn = nodes.map((node) => ({
      label: shown(node.isBox ? `${node.name} (${node.members})` : node.kind === 'file' ? node.name : parts(node.id).name), colour: colourOf(node),
      size: node.isBox ? Math.min(22, 5 + 1.6 * Math.sqrt(node.members)) : Math.min(14, 3 + 0.7 * Math.sqrt(node.links)),
      isRoot: shows.from.includes(node.id), isBox: Boolean(node.isBox),
    }));
    x.forEach((value, at) => { if (Number.isNaN(value)) { x[at] = 0; y[at] = 0; } });
    picture.set(drawn, edges, x, y);
    tally.textContent = `${number(nodes.length)} nodes, ${number(edges.length)} edges`;
    stage.dataset.nodes = String(nodes.length);
    if (chosen && !nodes.some((node) => node.id === chosen)) chosen = null;
    lightUp();
    drawFilters();
    drawSide();
  }

  function pick(at) {
    const id = at < 0 ? null : nodes[at].id;
    if (pathFrom && id && id !== pathFrom) {
      findPath(pathFrom, id);
      pathFrom = null;
    } else {
      path = null;
      chosen = id;
    }
    lightUp();
    drawSide();
  }

  function hover(at, px, py) {
    canvas.title = at < 0 ? '' : `${shown(nodes[at].id)}\n${nodes[at].kind}`;
    canvas.style.cursor = at < 0 ? '' : 'pointer';
  }

  function lightUp() {
    const at = nodes.findIndex((node) => node.id === chosen);
    if (path?.steps) {
      const numbers = path.steps.map((id) => nodes.findIndex((node) => node.id === id));
      const pairs = new Set();
      for (let step = 1; step < numbers.length; step += 1) { pairs.add(`${numbers[step - 1]} ${numbers[step]}`); pairs.add(`${numbers[step]} ${numbers[step - 1]}`); }
      picture.select(at, new Set(numbers), pairs);
      return;
    }
    if (at < 0) { picture.select(-1, null, null); return; }
    const near = new Set([at]);
    for (const edge of edges) { if (edge.from === at) near.add(edge.to); if (edge.to === at) near.add(edge.from); }
    picture.select(at, near, null);
  }

  /** The shortest way through what is shown, whichever way the edges point. */
  function findPath(from, to) {
    const numberOf = new Map(nodes.map((node, at) => [node.id, at]));
    const near = nodes.map(() => []);
    for (const edge of edges) { near[edge.from].push(edge.to); near[edge.to].push(edge.from); }
    const before = new Int32Array(nodes.length).fill(-1);
    const start = numberOf.get(from);
    const queue = [start];
    before[start] = start;
    for (let at = 0; at < queue.length && before[numberOf.get(to)] < 0; at += 1) {
      for (const next of near[queue[at]]) if (before[next] < 0) { before[next] = queue[at]; queue.push(next); }
    }
    const steps = [];
    let at = numberOf.get(to);
    if (before[at] >= 0) {
      while (at !== start) { steps.unshift(nodes[at].id); at = before[at]; }
      steps.unshift(from);
    }
    path = { from, to, steps: steps.length ? steps : null };
    chosen = to;
  }

  function change(to) {
    shows = { ...shows, ...to };
    history.pushState(null, '', addressOf(shows));
    load();
  }

  function drawFilters() {
    const used = new Set([...all.edges.values()].map(kindOf));
    const tick = (isOn, label, onchange, swatch) => h('label', {}, h('input', { type: 'checkbox', checked: isOn, onchange }), swatch ? h('span', { class: 'swatch', style: { background: `var(${swatch})` } }) : null, label);
    put(filters, 
      h('fieldset', {}, h('legend', {}, 'Edges'), KINDS.map((kind, at) => (used.has(at) ? tick(!hidden.kinds.has(at), kind.name, (event) => {
        if (event.target.checked) hidden.kinds.delete(at); else hidden.kinds.add(at);
        build();
      }, kind.colour) : null))),
      h('fieldset', {}, h('legend', {}, 'How they are known'), h('select', { 'aria-label': 'Weakest evidence', onchange: (event) => change({ tier: event.target.value }) },
        TIERS.map(([value, name]) => h('option', { value, selected: value === shows.tier }, name)))),
      h('fieldset', {}, h('legend', {}, 'Nodes'), tick(shows.tests, 'Tests', (event) => change({ tests: event.target.checked })),
        tick(!hidden.external, 'External', (event) => { hidden.external = !event.target.checked; build(); }),
        tick(shows.boxes, 'Folders as boxes', (event) => { openBoxes.clear(); change({ boxes: event.target.checked }); })),
      h('details', {}, h('summary', {}, `All ${number(nodes.length)} nodes`), h('ol', { class: 'rows' }, [...nodes].sort((one, other) => other.links - one.links).slice(0, 300).map((node) =>
        h('li', {}, h('button', { type: 'button', class: 'name', onclick: () => pick(nodes.findIndex((one) => one.id === node.id)) }, shown(node.isBox ? node.name : parts(node.id).name)))))),
    );
  }

  function drawSide() {
    const node = nodes.find((one) => one.id === chosen);
    if (!node) {
      put(side, h('h2', {}, 'Nothing is chosen'), h('p', { class: 'muted' }, 'Click a node, or take one from the list, to see what it is and to go on from there. Dashed lines are inferred.'));
      return;
    }
    if (node.isBox) {
      put(side, h('h2', { class: 'mono' }, shown(node.name)), h('p', {}, `${number(node.members)} symbols of this folder`),
        h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => { openBoxes.add(node.folder); chosen = null; build(); } }, 'Open the box'),
          h('a', { class: 'button', href: `/map?path=${encoded(node.folder)}` }, 'On the map')));
      return;
    }
    const at = nodes.indexOf(node);
    const own = edges.filter((edge) => edge.from === at || edge.to === at);
    const depth = h('select', { 'aria-label': 'How far' }, [1, 2, 3].map((far) => h('option', { value: far }, far === 1 ? '1 step' : `${far} steps`)));
    put(side, 
      h('h2', { class: 'mono' }, shown(parts(node.id).name)),
      h('p', { class: 'path' }, `${node.kind} in `, node.path ? h('a', { href: fileAddress(node.path, node.line) }, `${shown(node.path)}:${node.line ?? ''}`) : 'a package that is not indexed'),
      h('div', { class: 'buttons' }, node.path ? [WAYS.map((way) => {
        const isOpen = shows.opened.some((one) => one.way === way.key && one.id === node.id);
        return h('button', { type: 'button', 'aria-pressed': String(isOpen), onclick: () => {
          const others = shows.opened.filter((one) => !(one.way === way.key && one.id === node.id));
          change({ opened: isOpen ? others : [...others, { way: way.key, depth: Number(depth.value), id: node.id }] });
        } }, way.name);
      }), depth] : null),
      h('div', { class: 'buttons' }, h('a', { class: 'button', href: symbolAddress(node.id) }, 'Open its page'),
        h('button', { type: 'button', 'aria-pressed': String(pathFrom === node.id), onclick: () => { pathFrom = pathFrom === node.id ? null : node.id; drawSide(); } }, pathFrom === node.id ? 'Now choose the other end' : 'Path to …')),
      path ? (path.steps ? h('section', {}, h('h2', {}, `Path of ${path.steps.length - 1}`), h('ol', { class: 'rows' }, path.steps.map((id) => h('li', {}, h('div', { class: 'row' }, symbolLink(id, { path: false }))))))
        : h('p', { class: 'muted' }, 'No path leads there in what is shown: open more.')) : null,
      h('section', {}, h('h2', {}, 'Its edges here', h('span', { class: 'count' }, number(own.length))), h('ol', { class: 'rows' }, own.slice(0, 60).map((edge) => {
        const isOut = edge.from === at;
        const other = nodes[isOut ? edge.to : edge.from];
        return h('li', {}, h('div', { class: 'row' }, h('span', { class: 'kind' }, isOut ? `${edge.edge.kind} →` : `← ${edge.edge.kind}`),
          h('button', { type: 'button', class: 'name', onclick: () => pick(nodes.indexOf(other)) }, shown(other.isBox ? other.name : parts(other.id).name)), tier(edge.edge)));
      }))),
    );
  }

  load();
  return {
    follow() {
      const next = shownBy(new URLSearchParams(location.search));
      if (!next.from.length || next.from.join() !== shows.from.join()) return false;
      shows = next;
      load();
      return true;
    },
    refresh: load,
    repaint() { picture.colours = palette(); picture.redraw(); },
  };
}

/** What a colour of the style is now, as a canvas needs it. */
function palette() {
  const probe = h('i', {});
  document.body.append(probe);
  const of = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
  const found = { edges: KINDS.map((kind) => of(kind.colour)), nodes: NODE_COLOURS.map(of), text: of('--text'), ground: of('--panel') };
  probe.remove();
  return found;
}

/** The one script that is not named in the document: browsers that ask for a trusted address get one. */
function layoutAddress() {
  const address = '/assets/layout.js';
  trusted ??= window.trustedTypes?.createPolicy('lacon', { createScriptURL: (url) => { if (url !== address) throw new TypeError(url); return url; } });
  return trusted ? trusted.createScriptURL(address) : address;
}
let trusted;

/** Where to start from, before there is a graph. */
async function begin(root, signal) {
  put(root, h('div', { class: 'head' }, h('h1', {}, 'Graph')), loading('Looking for places to start'));
  let content;
  try {
    const name = state.index?.prefixed ? { repo: state.index.repositories[0]?.name } : {};
    const found = await ask('get_repo_outline', name, signal);
    const starts = [...found.hotspots.map((one) => one.id), ...found.entry_points.slice(0, 8)];
    content = starts.length ? h('ol', { class: 'rows panel' }, starts.map((id) => h('li', {}, h('div', { class: 'row' }, h('a', { class: 'name', href: `/graph?from=${encoded(id)}` }, shown(parts(id).name)), h('span', { class: 'path' }, shown(parts(id).path))))))
      : empty('There is no symbol to start from', h('p', {}, 'The ', h('a', { href: '/index' }, 'Index'), ' says what was read.'));
  } catch (error) {
    if (error.name === 'AbortError') return;
    content = failure(error, () => begin(root, signal));
  }
  if (signal.aborted) return;
  put(root, h('div', { class: 'head' }, h('h1', {}, 'Graph'), h('span', { class: 'muted' }, 'Search for a symbol and choose “In the graph”, or start from one of these. The ', h('a', { href: '/map' }, 'map'), ' shows all folders.')), content);
}

// The map of folders.

const COLOURINGS = [['language', 'Language'], ['coupling', 'Coupling'], ['unresolved', 'Unresolved calls']];
const HUES = [172, 214, 268, 32, 340, 96, 300, 54, 190, 10];

export function drawMap({ root, signal, title }) {
  const box = h('div', {});
  root.append(box);
  let observer = null;
  signal.addEventListener('abort', () => observer?.disconnect());

  async function show() {
    const address = new URLSearchParams(location.search);
    const path = address.get('path') ?? '';
    const colouring = address.get('by') ?? 'language';
    const several = state.index?.prefixed;
    const repo = address.get('repo') ?? (several ? state.index.repositories[0]?.name : null);
    title(path ? `${path} – map` : 'Map');
    const to = (changed) => `/map?${new URLSearchParams(Object.entries({ path, by: colouring === 'language' ? '' : colouring, repo: several ? repo : '', ...changed }).filter(([, value]) => value))}`;
    const names = path ? path.split('/') : [];
    const head = h('div', { class: 'head' }, h('h1', { class: 'mono' }, h('a', { href: to({ path: '' }) }, shown(repo ?? state.index?.repositories[0]?.name ?? 'all')),
      names.map((name, at) => [' / ', at === names.length - 1 ? shown(name) : h('a', { href: to({ path: names.slice(0, at + 1).join('/') }) }, shown(name))])));
    if (!box.firstChild) put(box, head, loading('Reading the map'));
    let found;
    try {
      found = await get('folder', { path, repo }, signal);
    } catch (error) {
      if (error.name !== 'AbortError') put(box, head, failure(error, show));
      return;
    }
    if (signal.aborted) return;
    const lines = found.parts.reduce((sum, part) => sum + part.lines, 0);
    const chooser = h('span', { class: 'spread' }, several ? h('select', { 'aria-label': 'Repository', onchange: (event) => go(to({ repo: event.target.value, path: '' })) },
      state.index.repositories.map((one) => h('option', { value: one.name, selected: one.name === repo }, shown(one.name)))) : null,
    COLOURINGS.map(([key, name]) => h('button', { type: 'button', 'aria-pressed': String(key === colouring), onclick: () => go(to({ by: key === 'language' ? '' : key }), { replace: true }) }, name)));
    head.append(h('span', { class: 'muted' }, `${number(found.parts.reduce((sum, part) => sum + part.files, 0))} files, ${number(lines)} lines`), chooser);
    if (!found.parts.length) {
      put(box, head, empty('There is nothing here that Lacon reads', h('p', {}, 'The ', h('a', { href: '/index' }, 'Index'), ' says which files were left out, and why.')));
      return;
    }
    const map = h('div', { class: 'map' });
    const colours = colouringOf(colouring, found.parts);
    const strip = several ? `${repo}/` : '';
    const address_of = (part) => (part.folder ? to({ path: part.path.slice(strip.length) }) : fileAddress(part.path));
    put(box, head, map, colours.legend, h('div', { class: 'grid more' },
      h('section', {}, h('h2', {}, 'Parts', h('span', { class: 'count' }, number(found.parts.length))), h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Parts' }, h('table', {}, h('thead', {}, h('tr', {}, ['Name', 'Files', 'Lines', 'Symbols', 'Uses', 'Used'].map((name, at) => h('th', { class: at ? 'n' : null }, name)))),
        h('tbody', {}, found.parts.slice(0, 200).map((part) => h('tr', {}, h('td', {}, h('a', { class: 'name', href: address_of(part) }, shown(part.name) + (part.folder ? '/' : ''))),
          [part.files, part.lines, part.symbols, part.using, part.used].map((value) => h('td', { class: 'n' }, number(value))))))))),
      h('section', {}, h('h2', {}, 'Which part uses which'), found.uses.length ? h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'From'), h('th', {}, 'To'), h('th', { class: 'n' }, 'Edges'))), h('tbody', {}, found.uses.slice(0, 40).map((use) => h('tr', {},
        h('td', { class: 'name' }, shown(found.parts[use.from].name)), h('td', { class: 'name' }, shown(found.parts[use.to].name)), h('td', { class: 'n' }, number(use.count))))))
        : h('p', { class: 'muted' }, 'None uses another'))));
    const lay = () => {
      const width = map.clientWidth;
      const height = map.clientHeight;
      const biggest = found.parts.slice(0, 240);
      put(map, ...squares(biggest, width, height).map(({ part, x, y, w, h: tall }) => h('a', {
        href: address_of(part), title: `${shown(part.name)}\n${number(part.lines)} lines in ${number(part.files)} files, mostly ${part.language}`,
        'aria-label': `${shown(part.name)}, ${number(part.lines)} lines, ${part.language}`,
        style: { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${tall}px`, background: colours.of(part) },
      }, w > 40 && tall > 18 ? [h('span', { class: 'what' }, shown(part.name) + (part.folder ? '/' : ''), ' ', h('span', { class: 'count' }, number(part.lines))), nested(part, w, tall)] : null)));
    };
    // What is directly in a folder is drawn in it; a click opens the folder.
    const nested = (part, w, tall) => (part.inside?.length > 1 && w > 120 && tall > 80 ? squares(part.inside, w - 10, tall - 30).map(({ part: one, x, y, w: wide, h: high }) => h('span', {
      class: 'inner', 'aria-hidden': 'true', style: { left: `${x + 4}px`, top: `${y + 24}px`, width: `${wide}px`, height: `${high}px`, background: colours.of({ ...part, ...one, whole: part.lines }) },
    }, wide > 56 && high > 18 ? h('span', { class: 'what' }, shown(one.name) + (one.folder ? '/' : '')) : null)) : null);
    observer?.disconnect();
    observer = new ResizeObserver(lay);
    observer.observe(map);
    lay();
  }
  show();
  return { follow() { show(); return true; }, refresh: show };
}

function colouringOf(by, parts) {
  const paint = (hue, strength = 1) => `light-dark(hsl(${hue} ${38 * strength}% ${86 - 12 * strength}%), hsl(${hue} ${30 * strength + 4}% ${20 + 9 * strength}%))`;
  if (by === 'language') {
    const sums = new Map();
    for (const part of parts) for (const one of part.inside?.length ? part.inside : [part]) sums.set(one.language, (sums.get(one.language) ?? 0) + one.lines);
    const names = [...sums.keys()].sort((one, other) => sums.get(other) - sums.get(one));
    const of = (name) => { const at = names.indexOf(name); return at < HUES.length ? paint(HUES[at]) : paint(210, 0.15); };
    return { of: (part) => of(part.language), legend: h('div', { class: 'legend' }, names.slice(0, HUES.length).map((name) => h('span', {}, h('i', { style: { background: of(name) } }), shown(name) || 'unknown'))) };
  }
  const value = by === 'coupling' ? (part) => (part.used + part.using) / Math.max(part.whole ?? part.lines, 20) : (part) => part.unresolved_calls / Math.max(part.lines, 20);
  const most = Math.max(...parts.map(value), 1e-9);
  const hue = by === 'coupling' ? 268 : 14;
  const of = (part) => paint(hue, 0.1 + 0.9 * Math.sqrt(value(part) / most));
  const name = by === 'coupling' ? 'edges to and from other parts, per line' : 'calls of which nothing is known, per line';
  return { of, legend: h('div', { class: 'legend' }, h('span', {}, h('i', { style: { background: paint(hue, 0.1) } }), 'few'), h('span', {}, h('i', { style: { background: paint(hue, 1) } }), 'many'), h('span', {}, name)) };
}

/** A squarified treemap by lines. */
function squares(parts, width, height) {
  const total = parts.reduce((sum, part) => sum + Math.max(part.lines, 1), 0);
  const scale = (width * height) / total;
  const out = [];
  let [x, y, w, tall] = [0, 0, width, height];
  let at = 0;
  const area = (part) => Math.max(part.lines, 1) * scale;
  while (at < parts.length) {
    const side = Math.min(w, tall);
    let sum = 0;
    let worst = Infinity;
    let end = at;
    while (end < parts.length) {
      const next = sum + area(parts[end]);
      const along = next / side;
      const ratio = Math.max(...[parts[at], parts[end]].map((part) => { const across = area(part) / along; return Math.max(along / across, across / along); }));
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      end += 1;
    }
    const along = sum / side || 0;
    let place = 0;
    for (const part of parts.slice(at, end)) {
      const across = area(part) / along || 0;
      out.push(w >= tall ? { part, x, y: y + place, w: along, h: across } : { part, x: x + place, y, w: across, h: along });
      place += across;
    }
    if (w >= tall) { x += along; w -= along; } else { y += along; tall -= along; }
    at = end;
  }
  return out;
}
