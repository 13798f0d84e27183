// A symbol's page, and a file's: what it is, its source with links, and who uses it, each use with the line that says so.

import { ask, get } from '/assets/api.js';
import { empty, encoded, failure, fileAddress, h, kindMark, loading, number, parts, put, section, shown, symbolAddress, symbolLink } from '/assets/dom.js';
import { sourceOf } from '/assets/source.js';

const MOST_USES = 300;
const FEW = 12;

export function drawSymbol({ root, rest: id, signal, title }) {
  title(parts(id).name);
  const head = h('div', { class: 'head' }, h('h1', { class: 'mono' }, shown(parts(id).name)));
  const main = h('div', {}, loading('Reading the source'));
  const side = h('div', { class: 'side' }, loading('Asking the graph'));
  root.append(head, h('div', { class: 'columns' }, main, side));
  const place = { head, main, side, signal };
  symbolPage(id, place);
  // What is shown stays until its successor is there.
  return { refresh: () => symbolPage(id, place) };
}

async function symbolPage(id, { head, main, side, signal }) {
  const again = () => {
    put(main, loading('Reading the source'));
    symbolPage(id, { head, main, side, signal });
  };
  let symbol;
  try {
    const found = await ask('batch_symbols', { ids: [id] }, signal);
    symbol = found.symbols[0];
    if (symbol.error) throw Object.assign(new Error(symbol.error), { code: 'no_such_symbol' });
  } catch (error) {
    if (error.name === 'AbortError') return;
    put(side);
    const { name } = parts(id);
    put(main, failure(error, again), h('p', { class: 'more' }, 'It may have been renamed or moved: ',
      h('a', { href: `/find?q=${encodeURIComponent(name.split('.').pop())}` }, `search for “${shown(name.split('.').pop())}”`)));
    return;
  }
  put(head, kindMark(symbol.kind), h('h1', { class: 'mono' }, shown(parts(symbol.id).name)),
    h('a', { class: 'path', href: fileAddress(symbol.path, symbol.start_line) }, `${shown(symbol.path)}:${symbol.start_line}–${symbol.end_line}`),
    h('span', { class: 'spread' }, h('a', { class: 'button', href: `/graph?from=${encoded(symbol.id)}` }, 'In the graph'),
      h('a', { class: 'button', href: `/pack?symbols=${encoded(symbol.id)}` }, 'What a change reaches')));
  const source = get('lines', { path: symbol.path, first: symbol.start_line, last: symbol.end_line }, signal);
  source.then((found) => {
    if (signal.aborted) return;
    const documentation = h('div', {});
    put(main, symbol.sig ? h('pre', { class: 'signature' }, shown(symbol.sig)) : '', documentation, sourceOf(found, { own: symbol.id }),
      found.first + found.lines.length <= symbol.end_line ? h('p', { class: 'muted more' }, `The first ${number(found.lines.length)} lines. `, h('a', { href: fileAddress(symbol.path, symbol.start_line) }, 'Open the file')) : '');
    describe(symbol, documentation, signal);
  }).catch((error) => { if (error.name !== 'AbortError') put(main, failure(error, again)); });
  around(symbol, source, side, signal);
}

/** What its documentation says, where the descriptor of its kind knows. */
async function describe(symbol, place, signal) {
  const asked = /function|method|constructor/.test(symbol.kind)
    ? ['get_function_details', { function_name: `${symbol.path}:${symbol.start_line}`, max_lines: 1, format: 'json' }]
    : /class|type|interface|enum|struct|trait/.test(symbol.kind) ? ['find_type_definition', { type_name: `${symbol.path}:${symbol.start_line}`, limit: 1, format: 'json' }] : null;
  if (!asked) return;
  try {
    const found = await ask(asked[0], asked[1], signal);
    const text = found.description;
    if (text) place.append(h('p', { class: 'prose' }, shown(text)));
  } catch { /* The source says it as well. */ }
}

