//! JavaScript and TypeScript: modules, values, prototypes, classes, promises.

calls! {
    named_default_and_namespace_imports: r#"
//- main.js
import def, { f as g, h } from './lib';
import * as ns from './lib.js';
def();
// <- =calls lib.js:main
g();
// <- =calls lib.js:f
h();
// <- calls lib.js:h
ns.f();
// ^ =calls lib.js:f
//- lib.js
export function f() {}
export const h = () => {};
export default function main() {}
"#;
    nothing_is_passed_for_a_declared_receiver: r#"
//- a.ts
class Sink { put(x: number) {} }
class Source {
    constructor(start?: (this: Source, sink: Sink) => void) {}
    put(x: number) {}
}
new Source((sink) => { sink.put(1); });
//  ^^^^^^ =calls a.ts:Source.constructor
//                          ^^^ calls a.ts:Sink.put
function each(this: Source, sink: Sink) { sink.put(2); }
//                                             ^^^ =calls a.ts:Sink.put
function hand(this: Source, f: () => void) { f(); }
//                                           ^ calls a.ts:work
function work() {}
hand(work);
// <- =calls a.ts:hand
"#;
    common_js: r#"
//- main.js
const lib = require('./lib');
const { f, g: renamed } = require('./lib');
const one = require('./one');
lib.f();
//  ^ calls lib.js:f
f();
// <- calls lib.js:f
renamed();
// <- calls lib.js:g
one();
// <- calls one.js:exports
//- lib.js
function f() {}
exports.g = function g() {};
exports.f = f;
//- one.js
module.exports = function () {};
"#;
    a_folder_is_what_its_manifest_says: r#"
//- package.json
{"name": "whole", "main": "whole.js", "types": "whole.d.ts"}
//- whole.js
module.exports = function whole() {};
//- whole.d.ts
export default function whole(): void;
//- part/index.js
module.exports = function part() {};
//- test/main.js
const whole = require('..');
const part = require('../part/');
const named = require('../whole');
const packaged = require('whole');
whole();
// <- calls whole.js:whole
part();
// <- calls part/index.js:part
named();
// <- calls whole.js:whole
packaged();
// <- calls whole.js:whole
"#;
    the_root_without_a_manifest_is_its_index: r#"
//- index.js
module.exports = function root() {};
//- test/main.js
require('..')();
// <- calls index.js:root
"#;
    names_of_the_own_package: r##"
//- package.json
{"name": "own", "imports": {"#lib/*": "./source/*.js", "#one": {"node": "./one.js"}}}
//- source/deep/f.js
export function f() {}
//- one.js
export const one = () => {};
//- main.js
import { f } from '#lib/deep/f';
import { one } from '#one';
f();
// <- calls source/deep/f.js:f
one();
// <- calls one.js:one
"##;
    exported_object: r#"
//- main.js
const { f } = require('./lib');
const lib = require('./lib');
f();
// <- calls lib.js:f
lib.g();
//  ^ calls lib.js:g
//- lib.js
function f() {}
function g() {}
module.exports = { f, g };
"#;
    reexports: r#"
//- main.ts
import { a, b, c } from './index';
a();
// <- calls a.ts:a
b();
// <- calls b.ts:b
c();
// <- calls b.ts:b
//- index.ts
export { a } from './a';
export * from './b';
export { b as c } from './b';
//- a.ts
export function a() {}
//- b.ts
export const b = () => {};
"#;
    external_packages_stay_external: r#"
//- main.js
import { useState } from 'react';
import fs from 'node:fs';
function readFile() {}
useState();
// <- calls npm:react::useState
fs.readFile();
// ^^^^^^^^ none
[].map(x => x);
"#;
    aliases_and_workspace_packages: r#"
//- tsconfig.json
{ "compilerOptions": { "baseUrl": ".", "paths": { "@/*": ["src/*"] } } }
//- src/lib/tools.ts
export function tool() {}
//- packages/core/package.json
{ "name": "@x/core", "main": "src/index.ts" }
//- packages/core/src/index.ts
export function core() {}
//- src/app.ts
import { tool } from '@/lib/tools';
import { core } from '@x/core';
tool();
// <- =calls src/lib/tools.ts:tool
core();
// <- =calls packages/core/src/index.ts:core
"#;
    values_are_followed: r#"
//- main.js
function f() {}
function g() {}
let a = f;
a();
// <- calls main.js:f
a = g;
a();
// <- calls main.js:g
const [x, y] = [f, g];
y();
// <- calls main.js:g
const { p, q: { r } } = { p: f, q: { r: g } };
p();
// <- calls main.js:f
r();
// <- calls main.js:g
const o = { f, other: g };
o.f();
//^ calls main.js:f
o['other']();
// <- calls main.js:g
"#;
    functions_passed_and_returned: r#"
//- main.js
function f() {}
function call(cb) {
  cb();
//^^ calls main.js:f
}
call(f);
// <- calls main.js:call
function make() {
  return function inner() { f(); };
//                          ^ calls main.js:f
}
make()();
// <- calls main.js:make, main.js:make.inner
const fn = make();
//         ^^^^ calls main.js:make
fn();
// <- calls main.js:make.inner
function withDefault(cb = f) {
  cb();
//^^ calls main.js:f
}
withDefault();
// <- calls main.js:withDefault
"#;
    arrays_and_callbacks: r#"
//- main.js
function f() {}
function g(x) {}
const all = [f];
all.forEach(x => x());
//               ^ calls main.js:f
[1].map(g);
//  ^^^ calls main.js:g
for (const x of all) {
  x();
//^ calls main.js:f
}
const m = new Map();
m.set('k', f);
m.get('k')();
// <- calls main.js:f
setTimeout(g, 1);
// <- calls main.js:g
"#;
    classes: r#"
//- main.js
class A {
  constructor() { this.setup(); }
//                     ^^^^^ calls main.js:A.setup, main.js:B.setup
  setup() {}
  static make() { return new A(); }
//                           ^ calls main.js:A.constructor
  get engine() { return new Engine(); }
}
class B extends A {
  constructor() { super(); }
//                ^^^^^ calls main.js:A.constructor
  setup() { super.setup(); }
//                ^^^^^ calls main.js:A.setup
}
class Engine { start() {} }
new B().setup();
//  ^ calls main.js:B.constructor
//      ^^^^^ calls main.js:B.setup
A.make().setup();
//^^^^ calls main.js:A.make
//       ^^^^^ calls main.js:A.setup
new A().engine.start();
//  ^ calls main.js:A.constructor
//      ^^^^^^ calls main.js:A.engine
//             ^^^^^ calls main.js:Engine.start
"#;
    prototypes: r#"
//- main.js
function Dog(name) { this.name = name; }
Dog.prototype.bark = function () { this.run(); };
//                                      ^^^ calls main.js:run
Dog.prototype.run = function () {};
const d = new Dog('x');
//            ^^^ calls main.js:Dog
d.bark();
//^^^^ calls main.js:bark
"#;
    call_apply_bind: r#"
//- main.js
function f() {}
f.call(null);
//^^^^ calls main.js:f
f.apply(null, []);
//^^^^^ calls main.js:f
const b = f.bind(null);
b();
// <- calls main.js:f
"#;
    promises: r#"
//- main.js
function ok(x) {}
function bad() {}
async function load() { return 1; }
load().then(ok).catch(bad);
// <- calls main.js:load
//     ^^^^ calls main.js:ok
//              ^^^^^ calls main.js:bad
async function main() {
  const x = await load();
//                ^^^^ calls main.js:load
}
"#;
    object_methods_and_this: r#"
//- main.js
const o = {
  a() { this.b(); },
//           ^ calls main.js:o.b
  b() {},
};
o.a();
//^ calls main.js:o.a
"#;
    typed: r#"
//- main.ts
interface Shape { area(): number; }
class Circle implements Shape { area() { return 1; } }
class Holder {
  private shape: Circle;
  constructor(private readonly other: Circle) {}
  go(list: Circle[], map: Map<string, Circle>): void {
    this.shape.area();
//             ^^^^ =calls main.ts:Circle.area
    this.other.area();
//             ^^^^ =calls main.ts:Circle.area
    for (const x of list) {
      x.area();
//      ^^^^ calls main.ts:Circle.area
    }
    list.forEach(y => y.area());
//                      ^^^^ calls main.ts:Circle.area
  }
}
async function load(): Promise<Circle> { return null as any; }
async function use(s: Shape) {
  s.area();
//  ^^^^ calls main.ts:Shape.area, main.ts:Circle.area
  (await load()).area();
//       ^^^^ calls main.ts:load
//               ^^^^ calls main.ts:Circle.area
}
"#;
    jsx: r#"
//- app.jsx
import { Button } from './button';
export function App() {
  return <Button onClick={() => go()} />;
//        ^^^^^^ calls button.jsx:Button
//                              ^^ calls app.jsx:go
}
function go() {}
//- button.jsx
export function Button() { return null; }
"#;
}
