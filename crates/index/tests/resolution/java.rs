//! Java: packages, overloads, dispatch, inner classes, values.

use crate::common::{check, check_calls};
use index::model::EdgeKind;

calls! {
    packages_and_imports: r#"
//- src/app/Main.java
package com.acme.app;
import com.acme.lib.Tool;
import com.acme.lib.Outer.Inner;
import com.acme.wild.*;
import static com.acme.lib.Tool.help;
import static com.acme.lib.Statics.*;
import java.util.List;
class Main {
    void f(List<Tool> tools) {
        Tool.help();
        //   ^^^^ =calls src/lib/Tool.java:Tool.help
        help();
      //^^^^ =calls src/lib/Tool.java:Tool.help
        all();
      //^^^ =calls src/lib/Statics.java:Statics.all
        Inner.run();
        //    ^^^ =calls src/lib/Outer.java:Outer.Inner.run
        Wild.go();
        //   ^^ =calls src/wild/Wild.java:Wild.go
        Sibling.near();
        //      ^^^^ =calls src/app/Sibling.java:Sibling.near
        com.acme.lib.Tool.help();
        //                ^^^^ =calls src/lib/Tool.java:Tool.help
        String.valueOf(1);
        //     ^^^^^^^ =calls java:java.lang::String.valueOf
        tools.size();
        missing();
    }
}
//- src/app/Sibling.java
package com.acme.app;
class Sibling { static void near() {} static int size() { return 0; } }
//- src/lib/Tool.java
package com.acme.lib;
public class Tool { public static void help() {} }
//- src/lib/Statics.java
package com.acme.lib;
public class Statics { public static void all() {} }
//- src/lib/Outer.java
package com.acme.lib;
public class Outer { public static class Inner { public static void run() {} } }
//- src/wild/Wild.java
package com.acme.wild;
public class Wild { public static void go() {} }
"#;
    what_collects_the_rest_is_meant_last: r#"
//- A.java
import java.util.*;
class One { void go() {} }
class Two { void go() {} }
class Types {
    One add(String... names) { return null; }
    Two add(List<String> names) { return null; }
    One say(String text, Object... parts) { return null; }
    Two say(String text, Object part) { return null; }
    void run(Set<String> known, String text) {
        add(known.toArray(new String[0])).go();
        //                                ^^ ~calls A.java:One.go, A.java:Two.go
      //^^^ ~calls A.java:Types.add
        say(text, known.size()).go();
        //                      ^^ =calls A.java:Two.go
      //^^^ =calls A.java:Types.say
        say(text, text, text).go();
        //                    ^^ =calls A.java:One.go
      //^^^ =calls A.java:Types.say
    }
}
"#;
    one_of_more_overloads_than_values_are_told_apart: r#"
//- A.java
class K0 {} class K1 {} class K2 {} class K3 {} class K4 {} class K5 {} class K6 {} class K7 {} class K8 {} class K9 {} class K10 {} class K11 {} class K12 {} class K13 {} class K14 {} class K15 {} class K16 {} class K17 {}
class Right { void go() {} }
class Other { void go() {} }
class Many {
    Other put(K0 x) { return null; }
    Other put(K1 x) { return null; }
    Other put(K2 x) { return null; }
    Other put(K3 x) { return null; }
    Other put(K4 x) { return null; }
    Other put(K5 x) { return null; }
    Other put(K6 x) { return null; }
    Other put(K7 x) { return null; }
    Other put(K8 x) { return null; }
    Other put(K9 x) { return null; }
    Other put(K10 x) { return null; }
    Other put(K11 x) { return null; }
    Other put(K12 x) { return null; }
    Other put(K13 x) { return null; }
    Other put(K14 x) { return null; }
    Other put(K15 x) { return null; }
    Other put(K16 x) { return null; }
    Right put(K17 x) { put(x).go(); return null; }
                     //^^^ =calls A.java:Many.put
                            //^^ =calls A.java:Right.go
    static void use(Many many) { many.put(new K17()).go(); many.put(new K3()).go(); }
                                    //^^^ =calls A.java:Many.put
                                                  // ^^ =calls A.java:Right.go
                                                             // ^^^ =calls A.java:Many.put
                                                                           // ^^ =calls A.java:Other.go
}
"#;
    overloads_by_arrays_boxes_and_characters: r#"
//- A.java
class Right { void go() {} }
class Other { void go() {} }
class A {
    Other all(int[] x) { return null; }
    Right all(Object[] x) { return null; }
    Other all(String x) { return null; }
    void rest(Object... values) { all(values).go(); }
                                //^^^ =calls A.java:A.all
                                            //^^ =calls A.java:Right.go
    Right some(Object... values) { some(values).go(); return null; }
                                 //^^^^ =calls A.java:A.some
                                              //^^ =calls A.java:Right.go
    Right add(short[] x, Boolean y) { return null; }
    Other add(int[] x, Boolean y) { return null; }
    void boxed(short[] x) { add(x, null).go(); }
                          //^^^ =calls A.java:A.add
                                       //^^ =calls A.java:Right.go
    Other nothing(int x) { return null; }
    Right nothing(String x) { return null; }
    void none() { nothing(null).go(); }
                //^^^^^^^ =calls A.java:A.nothing
                              //^^ =calls A.java:Right.go
    Right letter(char x) { return null; }
    Other letter(short x) { return null; }
    void letters(char[] x) { letter(x[0]).go(); }
                           //^^^^^^ =calls A.java:A.letter
                                        //^^ =calls A.java:Right.go
}
"#;
    overloads_by_number_of_arguments: r#"
//- A.java
class A {
    A() { this(1); }
        //^^^^ =calls A.java:A.A
    A(int n) { super(); }
    void f() {}
    void f(int one) {}
    void f(int one, int two) {}
    void g(String... rest) {}
    static A make() { return new A(); }
                           //    ^ =calls A.java:A.A
    void use() {
        f(1);
      //^ =calls A.java:A.f
        this.f(1, 2);
        //   ^ =calls A.java:A.f
        make().f();
      //^^^^ =calls A.java:A.make
        //     ^ =calls A.java:A.f
        g("a", "b", "c");
      //^ =calls A.java:A.g
    }
}
"#;
    virtual_and_interface_dispatch: r#"
//- A.java
interface Shape { double area(); default void draw() { area(); } }
                                                     //^^^^ =calls A.java:Shape.area; calls A.java:Square.area, A.java:Circle.area
abstract class Base implements Shape { public void show() { draw(); } }
                                                          //^^^^ =calls A.java:Shape.draw; calls A.java:Circle.draw
class Square extends Base { public double area() { return 1; } }
class Circle extends Base { public double area() { return 2; } public void draw() { super.draw(); } }
                                                                                  //      ^^^^ =calls A.java:Shape.draw
class Use {
    void f(Shape shape, Square square, Base base) {
        shape.area();
        //    ^^^^ =calls A.java:Shape.area; ~calls A.java:Square.area; ~calls A.java:Circle.area
        square.area();
        //     ^^^^ =calls A.java:Square.area
        square.show();
        //     ^^^^ =calls A.java:Base.show
    }
}
"#;
    inner_and_anonymous_classes: r#"
//- A.java
interface Job { void run(); }
class Outer {
    void tell() {}
    static void shout() {}
    class Inner {
        void go() { tell(); Outer.this.tell(); shout(); own(); }
                  //^^^^ =calls A.java:Outer.tell
                          //           ^^^^ =calls A.java:Outer.tell
                                             //^^^^^ =calls A.java:Outer.shout
                                                      //^^^ =calls A.java:Outer.Inner.own
        void own() {}
    }
    void use() {
        Job job = new Job() { public void run() { tell(); helper(); } void helper() {} };
                                                //^^^^ =calls A.java:Outer.tell
                                                        //^^^^^^ =calls A.java:Outer.use.$1.helper
        job.run();
        //  ^^^ =calls A.java:Job.run; ~calls A.java:Outer.use.$1.run
        new Inner().go();
        //          ^^ =calls A.java:Outer.Inner.go
        Runnable r = () -> tell();
                         //^^^^ =calls A.java:Outer.tell
    }
}
"#;
    receivers_from_fields_results_and_elements: r#"
//- A.java
import java.util.*;
class Item { void go() {} Item next() { return this; } }
class A {
    Item field = new Item();
    List<Item> items = new ArrayList<>();
    Map<String, Item> byName;
    Item[] array;
    Item make() { return field; }
    void use() {
        field.go();
        //    ^^ =calls A.java:Item.go
        this.field.next().next().go();
        //         ^^^^ =calls A.java:Item.next
        //                ^^^^ =calls A.java:Item.next
        //                       ^^ =calls A.java:Item.go
        make().go();
      //^^^^ =calls A.java:A.make
        //     ^^ =calls A.java:Item.go
        for (Item item : items) item.go();
        //                           ^^ =calls A.java:Item.go
        items.get(0).go();
        //           ^^ calls A.java:Item.go
        byName.get("x").go();
        //              ^^ calls A.java:Item.go
        array[0].go();
        //       ^^ =calls A.java:Item.go
        var made = new Item();
        made.go();
        //   ^^ =calls A.java:Item.go
        ((Item) unknown()).go();
        //                 ^^ =calls A.java:Item.go
        if (unknown() instanceof Item it) it.go();
        //                                   ^^ =calls A.java:Item.go
        items.add(made);
    }
}
"#;
    functions_as_objects: r#"
//- A.java
import java.util.function.*;
import java.util.*;
interface Operation { int calculate(int one, int two); }
class A {
    static int add(int one, int two) { return one + two; }
    int subtract(int one, int two) { return one - two; }
    static void run() {}
    static String name(A a) { return ""; }
    int apply(Operation operation) { return operation.calculate(1, 2); }
    //                                                ^^^^^^^^^ =calls A.java:Operation.calculate; ~calls A.java:A.add; ~calls A.java:A.subtract
    void use(List<A> all) {
        Operation operation = A::add;
        operation.calculate(1, 2);
        //        ^^^^^^^^^ =calls A.java:Operation.calculate; ~calls A.java:A.add
        apply(A::add);
      //^^^^^ =calls A.java:A.apply
        apply(this::subtract);
      //^^^^^ =calls A.java:A.apply
        Runnable runnable = A::run;
        runnable.run();
        //       ^^^ ~calls A.java:A.run
        Function<A, String> function = A::name;
        function.apply(this);
        //       ^^^^^ ~calls A.java:A.name
        all.forEach(A::name);
        //  ^^^^^^^ ~calls A.java:A.name
    }
}
"#;
    library_calls_stay_outside: r#"
//- A.java
import java.util.List;
import org.other.Client;
class A extends Client {
    void size() {}
    void send() {}
    void use(List<String> names, Client client) {
        names.size();
        client.send();
        inherited();
        toString();
    }
}
"#;
    inherited_members_and_enums: r#"
//- A.java
class Base { protected void base() {} static void all() {} Item item; }
class Item { void go() {} }
class Derived extends Base {
    void use() {
        base();
      //^^^^ =calls A.java:Base.base
        all();
      //^^^ =calls A.java:Base.all
        item.go();
        //   ^^ =calls A.java:Item.go
        Derived.all();
        //      ^^^ =calls A.java:Base.all
        Color.RED.shade();
        //        ^^^^^ =calls A.java:Color.shade; ~calls A.java:Color.$1.shade
    }
}
enum Color {
    RED(1) { int shade() { return 1; } }, GREEN;
  //^^^ calls A.java:Color.Color
    Color() {}
    Color(int code) {}
    int shade() { return 0; }
}
"#;
}

