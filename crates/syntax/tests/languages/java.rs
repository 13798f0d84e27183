//! Java, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn packages_and_imports() {
    check(
        "java",
        r#"/** All of it. */
package com.acme.app;

import java.util.List;
import com.acme.model.*;
import static com.acme.Util.help;
import static com.acme.Consts.*;

class A { List<String> names; void f() { help(); com.acme.Other.run(); } }
"#,
        expect![[r#"
            package com.acme.app
            doc "All of it."
            import Member java.util member List as List @4:17
            import Wildcard com.acme.model @5:7
            import Member com.acme.Util member help as help @6:28
            import Wildcard com.acme.Consts @7:14
            class A Internal @9-9 "class A"
            field A.names Internal @9-9 "List<String> names" -> import List<free String>
            method A.f Internal @9-9 "void f()" -> ?
            type import List in A @9:10
            type free String in A @9:15
            call import help in A.f @9:41
            read free com in A.f @9:49
            read free com.acme in A.f @9:53
            read free com.acme.Other in A.f @9:58
            call free com.acme.Other.run in A.f @9:64
        "#]],
    );
}

#[test]
fn types_members_and_modifiers() {
    check(
        "java",
        r#"/**
 * A service. It serves.
 * @deprecated use another
 */
@Component("x")
public abstract class Service<T extends Base & Other> extends Base implements Runnable, Closer {
    /** How many. */
    @Inject protected int a = count(), b;
    private static final Logger LOG = Logger.get(Service.class);
    static { start(); }
    { setup(); }

    protected Service(int n) { super(n); this.a = n; }
    Service() { this(1); }
    public abstract void go();
    @Override public <U> U run(List<U> all, String... rest) throws Failure { return null; }
    public static void main(String[] arguments) {}

    interface Shape { int SIDES = 0; double area(); default void draw() { area(); } static Shape of() { return null; } }
    enum Color { RED(1) { int shade() { return dark(); } }, GREEN; Color() {} Color(int code) {} int shade() { return 0; } }
    record Point(int x, Base base) { Point { check(base); } }
    @interface Marker { String value() default ""; }
}
class Checks { @Test void works() {} @org.junit.Test public void alsoWorks() {} }
class Old extends TestCase { public void testAll() {} void helper() {} }
"#,
        expect![[r#"
            class Service abstract exported @5-23 "@Component(\"x\") public abstract class Service<T extends Base & Other> extends Base implements Runnable, Closer" extends free Base implements free Runnable implements free Closer @free Component
            field Service.a Protected @8-8 "@Inject protected int a = count(), b" -> free int @free Inject doc "How many."
            field Service.b Protected @8-8 "@Inject protected int a = count(), b" -> free int @free Inject doc "How many."
            field Service.LOG Private static final @9-9 "private static final Logger LOG = Logger.get(Service.class)" -> free Logger
            constructor Service.Service Protected @13-13 "protected Service(int n)" (n: free int)
            constructor Service.Service Internal @14-14 "Service()"
            method Service.go abstract exported @15-15 "public abstract void go()" -> ?
            method Service.run override exported @16-16 "@Override public <U> U run(List<U> all, String... rest) throws Failure" (all: free List<typeparameter U>, *rest: free String) -> typeparameter U @free Override
            method Service.main static exported entry @17-17 "public static void main(String[] arguments)" (arguments: &free String) -> ?
            interface Service.Shape Internal abstract @19-19 "interface Shape"
            field Service.Shape.SIDES static final exported @19-19 "int SIDES = 0" -> free int
            method Service.Shape.area abstract exported @19-19 "double area()" -> free double
            method Service.Shape.draw exported @19-19 "default void draw()" -> ?
            method Service.Shape.of static exported @19-19 "static Shape of()" -> Shape
            enum Service.Color Internal @20-20 "enum Color"
            enummember Service.Color.RED static exported @20-20 "RED(1) { int shade() { return dark(); } }"
            class Service.Color.$1 Private @20-20 "RED(1)" extends def Service.Color
            method Service.Color.$1.shade Internal @20-20 "int shade()" -> free int
            enummember Service.Color.GREEN static exported @20-20 "GREEN"
            constructor Service.Color.Color Internal @20-20 "Color()"
            constructor Service.Color.Color Internal @20-20 "Color(int code)" (code: free int)
            method Service.Color.shade Internal @20-20 "int shade()" -> free int
            struct Service.Point Internal @21-21 "record Point(int x, Base base)"
            field Service.Point.x Private final @21-21 "int x" -> free int
            field Service.Point.base Private final @21-21 "Base base" -> free Base
            constructor Service.Point.Point Internal @21-21 "Point"
            interface Service.Marker Internal abstract @22-22 "@interface Marker"
            method Service.Marker.value abstract exported @22-22 "String value() default \"\"" -> free String
            class Checks Internal @24-24 "class Checks"
            method Checks.works Internal test @24-24 "@Test void works()" -> ? @free Test
            method Checks.alsoWorks test exported @24-24 "@org.junit.Test public void alsoWorks()" -> ? @free org.junit.Test
            class Old Internal @25-25 "class Old extends TestCase" extends free TestCase
            method Old.testAll test exported @25-25 "public void testAll()" -> ?
            method Old.helper Internal @25-25 "void helper()" -> ?
            type typeparameter T : any(free Base, free Other)
            flow this.a <- free count()
            flow this.LOG <- free Logger.get([Service])
            type parameter n : free int
            flow this.a <- parameter n
            type parameter all : free List<typeparameter U>
            type parameter rest : free String
            return Service.run <- null
            type parameter arguments : &free String
            flow this.SIDES <- number
            return Service.Shape.of <- null
            return Service.Color.$1.shade <- free dark()
            type parameter code : free int
            return Service.Color.shade <- number
            decorate free Component @5:1
            type free Base in Service @6:40
            type free Other in Service @6:47
            inherit free Base in Service @6:62
            inherit free Runnable in Service @6:78
            inherit free Closer in Service @6:88
            decorate free Inject in Service @8:5
            call free count in Service @8:30
            type free Logger in Service @9:25
            read free Logger in Service @9:38
            call free Logger.get /1 in Service @9:45
            type Service in Service @9:49
            call free start in Service @10:13
            call free setup in Service @11:6
            call super /1 in Service.Service @13:31
            write this.a in Service.Service @13:46
            call this /1 in Service.Service @14:16
            decorate free Override in Service @16:5
            type free List in Service.run @16:31
            type free String in Service.run @16:44
            type free String in Service.main @17:28
            call free area in Service.Shape.draw @19:74
            type Shape in Service.Shape.of @19:91
            instantiate def Service.Color /1 in Service.Color @20:17
            call free dark in Service.Color.$1.shade @20:47
            implicit super in Service.Color.Color @20:67
            implicit super in Service.Color.Color @20:78
            type free Base in Service.Point @21:24
            call free check /1 in Service.Point.Point @21:45
            read free base in Service.Point.Point @21:51
            type free String in Service.Marker.value @22:24
            decorate free Test in Checks @24:16
            read free org in Checks @24:38
            read free org.junit in Checks @24:42
            decorate free org.junit.Test in Checks @24:48
            inherit free TestCase in Old @25:18
        "#]],
    );
}

#[test]
fn locals_patterns_and_loops() {
    check(
        "java",
        r#"class A {
    int size;
    int size() { return size; }
    void f(Object o, List<Base> bases) {
        int size = size();
        for (Base base : bases) base.go();
        for (Other base : others()) base.go();
        var made = new Made<Base>(1);
        if (!(o instanceof Base found)) return;
        found.go();
        if (o instanceof Point(int x, Base inner)) inner.go();
        try (Source source = open(); closer) { source.read(); } catch (First | Second failure) { failure.print(); }
        Base chosen = switch (o) { case Base one -> one; case Other two -> two.base(); default -> null; };
        chosen.counts[0] += 1;
        label: while (true) { break label; }
        Base cast = (Base) o;
        Base[] array = new Base[] { cast };
        array[0].go();
    }
}
"#,
        expect![[r#"
            class A Internal @1-20 "class A"
            field A.size Internal @2-2 "int size" -> free int
            method A.size Internal @3-3 "int size()" -> free int
            method A.f Internal @4-19 "void f(Object o, List<Base> bases)" (o: free Object, bases: free List<free Base>) -> ?
            return A.size <- free size
            type parameter o : free Object
            type parameter bases : free List<free Base>
            type local size : free int
            flow local size <- free size()
            type local base : free Base
            flow maybe local base <- element(parameter bases)
            type local base : free Other
            flow maybe local base <- element(free others())
            flow local made <- new free Made<free Base>(number)
            type local found : free Base
            type local x : free int
            type local inner : free Base
            type local source : free Source
            flow maybe local source <- free open()
            flow maybe local failure <- a any(free First, free Second)
            type local one : free Base
            type local two : free Other
            type local chosen : free Base
            flow local chosen <- any(local one, local two.base())
            flow local chosen.counts[0] <- ?
            type local cast : free Base
            flow local cast <- a free Base
            type local array : &free Base
            flow local array <- any(a free Base, [local cast])
            read free size in A.size @3:24
            type free Object in A.f @4:11
            type free List in A.f @4:21
            type free Base in A.f @4:26
            call free size in A.f @5:19
            type free Base in A.f @6:13
            call local base.go in A.f @6:37
            type free Other in A.f @7:13
            call free others in A.f @7:26
            call local base.go in A.f @7:41
            instantiate free Made /1 in A.f @8:23
            type free Base in A.f @8:28
            type free Base in A.f @9:27
            call local found.go in A.f @10:14
            type free Point in A.f @11:25
            type free Base in A.f @11:38
            call local inner.go in A.f @11:57
            type free Source in A.f @12:13
            implicit free open().close in A.f @12:13
            call free open in A.f @12:29
            read free closer in A.f @12:37
            call local source.read in A.f @12:54
            type free First in A.f @12:71
            type free Second in A.f @12:79
            call local failure.print in A.f @12:105
            type free Base in A.f @13:8
            type free Base in A.f @13:40
            type free Other in A.f @13:62
            call local two.base in A.f @13:79
            read local chosen.counts in A.f @14:15
            read local chosen.counts in A.f @14:15
            type free Base in A.f @16:8
            type free Base in A.f @16:21
            type free Base in A.f @17:8
            type free Base in A.f @17:27
            call local array[0].go in A.f @18:17
        "#]],
    );
}

#[test]
fn lambdas_references_and_anonymous_classes() {
    check(
        "java",
        r#"class A {
    Runnable field = () -> run();
    void f(List<Base> all) {
        all.stream().map(x -> x.go()).map(this::convert).map(Made::new).forEach(System.out::println);
        Shape shape = new Shape(1) { @Override public double area() { return helper(); } };
        shape.area();
        A.this.run();
        A.super.toString();
        new Thread((a, b) -> { a.go(); }).start();
    }
}
"#,
        expect![[r#"
            class A Internal @1-11 "class A"
            field A.field Internal @2-2 "Runnable field = () -> run()" -> free Runnable
            lambda A.<lambda1> Internal @2-2 "() ->"
            method A.f Internal @3-10 "void f(List<Base> all)" (all: free List<free Base>) -> ?
            lambda A.f.<lambda1> Internal @4-4 "x ->" (x)
            class A.f.$1 Private @5-5 "new Shape(1)" extends free Shape
            method A.f.$1.area override exported @5-5 "@Override public double area()" -> free double @free Override
            lambda A.f.<lambda2> Internal @9-9 "(a, b) ->" (a, b)
            return A.<lambda1> <- free run()
            flow this.field <- def A.<lambda1>
            type parameter all : free List<free Base>
            return A.f.<lambda1> <- parameter x.go()
            return A.f.$1.area <- free helper()
            type local shape : free Shape
            flow local shape <- new def A.f.$1(number)
            type free Runnable in A @2:4
            call free run in A.<lambda1> @2:27
            type free List in A.f @3:11
            type free Base in A.f @3:16
            call parameter all.stream in A.f @4:12
            call parameter all.stream().map /1 in A.f @4:21
            call parameter x.go in A.f.<lambda1> @4:32
            call parameter all.stream().map(def A.f.<lambda1>).map /1 in A.f @4:38
            read this.convert in A.f @4:48
            call parameter all.stream().map(def A.f.<lambda1>).map(this.convert).map /1 in A.f @4:57
            read free Made in A.f @4:61
            call parameter all.stream().map(def A.f.<lambda1>).map(this.convert).map(free Made.new).forEach /1 in A.f @4:72
            read free System in A.f @4:80
            read free System.out in A.f @4:87
            read free System.out.println in A.f @4:92
            type free Shape in A.f @5:8
            instantiate free Shape /1 in A.f @5:26
            decorate free Override in A.f.$1 @5:38
            call free helper in A.f.$1.area @5:77
            call local shape.area in A.f @6:14
            type A in A.f @7:8
            call a A.run in A.f @7:15
            type A in A.f @8:8
            call A.toString in A.f @8:16
            instantiate free Thread /1 in A.f @9:12
            call parameter a.go in A.f.<lambda2> @9:33
            call new free Thread(def A.f.<lambda2>).start in A.f @9:42
        "#]],
    );
}
