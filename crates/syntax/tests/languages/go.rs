//! Go, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn packages_and_imports() {
    check(
        "go",
        r#"// Copyright of someone.

// Package store keeps items. It is small.
package store

import (
	"fmt"
	. "math"
	_ "embed"
	log "github.com/acme/logging"
	"github.com/acme/go-multierror"
	"gopkg.in/yaml.v2"
	"github.com/acme/api/v3"
)

func f() { fmt.Println(Sin(1), log.L, multierror.Append, yaml.Marshal, api.New()) }
"#,
        expect![[r#"
            package store
            doc "Package store keeps items."
            import Module fmt as fmt @7:1
            import Wildcard math @8:3
            import Effect embed @9:3
            import Module github.com/acme/logging as log @10:5
            import Module github.com/acme/go-multierror as multierror @11:1
            import Module gopkg.in/yaml.v2 as yaml @12:1
            import Module github.com/acme/api/v3 as api @13:1
            function f Internal @16-16 "func f()"
            read import fmt in f @16:11
            call import fmt.Println /5 in f @16:15
            call free Sin /1 in f @16:23
            read import log in f @16:31
            read import log.L in f @16:35
            read import multierror in f @16:38
            read import multierror.Append in f @16:49
            read import yaml in f @16:57
            read import yaml.Marshal in f @16:62
            read import api in f @16:71
            call import api.New in f @16:75
        "#]],
    );
}

#[test]
fn structs_interfaces_and_embedding() {
    check(
        "go",
        r#"package p

// Store is a store.
//
// Deprecated: use Other.
type Store struct {
	sync.Mutex
	*Base
	a, B int // says nothing of fn
	fn   func(int) error
	m    map[string]*Item
}

type Getter interface {
	fmt.Stringer
	Get(key string) (*Item, error)
}

type Number interface{ ~int | float64 }
type List []*Item
type Alias = List
type Stack[T any] struct{ items []T }

func (s *Stack[T]) Push(item T) {}
func (l List) Len() int { return len(l) }
"#,
        expect![[r#"
            package p
            struct Store exported deprecated @6-12 "type Store struct" embeds free sync.Mutex embeds free Base doc "Store is a store."
            field Store.Mutex exported @7-7 "sync.Mutex" -> free sync.Mutex
            field Store.Base exported @8-8 "*Base" -> free Base
            field Store.a Internal @9-9 "a, B int" -> ?
            field Store.B exported @9-9 "a, B int" -> ?
            field Store.fn Internal @10-10 "fn func(int) error" -> fn(?, free error)
            field Store.m Internal @11-11 "m map[string]*Item" -> free map<?, &free Item>
            interface Getter exported @14-17 "type Getter interface" embeds free fmt.Stringer
            method Getter.Get abstract exported @16-16 "Get(key string) (*Item, error)" (key: ?) -> free ()<&free Item, free error>
            interface Number exported @19-19 "type Number interface"
            class List exported @20-20 "type List []*Item" -> &&free Item
            typealias Alias exported @21-21 "type Alias = List" -> List
            struct Stack exported @22-22 "type Stack[T any] struct"
            field Stack.items Internal @22-22 "items []T" -> &typeparameter T
            method Push of &Stack<typeparameter T> exported @24-24 "func (s *Stack[T]) Push(item T)" (item: typeparameter T)
            method Len of List exported @25-25 "func (l List) Len() int" -> ?
            flow Alias <- List
            type typeparameter T : ?
            type parameter item : typeparameter T
            return Len <- free len(receiver l)
            type free sync in Store @7:1
            inherit free sync.Mutex in Store @7:6
            inherit free Base in Store @8:2
            type free error in Store @10:16
            type free Item in Store @11:18
            type free fmt in Getter @15:1
            inherit free fmt.Stringer in Getter @15:5
            type free Item in Getter.Get @16:19
            type free error in Getter.Get @16:25
            type free Item in List @20:13
            type List in Alias @21:13
            type Stack in Push @24:9
            type List in Len @25:8
            call free len /1 in Len @25:33
        "#]],
    );
}

#[test]
fn results_and_lists() {
    check(
        "go",
        r#"package p

func two() (a *A, err error) { return nil, nil }

func f(m map[string]*A, c chan *A, xs []*A, i interface{}) (int, *A) {
	x, err := two()
	y, ok := m["k"]
	z, _ := i.(*A)
	v, w := <-c, new(A)
	p, q := x, y
	for _, e := range xs {
		e.Run()
	}
	for e := range c {
		e.Run()
	}
	xs = append(xs, x)
	c <- x
	z.n += 1
	select {
	case got := <-c:
		got.Run()
	}
	return 1, z
}
"#,
        expect![[r#"
            package p
            function two Internal @3-3 "func two() (a *A, err error)" -> free ()<&free A, free error>
            function f Internal @5-25 "func f(m map[string]*A, c chan *A, xs []*A, i interface{}) (int, *A)" (m: free map<?, &free A>, c: &&free A, xs: &&free A, i: ?) -> free ()<?, &free A>
            type local a : &free A
            type local err : free error
            return two <- [null, null]
            type parameter m : free map<?, &free A>
            type parameter c : &&free A
            type parameter xs : &&free A
            flow local x <- item(two(), 0)
            flow local err <- item(two(), 1)
            flow local y <- parameter m[k]
            flow local z <- a &free A
            flow local v <- element(parameter c)
            flow local w <- a free A
            flow local p <- local x
            flow local q <- local y
            flow maybe local e <- element(parameter xs)
            flow maybe local e <- element(parameter c)
            flow parameter xs <- any(parameter xs, [local x])
            flow parameter c[] <- local x
            flow maybe local got <- element(parameter c)
            return f <- [number, local z]
            type free A in two @3:15
            type free error in two @3:22
            type free A in f @5:21
            type free A in f @5:32
            type free A in f @5:41
            type free A in f @5:66
            call two in f @6:11
            type free A in f @8:13
            type free A in f @9:18
            call local e.Run in f @12:4
            call local e.Run in f @15:4
            read local z.n in f @19:3
            write local z.n in f @19:3
            call local got.Run in f @22:6
        "#]],
    );
}

#[test]
fn type_switches_and_shadowing() {
    check(
        "go",
        r#"package p

func f(i any) {
	x := first()
	if x := second(); x != nil {
		x.Inner()
	}
	x.Outer()
	switch t := i.(type) {
	case *A:
		t.OnA()
	case B, C:
		t.OnEither()
	default:
		t.OnRest()
	}
}
"#,
        expect![[r#"
            package p
            function f Internal @3-17 "func f(i any)" (i: ?)
            flow local x <- free first()
            flow maybe local x <- free second()
            type local t : &free A
            flow maybe local t <- parameter i
            flow maybe local t <- parameter i
            call free first in f @4:6
            call free second in f @5:9
            call local x.Inner in f @6:4
            call local x.Outer in f @8:3
            type free A in f @10:7
            call local t.OnA in f @11:4
            type free B in f @12:6
            type free C in f @12:9
            call local t.OnEither in f @13:4
            call local t.OnRest in f @15:4
        "#]],
    );
}

#[test]
fn composite_literals() {
    check(
        "go",
        r#"package p

var table = map[string]func(){"run": run}
var points = []Point{{X: 1}, {X: 2}}

func f() {
	s := &Server{Handler: handle, Inner: pkg.Inner{On: on}}
	cases := []struct {
		name string
		call func()
	}{{name: "a", call: run}}
	for _, c := range cases {
		c.call()
	}
	s.Handler()
}
"#,
        expect![[r#"
            package p
            variable table Internal @3-3 "var table = map[string]func(){\"run\": run}"
            variable points Internal @4-4 "var points = []Point{{X: 1}, {X: 2}}"
            function f Internal @6-16 "func f()"
            flow table <- {"run": free run}
            flow new free Point().X <- number
            flow new free Point().X <- number
            flow points <- [new free Point(), new free Point()]
            flow new free Server().Handler <- free handle
            flow new free pkg.Inner().On <- free on
            flow new free Server().Inner <- new free pkg.Inner()
            flow local s <- new free Server()
            flow local cases <- [{"name": "a", "call": free run}]
            flow maybe local c <- element(local cases)
            read free run @3:37
            type free Point @4:15
            instantiate free Server in f @7:7
            read free handle in f @7:23
            read free pkg in f @7:38
            instantiate free pkg.Inner in f @7:42
            read free on in f @7:52
            read free run in f @11:21
            call local c.call in f @13:4
            call local s.Handler in f @15:3
        "#]],
    );
}

#[test]
fn tests_and_entry_points() {
    check(
        "go",
        r#"package main

import "testing"

func init() {}
func main() {}
func TestAll(t *testing.T) { t.Run("x", func(t *testing.T) { run() }) }
func Testify() {}
func BenchmarkAll(b *testing.B) {}
func ExampleRun() {}
"#,
        expect![[r#"
            package main
            import Module testing as testing @3:7
            function init Internal entry @5-5 "func init()"
            function main Internal entry @6-6 "func main()"
            function TestAll test exported @7-7 "func TestAll(t *testing.T)" (t: &import testing.T)
            lambda TestAll.<lambda1> Internal @7-7 "func(t *testing.T)" (t: &import testing.T)
            function Testify exported @8-8 "func Testify()"
            function BenchmarkAll test exported @9-9 "func BenchmarkAll(b *testing.B)" (b: &import testing.B)
            function ExampleRun test exported @10-10 "func ExampleRun()"
            type parameter t : &import testing.T
            type parameter t : &import testing.T
            type parameter b : &import testing.B
            type import testing in TestAll @7:16
            type import testing.T in TestAll @7:24
            call parameter t.Run /2 in TestAll @7:31
            type import testing in TestAll.<lambda1> @7:48
            type import testing.T in TestAll.<lambda1> @7:56
            call free run in TestAll.<lambda1> @7:61
            type import testing in BenchmarkAll @9:21
            type import testing.B in BenchmarkAll @9:29
        "#]],
    );
}
