// Builds elements. Text is only ever text: nothing here, or anywhere on the page, takes markup from a string.

/** An element with attributes, listeners (`onclick`) and children; `null` and `false` are left out. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** Replaces what is in an element; `null` and `false` are left out. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** The same for drawings. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// Characters that would not be seen, or would turn the text around them: controls and directions.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text whose hidden characters can be seen, one for one, so that places in it stay the same. */
export function shown(text) {
  return String(text ?? '').replace(UNSEEN, (letter) => {
    const code = letter.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\u2423';
  });
}

/** A whole number with thin spaces. */
export function number(value) {
  return value === null || value === undefined ? '–' : Math.round(value).toLocaleString('en').replaceAll(',', '\u2009');
}

export function bytes(value) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) { value /= 1000; at += 1; }
  return `${at && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export function ago(seconds) {
  for (const [size, name] of [[86400, 'day'], [3600, 'hour'], [60, 'minute']]) {
    const count = Math.floor(seconds / size);
    if (count) return `${count} ${name}${count > 1 ? 's' : ''} ago`;
  }
  return seconds < 5 ? 'just now' : `${Math.round(seconds)} seconds ago`;
}

export function percent(part) {
  return part === null || part === undefined ? '–' : `${part.toFixed(1)} %`;
}

/** The address of a symbol's page: a file's own id is its path. */
export function symbolAddress(id) {
  return id.includes('::') ? `/symbol/${encoded(id)}` : `/file/${encoded(id)}`;
}

export function fileAddress(path, line) {
  return `/file/${encoded(path)}${line ? `#L${line}` : ''}`;
}

/** Slashes stay as they are: addresses are read by people. */
export function encoded(text) {
  return text.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':');
}

/** What a symbol is called in its file, and where the file is. */
export function parts(id) {
  const at = id.indexOf('::');
  const path = at < 0 ? id : id.slice(0, at);
  const own = at < 0 ? '' : id.slice(at + 2).replace(/~\d+$/, '');
  // Sections may have headings of markup alone, which leaves no name.
  return { path, name: own || path.slice(path.lastIndexOf('/') + 1) };
}

/** A small sign for a kind. */
export function kindMark(kind) {
  return h('span', { class: `kind ${KIND_CLASS[kind] ?? ''}`, title: kind }, kind);
}

const KIND_CLASS = {
  function: 'k-call', method: 'k-call', constructor: 'k-call', macro: 'k-call',
  class: 'k-type', type: 'k-type', interface: 'k-type', enum: 'k-type', trait: 'k-type', struct: 'k-type',
  field: 'k-value', variable: 'k-value', constant: 'k-value', property: 'k-value',
};

/** A link to a symbol, with its file beside it. */
export function symbolLink(id, options = {}) {
  const { path, name } = parts(id);
  const label = options.name ?? name;
  return [
    h('a', { href: symbolAddress(id), class: 'name', 'data-id': id }, shown(label)),
    options.path === false || !id.includes('::') ? null
      : h('span', { class: 'path' }, shown(path) + (options.line ? `:${options.line}` : '')),
  ];
}

/** A heading with what belongs to it. */
export function section(title, count, ...content) {
  return h('section', {},
    h('h2', {}, title, count === null || count === undefined ? null : h('span', { class: 'count' }, number(count))),
    ...content);
}

export function empty(title, ...more) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), ...more);
}

export function loading(what) {
  return h('div', { class: 'loading', role: 'status' }, h('span', { class: 'pulse', 'aria-hidden': 'true' }), what);
}

/** Why a part of the page is not there, with a way on. */
export function failure(error, again) {
  const isBuilding = error.code === 'index_building' || error.code === 'index_repairing';
  return h('div', { class: `failure${isBuilding ? ' waits' : ''}`, role: 'alert' },
    h('p', { class: 'failure-title' }, TITLES[error.code] ?? 'This could not be answered'),
    h('p', {}, shown(error.message)),
    again ? h('button', { type: 'button', onclick: again }, 'Try again') : null);
}

const TITLES = {
  unreachable: 'The server does not answer',
  index_building: 'The index is being built',
  index_repairing: 'The index is being repaired',
  no_such_symbol: 'There is no such symbol any more',
  no_such_file: 'There is no such file in the index',
  stale: 'The file changed a moment ago',
  no_index: 'There is no index',
  no_such_tool: 'There is no such tool',
  would_be_refused: 'It would be refused',
};