/** Callers and callees with evidence, what implements it, and its tests. */
async function around(symbol, source, side, signal) {
  const id = symbol.id;
  const names = ['Used by', 'Uses', 'Implementations', 'Tests', 'History'];
  const boxes = side.childElementCount === names.length ? [...side.children] : names.map((name) => section(name, null, loading('Asking')));
  put(side, ...boxes);
  const fill = async (at, name, asking, draw) => {
    try {
      const found = await asking();
      if (signal.aborted) return;
      const { count, content } = draw(found);
      boxes[at].hidden = content === null;
      put(boxes[at], h('h2', {}, name, count === null ? null : h('span', { class: 'count' }, number(count))), content);
    } catch (error) {
      if (error.name === 'AbortError' || signal.aborted) return;
      put(boxes[at], h('h2', {}, name), failure(error));
    }
  };
  fill(0, 'Used by', async () => {
    const [edges, lines] = await Promise.all([
      ask('find_usages', { id, limit: MOST_USES }, signal),
      ask('uses', { symbol: id, tests: true, limit: MOST_USES }, signal).catch(() => ({ uses: [] })),
    ]);
    return { edges, lines };
  }, usedBy);
  fill(1, 'Uses', async () => {
    const [found, text] = await Promise.all([ask('get_dependencies', { id, depth: 1, limit: 200 }, signal), source.catch(() => null)]);
    return { found, text };
  }, (both) => usesOf(id, both));
  fill(2, 'Implementations', () => ask('find_implementations', { id, depth: 1, limit: 100 }, signal), (found) => {
    const rows = found.edges.filter((edge) => edge.to === id || edge.from === id);
    if (!rows.length) return { count: null, content: null };
    return {
      count: rows.length,
      content: listed(rows, (edge) => {
        const other = edge.from === id ? edge.to : edge.from;
        return h('div', { class: 'row' }, h('span', { class: 'kind' }, edge.from === id ? edge.kind : `${edge.kind} this`), symbolLink(other), tier(edge));
      }),
    };
  });
  fill(3, 'Tests', () => ask('get_test_targets', { ids: [id] }, signal), (found) => {
    if (!found.targets.length) return { count: 0, content: h('p', { class: 'muted' }, 'No test is known to reach it') };
    return {
      count: found.total,
      content: [
        listed(found.targets, (target) => [h('div', { class: 'row' }, h('a', { class: 'name', href: fileAddress(target.file) }, shown(target.file)),
          h('span', { class: 'tier', title: 'Calls between the test and this symbol' }, `${target.distance} away`)),
        h('span', { class: 'said' }, shown(target.tests.slice(0, 6).join(', ')) + (target.tests.length > 6 ? ` and ${target.tests.length - 6} more` : ''))], 6),
        (found.commands ?? []).map((command) => h('details', { class: 'more' }, h('summary', {}, 'The command that runs them'),
          h('pre', { class: 'command', tabindex: '0' }, shown(command.command)), copyButton(command.command))),
      ],
    };
  });
  fill(4, 'History', () => get('history', { path: symbol.path, first: symbol.start_line, last: symbol.end_line }, signal), history);
}

function history(found) {
  if (!found.commits.length) return { count: null, content: h('p', { class: 'muted' }, shown(found.note ?? 'No commit has these lines yet')) };
  const day = (commit) => new Date(commit.at * 1000).toISOString().slice(0, 10);
  return { count: null, content: listed(found.commits, (commit) => [h('div', { class: 'row' }, h('span', { class: 'kind' }, day(commit)), h('span', {}, shown(commit.subject))),
    h('div', { class: 'path' }, h('span', { class: 'mono' }, commit.id), ' ', shown(commit.author))], 5) };
}

function usedBy({ edges, lines }) {
  const texts = new Map(lines.uses.map((use) => [`${use.path}:${use.line}`, use.text]));
  if (!edges.usages.length) {
    return { count: 0, content: [h('p', { class: 'muted' }, 'Nothing in the index uses it'), account(lines)] };
  }
  const isTest = new Set((lines.uses ?? []).filter((use) => use.test).map((use) => `${use.path}:${use.line}`));
  const rows = edges.usages.filter((use) => use.edge_kind !== 'tests');
  rows.sort((one, other) => isTest.has(`${one.from_path}:${one.from_line}`) - isTest.has(`${other.from_path}:${other.from_line}`));
  return {
    count: edges.total,
    content: [listed(rows, (use) => {
      const text = texts.get(`${use.from_path}:${use.from_line}`);
      return [h('div', { class: 'row' }, h('span', { class: 'kind' }, use.edge_kind), symbolLink(use.from, { path: false }), tier(use)),
        h('a', { class: 'said', href: fileAddress(use.from_path, use.from_line), title: text ? shown(text) : null },
          `${shown(use.from_path)}:${use.from_line}`, text ? `  ${shown(text.trim())}` : '')];
    }), edges.truncated ? h('p', { class: 'muted more' }, `The first ${number(edges.usages.length)} of ${number(edges.total)}`) : null, account(lines)],
  };
}

/** The account that shows that no use is missing: how often the name stands somewhere, and as what. */
function account(lines) {
  const sum = lines.account;
  if (!sum) return null;
  const parts = [['listed', sum.listed], ['as its definition', sum.definitions], ['of other symbols', sum.others], ['in comments', sum.comments], ['in strings', sum.strings], ['unresolved', sum.unresolved]];
  return h('p', { class: 'muted more' }, `The word stands ${number(sum.mentions)} times in ${number(sum.files)} files: `,
    parts.filter(([, count]) => count).map(([name, count]) => `${number(count)} ${name}`).join(', '), sum.complete ? '. Nothing is missing.' : '.');
}

