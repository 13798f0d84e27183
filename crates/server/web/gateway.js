// The gateway: its upstreams and sessions, calls as they pass, where a task leads, the catalog, and what a call would be told. Nothing here
// calls a tool.

import { fresh, get, post, state } from '/assets/api.js';
import { bytes, empty, encoded, failure, h, loading, number, put, section, shown } from '/assets/dom.js';
import { go } from '/assets/main.js';

const MOST_CALLS = 200;
const MOST_LISTED = 300;
const STATES = { ready: 'good', connecting: 'note', pausing: 'note', down: 'broken', stopped: 'broken' };

const cell = (value, style) => h('td', { class: style ?? 'n' }, value);
const milliseconds = (value) => (value === undefined ? '–' : `${value < 10 ? value.toFixed(1) : number(value)} ms`);
const table = (title, heads, body) => h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title },
  h('table', {}, h('thead', {}, h('tr', {}, heads.map(([name, isNumber]) => h('th', { class: isNumber ? 'n' : null, scope: 'col' }, name)))), body));

/** Calls pass all the time; what is made of the catalog is drawn anew only when that is another. */
function whenNew(show) {
  let drawn = state.index?.gateway?.generation;
  return () => {
    if (state.index?.gateway?.generation === drawn) return;
    drawn = state.index?.gateway?.generation;
    show();
  };
}

/** Upstreams, sessions, and the calls as they pass. */
export function drawGateway({ root, signal }) {
  const top = h('div', {}, loading('Looking at the gateway'));
  const list = h('tbody', {});
  const none = h('div', {});
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Gateway')), top,
    section('Calls as they pass', null, none, table('Calls', [['When'], ['Called'], ['About'], ['Upstream'], ['Outcome'], ['Took', true], ['Sent', true], ['What the firewall did']], list)));
  let last = 0;
  let asking = false;
  async function show() {
    if (asking) return;
    asking = true;
    try {
      const [seen, passed] = await Promise.all([fresh('gateway', { signal }), fresh(`gateway/calls?after=${last}`, { signal })]);
      if (signal.aborted) return;
      put(top, upstreams(seen), sessions(seen));
      // After a new start of the server numbers begin anew.
      if (seen.calls < last) { last = 0; put(list); return; }
      for (const call of passed.calls) { last = call.number; list.prepend(row(call)); }
      while (list.childElementCount > MOST_CALLS) list.lastElementChild.remove();
      put(none, list.childElementCount ? null : h('p', { class: 'muted' }, 'None yet. They appear here while agents call.'));
    } catch (error) {
      if (error.name !== 'AbortError' && !signal.aborted) put(top, failure(error, show));
    } finally {
      asking = false;
    }
  }
  show();
  return { refresh: show };
}

function upstreams(seen) {
  if (!seen.upstreams.length) return empty('No upstream is configured', h('p', {}, 'The configuration names them: ', h('code', {}, '[upstreams.name]'), '.'));
  return section('Upstreams', seen.upstreams.length, table('Upstreams', [['Upstream'], ['State'], ['Tools', true], ['Resources', true], ['Prompts', true], ['Requests', true], ['Unanswered', true], ['Median', true], ['Slowest 5 %', true], ['Protocol']],
    h('tbody', {}, seen.upstreams.map((one) => h('tr', {}, h('th', { scope: 'row', class: 'name' }, shown(one.name), one.required ? h('span', { class: 'muted' }, ' required') : null),
      cell([h('span', { class: `health ${STATES[one.state] ?? 'note'}` }, one.state), one.reason ? h('div', { class: 'path' }, shown(one.reason)) : null], 'state'),
      cell(number(one.tools)), cell(number(one.resources)), cell(number(one.prompts)), cell(number(one.calls)), cell(number(one.failures)),
      cell(milliseconds(one.median_ms)), cell(milliseconds(one.slow_ms)), cell(one.protocol ?? '', 'path'))))));
}

