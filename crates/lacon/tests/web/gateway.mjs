// Watches a gateway in Chromium while calls pass, and compares what the page shows with what its client was answered and with what
// `lacon gateway check` says.

import assert from 'node:assert/strict';
import { end, expected, expectRefusals, has, ids, look, page, settled, sorted } from './browser.mjs';

const { upstreams: [upstream], preview } = expected.check;

/** One client of the gateway. */
let session = null;
async function send(message) {
  const headers = { authorization: `Bearer ${expected.token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (session) headers['mcp-session-id'] = session;
  const response = await fetch(expected.mcp, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  session ??= response.headers.get('mcp-session-id');
  const text = await response.text();
  const line = text.split('\n').filter((one) => one.startsWith('data:')).map((one) => one.slice(5).trim()).find((one) => one.startsWith('{'));
  return line || text.startsWith('{') ? JSON.parse(line ?? text) : null;
}
let count = 0;
const call = async (name, args) => (await send({ id: ++count, method: 'tools/call', params: { name, arguments: args } })).result;

// The door, and what there is before anybody calls.
await page.goto(expected.open);
await has('#state', 'upstreams ready');
await has('tr:has(th:text-is("shop")) .health', 'ready');
const figures = await page.$$eval('tr:has(th:text-is("shop")) td.n', (cells) => cells.map((one) => one.textContent));
assert.deepEqual(figures.slice(0, 3).map(Number), [upstream.tools, upstream.resources, upstream.prompts]);
await has('p', 'No client is connected');

// Calls appear while they pass.
await send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'walk', version: '1' } } });
await send({ method: 'notifications/initialized' });
const task = 'who calls a function';
const browsed = JSON.parse((await call('tool_browse', { query: task, top_k: 20, format: 'json' })).content[0].text);
const found = browsed.find((card) => card.id.includes('find')) ?? browsed[0];
await call('tool_execute', { tool_id: found.id, args: { query: 'cart' } });
await call('tool_execute', { tool_id: 'nobody:knows', args: { secret: 'AKIAQ3EXAMPLEKEYS7ZZ' } });
await has('tr[data-call="3"]', 'refused');
await has('tr[data-call="3"]', 'HYDRATE_FAILED');
await has('tr[data-call="2"]', found.id);
await has('tr[data-call="2"]', 'shop');
await has('tr[data-call="1"]', task);
await has('#state', '3 calls');
await has('tr:has(th:text-is("1"))', 'user');
assert.ok(!(await page.textContent('main')).includes('AKIA'), 'arguments are not shown');
await look('gateway', { picture: true });

// The routing bench gives the cards that the client got.
await page.click('nav >> text=Routing');
await page.fill('#route', task);
await page.click('button:text("Route it")');
await has('.rows a.name');
await settled();
assert.deepEqual(await ids('.rows a.name'), browsed.map((card) => card.id));
assert.deepEqual(await page.$$eval('.rows .tier', (all) => all.map((one) => Number(one.textContent))), browsed.map((card) => card.score));
await has('.rows .path', '“');
await look('routing', { picture: true });

// The catalog has what `lacon gateway check` counts.
await page.click('nav >> text=Catalog');
await has('.figure b');
const counted = await page.$$eval('.figure b', (all) => all.map((one) => Number(one.textContent.replace(/[^\d.]/g, ''))));
assert.deepEqual(counted, [preview.listed, preview.listed_tokens, preview.reachable, preview.direct_tokens, Number(preview.card_tokens.toFixed(1)), preview.resources, preview.prompts]);
assert.equal((await ids('tbody a.name')).length, upstream.tools);
await page.fill('#filter', 'symptom');
const narrowed = await ids('tbody a.name');
assert.ok(narrowed.length > 0 && narrowed.length < upstream.tools, String(narrowed));
await look('catalog', { picture: true });

// A tool: its arguments are checked, and nothing is called.
const before = await page.textContent('#state');
await page.goto(new URL(`/catalog/${encodeURIComponent(found.id)}`, expected.open).href);
await has('h1', found.id);
await page.fill('.try input, .try textarea', 'cart');
await page.click('button:text-is("Check")');
await has('h2', 'It would be sent');
await has('pre.output', '"cart"');
await look('tool', { picture: true });
expectRefusals();
await page.fill('.try input, .try textarea', '');
await page.click('button:text-is("Check")');
await has('.failure', 'It would be refused');
assert.equal(await page.textContent('#state'), before, 'nothing was called');
assert.deepEqual(sorted(await ids('[data-id]')), []);

// What is not there, and a server that goes away.
await page.goto(new URL('/catalog/nobody:knows', expected.open).href);
await has('.failure', 'There is no such tool');
process.kill(expected.server);
await has('#state.away', 'Server away');
await end();
