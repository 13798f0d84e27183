// Walks every view of the page in Chromium, with the keyboard where people would use it, and compares what it shows with what the
// command line said. Ends with an error at the first thing that differs.

import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, end, expected, expectRefusals, has, ids, look, page, settled, sorted } from './browser.mjs';

// The door: the code goes from the address, and lets in once.
await page.goto(expected.open);
await has('#state', 'symbols');
assert.ok(!page.url().includes('enter='), page.url());
await has('h2', 'Most imported');
await look('start');

// Find: the first that the command line names is the first here.
await page.keyboard.press('/');
await page.keyboard.type('checkout');
await has('section:has(h2:text("Symbols")) .rows a.name');
await page.waitForFunction((first) => document.querySelector('.rows a.name')?.dataset.id === first, expected.symbols.results[0].id);
await settled();
assert.deepEqual(await ids('section:has(h2:text("Symbols")) .rows a.name'), expected.symbols.results.slice(0, 12).map((one) => one.id));
await has('section:has(h2:text("Files")) a', 'shop/checkout.py');
await has('section:has(h2:text("Documents")) a', 'Checkout');
await look('find');
await page.focus('#query');
await page.keyboard.press('ArrowDown');
await page.keyboard.press('Enter');
await at(`/symbol/${expected.symbols.results[0].id}`);

// A symbol: its users are those that the command line names, and each name in its source leads on.
await page.goto(new URL('/symbol/shop/cart.py::Cart.total', expected.open).href);
await has('.prose', 'The sum of all lines.');
await page.click('.source code a:text("line_price")');
await at('/symbol/shop/cart.py::line_price');
await has('.side h2', 'Used by');
await page.waitForFunction(() => !document.querySelector('.side .loading'));
const users = expected.usages.usages.filter((use) => use.edge_kind !== 'tests').map((use) => use.from);
assert.deepEqual(sorted(await ids('section:has(h2:text("Used by")) a[data-id]')), sorted(users));
await has('section:has(h2:text("Used by")) .said', 'return [line_price(line) for line in cart.lines]');
await has('section:has(h2:text("Tests")) a', 'tests/test_checkout.py');
await has('section:has(h2:text("History")) li', 'The <b>shop</b> opens');
await look('symbol');
await page.goBack();
await at('/symbol/shop/cart.py::Cart.total');
await page.goForward();
await at('/symbol/shop/cart.py::line_price');

// The graph around it: what the two questions say together, and on from there with the list alone.
await page.click('text=In the graph');
const around = sorted([...expected.callers.nodes, ...expected.needs.nodes].map((node) => node.id));
await page.waitForFunction((count) => document.querySelector('.stage')?.dataset.nodes === String(count), around.length);
await page.waitForFunction(() => document.querySelector('.stage').dataset.laidOut);
await page.click('summary:has-text("nodes")');
await page.click('.filters .rows button:text-is("receipt")');
await has('.side h2', 'receipt');
await look('graph');
await page.click('.side button:text-is("Needs")');
await page.waitForFunction((count) => Number(document.querySelector('.stage').dataset.nodes) > count, around.length);
await page.goBack();
await page.waitForFunction((count) => document.querySelector('.stage')?.dataset.nodes === String(count), around.length);

// The map, down to a file.
await page.click('nav >> text=Map');
await has('.map a', 'shop/');
await look('map');
await page.click('.map a:has-text("shop/")');
await has('.map a', 'checkout.py');
await page.click('td a:text("checkout.py")');
await at('/file/shop/checkout.py');
await has('.source', 'def receipt');
await page.goto(new URL('/file/shop/checkout.py#L18', expected.open).href);
await has('li.here', 'def checkout');
await look('file', { picture: true });

// The pack is what the command line gives for the same task.
await page.click('nav >> text=Pack');
await page.fill('#task', 'pay for a cart');
await page.click('button:text("Show the pack")');
await has('h2', 'Chosen, best first');
assert.deepEqual(await ids('section:has(h2:text("Chosen")) .row a.name'), expected.pack.symbols.map((one) => one.id));
await settled();
await look('pack');
await page.selectOption('#format', 'gcx');
await has('pre.output', 'GCX1');

// The index says what `lacon status` says.
await page.click('nav >> text=Index');
await has('.figure b');
const figures = await page.$$eval('.figure b', (all) => all.map((one) => Number(one.textContent.replace(/\D/g, ''))));
const { contents } = expected.status;
assert.deepEqual(figures.slice(0, 4), [contents.files, contents.lines, contents.symbols, contents.edges]);
await has('.rows .health');
await look('index');

// Savings: nothing yet, and then what was counted.
await page.click('nav >> text=Savings');
await has('.empty', 'Nothing was counted yet');
const counted = [['get_callers', 420, 700, 5200], ['read', 300, 390, 900], ['get_callers', 200, 380, 4100]];
writeFileSync(join(expected.root, '.lacon/savings.jsonl'), counted.map(([tool, sent, json, files], day) => `${JSON.stringify({ at: 1790000000 + day * 86400, session: 'abcdef01', tool, sent, json, files })}\n`).join(''));
await page.reload();
await has('.figure', '920');
await has('tr', 'get_callers');
await look('savings', { picture: true });

// Files that try to be more than text.
for (const [address, text] of [
  ['/find?q=evil', 'evil_markup'], ['/symbol/evil/<img src=x onerror=hacked()>.py::evil_markup', '<script>window.hacked = 1</script>'],
  ['/file/evil/long.py', 'the rest of this line is left out'], ['/file/evil/direction.py', 'def evil_'], ['/map?path=evil', '<img src=x onerror=hacked()>.py'],
]) {
  await page.goto(new URL(address.split('/').map((part) => part.replace(/[<> ]/g, encodeURIComponent)).join('/'), expected.open).href);
  await has('main', text);
  await settled();
  const seen = await page.evaluate(() => document.querySelector('main').textContent);
  assert.ok(!/[\u001b\u202e]/.test(seen), `${address}: hidden characters are hidden`);
  await look(`hostile${address.length}`);
}

// What is not there: the page says so, and the way on works.
expectRefusals();
await page.goto(new URL('/nowhere', expected.open).href);
await has('.empty', 'There is nothing at this address');
await page.goto(new URL('/symbol/shop/cart.py::gone', expected.open).href);
await has('.failure', 'There is no such symbol any more');
await look('gone');

// An edit is seen without a hand on the page.
await page.goto(new URL('/file/shop/checkout.py', expected.open).href);
await has('.source', 'def receipt');
appendFileSync(join(expected.root, 'shop/checkout.py'), '\n\ndef refund(cart: Cart):\n    return -cart.total()\n');
await has('.source', 'def refund');
await has('.side a', 'refund');

// The server goes away, which is said.
process.kill(expected.server);
await has('#state.away', 'Server away');

await end();
