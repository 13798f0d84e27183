//! C++: classes, namespaces, overloads, dispatch, templates as written.

use crate::common::check;
use index::model::EdgeKind;

calls! {
    headers_and_members_outside_of_their_class: r#"
//- include/shape.h
#pragma once
namespace geo {
class Item { public: void go(); };
class Shape {
public:
    Shape(int n);
    void draw();
    static Shape* make(int n);
    int size() const { return helper(); }
 //                           ^^^^^^ =calls src/shape.cpp:geo.helper
private:
    int helper() const;
    Item item_;
    Item* pointer_;
};
int area(const Shape& shape);
}
//- src/shape.cpp
#include "shape.h"
namespace geo {
Shape::Shape(int n) { draw(); }
 //                   ^^^^ =calls src/shape.cpp:geo.draw
void Shape::draw() { item_.go(); pointer_->go(); this->helper(); local(); }
 //                        ^^ =calls src/item.cpp:go
 //                                        ^^ =calls src/item.cpp:go
 //                                                    ^^^^^^ =calls src/shape.cpp:geo.helper
 //                                                              ^^^^^ =calls src/shape.cpp:geo.local
Shape* Shape::make(int n) { return new Shape(n); }
 //                                    ^^^^^ =calls src/shape.cpp:geo.Shape
int Shape::helper() const { return 1; }
static void local() {}
int area(const Shape& shape) { return shape.size(); }
 //                                         ^^^^ =calls include/shape.h:geo.Shape.size
}
//- src/item.cpp
#include "shape.h"
void geo::Item::go() {}
//- src/main.cpp
#include "shape.h"
using namespace geo;
int main() {
    Shape::make(1)->draw();
 //        ^^^^ =calls src/shape.cpp:geo.make
 //                 ^^^^ =calls src/shape.cpp:geo.draw
    geo::area(Shape(2));
 //      ^^^^ =calls src/shape.cpp:geo.area
 //           ^^^^^ =calls src/shape.cpp:geo.Shape
    Shape shape(3);
 // ^^^^^ =calls src/shape.cpp:geo.Shape
    area(shape);
 // ^^^^ =calls src/shape.cpp:geo.area
}
"#;
    a_name_of_the_outermost_scope_is_no_member: r#"
//- run.cpp
void run() {}
//- task.cpp
class Task {
    void run() { ::run(); }
    //             ^^^ =calls run.cpp:run
    void twice() { run(); }
    //             ^^^ =calls task.cpp:Task.run
};
"#;
    iterators_walk_over_what_a_container_holds: r#"
//- a.cpp
#include <vector>
#include <map>
class Item { public: void go() {} };
void use(std::vector<Item*>& items, std::vector<int>& numbers) {
    for (std::vector<Item*>::const_iterator i = items.begin(); i != items.end(); ++i)
        (*i)->go();
    //        ^^ calls a.cpp:Item.go
    for (std::vector<int>::iterator i = numbers.begin(); i != numbers.end(); ++i)
        i->go();
}
"#;
    of_two_programs_a_file_is_in_one: r#"
//- task.h
class Task { public: void start(); void stop(int x); };
//- posix.cpp
#include "task.h"
void Task::start() { stop(1); }
                  // ^^^^ =calls posix.cpp:stop
void Task::stop(int x) {}
//- windows.cpp
#include "task.h"
void Task::start() { stop(1); }
                  // ^^^^ =calls windows.cpp:stop
void Task::stop(int x) {}
"#;
    what_a_generator_reads_is_no_second_definition: r#"
//- src/lexer.h
class Lexer { public: bool error(int code); void skip(); void only(); };
//- src/lexer.in.cc
#include "lexer.h"
bool Lexer::error(int code) { return false; }
void Lexer::skip() {}
void Lexer::only() {}
//- src/lexer.cc
#include "lexer.h"
bool Lexer::error(int code) { return false; }
void Lexer::skip() { error(1); }
                  // ^^^^^ =calls src/lexer.cc:error
//- src/parser.cc
#include "lexer.h"
void parse(Lexer& lexer) { lexer.error(1); lexer.only(); }
                              // ^^^^^ =calls src/lexer.cc:error
                              // ^^^^^ ?calls src/lexer.in.cc:error
                                              // ^^^^ =calls src/lexer.in.cc:only
//- src/elsewhere/util.in.cc
int twice(int n) { return n; }
//- src/util.cc
int twice(int n) { return n; }
//- src/use.cc
int twice(int n);
int use() { return twice(1); }
                // ^^^^^ ~calls src/util.cc:twice, src/elsewhere/util.in.cc:twice
"#;
    two_sources_are_two_definitions: r#"
//- src/task.h
class Task { public: void start(int n); };
//- src/task_posix.cc
#include "task.h"
void Task::start(int n) {}
//- src/task_win.cc
#include "task.h"
void Task::start(int n) {}
//- src/main.cc
#include "task.h"
void run(Task& task) { task.start(1); }
                         // ^^^^^ ~calls src/task_posix.cc:start, src/task_win.cc:start
"#;
    lists_of_arguments: r#"
//- a.cpp
#include <cstdarg>
class One { public: void go() {} };
class Two { public: void go() {} };
One say(const char* text, va_list list) { return One(); }
Two say(const char* text, ...) {
    va_list list;
    va_start(list, text);
    say(text, list).go();
 // ^^^ calls a.cpp:say
 //                 ^^ calls a.cpp:One.go
    return Two();
}
void use(Text path, int n) {
    say("%s", path.c_str()).go();
 // ^^^ =calls a.cpp:say
 //                         ^^ =calls a.cpp:Two.go
    say("%d", n).go();
 // ^^^ =calls a.cpp:say
 //              ^^ =calls a.cpp:Two.go
}
"#;
    overloads_and_defaults: r#"
//- a.cpp
void f(int one) {}
void f(int one, int two) {}
void g(int one, int two = 2) {}
class A {
public:
    A() {}
    A(int n) : A() {}
 //            ^ =calls a.cpp:A.A
    void m() {}
    void m(int n) { m(); f(n); ::f(n, n); g(1); }
 //                 ^ =calls a.cpp:A.m
 //                      ^ =calls a.cpp:f
 //                              ^ =calls a.cpp:f
 //                                       ^ =calls a.cpp:g
};
void use(A* a) {
    a->m(1);
 //    ^ =calls a.cpp:A.m
    auto made = std::make_unique<A>(1);
 //                              ^ =calls a.cpp:A.A
    made->m();
 //       ^ =calls a.cpp:A.m
    f(1, 2);
 // ^ =calls a.cpp:f
}
"#;
    virtual_dispatch: r#"
//- a.cpp
class Shape { public: virtual double area() const = 0; virtual void draw() { area(); } void plain() {} };
//                                                                           ^^^^ =calls a.cpp:Shape.area; ~calls a.cpp:Square.area; ~calls a.cpp:Circle.area
class Square : public Shape { public: double area() const override { return 1; } };
class Circle : public Shape { public: double area() const override { return 2; } void draw() override { Shape::draw(); } };
//                                                                                                             ^^^^ =calls a.cpp:Shape.draw
void use(Shape& shape, Square* square) {
    shape.area();
 //       ^^^^ =calls a.cpp:Shape.area; ~calls a.cpp:Square.area; ~calls a.cpp:Circle.area
    square->area();
 //         ^^^^ =calls a.cpp:Square.area
    square->plain();
 //         ^^^^^ =calls a.cpp:Shape.plain
    if (auto* circle = dynamic_cast<Circle*>(&shape)) circle->area();
 //                                                           ^^^^ =calls a.cpp:Circle.area
}
"#;
    values_containers_and_lambdas: r#"
//- a.cpp
#include <vector>
#include <memory>
struct Item { void go() {} Item* next() { return this; } };
static void first(int n) {}
using Callback = void (*)(int);
struct Holder { Callback call; std::vector<std::unique_ptr<Item>> items; std::vector<Item> plain; };
void apply(Callback callback) { callback(1); }
 //                             ^^^^^^^^ ~calls a.cpp:first
void use(Holder& holder) {
    for (auto& item : holder.items) item->go();
 //                                       ^^ =calls a.cpp:Item.go
    for (const Item& item : holder.plain) item.go();
 //                                            ^^ =calls a.cpp:Item.go
    holder.items[0]->next()->go();
 //                  ^^^^ =calls a.cpp:Item.next
 //                          ^^ =calls a.cpp:Item.go
    apply(first);
 // ^^^^^ =calls a.cpp:apply
    apply(&first);
 // ^^^^^ =calls a.cpp:apply
    auto run = [&](int n) { first(n); };
 //                         ^^^^^ =calls a.cpp:first
    run(1);
    holder.call = first;
    holder.call(2);
 //        ^^^^ ~calls a.cpp:first
    std::sort(holder.plain.begin(), holder.plain.end());
 //      ^^^^ =calls cpp:std::sort
}
"#;
    library_calls_stay_outside: r#"
//- a.cpp
#include <string>
struct Mine { int size() { return 0; } void push_back(int n) {} };
void use(std::string text, std::vector<int>& all) {
    text.size();
    all.push_back(1);
    std::move(text);
 //      ^^^^ =calls cpp:std::move
}
void move(int n) {}
"#;
    templates_as_written: r#"
//- a.cpp
template <typename T> T twice(T value) { return value; }
template <class T> class Box {
public:
    T& get() { return value_; }
    void fill() { clear(); }
 //               ^^^^^ =calls a.cpp:clear
    void clear();
private:
    T value_;
};
template <class T> void Box<T>::clear() { get(); }
 //                                       ^^^ =calls a.cpp:Box.get
void use(Box<int>& box) {
    twice<int>(1);
 // ^^^^^ =calls a.cpp:twice
    twice(2);
 // ^^^^^ =calls a.cpp:twice
    box.fill();
 //     ^^^^ =calls a.cpp:Box.fill
}
"#;
    a_function_of_the_class_hides_one_of_the_file: r#"
//- a.cpp
static void run() {}
static void only() {}
static void stop() {}
class Base { void stop() {} };
class Timer : Base {
    void start() { run(); only(); ::run(); }
 //                ^^^ =calls a.cpp:Timer.run
 //                       ^^^^ =calls a.cpp:only
 //                                 ^^^ =calls a.cpp:run
    void run() {}
    void later();
};
void Timer::later() { run(); only(); stop(); }
 //                   ^^^ =calls a.cpp:Timer.run
 //                          ^^^^ =calls a.cpp:only
 //                                  ^^^^ =calls a.cpp:Base.stop
void other() { run(); }
 //            ^^^ =calls a.cpp:run
"#;
}

