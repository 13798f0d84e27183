//! What JavaScript code says, construct by construct.

use crate::common::check;
use expect_test::expect;

#[test]
fn modules_of_both_kinds() {
    check(
        "javascript",
        r##"
import def, { a as b, default as c } from './lib';
import * as ns from 'pkg';
import './effect';
const fs = require('fs');
const { join, resolve: res } = require('path');
const deep = require('./x').y;
import('./lazy').then(m => m.go());
export const one = 1, two = b();
export default function main() { c(); ns.go(); fs.read(); join(res()); deep(); }
export { one as uno };
export * from './all';
export * as everything from './all';
export { x as y } from './other';
"##,
        expect![[r#"
            import Default ./lib member default as def @2:7
            import Member ./lib member a as b @2:14
            import Default ./lib member default as c @2:22
            import Module pkg as ns @3:12
            import Effect ./effect @4:0
            import Module fs as fs @5:6
            import Member path member join as join @6:8
            import Member path member resolve as res @6:14
            import Effect ./x @7:13
            import Effect ./lazy @8:0
            import Wildcard ./all reexported @12:0
            import Module ./all reexported @13:7
            import Member ./other member x reexported @14:9
            constant deep Private @7-7 "const deep = require('./x').y"
            lambda <lambda1> @8-8 "m" (m)
            constant one exported @9-9 "one = 1"
            constant two exported @9-9 "two = b()"
            function main exported default @10-10 "function main()"
            export one = def one
            export two = def two
            export default = def main
            export uno = one
            export * from ./all
            export everything from ./all
            export y from ./other
            flow deep <- module "./x".y
            return <lambda1> <- parameter m.go()
            flow one <- number
            flow two <- import b()
            read module "./x".y @7:28
            call module "./lazy".then /1 @8:17
            call parameter m.go in <lambda1> @8:29
            call import b @9:28
            call import c in main @10:33
            read import ns in main @10:38
            call import ns.go in main @10:41
            read import fs in main @10:47
            call import fs.read in main @10:50
            call import join /1 in main @10:58
            call import res in main @10:63
            call deep in main @10:71
            read one @11:9
        "#]],
    );
}

#[test]
fn common_exports() {
    check(
        "javascript",
        r##"
exports.foo = function foo2(a) { return a; };
exports.bar = bar;
function bar() {}
module.exports.baz = () => bar();
module.exports = { foo, bar, qux() { return 1; }, k: bar };
"##,
        expect![[r#"
            function foo exported @2-2 "exports.foo = function foo2(a) { return a; }" (a)
            function bar exported @4-4 "function bar()"
            function baz exported @5-5 "module.exports.baz = () => bar()"
            method qux exported @6-6 "qux()"
            export foo = def foo
            export bar = bar
            export baz = def baz
            export = = {"foo": free foo, "bar": bar, "qux": def qux, "k": bar}
            export foo = free foo
            export bar = bar
            export qux = def qux
            export k = bar
            return foo <- parameter a
            flow free exports.foo <- def foo
            flow free exports.bar <- bar
            return baz <- bar()
            flow free module.exports.baz <- def baz
            return qux <- number
            flow free module.exports <- {"foo": free foo, "bar": bar, "qux": def qux, "k": bar}
            read free exports @2:0
            read free exports @3:0
            write free exports.bar @3:8
            read bar @3:14
            read free module @5:0
            read free module.exports @5:7
            call bar in baz @5:27
            read free module @6:0
            write free module.exports @6:7
            read free foo @6:19
            read bar @6:24
            read bar @6:53
        "#]],
    );
}

#[test]
fn classes() {
    check(
        "javascript",
        r##"
/** A foo. Yes. */
class Foo extends ns.Base {
  static count = 0;
  #secret = new Map();
  handler = () => { this.run(); };
  constructor(opts) { super(opts); this.opts = opts; this.opts = null; }
  get size() { return this.#secret.size; }
  async *run() { yield* this.items(); await other(); super.run(); }
  static create() { return new this(); }
}
const Anonymous = class extends Foo {};
"##,
        expect![[r##"
            class Foo @3-11 "class Foo extends ns.Base" extends free ns.Base doc "A foo."
            field Foo.count static @4-4 "static count = 0"
            field Foo.#secret Private @5-5 "#secret = new Map()"
            method Foo.handler @6-6 "handler = () => { this.run(); }"
            constructor Foo.constructor @7-7 "constructor(opts)" (opts)
            field Foo.opts @7-7 "this.opts = opts"
            property Foo.size getter @8-8 "get size()"
            method Foo.run async generator @9-9 "async *run()"
            method Foo.create static @10-10 "static create()"
            class Anonymous @12-12 "const Anonymous = class extends Foo" extends Foo
            flow this.count <- number
            flow this.#secret <- new free Map()
            flow this.opts <- parameter opts
            flow this.opts <- null
            return Foo.size <- this.#secret.size
            yield Foo.run <- element(this.items())
            return Foo.create <- new this()
            type free ns in Foo @3:18
            inherit free ns.Base in Foo @3:21
            instantiate free Map in Foo.#secret @5:16
            call this.run in Foo.handler @6:25
            call super /1 in Foo.constructor @7:22
            write this.opts in Foo.constructor @7:40
            write this.opts in Foo.constructor @7:58
            read this.#secret in Foo.size @8:27
            read this.#secret.size in Foo.size @8:35
            call this.items in Foo.run @9:29
            call free other in Foo.run @9:44
            call super.run in Foo.run @9:59
            instantiate this in Foo.create @10:31
            inherit Foo in Anonymous @12:32
        "##]],
    );
}

#[test]
fn objects_and_prototypes() {
    check(
        "javascript",
        r##"
const api = {
  get(url) { return fetch(url); },
  post: async function (url) {},
  nested: { deep() {} },
  value: 3, other,
};
function Old(name) { this.name = name; var self = this; later(function () { self.go(); }); }
Old.prototype.go = function () { return this.name; };
Old.create = (n) => new Old(n);
Object.assign(Old.prototype, { stop() {} });
function New() {}
New.prototype = Object.create(Old.prototype);
util.inherits(New, Old);
api.get(1); api['post'](2);
"##,
        expect![[r#"
            constant api @2-7 "const api = {"
            method api.get @3-3 "get(url)" (url)
            method api.post async @4-4 "async function (url)" (url)
            field api.nested @5-5 "nested: { deep() {} }"
            method api.nested.deep @5-5 "deep()"
            function Old @8-8 "function Old(name)" (name)
            field Old.name @8-8 "this.name = name"
            lambda Old.<lambda1> @8-8 "function ()"
            method go of Old @9-9 "Old.prototype.go = function () { return this.name; }"
            method create of Old @10-10 "Old.create = (n) => new Old(n)" (n)
            method stop of Old @11-11 "stop()"
            function New @12-12 "function New()" extends Old extends Old
            return api.get <- free fetch(parameter url)
            flow api <- {"get": def api.get, "post": def api.post, "nested": {"deep": def api.nested.deep}, "value": number, "other": free other}
            flow this.name <- parameter name
            flow local self <- this
            return go <- this.name
            flow Old.prototype.go <- def go
            return create <- new Old(parameter n)
            flow Old.create <- def create
            flow Old.prototype.__proto__ <- {"stop": def stop}
            flow New.prototype <- {"__proto__": Old.prototype}
            call free fetch /1 in api.get @3:20
            read free other @6:12
            write this.name in Old @8:26
            call free later /1 in Old @8:56
            call local self.go in Old.<lambda1> @8:81
            read Old @9:0
            read Old.prototype @9:4
            read this.name in go @9:45
            read Old @10:0
            instantiate Old /1 in create @10:24
            read free Object @11:0
            call free Object.assign /2 @11:7
            read Old @11:14
            read Old.prototype @11:18
            read New @13:0
            write New.prototype @13:4
            read free Object @13:16
            call free Object.create /1 @13:23
            inherit Old @13:30
            read Old @13:30
            read Old.prototype @13:34
            read free util @14:0
            call free util.inherits /2 @14:5
            read New @14:14
            inherit Old @14:19
            read Old @14:19
            read api @15:0
            call api.get /1 @15:4
            read api @15:12
            call api[post] /1 @15:12
        "#]],
    );
}

#[test]
fn destructuring_and_scopes() {
    check(
        "javascript",
        r##"
let [, second, ...others] = list();
const { p, q: { r = def() }, ...rest } = api;
function f({ a, b: [c] }, d = g, ...e) { a(c); d(e); }
for (const item of others) { item.call(); var leaked = item; }
for (let key in rest) key();
if (second) { let inner = () => second(); inner(); function hoisted() {} }
hoisted(); leaked();
try { f(); } catch ({ message }) { message(); }
x = y || z; x ??= w();
const pick = p ? f : r;
"##,
        expect![[r#"
            variable second @2-2 "let [, second, ...others] = list()"
            variable others @2-2 "let [, second, ...others] = list()"
            constant p @3-3 "const { p, q: { r = def() }, ...rest } = api"
            constant r @3-3 "const { p, q: { r = def() }, ...rest } = api"
            constant rest @3-3 "const { p, q: { r = def() }, ...rest } = api"
            function f @4-4 "function f({ a, b: [c] }, d = g, ...e)" (, d = g, *e)
            variable leaked @5-5 "var leaked = item"
            function inner @7-7 "let inner = ()"
            function hoisted @7-7 "function hoisted()"
            constant pick @11-11 "const pick = p ? f : r"
            flow second <- item(free list(), 1)
            flow others <- [*=free list()]
            flow p <- free api.p
            flow r <- any(free api.q.r, free def())
            flow rest <- free api
            flow local a <- parameter .a
            flow local c <- item(parameter .b, 0)
            flow maybe parameter d <- free g
            flow maybe local item <- element(others)
            flow maybe leaked <- local item
            return inner <- second()
            flow free x <- any(free y, free z)
            flow maybe free x <- free w()
            flow pick <- any(f, r)
            call free list @2:28
            call free def @3:20
            read free api @3:41
            read free g in f @4:30
            call local a /1 in f @4:41
            call parameter d /1 in f @4:47
            read others @5:19
            implicit others.Symbol.iterator @5:19
            implicit any(others.Symbol.iterator(), others).next @5:19
            call local item.call @5:34
            read rest @6:16
            call local key @6:22
            read second @7:4
            call second in inner @7:32
            call inner @7:42
            call hoisted @8:0
            call leaked @8:11
            call f @9:6
            call local message @9:35
            write free x @10:0
            read free y @10:4
            read free z @10:9
            read free x @10:12
            write free x @10:12
            call free w @10:18
            read p @11:13
            read f @11:17
            read r @11:21
        "#]],
    );
}

#[test]
fn callbacks_and_jsx() {
    check(
        "javascript",
        r##"
(function () { f(1); })();
promise.then(r => r.json()).catch(console.error);
handlers['x'](1)(2);
tag`text ${value()}`;
const El = () => <Foo.Bar onClick={f} x="1"><Old a={b()}/><div/></Foo.Bar>;
describe('group', () => { it('works', async () => { expect(f(1)).toBe(2); }); });
"##,
        expect![[r#"
            lambda <lambda1> @2-2 "function ()"
            lambda <lambda2> @3-3 "r" (r)
            function El @6-6 "const El = ()"
            section group @7-7 "describe('group', () => { it('works', async () => { expect(f(1)).toBe(2); }); })"
            function group.works async test @7-7 "it('works', async () => { expect(f(1)).toBe(2); })"
            return <lambda2> <- parameter r.json()
            call def <lambda1> @2:0
            call free f /1 in <lambda1> @2:15
            read free promise @3:0
            call free promise.then /1 @3:8
            call parameter r.json in <lambda2> @3:20
            call free promise.then(def <lambda2>).catch /1 @3:28
            read free console @3:34
            read free console.error @3:42
            read free handlers @4:0
            call free handlers[x] /1 @4:0
            call free handlers[x](number) /1 @4:0
            call free tag /2 @5:0
            call free value @5:11
            read free Foo in El @6:18
            call free Foo.Bar /1 in El @6:22
            read free f in El @6:35
            call free Old /1 in El @6:45
            call free b in El @6:52
            call free describe /2 @7:0
            call free it /2 in group @7:26
            call free expect /1 in group.works @7:52
            call free f /1 in group.works @7:59
            call free expect(free f(number)).toBe /1 in group.works @7:65
        "#]],
    );
}
