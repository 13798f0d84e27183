// Source with colours and links. Colours come from a small lexer that knows the families of languages by their comments, strings and
// keywords; links come from the graph, each at its line and column, so they are right whatever the lexer thinks.

import { fileAddress, h, shown, symbolAddress } from '/assets/dom.js';

const C = { line: ['//'], block: [['/*', '*/']], strings: ['"', "'"] };
const HASH = { line: ['#'], block: [], strings: ['"', "'"] };
const FAMILIES = {
  python: { line: ['#'], block: [], strings: ['"""', "'''", '"', "'"] },
  javascript: { ...C, strings: ['"', "'", '`'] },
  go: { ...C, strings: ['"', "'", '`'] },
  rust: { ...C, strings: ['"'], letters: true },
  php: { line: ['//', '#'], block: [['/*', '*/']], strings: ['"', "'"] },
  sql: { line: ['--'], block: [['/*', '*/']], strings: ["'", '"'], anyCase: true },
  lua: { line: ['--'], block: [['--[[', ']]']], strings: ['"', "'"] },
  haskell: { line: ['--'], block: [['{-', '-}']], strings: ['"'] },
  html: { line: [], block: [['<!--', '-->']], strings: ['"', "'"] },
  css: { line: [], block: [['/*', '*/']], strings: ['"', "'"] },
  lisp: { line: [';'], block: [], strings: ['"'] },
  plain: { line: [], block: [], strings: [] },
};
const OF = {
  python: 'python', starlark: 'python', javascript: 'javascript', typescript: 'javascript', tsx: 'javascript', jsx: 'javascript', vue: 'javascript',
  svelte: 'javascript', go: 'go', rust: 'rust', php: 'php', sql: 'sql', lua: 'lua', haskell: 'haskell', elm: 'haskell', html: 'html', xml: 'html', css: 'css',
  scss: 'javascript', less: 'javascript', clojure: 'lisp', scheme: 'lisp', elisp: 'lisp', markdown: 'plain', text: 'plain', rst: 'plain', json: 'javascript',
};
const WITH_HASH = ['ruby', 'bash', 'shell', 'sh', 'toml', 'yaml', 'r', 'make', 'elixir', 'dockerfile', 'perl', 'nix', 'julia', 'cmake', 'hcl', 'terraform', 'graphql', 'ini', 'powershell'];

const KEYWORDS = new Set(`abstract alias and as assert async await base begin bool boolean break byte case catch chan char class const constexpr continue crate
debug declare def default defer del delete delegate do done double dyn elif else elsif end enum ensure event except explicit export extends extension
extern fallthrough false False fi final finally float fn for foreach friend from func function get global go goto guard if impl implements import in
include init inline instanceof int interface internal is keyof lambda let lock long loop macro match mixin mod module move mut mutable namespace new nil
None nonlocal not null nullptr object of open operator optional or out override package params pass private protected protocol pub public raise readonly
ref register require rescue return sealed select self Self set short signed sizeof static struct super switch synchronized template then this throw throws
trait transient true True try type typedef typename typeof undef union unless unsafe unsigned until use using val var virtual void volatile when where while
with yield elseif echo trait insteadof endif`.split(/\s+/));
const SQL = new Set('select from where and or not insert into values update set delete create table index view join left right inner outer on as group by order having limit primary key foreign references null default unique constraint alter drop in is like between exists union all distinct case when then else end if begin commit integer text varchar'.split(' '));

