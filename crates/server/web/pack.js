// The pack: the context that an agent gets for a task, or for a change, and how its budget was spent.

import { ask } from '/assets/api.js';
import { empty, failure, h, kindMark, loading, number, put, shown, symbolLink } from '/assets/dom.js';
import { go } from '/assets/main.js';
import { copyButton } from '/assets/symbol.js';

const FORMS = [['body', 'in full'], ['skeleton', 'as a skeleton'], ['signature', 'by signature']];
const FORMATS = [['json', 'JSON'], ['gcx', 'GCX1'], ['gcf', 'GCF'], ['markdown', 'Markdown']];
// Reasons cost tokens, so they are asked for beside the pack, with room for what just missed it.
const WIDER = 3;

export function draw({ root, signal, title }) {
  const box = h('div', {});
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Pack'), h('span', { class: 'muted' }, 'What an agent is given to work with, and why')), box);
  let search = null;

  function show() {
    const address = new URLSearchParams(location.search);
    const asked = {
      mode: address.has('change') ? 'change' : address.has('symbols') ? 'symbols' : 'task',
      text: address.get('change') ?? address.get('symbols') ?? address.get('task') ?? '', isAsked: address.has('change') || address.has('symbols') || address.has('task'),
      budget: Math.min(Math.max(Number(address.get('budget')) || 5000, 500), 40000), format: address.get('format') ?? 'json',
    };
    search?.abort();
    search = new AbortController();
    title(asked.text ? `${asked.text} – pack` : 'Pack');
    const answer = h('div', {});
    put(box, form(asked), answer);
    if (asked.isAsked && (asked.text || asked.mode === 'change')) fill(answer, asked, search.signal);
    else put(answer, empty('Say what is to be done', h('p', {}, 'For instance “add a timeout to the client”. Names and paths in it count most. Or look at what a change reaches, to know what to read and which tests to run.')));
  }
  signal.addEventListener('abort', () => search?.abort());
  show();
  return { follow() { show(); return true; }, refresh: show };
}

function addressOf({ mode, text, budget, format }) {
  const address = new URLSearchParams({ [mode]: text });
  if (budget !== 5000) address.set('budget', budget);
  if (format !== 'json') address.set('format', format);
  return `/pack?${address}`;
}

function form(asked) {
  let { mode } = asked;
  const text = h('textarea', { rows: '2', id: 'task', spellcheck: 'false' });
  text.value = asked.text;
  const label = h('label', { for: 'task' });
  const say = () => {
    label.textContent = { task: 'What is to be done', symbols: 'Symbols that change, separated by commas', change: 'Changes since this branch or commit (empty: since the trunk)' }[mode];
    text.placeholder = { task: 'Add a timeout to the client', symbols: 'Client.send, url_for', change: 'main' }[mode];
  };
  const shownBudget = h('output', { for: 'budget' }, number(asked.budget));
  const budget = h('input', { type: 'range', id: 'budget', min: '500', max: '20000', step: '500', value: asked.budget, oninput: () => { shownBudget.textContent = number(Number(budget.value)); }, onchange: () => submit() });
  const submit = () => go(addressOf({ mode, text: text.value.trim(), budget: Number(budget.value), format: asked.format }));
  const choices = [['task', 'A task'], ['symbols', 'A change of symbols'], ['change', 'A change in git']].map(([key, name]) => h('button', {
    type: 'button', 'aria-pressed': String(key === mode),
    onclick: (event) => {
      mode = key;
      for (const other of event.target.parentElement.children) other.setAttribute('aria-pressed', String(other === event.target));
      say();
      text.focus();
    },
  }, name));
  say();
  return h('form', { class: 'ask', onsubmit: (event) => { event.preventDefault(); submit(); } },
    h('div', {}, h('div', { class: 'chips', role: 'group', 'aria-label': 'What for' }, choices), label, text),
    h('button', { type: 'submit', class: 'main' }, 'Show the pack'),
    h('div', { class: 'settings' }, h('span', {}, h('label', { for: 'budget' }, 'Budget '), budget, ' ', shownBudget, ' tokens'),
      h('span', {}, h('label', { for: 'format' }, 'As '), h('select', { id: 'format', onchange: (event) => go(addressOf({ mode, text: text.value.trim(), budget: Number(budget.value), format: event.target.value })) },
        FORMATS.map(([key, name]) => h('option', { value: key, selected: key === asked.format }, name))))));
}

function question(asked, budget, format, explain = false) {
  const common = { budget, ...(explain ? { explain } : {}), ...(format === 'json' ? {} : { format }), max_tokens: budget };
  if (asked.mode === 'task') return ['context_for_task', { task: asked.text, ...common }];
  if (asked.mode === 'symbols') return ['blast_radius', { symbols: asked.text.split(',').map((one) => one.trim()).filter(Boolean), ...common }];
  return ['blast_radius', { diff: asked.text, ...common }];
}

