import type { T1 } from './types';
import fs = require('fs');
/** Shape. */
export interface Shape<T extends object = {}> extends Base<T>, Other { readonly area: number; draw(ctx: Ctx): void; nested: { a: string } }
export abstract class Impl<K> extends Parent<K> implements Shape<K>, N.Other {
  private readonly map: Map<string, Foo[]> = new Map();
  protected abstract work(): Promise<K>;
  constructor(private svc: Service, public readonly name?: string) { super(); }
  static make(x: number): Impl<any>;
  static make(x: any) { return x as Impl<any>; }
  @Input() title: string;
  @HostListener('click', ['$event'])
  onClick(this: Impl<K>, e: MouseEvent | null): asserts e is MouseEvent { this.svc.go(e!); }
}
export enum Color { Red, Green = 'g' }
export type Alias = { x: Foo; f: (a: Bar) => Baz } | Shape<string>;
declare function ext(a: string): void;
declare module 'foo' { export function inner(): void; }
namespace NS.Sub { export const v = 1; export function f() {} }
function over(a: string): string;
function over(a: any) { return a; }
const x: Foo = <Foo>y;
export = over;
let fn: typeof over = over;
@Component({ selector: 'a' })
export class Cmp {}
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
