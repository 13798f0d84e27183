//! Go: packages, methods, embedding, interfaces, values.

use crate::common::check;
use index::model::EdgeKind;

calls! {
    packages_are_directories: r#"
//- go.mod
module example.com/app

replace example.com/lib => ./third/lib
//- main.go
package main

import (
    "fmt"
    "example.com/app/store"
    lib "example.com/lib"
    "example.com/app/missing"
)

func main() {
    helper()
//  ^^^^^^ =calls util.go:helper
    store.Open()
//        ^^^^ =calls store/open.go:Open
    lib.Run()
//      ^^^ =calls third/lib/run.go:Run
    fmt.Println()
//      ^^^^^^^ =calls go:fmt::Println
    missing.Open()
}
//- util.go
package main

func helper() {}
//- store/open.go
package store

func Open() { fill() }
//            ^^^^ =calls store/fill.go:fill
//- store/fill.go
package store

func fill() {}
//- store/open_test.go
package store_test

import "example.com/app/store"

func Open() { store.Open(); fill() }
//                  ^^^^ =calls store/open.go:Open
//- third/lib/run.go
package lib

func Run() {}
"#;
    nested_modules_and_vendored_packages: r#"
//- go.mod
module example.com/app
//- main.go
package main

import (
    "example.com/app/api"
    "github.com/other/dep"
)

func main() {
    api.Call()
//      ^^^^ =calls api/call.go:Call
    dep.Do()
//      ^^ =calls vendor/github.com/other/dep/do.go:Do
}
//- api/go.mod
module example.com/app/api
//- api/call.go
package api

import "example.com/app/api/v2/inner"

func Call() { inner.Go() }
//                  ^^ =calls api/v2/inner/go.go:Go
//- api/v2/inner/go.go
package inner

func Go() {}
//- vendor/github.com/other/dep/do.go
package dep

func Do() {}
"#;
    methods_by_receiver_type: r#"
//- a.go
package a

type Store struct{ next *Store; items map[string]*Item; all []Item; made func() *Item }
type Item struct{}
type Other struct{}

func (s *Store) Get(key string) (*Item, error) { return s.items[key], nil }
func (i Item) Close() {}
func (o *Other) Close() {}
func New() *Store { return &Store{} }

func use(s *Store, o Other) {
    item, err := s.Get("k")
//                 ^^^ =calls a.go:Get
    item.Close()
//       ^^^^^ =calls a.go:Close
    o.Close()
//    ^^^^^ =calls a.go:Close
    New().next.Get("x")
//  ^^^ =calls a.go:New
//             ^^^ =calls a.go:Get
    for _, each := range s.all {
        each.Close()
//           ^^^^^ =calls a.go:Close
    }
    if found, ok := s.items["k"]; ok {
        found.Close()
//            ^^^^^ =calls a.go:Close
    }
    var made Item = *s.made()
    made.Close()
//       ^^^^^ =calls a.go:Close
    err.Error()
    unknown().Close()
}
"#;
    embedding_promotes: r#"
//- a.go
package a

import "sync"

type Base struct{}
func (b *Base) Run() {}
func (b *Base) Stop() {}

type Derived struct {
    sync.Mutex
    *Base
}
func (d *Derived) Stop() { d.Base.Stop() }
//                                ^^^^ =calls a.go:Stop

func use(d *Derived) {
    d.Run()
//    ^^^ =calls a.go:Run
    d.Stop()
//    ^^^^ =calls a.go:Stop
    d.Lock()
}
"#;
    interfaces_dispatch_to_implementers: r#"
//- a.go
package a

type Shape interface {
    Area(scale int) float64
    Name() string
}
type Square struct{}
func (s Square) Area(scale int) float64 { return 1 }
func (s Square) Name() string { return "" }
type Named struct{ Square }
func (n *Named) Name() string { return "" }
type Almost struct{}
func (a Almost) Area(scale string) float64 { return 1 }
func (a Almost) Name() string { return "" }

func use(s Shape) {
    s.Area(1)
//    ^^^^ calls a.go:Shape.Area, a.go:Area
}
"#;
    values_are_followed: r#"
//- a.go
package a

type Server struct{ handle func(int) }
type Handler func(int)

func first(n int) {}
func second(n int) {}
func third(n int) {}
func (s *Server) on(n int) {}

func apply(f func(int)) { f(1) }
//                        ^ ~calls a.go:first, a.go:on

func choose() func(int) { return second }

func use(s *Server) {
    f := first
    f(1)
//  ^ ~calls a.go:first
    apply(first)
//  ^^^^^ =calls a.go:apply
    apply(s.on)
//  ^^^^^ =calls a.go:apply
    choose()(2)
//  ^^^^^^ =calls a.go:choose
//  ^^^^^^ ~calls a.go:second
    t := &Server{handle: third}
    t.handle(1)
//    ^^^^^^ ~calls a.go:third
    table := map[string]func(int){"a": second}
    table["a"](1)
//  ^^^^^ ~calls a.go:second
    var h Handler = first
    h(1)
//  ^ ~calls a.go:first
    cases := []struct{ name string; call func(int) }{{name: "x", call: third}}
    for _, c := range cases {
        c.call(1)
//        ^^^^ ~calls a.go:third
    }
    go func() { second(1) }()
//              ^^^^^^ =calls a.go:second
    defer func(g func(int)) { g(1) }(first)
//                            ^ ~calls a.go:first
}
"#;
    type_switches_assertions_and_generics: r#"
//- a.go
package a

type A struct{}
type B struct{}
func (a *A) Go() {}
func (b B) Go() {}
type Goer interface{ Go() }

func use(x any) {
    switch t := x.(type) {
    case *A:
        t.Go()
//        ^^ =calls a.go:Go
    case B:
        t.Go()
//        ^^ =calls a.go:Go
    }
    if a, ok := x.(*A); ok {
        a.Go()
//        ^^ =calls a.go:Go
    }
    run(A{})
//  ^^^ =calls a.go:run
    run[B](B{})
//  ^^^ =calls a.go:run
}

func run[T Goer](value T) { value.Go() }
//                                ^^ calls a.go:Goer.Go, a.go:Go

type Stack[T any] struct{ items []T }
func (s *Stack[T]) Push(item T) { s.grow() }
//                                  ^^^^ =calls a.go:grow
func (s *Stack[T]) grow() {}

func more() {
    s := &Stack[A]{}
    s.Push(A{})
//    ^^^^ =calls a.go:Push
    made := new(A)
    made.Go()
//       ^^ =calls a.go:Go
    list := make([]*A, 1)
    list[0].Go()
//          ^^ =calls a.go:Go
    ch := make(chan *A)
    (<-ch).Go()
//         ^^ =calls a.go:Go
}
"#;
    named_types_of_other_types: r#"
//- a.go
package a

type Item struct{}
func (i *Item) Go() {}
type List []*Item
func (l List) Len() int { return 0 }
type Maker func() *Item
type Alias = Item

func use(l List, m Maker, a *Alias) {
    l.Len()
//    ^^^ =calls a.go:Len
    for _, item := range l {
        item.Go()
//           ^^ =calls a.go:Go
    }
    l[0].Go()
//       ^^ =calls a.go:Go
    m().Go()
//      ^^ =calls a.go:Go
    a.Go()
//    ^^ =calls a.go:Go
    List(nil).Len()
//            ^^^ =calls a.go:Len
}
"#;
}

