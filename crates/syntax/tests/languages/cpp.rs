//! C++, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn classes_and_namespaces() {
    check(
        "cpp",
        r#"#include "shape.h"
using namespace util;
using geo::Point;
namespace fs = std::filesystem;
namespace geo::deep {
/// A shape. It has an area.
class Shape : public Base, private ns::Other<int> {
public:
    Shape();
    explicit Shape(int n, double d = 1.0) : Base(n), count_(n) { init(); }
    virtual ~Shape() {}
    virtual double area() const = 0;
    static Shape* make(int n);
    void draw() override { this->count_++; }
    template <typename T> T get(T value) { return value.thing(); }
    int count_ = 0;
protected:
    std::vector<std::unique_ptr<Item>> items_;
private:
    enum class Mode { On, Off };
};
using Alias = Shape;
}
Shape* Shape::make(int n) { return new Shape(n); }
template <class T> T Box<T>::get() { return helper<T>(1); }
namespace { void hidden() {} }
static void local() {}
TEST_F(ShapeTest, Works) { setup(); }
"#,
        expect![[r#"
            import Include .shape.h reexported @1:9
            import Wildcard ..util reexported @2:16
            import Member ..geo member Point as Point reexported @3:11
            import Module ..std::filesystem as fs reexported @4:15
            module geo @5-23 "namespace geo::deep"
            module geo.deep @5-23 "namespace geo::deep"
            class geo.deep.Shape @7-21 "class Shape : public Base, private ns::Other<int>" extends free Base extends free ns.Other<free int> doc "A shape."
            constructor geo.deep.Shape.Shape declaration @9-9 "Shape()"
            constructor geo.deep.Shape.Shape @10-10 "explicit Shape(int n, double d = 1.0) : Base(n), count_(n)" (n: free int, d: free double = 1.0)
            method geo.deep.Shape.~Shape @11-11 "virtual ~Shape()"
            method geo.deep.Shape.area abstract @12-12 "virtual double area() const = 0" -> free double
            method geo.deep.Shape.make static declaration @13-13 "static Shape* make(int n)" (n: free int) -> Shape
            method geo.deep.Shape.draw override @14-14 "void draw() override" -> free void
            method geo.deep.Shape.get @15-15 "T get(T value)" (value: typeparameter T) -> typeparameter T
            field geo.deep.Shape.count_ @16-16 "int count_ = 0" -> free int
            field geo.deep.Shape.items_ Protected @18-18 "std::vector<std::unique_ptr<Item>> items_" -> module "std".vector<module "std".unique_ptr<free Item>>
            enum geo.deep.Shape.Mode Private @20-20 "enum class Mode"
            enummember geo.deep.Shape.Mode.On @20-20 "On"
            enummember geo.deep.Shape.Mode.Off @20-20 "Off"
            typealias geo.deep.Alias @22-22 "using Alias = Shape" -> Shape
            method make of free Shape @24-24 "Shape* Shape::make(int n)" (n: free int) -> free Shape
            method get of free Box<free T> @25-25 "T Box<T>::get()" -> typeparameter T
            function hidden Private @26-26 "void hidden()" -> free void
            function local Private @27-27 "static void local()" -> free void
            function ShapeTest.Works of free ShapeTest test @28-28 "TEST_F(ShapeTest, Works)"
            type parameter n : free int
            type parameter d : free double
            flow this.Base <- parameter n
            flow this.count_ <- parameter n
            type parameter n : free int
            type parameter value : typeparameter T
            return geo.deep.Shape.get <- parameter value.thing()
            flow this.count_ <- number
            flow Alias <- Shape
            type parameter n : free int
            return make <- new free Shape(parameter n)
            return get <- free helper(number)
            inherit free Base in geo.deep.Shape @7:21
            inherit free ns.Other in geo.deep.Shape @7:39
            instantiate free Base /1 in geo.deep.Shape.Shape @10:44
            instantiate free count_ /1 in geo.deep.Shape.Shape @10:53
            call free init in geo.deep.Shape.Shape @10:65
            type Shape in geo.deep.Shape.make @13:11
            read this.count_ in geo.deep.Shape.draw @14:33
            write this.count_ in geo.deep.Shape.draw @14:33
            call parameter value.thing in geo.deep.Shape.get @15:56
            type module "std".vector in geo.deep.Shape @18:9
            type module "std".unique_ptr in geo.deep.Shape @18:21
            type free Item in geo.deep.Shape @18:32
            type Shape in geo.deep @22:14
            type free Shape in make @24:0
            type free Shape @24:7
            instantiate free Shape /1 in make @24:39
            type free Box @25:21
            type free T @25:25
            call free helper /1 in get @25:44
            type free ShapeTest @28:7
            call free setup in ShapeTest.Works @28:27
        "#]],
    );
}

#[test]
fn values() {
    check(
        "cpp",
        r#"int run(const Shape& s) {
    Shape a, b(1), c{2};
    Shape d = Shape(3);
    auto p = std::make_unique<Shape>(4);
    p->area();
    for (auto& item : items()) item->go();
    for (const Item& i : list) i.go();
    if (auto* x = dynamic_cast<Circle*>(&s)) x->radius();
    auto f = [&](int n) -> int { return local(), n; };
    f(1);
    try { risky(); } catch (const Error& e) { e.what(); }
    std::sort(v.begin(), v.end());
    a::B::make<int>(2)->area();
    auto [k, v2] = pair();
    return 0;
}
"#,
        expect![[r#"
            function run @1-16 "int run(const Shape& s)" (s: &free Shape) -> free int
            lambda run.<lambda1> @9-9 "[&](int n) -> int" (n: free int) -> free int
            type parameter s : &free Shape
            type local a : free Shape
            flow local a <- new free Shape()
            type local b : free Shape
            flow local b <- new free Shape(number)
            type local c : free Shape
            flow local c <- new free Shape(number)
            type local d : free Shape
            flow local d <- free Shape(number)
            flow local p <- new free Shape(number)
            flow maybe local item <- element(free items())
            type local i : free Item
            flow maybe local i <- element(free list)
            flow maybe local x <- a &free Circle
            type parameter n : free int
            return run.<lambda1> <- parameter n
            flow local f <- def run.<lambda1>
            type local e : free Error
            flow local k <- item(free pair(), 0)
            flow local v2 <- item(free pair(), 1)
            return run <- number
            type free Shape in run @1:14
            type free Shape in run @2:4
            instantiate free Shape in run @2:4
            instantiate free Shape /1 in run @2:4
            instantiate free Shape /1 in run @2:4
            type free Shape in run @3:4
            call free Shape /1 in run @3:14
            type free Shape in run @4:30
            instantiate free Shape /1 in run @4:30
            call local p.area in run @5:7
            call free items in run @6:22
            call local item.go in run @6:37
            type free Item in run @7:15
            read free list in run @7:25
            call local i.go in run @7:33
            type free Circle in run @8:31
            call local x.radius in run @8:48
            call free local in run.<lambda1> @9:40
            call local f /1 in run @10:4
            call free risky in run @11:10
            type free Error in run @11:34
            call local e.what in run @11:48
            call module "std".sort /2 in run @12:9
            read free v in run @12:14
            call free v.begin in run @12:16
            read free v in run @12:25
            call free v.end in run @12:27
            call local a.B.make /1 in run @13:10
            call local a.B.make(number).area in run @13:24
            call free pair in run @14:19
        "#]],
    );
}

#[test]
fn macros_that_open_namespaces() {
    check(
        "cpp",
        r#"LIB_BEGIN_NAMESPACE
namespace detail {
int one() { return two(); }
}
LIB_END_NAMESPACE
"#,
        expect![[r#"
            module detail @2-4 "namespace detail"
            function detail.one @3-3 "int one()" -> free int
            return detail.one <- free two()
            call free two in detail.one @3:19
        "#]],
    );
}