#[test]
fn inheritance() {
    check(
        r#"
//- A.java
interface Shape { void draw(); }
interface Solid extends Shape {}
//                      ^^^^^ extends A.java:Shape
class Base {}
class Square extends Base implements Shape { public void draw() {} }
//                   ^^^^ extends A.java:Base
//                                   ^^^^^ implements A.java:Shape
                                           //            ^^^^ overrides A.java:Shape.draw
"#,
        &[EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Overrides],
    );
}

#[test]
fn of_two_modules_with_the_same_class_the_one_depended_on_is_meant() {
    check_calls(
        r#"
//- web/src/main/java/web/Page.java
package web;
import shared.Util;
class Page { void show() { Util.go(); } }
//                              ^^ =calls core/src/main/java/shared/Util.java:Util.go
//- core/src/main/java/shared/Util.java
package shared;
public class Util { public static void go() {} }
//- legacy/src/main/java/shared/Util.java
package shared;
public class Util { public static void go() {} }
//- web/pom.xml
<project><artifactId>web</artifactId><dependencies><dependency><artifactId>core</artifactId></dependency></dependencies></project>
//- core/pom.xml
<project><artifactId>core</artifactId></project>
//- legacy/pom.xml
<project><artifactId>legacy</artifactId></project>
"#,
    );
}