#[test]
fn interfaces_are_implemented_by_shape() {
    check(
        r#"
//- a/a.go
package a

type Item struct{}
type Getter interface {
    Get(key string, items ...*Item) (*Item, error)
}
//- b/b.go
package b

import "a"

type Store struct{}
//   ^^^^^ implements a/a.go:Getter
func (s *Store) Get(k string, all ...*a.Item) (item *a.Item, err error) { return }

type Wrong struct{}
func (w *Wrong) Get(k int) (*a.Item, error) { return nil, nil }

type Embeds struct{ *Store }
//   ^^^^^^ implements a/a.go:Getter
"#,
        &[EdgeKind::Implements],
    );
}

#[test]
fn methods_that_stand_for_those_of_interfaces() {
    check(
        r#"
//- go.mod
module example.com/app
//- a/a.go
package a

import "net/http"

type Store interface {
	Get(key string) (string, error)
	Close() error
}

type Memory struct{}

func (m *Memory) Get(key string) (string, error) { return key, nil }
//               ^^^ overrides a/a.go:Store.Get
func (m *Memory) Close() error { return nil }
//               ^^^^^ overrides a/a.go:Store.Close, go:io::Closer.Close
func (m *Memory) String(verbose bool) string { return "" }

type Router struct{}

func (r Router) ServeHTTP(w http.ResponseWriter, request *http.Request) {}
//              ^^^^^^^^^ overrides go:net/http::Handler.ServeHTTP

type byName []string

func (b byName) Len() int           { return len(b) }
//              ^^^ overrides go:sort::Interface.Len
func (b byName) Less(i, j int) bool { return b[i] < b[j] }
//              ^^^^ overrides go:sort::Interface.Less
func (b byName) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
//              ^^^^ overrides go:sort::Interface.Swap
"#,
        &[EdgeKind::Overrides],
    );
}

#[test]
fn interfaces_of_the_library() {
    check(
        r#"
//- a.go
package a

type Failure struct{ text string }
//   ^^^^^^^ implements go:builtin::error

func (f *Failure) Error() string { return f.text }

type half struct{}

func (h half) Len() int { return 0 }
"#,
        &[EdgeKind::Implements],
    );
}