/** Words of lines, as [from, to, class] in each; what is open at the end of a line goes on in the next. */
function lexed(lines, language) {
  const family = FAMILIES[OF[language]] ?? (WITH_HASH.includes(language) ? HASH : C);
  let open = null;
  return lines.map((line) => {
    const words = [];
    let at = 0;
    while (at < line.length) {
      if (open) {
        const end = line.indexOf(open.end, at);
        const to = end < 0 ? line.length : end + open.end.length;
        words.push([at, to, open.class]);
        at = to;
        if (end < 0) return words;
        open = null;
        continue;
      }
      const block = family.block.find(([begin]) => line.startsWith(begin, at));
      if (block) { open = { end: block[1], class: 't-comment' }; words.push([at, at + block[0].length, 't-comment']); at += block[0].length; continue; }
      if (family.line.some((mark) => line.startsWith(mark, at)) && !(line[at] === '#' && at && /[\w$&{]/.test(line[at - 1]))) {
        words.push([at, line.length, 't-comment']);
        break;
      }
      const quote = family.strings.find((mark) => line.startsWith(mark, at));
      if (quote) {
        if (quote.length === 3 || quote === '`') {
          open = { end: quote, class: 't-string' };
          words.push([at, at + quote.length, 't-string']);
          at += quote.length;
          continue;
        }
        let to = at + 1;
        while (to < line.length && line[to] !== quote) to += line[to] === '\\' ? 2 : 1;
        to = Math.min(to + 1, line.length);
        words.push([at, to, 't-string']);
        at = to;
        continue;
      }
      if (family.letters && line[at] === "'") {
        const letter = /^'(\\.[^']*|[^\\'])'/.exec(line.slice(at, at + 14));
        if (letter) { words.push([at, at + letter[0].length, 't-string']); at += letter[0].length; continue; }
      }
      const word = /^(?:[A-Za-z_$][\w$]*|\d[\w.]*)/.exec(line.slice(at, at + 200));
      if (word) {
        const text = word[0];
        const isKeyword = family.anyCase ? SQL.has(text.toLowerCase()) : KEYWORDS.has(text);
        const kind = family === FAMILIES.plain ? null : /^\d/.test(text) ? 't-number' : isKeyword && line[at - 1] !== '.' ? 't-keyword'
          : /^[A-Z][a-z0-9]\w*$/.test(text) ? 't-type' : null;
        if (kind) words.push([at, at + text.length, kind]);
        at += text.length;
        continue;
      }
      at += 1;
    }
    return words;
  });
}

const BLOCK = 80;

/** The lines of an answer of `/api/lines`, as a list. */
export function sourceOf(found, { here = [], own = null } = {}) {
  const lines = found.lines;
  const words = lexed(lines, found.language);
  const links = byLine(found.links);
  const definitions = byLine(found.definitions);
  const cut = new Set(found.cut ?? []);
  const list = h('div', { class: 'source', tabindex: '0', role: 'region', 'aria-label': `Source of ${shown(found.path)}` });
  for (let begin = 0; begin < lines.length; begin += BLOCK) {
    const block = h('ol', { class: 'block' });
    for (let at = begin; at < Math.min(begin + BLOCK, lines.length); at += 1) {
      const line = found.first + at;
      const marks = marksOf(definitions.get(line), links.get(line), own);
      block.append(h('li', { id: `L${line}`, class: here.includes(line) ? 'here' : null },
        h('a', { href: fileAddress(found.path, line), 'aria-label': `Line ${line}`, tabindex: '-1' }, String(line)),
        h('code', {}, pieces(lines[at], words[at], marks), cut.has(line) ? h('span', { class: 'cut' }, ' … the rest of this line is left out') : null)));
    }
    list.append(block);
  }
  return list;
}

function byLine(places) {
  const lines = new Map();
  for (const place of places) {
    if (!lines.has(place.line)) lines.set(place.line, []);
    lines.get(place.line).push(place);
  }
  return lines;
}

function marksOf(definitions = [], links = [], own) {
  const marks = definitions.map((one) => ({
    from: one.column, to: one.column + one.length,
    make: (content) => (one.id === own ? h('span', { class: 'def' }, content)
      : h('a', { class: 'def', href: symbolAddress(one.id), title: `${one.kind}: ${shown(one.id)}` }, content)),
  }));
  for (const link of links) {
    const known = `${link.kind}, ${link.origin.replaceAll('_', ' ')} ${link.confidence.toFixed(2)}`;
    const guess = /inferred|text/.test(link.origin) ? ' inferred' : '';
    const title = `${shown(link.to)}\n${known}${link.external ? ', not in this index' : ''}`;
    marks.push({
      from: link.column, to: link.column + link.length,
      make: (content) => (link.external ? h('span', { class: `external${guess}`, title }, content)
        : h('a', { href: symbolAddress(link.to), class: guess || null, title }, content)),
    });
  }
  return marks.sort((one, other) => one.from - other.from);
}

/** A line cut where colours and links begin and end. */
function pieces(line, words, marks) {
  const out = [];
  let at = 0;
  const coloured = (from, to) => {
    const parts = [];
    let place = from;
    for (const [begin, end, kind] of words) {
      if (end <= place || begin >= to) continue;
      if (begin > place) parts.push(shown(line.slice(place, begin)));
      const stop = Math.min(end, to);
      parts.push(h('span', { class: kind }, shown(line.slice(Math.max(begin, place), stop))));
      place = stop;
    }
    if (place < to) parts.push(shown(line.slice(place, to)));
    return parts;
  };
  for (const mark of marks) {
    if (mark.from < at || mark.to > line.length) continue;
    out.push(...coloured(at, mark.from), mark.make(coloured(mark.from, mark.to)));
    at = mark.to;
  }
  out.push(...coloured(at, line.length));
  return out.length ? out : ['\u200b'];
}