#[test]
fn a_variable_that_only_new_instances_are_put_into_runs_what_they_have() {
    check_calls(
        r#"
//- A.java
abstract class Animal { abstract void speak(); }
class Dog extends Animal { void speak() {} }
class Puppy extends Dog { void speak() {} }
class Cat extends Animal { void speak() {} }
class Main {
    void one() { Animal a = new Dog(); a.speak(); }
                                       //^^^^^ calls A.java:Animal.speak; calls A.java:Dog.speak
    void two(boolean x) { Animal a = new Puppy(); if (x) a = new Cat(); a.speak(); }
                                       //                                 ^^^^^ calls A.java:Animal.speak; calls A.java:Cat.speak; calls A.java:Puppy.speak
    void three() { new Dog().speak(); }
                           //^^^^^ calls A.java:Dog.speak
    void four(Animal given) { Animal a = new Dog(); a = given; a.speak(); }
                                       //                        ^^^^^ calls A.java:Animal.speak; calls A.java:Cat.speak; calls A.java:Dog.speak; calls A.java:Puppy.speak
}
"#,
    );
}

#[test]
fn among_overloads_the_one_with_the_same_parameters_is_overridden() {
    check(
        r#"
//- A.java
class Base { void match(int x) {} }
class Middle extends Base { void match(String x, int y) {} }
//                   ^^^^ extends A.java:Base
class Low extends Middle { void match(int x) {} void match(boolean x) {} }
//                ^^^^^^ extends A.java:Middle
                        //      ^^^^^ overrides A.java:Base.match
"#,
        &[EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Overrides],
    );
}

#[test]
fn what_overrides_it_is_passed_over_by_super() {
    check_calls(
        r#"
//- A.java
class Stream { void close() {} void end() { close(); } }
                                          //^^^^^ calls A.java:Stream.close; calls A.java:File.close; calls A.java:Temporary.close
class File extends Stream { void close() { super.close(); } }
                                             //  ^^^^^ =calls A.java:Stream.close
class Temporary extends File { void close() {} }
"#,
    );
}