async function fill(box, asked, signal) {
  put(box, loading('Filling the budget'));
  try {
    if (asked.format !== 'json') {
      const text = await ask(...question(asked, asked.budget, asked.format), signal);
      if (signal.aborted) return;
      const whole = typeof text === 'string' ? text : JSON.stringify(text, null, 1);
      put(box, h('div', { class: 'head' }, h('h2', {}, 'What is sent'), h('span', { class: 'muted' }, `${number(whole.length)} characters`), copyButton(whole)),
        h('pre', { class: 'output panel', tabindex: '0' }, shown(whole)));
      return;
    }
    const pack = await ask(...question(asked, asked.budget, 'json'), signal);
    if (signal.aborted) return;
    drawPack(box, pack, asked);
    const wider = await ask(...question(asked, asked.budget * WIDER, 'json', true), signal);
    if (signal.aborted) return;
    const reasons = new Map((wider.reasons ?? []).map((reason) => [reason.id, reason.reason]));
    for (const place of box.querySelectorAll('[data-reason]')) place.textContent = shown(reasons.get(place.dataset.reason) ?? '');
    const known = new Set(pack.symbols.map((one) => one.id));
    const missed = wider.symbols.filter((one) => !known.has(one.id)).slice(0, 15);
    put(box.querySelector('[data-missed]'), missed.length
      ? h('ol', { class: 'rows' }, missed.map((one) => h('li', {}, h('div', { class: 'row' }, kindMark(one.kind), symbolLink(one.id), score(one)), h('div', { class: 'path' }, shown(reasons.get(one.id) ?? '')))))
      : h('p', { class: 'muted' }, 'Nothing: a larger budget adds only detail.'));
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return;
    put(box, failure(error, () => fill(box, asked, signal)));
  }
}

function score(one) {
  return h('span', { class: 'tier', title: `${one.provenance?.split('~')[0] ?? ''}, ${one.distance} steps from the task` }, one.score.toFixed(2));
}

function drawPack(box, pack, asked) {
  const sources = new Map((pack.sources ?? []).map((source) => [source.id, source]));
  if (!pack.symbols.length) {
    put(box, empty(asked.mode === 'change' ? 'Nothing has changed there' : 'Nothing fits', h('p', {}, asked.mode === 'task' ? 'Name a symbol, a file or the words that the code uses.' : 'There is no difference, or nothing that is indexed.')));
    return;
  }
  // Tokens are counted for the whole. Of a part only its share of the text is known.
  const spent = FORMS.map(([form]) => (pack.sources ?? []).filter((source) => source.form === form).reduce((sum, source) => sum + source.text.length, 0));
  const names = Math.max(JSON.stringify(pack).length - spent.reduce((sum, one) => sum + one, 0), 0);
  const all = spent.reduce((sum, one) => sum + one, names);
  const counts = FORMS.map(([form]) => (pack.sources ?? []).filter((source) => source.form === form).length);
  const bar = [...FORMS.map(([form, name], at) => ({ form, text: `${counts[at]} ${name}`, share: spent[at] / all })), { form: 'name', text: 'names and edges', share: names / all }];
  put(box, 
    h('div', { class: 'panel' }, h('div', { class: 'head' }, h('h2', {}, `${number(pack.tokens)} of ${number(pack.budget)} tokens`), h('span', { class: 'muted' }, `${number(pack.symbols.length)} of ${number(pack.total)} symbols that were looked at. Counted as JSON; in GCX1, which agents get by default, more fits.`)),
      h('div', { class: 'spent', role: 'img', 'aria-label': bar.map((one) => `${one.text} ${Math.round(100 * one.share)} %`).join(', ') }, bar.map((one) => h('i', { class: `f-${one.form}`, style: { width: `${100 * one.share}%` } }))),
      h('div', { class: 'legend' }, bar.map((one) => h('span', {}, h('i', { class: `f-${one.form}` }), `${one.text}, about ${Math.round(100 * one.share)} %`))),
      pack.note ? h('p', { class: 'more' }, shown(pack.note)) : null),
    h('div', { class: 'columns more' },
      h('section', {}, h('h2', {}, 'Chosen, best first'), h('ol', { class: 'rows' }, pack.symbols.map((one) => {
        const source = sources.get(one.id);
        return h('li', {}, h('div', { class: 'row' }, kindMark(one.kind), symbolLink(one.id, { line: source?.line }), h('span', { class: 'muted' }, source ? FORMS.find(([form]) => form === source.form)?.[1] ?? source.form : 'by name'), score(one)),
          h('div', { class: 'path', 'data-reason': one.id }),
          source ? h('details', {}, h('summary', { class: 'path' }, source.text.includes('\n') ? `${number(source.text.split('\n').length)} lines` : 'One line'), h('pre', { class: 'command', tabindex: '0' }, shown(source.text))) : null);
      }))),
      h('div', { class: 'side' },
        h('section', {}, h('h2', {}, 'What just missed it'), h('div', { 'data-missed': '' }, loading('Asking with more'))),
        (pack.edges ?? []).length ? h('section', {}, h('h2', {}, 'Edges that are sent', h('span', { class: 'count' }, number(pack.edges.length))), h('ol', { class: 'rows' }, pack.edges.slice(0, 40).map((edge) => h('li', {},
          h('div', { class: 'row' }, symbolLink(edge.from, { path: false }), h('span', { class: 'muted' }, edge.kind), symbolLink(edge.to, { path: false })))))) : null)));
}
