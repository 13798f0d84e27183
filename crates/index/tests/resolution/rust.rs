//! Rust: modules, `impl` blocks, traits, values, macros.

use crate::common::check;
use index::model::EdgeKind;

calls! {
    files_of_modules_written_in_place: r#"
//- Cargo.toml
[package]
name = "thing"
//- src/lib.rs
pub mod outer {
    pub mod inner;
    pub fn near() {}
    pub mod written {
        pub fn shallow() {}
    }
}
use outer::inner::deep;
fn run() {
    deep();
//  ^ calls src/outer/inner.rs:deep
    outer::near();
//         ^ calls src/lib.rs:outer.near
    outer::inner::deep();
//                ^ =calls src/outer/inner.rs:deep
    outer::written::shallow();
//                  ^ =calls src/lib.rs:outer.written.shallow
    prelude::deep();
//           ^ =calls src/outer/inner.rs:deep
    crate::prelude::shallow();
//                  ^ =calls src/lib.rs:outer.written.shallow
}
pub mod prelude {
    pub use crate::outer::inner::deep;
    pub use super::outer::written::shallow;
}
//- src/other.rs
use crate::prelude::deep;
fn run() {
    deep();
//  ^ =calls src/outer/inner.rs:deep
}
//- src/outer/inner.rs
pub fn deep() {}
//- tests/a.rs
mod support {
    pub mod panic;
}
use support::panic::expect_panic;
fn run() {
    expect_panic();
//  ^ calls tests/support/panic.rs:expect_panic
}
//- tests/support/panic.rs
pub fn expect_panic() {}
"#;
    modules_of_a_test_program: r#"
//- Cargo.toml
[package]
name = "thing"
[[test]]
name = "integration"
path = "tests/lib.rs"
//- src/lib.rs
pub fn helper() {}
//- tests/lib.rs
mod deep;
fn helper() {}
//- tests/deep/mod.rs
mod suite;
//- tests/deep/suite.rs
use crate::helper;
#[test]
fn all() {
    helper();
//  ^ =calls tests/lib.rs:helper
}
"#;
    modules_and_paths: r#"
//- Cargo.toml
[package]
name = "my-app"
//- src/lib.rs
mod a;
pub mod deep;
pub use deep::inner::shared as exported;
use a::{helper, other as renamed};
use std::mem;

pub fn start() {
    helper();
 // ^^^^^^ =calls src/a.rs:helper
    renamed();
 // ^^^^^^^ =calls src/a.rs:other
    a::helper();
 //    ^^^^^^ =calls src/a.rs:helper
    deep::inner::shared();
 //              ^^^^^^ =calls src/deep/inner.rs:shared
    crate::deep::top();
 //              ^^^ =calls src/deep/mod.rs:top
    mem::swap(x, y);
 //      ^^^^ =calls rust:std::mem.swap
    place::run();
 //        ^^^ =calls src/lib.rs:place.run
}
mod place {
    pub fn run() { super::start(); local(); self::local(); }
 //                       ^^^^^ =calls src/lib.rs:start
 //                                ^^^^^ =calls src/lib.rs:place.local
 //                                               ^^^^^ =calls src/lib.rs:place.local
    fn local() {}
}
//- src/a.rs
pub fn helper() { other() }
//                ^^^^^ =calls src/a.rs:other
pub fn other() { crate::start() }
//                      ^^^^^ =calls src/lib.rs:start
//- src/deep/mod.rs
pub mod inner;
pub fn top() { inner::shared(); super::a::helper(); }
//                    ^^^^^^ =calls src/deep/inner.rs:shared
//                                        ^^^^^^ =calls src/a.rs:helper
//- src/deep/inner.rs
use super::top;
pub fn shared() { top(); crate::exported(); }
//                ^^^ =calls src/deep/mod.rs:top
//                              ^^^^^^^^ =calls src/deep/inner.rs:shared
//- src/main.rs
use my_app::exported;
fn main() { exported(); my_app::deep::top(); }
//          ^^^^^^^^ =calls src/deep/inner.rs:shared
//                                    ^^^ =calls src/deep/mod.rs:top
//- tests/all.rs
use my_app::deep::{self, *};
#[test]
fn all() { deep::top(); top(); }
//               ^^^ =calls src/deep/mod.rs:top
//                      ^^^ =calls src/deep/mod.rs:top
"#;
    methods_and_associated_functions: r#"
//- src/lib.rs
pub struct Store { items: Vec<Item>, first: Box<Item>, made: fn() -> Item }
pub struct Item(Inner);
pub struct Inner;
impl Inner { fn go(&self) {} }
impl Item {
    pub fn new() -> Self { Self(Inner) }
    pub fn close(&self) { self.0.go(); }
 //                              ^^ =calls src/lib.rs:go
    fn twice(self) -> Self { Self::new().close(); self }
 //                                ^^^ =calls src/lib.rs:new
 //                                      ^^^^^ =calls src/lib.rs:close
}
impl Store {
    fn find(&self, n: usize) -> Option<&Item> { self.items.get(n) }
    fn load() -> Result<Item, String> { Ok(Item::new()) }
 //                                              ^^^ =calls src/lib.rs:new
}
fn using(store: &mut Store) -> Result<(), String> {
    Item::new().twice().close();
 //       ^^^ =calls src/lib.rs:new
 //             ^^^^^ =calls src/lib.rs:twice
 //                     ^^^^^ =calls src/lib.rs:close
    store.first.close();
 //             ^^^^^ =calls src/lib.rs:close
    if let Some(item) = store.find(1) {
 //                           ^^^^ =calls src/lib.rs:find
        item.close();
 //          ^^^^^ =calls src/lib.rs:close
    }
    for item in &store.items {
        item.close();
 //          ^^^^^ =calls src/lib.rs:close
    }
    for item in store.items.iter() {
        item.close();
 //          ^^^^^ calls src/lib.rs:close
    }
    Store::load()?.close();
 //        ^^^^ =calls src/lib.rs:load
 //                ^^^^^ =calls src/lib.rs:close
    let item = Store::load().unwrap();
 //                   ^^^^ =calls src/lib.rs:load
    item.clone().close();
 //              ^^^^^ calls src/lib.rs:close
    match Store::load() {
 //              ^^^^ =calls src/lib.rs:load
        Ok(loaded) => loaded.close(),
 //                          ^^^^^ =calls src/lib.rs:close
        Err(_) => {}
    }
    let shared = std::rc::Rc::new(Item::new());
 //                                     ^^^ =calls src/lib.rs:new
    Item::close(&shared);
 //       ^^^^^ =calls src/lib.rs:close
    Ok(())
}
"#;
    traits_dispatch: r#"
//- src/lib.rs
pub trait Shape { fn area(&self) -> f64; fn show(&self) { self.area(); } fn make() -> Self; }
//                                                             ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
pub struct Square;
pub struct Circle;
impl Shape for Square {
    fn area(&self) -> f64 { 1.0 }
    fn make() -> Self { Square }
}
impl Shape for Circle {
    fn area(&self) -> f64 { 2.0 }
    fn show(&self) {}
    fn make() -> Self { Circle }
}
fn dynamic(shape: &dyn Shape) { shape.area(); }
//                                    ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
fn boxed(shape: Box<dyn Shape>) { shape.area(); }
//                                      ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
fn bounded<S: Shape>(shape: S) { shape.area(); S::make(); }
//                                     ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
//                                                ^^^^ =calls src/lib.rs:Shape.make; ~calls src/lib.rs:make
fn by_where<S>(shape: &S) where S: Shape { shape.area(); }
//                                               ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
fn by_impl(shape: impl Shape) { shape.area(); }
//                                    ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
fn given() -> impl Shape { Square }
fn exact(square: Square) {
    square.area();
 //        ^^^^ =calls src/lib.rs:area
    square.show();
 //        ^^^^ =calls src/lib.rs:Shape.show
    Circle.show();
 //        ^^^^ =calls src/lib.rs:show
    <Square as Shape>::area(&square);
 //                    ^^^^ =calls src/lib.rs:area
    given().area();
 // ^^^^^ =calls src/lib.rs:given
 //         ^^^^ =calls src/lib.rs:Shape.area; ~calls src/lib.rs:area
}
"#;
    values_are_followed: r#"
//- src/lib.rs
fn first(n: i32) {}
fn second(n: i32) {}
struct Holder { call: fn(i32) }
fn apply(f: impl Fn(i32)) { f(1); }
//                          ^ ~calls src/lib.rs:first
fn apply_dyn(f: &dyn Fn(i32)) { f(1); }
//                              ^ ~calls src/lib.rs:second
fn choose() -> fn(i32) { second }
fn using() {
    let f = first;
    f(1);
 // ^ ~calls src/lib.rs:first
    apply(first);
 // ^^^^^ =calls src/lib.rs:apply
    apply_dyn(&second);
 // ^^^^^^^^^ =calls src/lib.rs:apply_dyn
    let holder = Holder { call: first };
    (holder.call)(1);
 //         ^^^^ ~calls src/lib.rs:first
    let g = choose();
 //         ^^^^^^ =calls src/lib.rs:choose
    g(2);
 // ^ ~calls src/lib.rs:second
    let closure = |n| second(n);
 //                   ^^^^^^ =calls src/lib.rs:second
    closure(1);
    let table = [first, second];
    table[0](1);
 // ^^^^^ ~calls src/lib.rs:first
}
"#;
    derived_defaults: r#"
//- src/lib.rs
#[derive(Default)]
pub struct Group { id: u32 }
impl Group {
    fn new() -> Group { Self::default().id(1) }
//                                      ^ =calls src/lib.rs:id
    fn id(self, id: u32) -> Group { self }
}
pub struct Other;
impl Default for Other { fn default() -> Other { Other } }
impl Other { fn run(&self) {} }
fn run() {
    Group::default().id(2);
//                   ^ =calls src/lib.rs:id
    Other::default().run();
//         ^ =calls src/lib.rs:default
//                   ^ =calls src/lib.rs:run
}
"#;
    macros_of_a_module_above: r#"
//- src/lib.rs
#[macro_use]
mod macros;
mod deep;
fn run() {
    ok!(1);
//  ^ =calls src/macros.rs:ok
    println!("{}", 1);
}
//- src/macros.rs
macro_rules! ok { ($e:expr) => { $e } }
macro_rules! println { ($e:expr) => { $e } }
//- src/deep/mod.rs
mod inner;
macro_rules! near { ($e:expr) => { $e } }
//- src/deep/inner.rs
fn ok() {}
fn run() {
    near!(1);
//  ^ =calls src/deep/mod.rs:near
    inside();
}
fn also() {
    ok();
//  ^ =calls src/deep/inner.rs:ok
}
//- other/src/lib.rs
fn run() {
    ok!(2);
    ok(2);
}
"#;
    enums_and_macros: r#"
//- src/lib.rs
pub enum Shape { Circle(Round), Square { side: Side }, Unit }
pub struct Round;
pub struct Side;
impl Round { fn turn(&self) -> u8 { 1 } }
impl Side { fn measure(&self) -> u8 { 1 } }
impl Shape { fn name(&self) -> String { String::new() } }
fn helper(n: u8) -> Round { Round }
macro_rules! mine { ($x:expr) => { $x } }

fn using(shape: Shape) {
    match &shape {
        Shape::Circle(round) => round.turn(),
 //                                   ^^^^ =calls src/lib.rs:turn
        Shape::Square { side } => side.measure(),
 //                                    ^^^^^^^ =calls src/lib.rs:measure
        Shape::Unit => 1,
    };
    Shape::Unit.name();
 //             ^^^^ =calls src/lib.rs:name
    println!("{} {}", shape.name(), helper(1).turn());
 //                         ^^^^ =calls src/lib.rs:name
 //                                 ^^^^^^ =calls src/lib.rs:helper
 //                                           ^^^^ =calls src/lib.rs:turn
    assert_eq!(helper(crate::other()), Some(helper(2)));
 //            ^^^^^^ =calls src/lib.rs:helper
 //                          ^^^^^ =calls src/lib.rs:other
 //                                         ^^^^^^ =calls src/lib.rs:helper
    let all = vec![helper(1), Round];
 //                ^^^^^^ =calls src/lib.rs:helper
    all[0].turn();
 //        ^^^^ calls src/lib.rs:turn
    mine!(helper(3));
 // ^^^^ calls src/lib.rs:mine
 //       ^^^^^^ =calls src/lib.rs:helper
}
fn other() -> u8 { 1 }
"#;
    library_calls_stay_outside: r#"
//- src/lib.rs
use serde::Deserialize;
struct Mine;
impl Mine { fn len(&self) {} fn parse(&self) {} }
fn using(text: &str, all: Vec<u8>, other: serde::Other) {
    text.len();
    all.len();
    other.parse();
    serde::parse(1);
 //        ^^^^^ =calls rust:serde::parse
    String::from("x").len();
}
"#;
}