#[test]
fn inheritance() {
    check(
        r#"
//- a.cpp
namespace base { class Shape { public: virtual void draw() = 0; }; }
class Square : public base::Shape { public: void draw() override {} };
//                          ^^^^^ extends a.cpp:base.Shape
//                                               ^^^^ overrides a.cpp:base.Shape.draw
"#,
        &[EdgeKind::Extends, EdgeKind::Implements, EdgeKind::Overrides],
    );
}

#[test]
fn a_namespace_of_many_parts_is_one() {
    let mut fixture =
        String::from("//- base.h\nnamespace x { namespace detail { class Base { public: void run() {} }; } }\n");
    for number in 0..40 {
        fixture += &format!(
            "//- part{number}.cpp\n#include \"base.h\"\nnamespace x {{ namespace detail {{\nvoid part{number}() {{}}\n}} }}\n"
        );
    }
    fixture += "\
//- z/use.cpp
#include \"base.h\"
void use(x::detail::Base *base) {
    x::detail::part7();
//             ^^^^^ =calls part7.cpp:x.detail.part7
    base->run();
//        ^^^ =calls base.h:x.detail.Base.run
}
namespace x { namespace detail { class Last : public x::detail::Base { void go() { run(); part39(); } }; } }
//                                                                                 ^^^ =calls base.h:x.detail.Base.run
//                                                                                        ^^^^^^ =calls part39.cpp:x.detail.part39
";
    check(&fixture, &[EdgeKind::Calls]);
}