function sessions(seen) {
  const limits = (one) => one.limits.map((limit) => h('div', { class: 'path' }, `${limit.scope}: ${number(limit.used)} of ${number(limit.most)}`));
  const kept = (one) => {
    const all = one.artifacts.reduce((sum, artifact) => sum + artifact.bytes, 0);
    return one.artifacts.length ? [`${number(one.artifacts.length)}, ${bytes(all)}`, h('div', { class: 'path' }, [...new Set(one.artifacts.map((artifact) => shown(artifact.media_type)))].join(', '))] : '–';
  };
  return section('Sessions', seen.sessions.length, seen.sessions.length
    ? table('Sessions', [['Session'], ['Principal'], ['Age', true], ['Silent for', true], ['Kept aside'], ['Limits']], h('tbody', {}, seen.sessions.map((one) => h('tr', {},
      h('th', { scope: 'row' }, String(one.id)), cell(shown(one.principal) || 'nobody in particular', 'path'), cell(`${number(one.age_seconds)} s`), cell(`${number(one.idle_seconds)} s`),
      cell(kept(one), ''), cell(one.limits.length ? limits(one) : 'none', '')))))
    : h('p', { class: 'muted' }, 'No client is connected'));
}

const OUTCOMES = { answered: ['good', 'answered'], failed: ['broken', 'upstream failed'], refused: ['broken', 'refused'], asked: ['note', 'asked the user'] };

function row(call) {
  const [style, word] = OUTCOMES[call.outcome] ?? ['note', call.outcome];
  const did = [
    call.kept_aside ? `kept ${number(call.kept_aside)} aside, ${bytes(call.kept_bytes)}` : null,
    call.masked ? `masked ${number(call.masked)}` : null,
    call.repaired ? `set ${number(call.repaired)} arguments right` : null,
    call.cached ? 'answered from before' : null,
  ].filter(Boolean);
  const time = new Date(call.at);
  return h('tr', { 'data-call': call.number }, h('td', { class: 'path', title: time.toISOString() }, time.toTimeString().slice(0, 8)), cell(shown(call.tool), 'name'),
    cell(shown(call.about), 'name'), cell(shown(call.upstream), 'path'), cell([h('span', { class: `health ${style}` }, word), call.error ? h('div', { class: 'path' }, call.error) : null], 'state'),
    cell(milliseconds(call.milliseconds)), cell(bytes(call.sent_bytes)), cell(did.join(', ') || (call.upstream && !call.error ? 'passed as it came' : '–'), 'path'));
}

/** The routing bench: a task, the cards that an agent would see, and why. */
export function drawRouting({ root, signal, title }) {
  const box = h('div', {});
  const field = h('input', { type: 'text', id: 'route', autocomplete: 'off', spellcheck: 'false', placeholder: 'Create an issue in the repository' });
  const submit = (event) => { event?.preventDefault(); go(`/routing${field.value.trim() ? `?task=${encodeURIComponent(field.value.trim())}` : ''}`); };
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Routing'), h('span', { class: 'muted' }, 'What tool_browse gives for a task, and why')),
    h('form', { class: 'ask', onsubmit: submit }, h('div', {}, h('label', { for: 'route' }, 'A task'), field), h('button', { type: 'submit', class: 'main' }, 'Route it')), box);
  async function show() {
    const task = (new URLSearchParams(location.search).get('task') ?? '').trim();
    if (document.activeElement !== field) field.value = task;
    title(task ? `${task} – routing` : 'Routing');
    if (!task) return void put(box, empty('Say what an agent has to do', h('p', {}, 'The words of an agent, as it would browse with them.')));
    put(box, loading('Asking the catalog'));
    try {
      const found = await get('gateway/route', { task, top_k: 20 }, signal);
      if (signal.aborted) return;
      put(box, h('p', { class: 'muted' }, `${number(found.tools.length)} of ${number(found.total)} tools that match at all`),
        found.tools.length ? h('ol', { class: 'rows' }, found.tools.map(routed)) : empty('No tool matches', h('p', {}, 'An agent would be told so, and which upstreams have not told their tools yet.')));
    } catch (error) {
      if (error.name !== 'AbortError' && !signal.aborted) put(box, failure(error, show));
    }
  }
  show();
  return { follow() { show(); return true; }, refresh: whenNew(show) };
}

