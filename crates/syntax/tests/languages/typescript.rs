//! What TypeScript code says, construct by construct.

use crate::common::check;
use expect_test::expect;

#[test]
fn types() {
    check(
        "typescript",
        r##"
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
"##,
        expect![[r#"
            import Member ./types member T1 as T1 type-only @2:14
            import Module fs as fs @3:7
            interface Shape exported @5-5 "interface Shape<T extends object = {}> extends Base<T>, Other" extends free Base<typeparameter T> extends free Other doc "Shape."
            field Shape.area @5-5 "readonly area: number" -> other
            method Shape.draw abstract @5-5 "draw(ctx: Ctx): void" (ctx: free Ctx) -> other
            field Shape.nested @5-5 "nested: { a: string }" -> ?
            class Impl abstract exported @6-15 "abstract class Impl<K> extends Parent<K> implements Shape<K>, N.Other" extends free Parent implements Shape<typeparameter K> implements free N.Other
            field Impl.map Private @7-7 "private readonly map: Map<string, Foo[]> = new Map()" -> free Map<other, &free Foo>
            method Impl.work Protected abstract @8-8 "protected abstract work(): Promise<K>" -> free Promise<typeparameter K>
            constructor Impl.constructor @9-9 "constructor(private svc: Service, public readonly name?: string)" (svc: free Service, name: other)
            field Impl.svc Private @9-9 "private svc: Service" -> free Service
            field Impl.name @9-9 "public readonly name?: string" -> other
            method Impl.make static declaration @10-10 "static make(x: number): Impl<any>" (x: other) -> Impl<other>
            method Impl.make static @11-11 "static make(x: any)" (x: other)
            field Impl.title @12-12 "@Input() title: string" -> other @free Input()
            method Impl.onClick @13-14 "onClick(this: Impl<K>, e: MouseEvent | null): asserts e is MouseEvent" (e: any(free MouseEvent, other)) -> ? @free HostListener("click", ["$event"])
            enum Color exported @16-16 "enum Color"
            enummember Color.Red @16-16 "Red"
            enummember Color.Green @16-16 "Green = 'g'"
            typealias Alias exported @17-17 "type Alias = { x: Foo; f: (a: Bar) => Baz } | Shape<string>" -> Shape<other>
            field Alias.x @17-17 "x: Foo" -> free Foo
            field Alias.f @17-17 "f: (a: Bar) => Baz" -> fn(free Bar, free Baz)
            export Shape = def Shape
            export Impl = def Impl
            export Color = def Color
            export Alias = def Alias
            type typeparameter T : other
            type parameter ctx : free Ctx
            flow this.map <- new free Map()
            type parameter svc : free Service
            type parameter name : other
            flow this.svc <- parameter svc
            flow this.name <- parameter name
            type parameter x : other
            type parameter x : other
            return Impl.make <- a Impl<other>
            type parameter e : any(free MouseEvent, other)
            flow this.Green <- "g"
            inherit free Base in Shape @5:54
            inherit free Other in Shape @5:63
            type free Ctx in Shape.draw @5:104
            inherit free Parent in Impl @6:38
            inherit Shape in Impl @6:59
            type free N in Impl @6:69
            inherit free N.Other in Impl @6:71
            type free Map in Impl.map @7:24
            type free Foo in Impl.map @7:36
            instantiate free Map in Impl.map @7:49
            type free Promise in Impl.work @8:29
            type free Service in Impl.constructor @9:27
            call super in Impl.constructor @9:69
            type Impl in Impl.make @10:26
            type Impl in Impl.make @11:36
            decorate free Input in Impl @12:3
            decorate free HostListener /2 in Impl @13:3
            type Impl in Impl.onClick @14:16
            type free MouseEvent in Impl.onClick @14:28
            type free MouseEvent in Impl.onClick @14:61
            read this.svc in Impl.onClick @14:79
            call this.svc.go /1 in Impl.onClick @14:83
            type free Foo in Alias.x @17:25
            type free Bar in Alias.f @17:37
            type free Baz in Alias.f @17:45
            type Shape in Alias @17:53
        "#]],
    );
}

#[test]
fn declarations() {
    check(
        "typescript",
        r##"
declare function ext(a: string): void;
declare module 'foo' { export function inner(): void; }
namespace NS.Sub { export const v = 1; export function f() {} }
function over(a: string): string;
function over(a: any) { return a; }
const x: Foo = <Foo>y;
let fn: typeof over = over;
function generic<T extends Foo>(t: T): T[] { return [t satisfies Foo]; }
@Component({ selector: 'a' })
export class Cmp {}
export = over;
"##,
        expect![[r#"
            function ext Private declaration @2-2 "function ext(a: string): void" (a: other) -> other
            module foo Private declaration @3-3 "module 'foo'"
            function foo.inner declaration exported @3-3 "function inner(): void" -> other
            module NS.Sub Private @4-4 "namespace NS.Sub"
            constant NS.Sub.v exported @4-4 "const v = 1"
            function NS.Sub.f exported @4-4 "function f()"
            function over declaration exported @5-5 "function over(a: string): string" (a: other) -> other
            function over exported @6-6 "function over(a: any)" (a: other)
            constant x Private @7-7 "const x: Foo = <Foo>y" -> free Foo
            variable fn Private @8-8 "let fn: typeof over = over" -> over
            function generic Private @9-9 "function generic<T extends Foo>(t: T): T[]" (t: typeparameter T) -> &typeparameter T
            class Cmp exported @10-11 "class Cmp" @free Component({"selector": "a"})
            export Cmp = def Cmp
            export = = over
            type parameter a : other
            flow v <- number
            type parameter a : other
            flow over <- def over
            type parameter a : other
            return over <- parameter a
            type x : free Foo
            flow x <- a free Foo
            type fn : over
            flow fn <- over
            type typeparameter T : free Foo
            type parameter t : typeparameter T
            return generic <- [parameter t]
            type free Foo @7:9
            type free Foo @7:16
            read free y @7:20
            read over @8:15
            read over @8:22
            type free Foo in generic @9:27
            type free Foo in generic @9:65
            decorate free Component /1 @10:1
            read over @12:9
        "#]],
    );
}

/// What the grammar does not know: variance, and call signatures that end with their line.
#[test]
fn members_without_semicolons() {
    check(
        "typescript",
        r##"
export interface Cache<in out Key, out A = never> extends Pipeable {
  readonly keys: Array<Key>
}
export const get: {
  <Key, A>(key: Key): (self: Cache<Key, A>) => Option<A>
  /** The other way around. */
  <Key, A>(self: Cache<Key, A>, key: Key): Option<A>
} = dual(2, <Key, A>(self: Cache<Key, A>, key: Key): Option<A> => find(self, key))
export function after(): void { get(1) }
"##,
        expect![[r#"
            interface Cache exported @2-4 "interface Cache<in out Key, out A = never> extends Pipeable" extends free Pipeable
            field Cache.keys @3-3 "readonly keys: Array<Key>" -> free Array<typeparameter Key>
            constant get exported @5-9 "const get: {" -> ?
            lambda <lambda1> @9-9 "<Key, A>(self: Cache<Key, A>, key: Key): Option<A>" (self: Cache<typeparameter Key, typeparameter A>, key: typeparameter Key) -> free Option<typeparameter A>
            function after exported @10-10 "function after(): void" -> other
            export Cache = def Cache
            export get = def get
            export after = def after
            type parameter self : Cache<typeparameter Key, typeparameter A>
            type parameter key : typeparameter Key
            return <lambda1> <- free find(parameter self, parameter key)
            flow get <- free dual(number, def <lambda1>)
            inherit free Pipeable in Cache @2:58
            type free Array in Cache.keys @3:17
            type free Key @6:3
            type free A @6:8
            read free key @6:11
            type free Key @6:16
            type Cache @6:29
            type free Key @6:35
            type free A @6:40
            type free Option @6:47
            type free A @6:54
            type free Key @8:3
            type free A @8:8
            read free self @8:11
            type Cache @8:17
            type free Key @8:23
            type free A @8:28
            read free key @8:32
            type free Key @8:37
            type free Option @8:43
            type free A @8:50
            call free dual /2 @9:4
            type Cache in <lambda1> @9:27
            type free Option in <lambda1> @9:53
            call free find /2 in <lambda1> @9:66
            call get /1 in after @10:32
        "#]],
    );
}
