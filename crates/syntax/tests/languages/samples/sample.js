import def, { a as b, c } from './lib';
import * as ns from 'pkg';
import './effect';
const fs = require('fs');
const { join, resolve: res } = require('path');
/** Adds numbers. Really. */
export const add = (x, y = 1, ...rest) => x + helper(y);
export default class Foo extends ns.Base {
  static count = 0;
  #secret = new Map();
  handler = () => { this.run(); };
  constructor(opts) { super(opts); this.opts = opts; this.cb = opts.cb; }
  get size() { return this.#secret.size; }
  async *run() { yield* this.items(); await b(); }
}
const api = {
  get(url) { return fetch(url); },
  post: async function (url) {},
  nested: { deep() {} },
  value: 3, add,
};
function Old(name) { this.name = name; var self = this; setTimeout(function () { self.go(); }); }
Old.prototype.go = function () { return this.name; };
Old.create = (n) => new Old(n);
Object.assign(Old.prototype, { stop() {} });
New.prototype = Object.create(Old.prototype);
function New() {}
util.inherits(New, Old);
let [, second, ...others] = list();
const { p, q: { r = def() }, ...restProps } = api;
for (const item of others) { item.call(); }
if (second) { let inner = () => second(); inner(); }
(function () { add(1); })();
import('./lazy').then(m => m.go());
handlers['x'](1);
const El = () => <Foo.Bar onClick={add} x="1"><Old a={b}/><div/></Foo.Bar>;
describe('group', () => { it('works', async () => { expect(add(1)).toBe(2); }); });
export { api, Old as Legacy };
export * from './all';
export { x as y } from './other';
fetch('/u').then(r => r.json()).catch(console.error);
switch (second) { case 1: { add(); } }
exports.foo = function foo2(a) { return a; };
exports.bar = bar;
function bar() {}
module.exports.baz = () => bar();
module.exports = { foo, bar, qux() { return 1; }, k: bar };