function routed(one) {
  const because = Object.entries(one.because).map(([word, where]) => `“${shown(word)}” in ${where.join(', ')}`);
  return h('li', {}, h('div', { class: 'row' }, h('a', { class: 'name', href: `/catalog/${encodeURIComponent(one.id)}`, 'data-id': one.id }, shown(one.id)), h('span', { class: 'path' }, shown(one.server)),
    h('span', { class: 'tier', title: 'Score' }, one.score.toFixed(3))), h('span', { class: 'said' }, shown(one.card.split('\t').slice(1).join('  '))),
  h('div', { class: 'path' }, because.join('; ') || 'by related words, or by meaning'));
}

/** Every tool that sessions reach. */
export function drawCatalog({ root, signal }) {
  const box = h('div', {}, loading('Reading the catalog'));
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Catalog')), box);
  async function show() {
    try {
      const found = await get('gateway/tools', {}, signal);
      if (!signal.aborted) fill(box, found);
    } catch (error) {
      if (error.name !== 'AbortError' && !signal.aborted) put(box, failure(error, show));
    }
  }
  show();
  return { refresh: whenNew(show) };
}

function fill(box, { tools, total, preview }) {
  const figure = (value, name) => h('div', { class: 'figure' }, h('b', {}, value), h('span', {}, name));
  const list = h('tbody', {});
  const count = h('p', { class: 'muted', role: 'status' });
  const field = h('input', { type: 'search', id: 'filter', autocomplete: 'off', spellcheck: 'false', oninput: () => narrow() });
  const narrow = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = tools.filter((tool) => { const text = `${tool.id} ${tool.description} ${tool.server} ${tool.tags.join(' ')}`.toLowerCase(); return words.every((word) => text.includes(word)); });
    put(list, fits.slice(0, MOST_LISTED).map((tool) => h('tr', {}, h('th', { scope: 'row' }, h('a', { class: 'name', href: `/catalog/${encodeURIComponent(tool.id)}`, 'data-id': tool.id }, shown(tool.id))), cell(shown(tool.server), 'path'),
      cell(shown(tool.description), ''), cell([tool.safety ? `${tool.safety.replace('_', '-')} ` : '', tool.approval ? 'asks first' : ''], 'path'), cell(number(tool.card_tokens)))));
    count.textContent = fits.length > MOST_LISTED ? `The first ${number(MOST_LISTED)} of ${number(fits.length)}` : `${number(fits.length)} of ${number(total)} tools`;
  };
  put(box, h('div', { class: 'figures' }, figure(number(preview.listed), 'tools that an agent sees'), figure(number(preview.listed_tokens), 'tokens for them'), figure(number(preview.reachable), 'tools that it reaches'),
    figure(number(preview.direct_tokens), 'tokens if all were listed'), figure(preview.card_tokens.toFixed(1), 'tokens of a card'), figure(number(preview.resources), 'resources'), figure(number(preview.prompts), 'prompts')),
  h('label', { for: 'filter' }, 'Narrow down'), field, count,
  table('Catalog', [['Tool'], ['Upstream'], ['What the card says'], ['Care'], ['Tokens', true]], list),
  preview.problems.length ? section('Set right or left out', preview.problems.length, h('ol', { class: 'rows' }, preview.problems.slice(0, 100).map((problem) => h('li', { class: 'path' }, shown(problem))))) : null);
  narrow();
}

