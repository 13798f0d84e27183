// Walks a real repository as somebody would who looks for a thing: search, symbol, graph, map, pack, index, savings. What is shown is what the
// command line said.

import assert from 'node:assert/strict';
import { end, expected, go, has, ids, look, page, settled, sorted } from './browser.mjs';

const { symbols, usages, callers, needs, pack, status } = expected;
const first = symbols.results[0].id;

await page.goto(expected.open);
await has('#state', 'symbols');
await has('h2', 'Most imported');
await look('start', { picture: true });

await page.keyboard.press('/');
await page.keyboard.type(expected.query);
await page.waitForFunction((id) => document.querySelector('.rows a.name')?.dataset.id === id, first);
await settled();
assert.deepEqual(await ids('section:has(h2:text("Symbols")) .rows a.name'), symbols.results.slice(0, 12).map((one) => one.id));
await look('find', { picture: true });

await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await has('.side h2', 'Used by');
await settled();
const more = page.locator('section:has(h2:text("Used by")) button.more');
if (await more.count()) await more.click();
assert.deepEqual(sorted(await ids('section:has(h2:text("Used by")) a[data-id]')), sorted(usages.usages.filter((use) => use.edge_kind !== 'tests').map((use) => use.from)));
await look('symbol', { picture: true });

await page.click('text=In the graph');
const around = sorted([...callers.nodes, ...needs.nodes].map((node) => node.id));
await page.waitForFunction((count) => document.querySelector('.stage')?.dataset.nodes === String(count), around.length);
await page.waitForFunction(() => document.querySelector('.stage').dataset.laidOut);
await look('graph', { picture: true });

await page.click('nav >> text=Map');
await has('.map a');
await look('map', { picture: true });

await go(`/pack?task=${encodeURIComponent(expected.task)}`);
await has('h2', 'Chosen, best first');
await settled();
assert.deepEqual(await ids('section:has(h2:text("Chosen")) .row a.name'), pack.symbols.map((one) => one.id));
await look('pack', { picture: true });

await page.click('nav >> text=Index');
await has('.figure b');
const figures = await page.$$eval('.figure b', (all) => all.map((one) => Number(one.textContent.replace(/\D/g, ''))));
assert.deepEqual(figures.slice(0, 4), [status.contents.files, status.contents.lines, status.contents.symbols, status.contents.edges]);
// Where it lies on this machine is nobody's business.
await page.$eval('main p.path', (place, root) => { place.textContent = place.textContent.replace(root, '~/lacon/crates'); }, expected.root);
await look('index', { picture: true });

await page.click('nav >> text=Savings');
await has('.empty', 'Nothing was counted yet');
await end();