function usesOf(id, { found, text }) {
  const edges = found.edges.filter((edge) => edge.from === id);
  if (!edges.length) return { count: 0, content: h('p', { class: 'muted' }, 'It needs nothing that is known here') };
  const names = new Map(found.nodes.map((node) => [node.id, node]));
  return {
    count: edges.length,
    content: [listed(edges, (edge) => {
      const line = Number(edge.label?.split(/[ ,]/)[0]) || null;
      const said = line && text ? text.lines[line - text.first] : null;
      const node = names.get(edge.to);
      const other = edge.to.includes('::') || node?.path ? symbolLink(edge.to) : h('span', { class: 'name' }, shown(edge.to));
      return [h('div', { class: 'row' }, h('span', { class: 'kind' }, edge.kind), other, tier(edge)),
        said ? h('a', { class: 'said', href: `#L${line}` }, `line ${line}  ${shown(said.trim())}`) : null];
    }), found.truncated ? h('p', { class: 'muted more' }, `The nearest ${number(found.nodes.length)} of ${number(found.total_nodes)}`) : null],
  };
}

function listed(rows, row, few = FEW) {
  const list = h('ol', { class: 'rows' }, rows.slice(0, few).map((one) => h('li', {}, row(one))));
  if (rows.length <= few) return list;
  const more = h('button', { type: 'button', class: 'more', onclick: () => {
    list.append(...rows.slice(few).map((one) => h('li', {}, row(one))));
    more.remove();
  } }, `Show all ${number(rows.length)}`);
  return [list, more];
}

/** How an edge is known. */
export function tier(edge) {
  const origin = edge.origin ?? '';
  const name = { lsp_resolved: 'compiler', lsp_dispatch: 'dispatch', ast_resolved: 'resolved', ast_inferred: 'inferred', text_matched: 'text' }[origin] ?? origin;
  const style = origin.startsWith('lsp') ? 'lsp' : /inferred|text/.test(origin) ? 'inferred' : '';
  return h('span', { class: `tier ${style}`, title: `${origin}, confidence ${edge.confidence}` }, `${name} ${Number(edge.confidence ?? 0).toFixed(2)}`);
}

export function copyButton(text) {
  const button = h('button', { type: 'button', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'The browser does not allow it';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  } }, 'Copy');
  return button;
}

export function drawFile({ root, rest: path, signal, title }) {
  title(path);
  const head = h('div', { class: 'head' }, crumbs(path));
  const main = h('div', {}, loading('Reading the file'));
  const side = h('div', { class: 'side' });
  root.append(head, h('div', { class: 'columns' }, main, side));
  const place = { head, main, side, signal };
  filePage(path, place);
  return { hash: () => light(main), refresh: () => filePage(path, place) };
}

function crumbs(path) {
  const names = path.split('/');
  return h('h1', { class: 'mono' }, names.map((name, at) => {
    const isLast = at === names.length - 1;
    const folder = names.slice(0, at + 1).join('/');
    return isLast ? shown(name) : [h('a', { href: `/map?path=${encoded(folder)}` }, shown(name)), ' / '];
  }));
}

async function filePage(path, { head, main, side, signal }) {
  const again = () => filePage(path, { head, main, side, signal });
  try {
    const wanted = Number(/^#L(\d+)/.exec(location.hash)?.[1]) || 1;
    // A long file is shown around the line that is asked for.
    const first = wanted > 4000 ? wanted - 1000 : 1;
    const found = await get('lines', { path, first, last: first + 4999 }, signal);
    if (signal.aborted) return;
    put(head, crumbs(path), h('span', { class: 'muted' }, `${found.language} · ${number(found.total)} lines`),
      h('span', { class: 'spread' }, h('a', { class: 'button', href: `/graph?from=${encoded(path)}` }, 'In the graph')));
    const isFirst = !main.querySelector('.source');
    put(main, found.lines.length ? sourceOf(found) : empty('The file is empty'),
      found.lines.length < found.total ? h('p', { class: 'muted more' }, `Lines ${found.first} to ${found.first + found.lines.length - 1} of ${number(found.total)}`) : '');
    light(main, isFirst);
  } catch (error) {
    if (error.name === 'AbortError') return;
    put(main, failure(error, again));
    return;
  }
  try {
    const found = await ask('get_file_summary', { path }, signal);
    if (signal.aborted) return;
    put(side, section('Declares', found.total_nodes, found.symbols.length
      ? h('ol', { class: 'rows' }, found.symbols.map((one) => h('li', {}, h('div', { class: 'row' }, kindMark(one.kind),
        h('a', { class: 'name', href: symbolAddress(one.id), title: shown(one.sig ?? '') }, shown(parts(one.id).name))))))
      : h('p', { class: 'muted' }, 'Nothing')));
  } catch (error) {
    if (error.name !== 'AbortError') put(side, failure(error));
  }
}

/** Shows the line that the address names. */
function light(main, isScrolled = true) {
  main.querySelector('.here')?.classList.remove('here');
  const line = /^#(L\d+)/.exec(location.hash)?.[1];
  const there = line && main.querySelector(`#${line}`);
  if (!there) return;
  there.classList.add('here');
  if (isScrolled) there.scrollIntoView({ block: 'center' });
}