/** One tool: its definition, and a form that says what a call would be told. */
export function drawTool({ root, rest: id, signal, title }) {
  title(id);
  const box = h('div', {}, loading('Reading the definition'));
  root.append(h('div', { class: 'head' }, h('h1', { class: 'mono' }, shown(id))), box);
  async function show() {
    try {
      const found = await get(`gateway/tool/${encodeURIComponent(id)}`, {}, signal);
      if (signal.aborted) return;
      put(box, found.description ? h('p', { class: 'prose' }, shown(found.description)) : null, h('div', { class: 'columns' }, tryOut(id, found.inputSchema ?? {}, signal),
        section('Definition', null, h('pre', { class: 'output panel', tabindex: '0' }, shown(JSON.stringify(found, null, 1))))));
    } catch (error) {
      if (error.name !== 'AbortError' && !signal.aborted) put(box, failure(error, show), h('p', { class: 'more' }, h('a', { href: '/catalog' }, 'All tools')));
    }
  }
  show();
  return { refresh: whenNew(show) };
}

/** A form made from a schema. What it cannot make a field of is written as JSON. */
function tryOut(id, schema, signal) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, what], at) => {
    const kind = Array.isArray(what?.type) ? what.type.find((one) => one !== 'null') : what?.type;
    const own = `arg-${at}`;
    const options = Array.isArray(what?.enum) && what.enum.every((one) => typeof one === 'string') ? what.enum : kind === 'boolean' ? ['true', 'false'] : null;
    const isText = kind === 'string' || Boolean(options);
    const field = options ? h('select', { id: own }, h('option', { value: '' }, ''), options.map((one) => h('option', { value: one }, shown(one))))
      : kind === 'object' || kind === 'array' || !kind ? h('textarea', { id: own, rows: '2', spellcheck: 'false', placeholder: 'JSON' })
        : h('input', { id: own, type: 'text', autocomplete: 'off', spellcheck: 'false', placeholder: what?.default === undefined ? '' : shown(JSON.stringify(what.default)) });
    const value = () => {
      const text = field.value;
      if (!text.trim() && !(isText && text)) return undefined;
      if (kind === 'boolean') return text === 'true';
      if (isText) return text;
      try { return JSON.parse(text); } catch { return text; }
    };
    return { name, value, content: h('div', {}, h('label', { for: own }, h('span', { class: 'name' }, shown(name)), h('span', { class: 'muted' }, ` ${kind ?? 'any'}${required.has(name) ? ', required' : ''}`)), field,
      what?.description ? h('div', { class: 'path' }, shown(what.description)) : null) };
  });
  const said = h('div', { role: 'status', class: 'more' });
  const ask = async (event) => {
    event.preventDefault();
    const args = Object.fromEntries(fields.map((field) => [field.name, field.value()]).filter(([, value]) => value !== undefined));
    put(said, loading('Checking'));
    try {
      const found = await post(`gateway/try/${encodeURIComponent(id)}`, args, signal);
      if (signal.aborted) return;
      put(said, h('h2', {}, found.checks.some((check) => check.status === 'required') ? 'It would be sent after the user agrees' : 'It would be sent'),
        h('p', { class: 'muted' }, found.repairs.length ? `Set right: ${found.repairs.map((repair) => `${shown(repair.path)} (${shown(repair.rule)})`).join(', ')}. This would leave:` : 'This would leave:'),
        h('pre', { class: 'output panel', tabindex: '0' }, shown(JSON.stringify(found.arguments, null, 1))));
    } catch (error) {
      if (error.name !== 'AbortError' && !signal.aborted) put(said, failure(Object.assign(error, { code: error.code === 'invalid_argument' ? 'would_be_refused' : error.code })), error.detail ? h('pre', { class: 'output panel', tabindex: '0' }, shown(error.detail)) : null);
    }
  };
  return section('Try the arguments', null, h('p', { class: 'muted' }, 'Says what the gateway would say before anything leaves: the schema, what is set right, the policy. The tool is not called.'),
    h('form', { class: 'try', onsubmit: ask }, fields.map((field) => field.content), fields.length ? null : h('p', { class: 'muted' }, 'It takes no arguments.'), h('button', { type: 'submit', class: 'main' }, 'Check')), said);
}

/** Whether this page is about a gateway. */
export function isGateway() {
  return Boolean(state.index?.gateway);
}
