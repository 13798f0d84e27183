// The truth about the index: what was read, what was left out and why, what stays unresolved, and what the machine has for it.

import { fresh, onState, state } from '/assets/api.js';
import { ago, bytes, empty, encoded, failure, h, loading, number, put, section, shown } from '/assets/dom.js';

const FEW_SKIPPED = 30;

export function draw({ root, signal }) {
  const box = h('div', {}, loading('Looking at the index'));
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Index')), box);
  async function show() {
    try {
      const [found, health] = await Promise.all([fresh('status'), fresh('doctor').catch((error) => ({ error }))]);
      if (!signal.aborted) put(box, ...found.repositories.map((one) => repository(one, found.repositories.length > 1)), machine(health));
    } catch (error) {
      if (!signal.aborted) put(box, failure(error, show));
    }
  }
  show();
  onState(() => { if (!signal.aborted && state.connected && state.index?.missing) show(); });
  return { refresh: show };
}

function figure(value, name) {
  return h('div', { class: 'figure' }, h('b', {}, value), h('span', {}, name));
}

function shares(title, counts, total) {
  const rows = Object.entries(counts ?? {}).sort((one, other) => other[1] - one[1]);
  const most = Math.max(...rows.map(([, count]) => count), 1);
  return section(title, total, h('table', {}, h('tbody', {}, rows.map(([name, count]) => h('tr', {}, h('th', { scope: 'row' }, name.replaceAll('_', ' ')), h('td', { class: 'n' }, number(count)),
    h('td', {}, h('span', { class: 'bar', style: { width: `${Math.max(1, (90 * count) / most)}px` } })))))));
}

function repository({ name, note, watched, status, error }, several) {
  if (!status) {
    return h('section', {}, several ? h('h2', {}, shown(name)) : null,
      note ? h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, 'The index is not there yet'), h('p', {}, shown(note))) : failure({ code: 'no_index', message: error ?? '' }));
  }
  const { contents } = status;
  const skipped = status.skipped_files ?? [];
  const list = h('tbody', {}, skipped.slice(0, FEW_SKIPPED).map(leftOut));
  const more = skipped.length > FEW_SKIPPED ? h('button', { type: 'button', class: 'more', onclick: () => { list.append(...skipped.slice(FEW_SKIPPED, 5000).map(leftOut)); more.remove(); } }, `Show all ${number(skipped.length)}`) : null;
  const calls = contents.edges_by_kind?.calls ?? 0;
  return h('section', {}, several ? h('h2', {}, shown(name)) : null,
    h('p', { class: 'path' }, shown(status.root), ' · written ', ago(status.age_seconds), ' · ', watched ? 'kept up to date while files change' : 'not watched: answers are of the index as it is', note ? ` · ${shown(note)}` : ''),
    h('div', { class: 'figures' }, figure(number(contents.files), 'files'), figure(number(contents.lines), 'lines'), figure(number(contents.symbols), 'symbols'), figure(number(contents.edges), 'edges'),
      figure(number(contents.external_symbols), 'external symbols'), figure(number(contents.unresolved_calls), calls ? `unresolved calls, beside ${number(calls)} known` : 'unresolved calls'),
      figure(bytes(status.disk_bytes.snapshot + status.disk_bytes.facts), 'on disk'), figure(`${status.open_milliseconds.toFixed(1)} ms`, 'to open')),
    contents.files ? h('div', { class: 'flow' },
      section('Languages', contents.languages.length, h('table', {}, h('thead', {}, h('tr', {}, ['Language', 'Files', 'Lines', 'Symbols'].map((title, at) => h('th', { class: at ? 'n' : null }, title)))),
        h('tbody', {}, [...contents.languages].sort((one, other) => other.lines - one.lines).map((one) => h('tr', {}, h('td', {}, one.name), [one.files, one.lines, one.symbols].map((count) => h('td', { class: 'n' }, number(count)))))))),
      shares('How edges are known', contents.edges_by_origin), shares('What edges say', contents.edges_by_kind), shares('What symbols are', contents.symbols_by_kind))
      : empty('No file here is in a language that Lacon reads'),
    contents.not_parsed?.length ? section('Given up as a whole', contents.not_parsed.length, h('ol', { class: 'rows' }, contents.not_parsed.slice(0, 50).map((path) => h('li', {}, h('a', { class: 'name', href: `/file/${encoded(path)}` }, shown(path)))))) : null,
    section('Left out', skipped.length, skipped.length ? [h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Left out' }, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'Reason'), h('th', {}, 'Path'), h('th', { class: 'n' }, 'Size'), h('th', {}, 'Rule'))), list)), more] : h('p', { class: 'muted' }, 'Nothing was left out')));
}

function leftOut(one) {
  return h('tr', {}, h('td', {}, one.reason), h('td', { class: 'name' }, shown(one.path)), h('td', { class: 'n' }, one.files === undefined ? bytes(one.bytes) : `${number(one.files)} files`), h('td', { class: 'path' }, shown(one.rule ?? '')));
}

function machine(health) {
  if (health.error && !health.checks?.length) return section('This machine', null, failure(health.error instanceof Error ? health.error : { message: String(health.error) }));
  const words = { good: 'good', note: 'note', broken: 'broken' };
  return section('This machine and its language servers', null, h('ol', { class: 'rows' }, health.checks.map((check) => h('li', {}, h('div', { class: 'row' },
    h('span', { class: `health ${check.health}` }, words[check.health]), h('b', {}, check.what), h('span', {}, shown(check.says))), check.remedy ? h('div', { class: 'path' }, shown(check.remedy)) : null))));
}