#[test]
fn implementations() {
    check(
        r#"
//- src/lib.rs
pub trait Base {}
pub trait Shape: Base { fn area(&self); }
//               ^^^^ extends src/lib.rs:Base
pub struct Square;
impl Shape for Square { fn area(&self) {} }
//   ^^^^^ implements src/lib.rs:Shape
//                         ^^^^ overrides src/lib.rs:Shape.area
"#,
        &[EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Overrides],
    );
}

#[test]
fn variants_are_made_by_calls() {
    check(
        r#"
//- src/lib.rs
pub enum Shape { Circle(u32), Unit }
use other::Kind::{self, Long};
mod other;
fn run() -> Shape {
    Kind::Short(1);
//        ^ instantiates src/other.rs:Kind.Short
    Shape::Circle(1)
//         ^ instantiates src/lib.rs:Shape.Circle
}
impl Shape {
    fn make() -> Shape { Self::Circle(2) }
//                             ^ instantiates src/lib.rs:Shape.Circle
}
//- src/other.rs
pub enum Kind { Short(u32), Long(u32) }
"#,
        &[EdgeKind::Instantiates],
    );
}

#[test]
fn globs_that_reach_many_files_are_searched_in_their_order() {
    let mut fixture = String::from("//- src/lib.rs\npub mod all;\n");
    for number in 0..40 {
        fixture += &format!("pub mod m{number};\n");
    }
    fixture += "//- src/all.rs\n";
    for number in 0..40 {
        fixture += &format!("pub use crate::m{number}::*;\n");
    }
    for number in 1..40 {
        // One name of each file's own, and one that two of them have: the later glob wins.
        let twice = if matches!(number, 5 | 9) {
            "pub fn twice() {}\n"
        } else {
            ""
        };
        fixture += &format!("//- src/m{number}.rs\nuse crate::all::*;\npub fn f{number}() {{}}\n{twice}");
    }
    fixture += "\
//- src/m0.rs
use crate::all::*;
pub enum Side { Left, Right }
pub use Side::*;
pub fn go() {
    f39();
//  ^^^ =calls src/m39.rs:f39
    twice();
//  ^^^^^ =calls src/m9.rs:twice
    missing();
}
pub fn f0() { go() }
//            ^^ =calls src/m0.rs:go
";
    check(&fixture, &[EdgeKind::Calls]);
}
