// What every walk through a page in Chromium needs: the browser, what went wrong in it, and a look at a view.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const expected = JSON.parse(process.argv[2]);
const tools = process.env.LACON_TOOLS;
const { chromium } = await import(pathToFileURL(join(tools, 'playwright-core/index.mjs')));
const axe = readFileSync(join(tools, 'axe-core/axe.min.js'), 'utf8');
const program = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => process.env.PATH.split(':').map((folder) => join(folder, name))).find(existsSync);
export const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const context = await browser.newContext({ viewport: { width: 1200, height: 780 } });
export const page = await context.newPage();
page.setDefaultTimeout(30000);

const problems = [];
let listens = true;
page.on('console', (message) => { if (listens && message.type() === 'error') problems.push(`console: ${message.text()}`); });
page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
page.on('dialog', (dialog) => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
page.on('request', (request) => { if (new URL(request.url()).host !== new URL(expected.open).host) problems.push(`asked ${request.url()}`); });

/** From here on the console may complain: what is asked for is not there. */
export function expectRefusals() {
  listens = false;
}

/** Ends the walk; whatever went wrong on the way is an error now. */
export async function end() {
  await browser.close();
  assert.deepEqual(problems, []);
}

export const ids = (selector) => page.$$eval(selector, (links) => links.map((link) => link.dataset.id));
export const has = (selector, text) => page.locator(selector, text ? { hasText: text } : {}).first().waitFor();
export const at = (address) => page.waitForFunction((path) => decodeURIComponent(location.pathname + location.search).startsWith(path), address);
export const go = (address) => page.goto(new URL(address, expected.open).href);
export const settled = () => page.waitForFunction(() => !document.querySelector('.loading'));
export const sorted = (list) => [...new Set(list)].sort();

/** Looks at a view in both schemes: nothing is wider than the window, nothing ran, and nobody is kept out. The guide has a picture of some. */
export async function look(name, { picture = false } = {}) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] }));
    const serious = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
    assert.deepEqual(serious.map((one) => `${name} ${colorScheme}: ${one.id}: ${one.nodes[0].html} ${one.nodes[0].failureSummary}`), []);
    if (expected.screenshots && picture) await page.screenshot({ path: join(expected.screenshots, `${name}-${colorScheme}.jpg`), type: 'jpeg', quality: 60 });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await page.evaluate(() => window.hacked), undefined, `${name}: something ran`);
}
