//! Rust, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn modules_and_imports() {
    check(
        "rust",
        r#"//! Crate docs. More.
use std::collections::HashMap;
use crate::a::{self, b::C, d as e, f::*};
pub use self::inner::Thing;
use fmt::Display;
use std::fmt;
mod other;
#[path = "x/y.rs"]
mod placed;
mod tests {
    use super::*;
    use self::deeper::run;
    fn all() { super::go(); self::local(); crate::a::go(); other::go(); serde::go(); super::super::up(); }
}
"#,
        expect![[r#"
            doc "Crate docs."
            import Member std::collections member HashMap as HashMap @2:22
            import Member crate member a as a @3:15
            import Member crate::a::b member C as C @3:24
            import Member crate::a member d as e @3:27
            import Wildcard crate::a::f @3:35
            import Member self::inner member Thing as Thing reexported @4:21
            import Member std::fmt member Display as Display @5:9
            import Member std member fmt as fmt @6:9
            import Declare self::other as other reexported @7:4
            import Declare x/y.rs as placed reexported @9:4
            import Wildcard self in tests @11:8
            import Member self::tests::deeper member run as run in tests @12:22
            module tests Private @10-14 "mod tests"
            function tests.all Private @13-13 "fn all()"
            decorate free path @8:2
            call module "self".go in tests.all @13:22
            call module "self::tests".local in tests.all @13:34
            read module "crate".a in tests.all @13:50
            call module "crate".a.go in tests.all @13:53
            call import other.go in tests.all @13:66
            call module "serde".go in tests.all @13:79
            call module "super".up in tests.all @13:99
        "#]],
    );
}

#[test]
fn types_traits_and_impls() {
    check(
        "rust",
        r#"
// Says nothing.
/// A store. Yes.
#[derive(Debug, Clone)]
pub struct Store<T: Show> where T: Clone { pub items: Vec<T>, map: HashMap<String, Box<dyn Show>>, call: fn(i32) -> Thing }
pub(crate) struct Pair(pub Store<u8>, Thing);
pub enum Shape { Circle(Thing), Square { side: Thing }, Unit }
pub trait Show: Display { const N: usize; type Item; fn show(&self) -> String; fn twice(&self) { Self::make(); } fn make() -> Self; }
impl<T> Store<T> where T: Show {
    pub fn new() -> Self { Self { items: Vec::new(), map, call: helper } }
    async fn get(self: Box<Self>, i: usize) -> Result<(), Error> { Ok(()) }
}
impl Show for Thing { fn show(&self) -> String { String::new() } }
type Short = Store<u8>;
const LIMIT: usize = compute();
#[cfg(test)]
mod tests { #[tokio::test] async fn works() {} }
#[deprecated]
fn old() {}
fn main() {}
"#,
        expect![[r#"
            struct Store exported @4-5 "pub struct Store<T: Show> where T: Clone" @free derive doc "A store."
            field Store.items exported @5-5 "pub items: Vec<T>" -> free Vec<typeparameter T>
            field Store.map Private @5-5 "map: HashMap<String, Box<dyn Show>>" -> free HashMap<free String, free Box<Show>>
            field Store.call Private @5-5 "call: fn(i32) -> Thing" -> fn(free i32, free Thing)
            struct Pair Internal @6-6 "pub(crate) struct Pair"
            field Pair.0 @6-6 "Store<u8>" -> Store<free u8>
            field Pair.1 Private @6-6 "Thing" -> free Thing
            enum Shape exported @7-7 "pub enum Shape"
            enummember Shape.Circle @7-7 "Circle(Thing)"
            enummember Shape.Square @7-7 "Square { side: Thing }"
            enummember Shape.Unit @7-7 "Unit"
            trait Show abstract exported @8-8 "pub trait Show: Display" extends free Display
            field Show.N exported @8-8 "const N: usize" -> free usize
            typealias Show.Item exported @8-8 "type Item"
            method Show.show abstract exported @8-8 "fn show(&self) -> String" (receiver self) -> free String
            method Show.twice exported @8-8 "fn twice(&self)" (receiver self)
            method Show.make static abstract exported @8-8 "fn make() -> Self" -> def Show
            extension <extension> of Store<typeparameter T> Private @9-12 "impl<T> Store<T> where T: Show"
            method <extension>.new static exported @10-10 "pub fn new() -> Self" -> Store<typeparameter T>
            method <extension>.get Private async @11-11 "async fn get(self: Box<Self>, i: usize) -> Result<(), Error>" (receiver self, i: free usize) -> free Result<?, free Error>
            extension <extension> of free Thing Private @13-13 "impl Show for Thing" implements Show
            method <extension>.show exported @13-13 "fn show(&self) -> String" (receiver self) -> free String
            typealias Short Private @14-14 "type Short = Store<u8>" -> Store<free u8>
            constant LIMIT Private @15-15 "const LIMIT: usize = compute()" -> free usize
            module tests Private test @16-17 "mod tests" @free cfg
            function tests.works Private async test @17-17 "async fn works()" @module "tokio".test
            function old Private deprecated @18-19 "fn old()" @free deprecated
            function main Private entry @20-20 "fn main()"
            type typeparameter T : Show
            type typeparameter T : free Clone
            type def Shape.Circle.0 : free Thing
            type def Shape.side : free Thing
            type typeparameter T : Show
            flow new Store<typeparameter T>().items <- free Vec.new()
            flow new Store<typeparameter T>().map <- free map
            flow new Store<typeparameter T>().call <- free helper
            return <extension>.new <- new Store<typeparameter T>()
            type parameter i : free usize
            return <extension>.get <- free Ok(?)
            return <extension>.show <- free String.new()
            flow Short <- Store<free u8>
            flow LIMIT <- free compute()
            decorate free derive @4:2
            type Show in Store @5:20
            type free Clone in Store @5:35
            type free Vec in Store.items @5:54
            type free HashMap in Store.map @5:67
            type free String in Store.map @5:75
            type free Box in Store.map @5:83
            type Show in Store.map @5:91
            type free Thing in Store.call @5:116
            type Store in Pair @6:27
            type free Thing in Pair @6:38
            type free Thing in Shape @7:24
            type free Thing in Shape @7:47
            inherit free Display in Show @8:16
            type free String in Show.show @8:71
            call def Show.make in Show.twice @8:103
            type Store in <extension> @9:8
            type Show in <extension> @9:26
            read free Vec in <extension>.new @10:41
            call free Vec.new in <extension>.new @10:46
            read free map in <extension>.new @10:53
            read free helper in <extension>.new @10:64
            type free Result in <extension>.get @11:47
            type free Error in <extension>.get @11:58
            call free Ok /1 in <extension>.get @11:67
            inherit Show in <extension> @13:5
            type free Thing in <extension> @13:14
            type free String in <extension>.show @13:40
            read free String in <extension>.show @13:49
            call free String.new in <extension>.show @13:57
            type Store in Short @14:13
            call free compute in LIMIT @15:21
            decorate free cfg @16:2
            decorate module "tokio".test in tests @17:21
            decorate free deprecated @18:2
        "#]],
    );
}

#[test]
fn values_and_patterns() {
    check(
        "rust",
        r#"
fn helper(n: i32) -> Thing { match n { 0 => Thing::new(), _ if ok(n) => return third(), x => { let y = x; Thing(y) } } }
fn run(shape: &Shape, pair: (A, B)) -> Result<(), Error> {
    if let Some(x) = find()? { x.go(); } else { shape.go(); }
    match shape { Shape::Circle(c) => c.go(), Shape::Square { side, other: o } => side.go(o), Shape::Unit | NONE => {} }
    let (a, b) = pair;
    for Pair(p, _) in list.iter().map(|v| v.show()) { p.go(); }
    let f = if a { helper } else { other };
    f(2);
    let x = x.map(helper)?;
    <Thing as Show>::show(&x);
    parse::<u8>("x");
    Ok(())
}
"#,
        expect![[r#"
            function helper Private @2-2 "fn helper(n: i32) -> Thing" (n: free i32) -> free Thing
            function run Private @3-14 "fn run(shape: &Shape, pair: (A, B)) -> Result<(), Error>" (shape: &free Shape, pair: free ()<free A, free B>) -> free Result<?, free Error>
            lambda run.<lambda1> Private @7-7 "|v|" (v)
            type parameter n : free i32
            return helper <- free third()
            flow maybe local x <- parameter n
            flow maybe local y <- local x
            return helper <- any(free Thing.new(), free Thing(local y))
            type parameter shape : &free Shape
            type parameter pair : free ()<free A, free B>
            flow maybe local x <- unwrap(unwrap(free find()))
            flow maybe local c <- parameter shape.Circle.0
            flow maybe local side <- parameter shape.side
            flow maybe local o <- parameter shape.other
            flow local a <- item(parameter pair, 0)
            flow local b <- item(parameter pair, 1)
            return run.<lambda1> <- parameter v.show()
            flow maybe local p <- element(free list.iter().map(def run.<lambda1>)).0
            flow local f <- any(helper, free other)
            flow local x <- unwrap(free x.map(helper))
            return run <- free Ok(?)
            type free Thing in helper @2:21
            read free Thing in helper @2:44
            call free Thing.new in helper @2:51
            call free ok /1 in helper @2:63
            call free third in helper @2:79
            call free Thing /1 in helper @2:106
            type free Shape in run @3:15
            type free A in run @3:29
            type free B in run @3:32
            type free Result in run @3:39
            type free Error in run @3:50
            call free find in run @4:21
            call local x.go in run @4:33
            call parameter shape.go in run @4:54
            read free Shape in run @5:18
            read free Shape.Circle in run @5:25
            call local c.go in run @5:40
            type free Shape in run @5:46
            type free Shape.Square in run @5:53
            call local side.go /1 in run @5:87
            read free Shape in run @5:94
            read free Shape.Unit in run @5:101
            read free NONE in run @5:108
            read free Pair in run @7:8
            read free list in run @7:22
            implicit free list.iter().map(def run.<lambda1>).into_iter in run @7:22
            implicit any(free list.iter().map(def run.<lambda1>).into_iter(), free list.iter().map(def run.<lambda1>)).next in run @7:22
            call free list.iter in run @7:27
            call free list.iter().map /1 in run @7:34
            call parameter v.show in run.<lambda1> @7:44
            call local p.go in run @7:56
            read helper in run @8:19
            read free other in run @8:35
            call local f /1 in run @9:4
            read free x in run @10:12
            call free x.map /1 in run @10:14
            read helper in run @10:18
            type free Thing in run @11:5
            read free Show in run @11:14
            call free Thing.show /1 in run @11:21
            call free parse /1 in run @12:4
            call free Ok /1 in run @13:4
        "#]],
    );
}

#[test]
fn macros_are_read_as_far_as_calls_go() {
    check(
        "rust",
        r#"
macro_rules! mine { ($x:expr) => { helper($x) } }
fn run(&self) {
    let all = vec![helper(1), Thing::new(), a.b];
    assert_eq!(all.len(), super::count(a.b(), vec![c::d()])?, "text {}", self.name());
    println!("{x}", x = all.iter().collect::<Vec<_>>().len());
    mine!(other(2).await);
}
"#,
        expect![[r#"
            macro mine Private @2-2 "macro_rules! mine { ($x:expr) => { helper($x) } }"
            function run Private @3-8 "fn run(&self)" (receiver self)
            flow local all <- [free helper(?), free Thing.new(), free a.b]
            macro free vec in run @4:14
            call free helper /1 in run @4:19
            call free Thing.new in run @4:37
            read free a.b in run @4:46
            macro free assert_eq in run @5:4
            call local all.len in run @5:19
            call module "super".count /2 in run @5:33
            call free a.b in run @5:41
            macro free vec in run @5:46
            call module "c".d in run @5:54
            call receiver self.name in run @5:78
            macro free println in run @6:4
            call local all.iter in run @6:28
            call local all.iter().collect in run @6:35
            call local all.iter().collect().len in run @6:55
            macro mine in run @7:4
            call free other /1 in run @7:10
        "#]],
    );
}

#[test]
fn items_in_macros() {
    check(
        "rust",
        r#"cfg_rt! {
    /// Runs things.
    pub mod runtime;
    cfg_time! {
        pub fn later(wait: Duration) { now(); }
    }
}
impl Builder {
    cfg_io! {
        /// Enables it.
        pub fn enable(&mut self) -> &mut Self { self }
    }
}
cfg_if::cfg_if! {
    if #[cfg(unix)] {
        mod unix;
    } else if #[cfg(windows)] {
        fn other() {}
    } else {
        compile_error!("no");
    }
}
bitflags! {
    pub struct Flags: u32 { const A = 1; }
}
select! { value = channel.receive() => work(value) }
fn run() {
    let text = quote! { fn not_here() {} };
}
"#,
        expect![[r#"
            import Declare self::runtime as runtime reexported @3:12
            import Declare self::unix as unix reexported @16:12
            function later exported @5-5 "pub fn later(wait: Duration)" (wait: free Duration)
            extension <extension> of free Builder Private @8-13 "impl Builder"
            method <extension>.enable exported @11-11 "pub fn enable(&mut self) -> &mut Self" (receiver self) -> &free Builder doc "Enables it."
            function other Private @18-18 "fn other()"
            function run Private @27-29 "fn run()"
            type parameter wait : free Duration
            return <extension>.enable <- receiver self
            macro free cfg_rt @1:0
            macro free cfg_time @4:4
            type free Duration in later @5:27
            call free now in later @5:39
            type free Builder in <extension> @8:5
            macro free cfg_io in <extension> @9:4
            macro module "cfg_if".cfg_if @14:8
            macro free compile_error @20:8
            macro free bitflags @23:0
            read free A @24:34
            macro free select @26:0
            read free value @26:10
            call free channel.receive @26:26
            call free work /1 @26:39
            read free value @26:44
            macro free quote in run @28:15
        "#]],
    );
}
