//! One sample for each language known by data alone.
use crate::common::check;
use expect_test::expect;

#[test]
fn bash() {
    check(
        "bash",
        r##"#!/bin/bash
# Builds.
build() { make all; deploy "$1"; }
LIMIT=3
if true; then build x; fi
"##,
        expect![[r#"
            function build @3-3 "build()" doc "Builds."
            constant LIMIT @4-4 "LIMIT=3"
            call free make in build @3:10
            call free deploy in build @3:20
            call free true @5:3
            call build @5:14
        "#]],
    );
}

#[test]
fn cmake() {
    check(
        "cmake",
        r##"# F.
function(my_fn a)
  message(STATUS "x")
endfunction()
my_fn(1)
"##,
        expect![[r#"
            function my_fn @2-4 "function(my_fn a)" doc "F."
            call free message /2 in my_fn @3:2
            call my_fn /1 @5:0
        "#]],
    );
}

#[test]
fn css() {
    check(
        "css",
        r##"@import "x.css";
/* Big. */
.a > b { color: red; }
@keyframes k { from { a: b } }
"##,
        expect![[r#"
            import Include x.css @1:8
            section .a > b @3-3 ".a > b" doc "Big."
            section k @4-4 "@keyframes k { from { a: b } }"
        "#]],
    );
}

#[test]
fn dart() {
    check(
        "dart",
        r##"import 'package:a/b.dart' as b;
/// A cat.
class Cat extends Animal implements Pet { final int age = 3; void meow(int n) { print(n); helper(); } int get size => 1; }
void main() { var c = Cat(); c.meow(1); }
"##,
        expect![[r#"
            import Wildcard package:a/b.dart as b @1:7
            class Cat @3-3 "class Cat extends Animal implements Pet" extends free Animal implements free Pet doc "A cat."
            field Cat.age @3-3 "age = 3"
            method Cat.meow @3-3 "void meow(int n)" (n) -> ?
            method Cat.size @3-3 "int get size" -> free int
            function main @4-4 "void main()" -> ?
            flow local c <- Cat()
            inherit free Animal in Cat @3:18
            inherit free Pet in Cat @3:36
            type free int in Cat @3:48
            call free print /1 in Cat.meow @3:80
            call free helper in Cat.meow @3:90
            type free int in Cat.size @3:102
            call Cat in main @4:22
            call local c.meow /1 in main @4:31
        "#]],
    );
}

#[test]
fn dockerfile() {
    check(
        "dockerfile",
        r##"FROM rust:1 AS build
ARG V=1
ENV A=b
RUN make
"##,
        expect![[r#"
            section build @1-1 "FROM rust:1 AS build"
            variable V @2-2 "V=1"
            variable A @3-3 "A=b"
        "#]],
    );
}

#[test]
fn elixir() {
    check(
        "elixir",
        r##"defmodule A.B do
  alias C.D
  # Adds.
  def add(x, y) when x > 0 do
    D.helper(x) + y
  end
  defp hide, do: add(1, 2)
end
"##,
        expect![[r#"
            import Module C.D as D in A.B @2:8
            module A.B @1-8 "defmodule A.B do"
            function A.B.add @4-6 "def add(x, y) when x > 0 do" doc "Adds."
            function A.B.hide Private @7-7 "defp hide, do: add(1, 2)"
            type import D in A.B.add @5:4
            call import D.helper /1 in A.B.add @5:6
            call add /2 in A.B.hide @7:17
        "#]],
    );
}

#[test]
fn graphql() {
    check(
        "graphql",
        r##""""A user."""
type User implements Node { id: ID! posts(first: Int): [Post!] }
enum Role { ADMIN }
query Me { me { ...F } }
fragment F on User { id }
"##,
        expect![[r#"
            class User @1-2 "\"\"\"A user.\"\"\" type User implements Node" implements free Node
            field User.id @2-2 "id: ID!" -> free ID
            field User.posts @2-2 "posts(first: Int): [Post!]" -> &free Post
            enum Role @3-3 "enum Role"
            enummember Role.ADMIN @3-3 "ADMIN"
            function Me @4-4 "query Me"
            section F @5-5 "fragment F on User"
            inherit free Node in User @2:21
            type free ID in User.id @2:32
            type free Post in User.posts @2:56
            call F in Me @4:19
        "#]],
    );
}

#[test]
fn haskell() {
    check(
        "haskell",
        r##"module Main where
import qualified Data.Map as M
-- | Adds.
add :: Int -> Int -> Int
add x y = helper x y
data Shape = Circle Int | Square Int
class Drawable a where draw :: a -> String
"##,
        expect![[r#"
            package Main
            import Wildcard Data.Map as M @2:17
            function add @5-5 "add x y"
            struct Shape @6-6 "data Shape ="
            enummember Shape.Circle @6-6 "Circle Int"
            enummember Shape.Square @6-6 "Square Int"
            trait Drawable @7-7 "class Drawable a where"
            call free helper /1 in add @5:10
            call free helper(free x) /1 in add @5:10
        "#]],
    );
}

#[test]
fn hcl() {
    check(
        "hcl",
        r##"# Net.
resource "aws_vpc" "main" { cidr = var.cidr
 name = format("x") }
"##,
        expect![[r#"
            section aws_vpc.main @2-3 "resource \"aws_vpc\" \"main\"" doc "Net."
            field aws_vpc.main.cidr @2-2 "cidr ="
            field aws_vpc.main.name @3-3 "name ="
            type free var in aws_vpc.main.cidr @2:35
            call free format /1 in aws_vpc.main.name @3:8
        "#]],
    );
}

#[test]
fn html() {
    check(
        "html",
        r##"<html><head><link rel="stylesheet" href="a.css"></head><body id="x"><h1>Two words</h1><script src="a.js">f()</script></body></html>
"##,
        expect![[r#"
            import Effect a.css @1:41
            import Effect a.js @1:99
            section x @1-1 "<body id=\"x\">"
            section Two words @1-1 "<h1>"
        "#]],
    );
}

#[test]
fn json() {
    check(
        "json",
        r##"{"name": "x", "scripts": {"build": "y", "t": {"z": 1}}}"##,
        expect![[r#"
            section name @1-1 "\"name\""
            section scripts @1-1 "\"scripts\""
            section scripts.build @1-1 "\"build\""
            section scripts.t @1-1 "\"t\""
        "#]],
    );
}

#[test]
fn julia() {
    check(
        "julia",
        r##"module M
using LinearAlgebra
"""Adds."""
function add(x, y)
  helper(x)
end
struct P; x::Int; end
f(x) = add(x, 1)
end
"##,
        expect![[r#"
            import Wildcard LinearAlgebra in M @2:6
            module M @1-9 "module M"
            function M.add @4-6 "function add(x, y)"
            struct M.P @7-7 "struct P; x::Int; end"
            function M.f @8-8 "f(x) ="
            return M.f <- add(free x, ?)
            call free helper /1 in M.add @5:2
            call add /2 in M.f @8:7
        "#]],
    );
}

#[test]
fn lua() {
    check(
        "lua",
        r##"local m = require("mod")
-- Greets.
function greet(name) return m.format(name) end
local function helper() greet("x") end
function M.go() helper() end
"##,
        expect![[r#"
            import Effect mod @1:19
            variable m @1-1 "m = require(\"mod\")"
            function greet @3-3 "function greet(name)" (name) doc "Greets."
            function helper @4-4 "local function helper()"
            function go of free M @5-5 "function M.go()"
            flow m <- item([module "mod"], 0)
            return greet <- [m.format(parameter name)]
            flow free M.go <- def go
            read m in greet @3:28
            call m.format /1 in greet @3:30
            call greet /1 in helper @4:24
            type free M in go @5:9
            call helper in go @5:16
        "#]],
    );
}

#[test]
fn make() {
    check(
        "make",
        r##"include x.mk
# Builds.
all: a.o b.o
	cc -o all
CC = gcc
"##,
        expect![[r#"
            import Include x.mk @1:8
            section all @3-4 "all" doc "Builds."
            variable CC @5-5 "CC = gcc"
            call free a.o in all @3:5
            call free b.o in all @3:9
        "#]],
    );
}

#[test]
fn markdown() {
    check(
        "markdown",
        r##"# Title

Text.

## Part

More.

# Other
"##,
        expect![[r###"
            section Title @1-8 "# Title"
            section Title.Part @5-8 "## Part"
            section Other @9-9 "# Other"
        "###]],
    );
}

#[test]
fn ocaml() {
    check(
        "ocaml",
        r##"open Printf
(** Adds. *)
let add x y = helper x + y
type shape = Circle of int | Square
module M = struct let go () = add 1 2 end
"##,
        expect![[r#"
            import Wildcard Printf @1:5
            function add @3-3 "add x y =" doc "Adds."
            typealias shape @4-4 "shape ="
            enummember shape.Circle @4-4 "Circle of int"
            enummember shape.Square @4-4 "Square"
            module M @5-5 "M ="
            function M.go @5-5 "go () ="
            return M.go <- add(?)
            call free helper /1 in add @3:14
            call add /1 in M.go @5:30
        "#]],
    );
}

#[test]
fn proto() {
    check(
        "proto",
        r##"syntax = "proto3";
package a.b;
import "x/y.proto";
// A user.
message User { string name = 1; Address address = 2; }
enum Color { RED = 0; }
service Users { rpc Get(GetRequest) returns (User); }
"##,
        expect![[r#"
            package a.b
            import Include x/y.proto @3:7
            struct User @5-5 "message User" doc "A user."
            field User.name @5-5 "string name = 1" -> ?
            field User.address @5-5 "Address address = 2" -> free Address
            enum Color @6-6 "enum Color"
            enummember Color.RED @6-6 "RED = 0"
            interface Users @7-7 "service Users { rpc Get(GetRequest) returns (User); }"
            method Users.Get @7-7 "rpc Get(GetRequest) returns (User)"
            type free Address in User.address @5:32
            type free GetRequest in Users.Get @7:24
            type User in Users.Get @7:45
        "#]],
    );
}

#[test]
fn r() {
    check(
        "r",
        r##"# Adds.
add <- function(x, y = 2) { x + helper(y) }
add(1, 2)
stats::rnorm(1)
"##,
        expect![[r#"
            function add @2-2 "add <- function(x, y = 2)" (x, y = 2) doc "Adds."
            call free helper /1 in add @2:32
            call add /2 @3:0
            call free stats.rnorm /1 @4:7
        "#]],
    );
}

#[test]
fn scala() {
    check(
        "scala",
        r##"package a.b
import scala.collection.mutable
/** A box. */
class Box(val x: Int) extends Base with Other { def open(y: Int): String = helper(y) }
object Main { def main(args: Array[String]): Unit = { val b = new Box(1); b.open(2) } }
trait T
"##,
        expect![[r#"
            package a.b
            import Member scala.collection member mutable as mutable @2:0
            class Box @4-4 "class Box(val x: Int) extends Base with Other" (x: free Int) extends free Base extends free Other doc "A box."
            method Box.open @4-4 "def open(y: Int): String =" (y: free Int) -> free String
            class Main @5-5 "object Main"
            method Main.main @5-5 "def main(args: Array[String]): Unit =" (args: free Array<free String>) -> free Unit
            trait T @6-6 "trait T"
            type parameter x : free Int
            type parameter y : free Int
            return Box.open <- free helper(parameter y)
            type parameter args : free Array<free String>
            flow local b <- new Box(?)
            type free Int in Box @4:17
            inherit free Base in Box @4:30
            inherit free Other in Box @4:40
            type free Int in Box.open @4:60
            type free String in Box.open @4:66
            call free helper /1 in Box.open @4:75
            type free Array in Main.main @5:29
            type free String in Main.main @5:35
            type free Unit in Main.main @5:45
            instantiate Box /1 in Main.main @5:66
            call local b.open /1 in Main.main @5:76
        "#]],
    );
}

#[test]
fn sql() {
    check(
        "sql",
        r##"-- Users.
CREATE TABLE users (id INT PRIMARY KEY, name TEXT);
CREATE VIEW v AS SELECT count(id) FROM users;
CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;
"##,
        expect![[r#"
            section users @2-2 "CREATE TABLE users" doc "Users."
            field users.id @2-2 "id INT PRIMARY KEY"
            field users.name @2-2 "name TEXT"
            section v @3-3 "CREATE VIEW v AS"
            function f @4-4 "CREATE FUNCTION f() RETURNS int"
            call free count in v @3:24
            type users in v @3:39
        "#]],
    );
}

#[test]
fn swift() {
    check(
        "swift",
        r##"import Foundation
/// A shape.
public class Shape: Base, Drawable {
    private var size: Int = 0
    init(size: Int) { self.size = size }
    func draw(on canvas: Canvas) -> Bool { return canvas.paint(size) }
}
protocol Drawable { func draw() }
func main() { let s = Shape(size: 1); s.draw() }
"##,
        expect![[r#"
            import Wildcard Foundation @1:7
            class Shape @3-7 "public class Shape: Base, Drawable" extends free Base extends Drawable doc "A shape."
            field Shape.size Internal @4-4 "private var size: Int = 0"
            constructor Shape.init Internal @5-5 "init(size: Int)"
            method Shape.draw Internal @6-6 "func draw(on canvas: Canvas) -> Bool"
            interface Drawable Internal @8-8 "protocol Drawable"
            method Drawable.draw Internal @8-8 "func draw()"
            function main Internal @9-9 "func main()"
            flow local s <- Shape(size=?)
            inherit free Base in Shape @3:20
            inherit Drawable in Shape @3:26
            type free Int in Shape @4:22
            read this.size in Shape.init @5:27
            read size in Shape.init @5:34
            call free canvas.paint /1 in Shape.draw @6:57
            read size in Shape.draw @6:63
            call Shape /1 in main @9:22
            call local s.draw in main @9:40
        "#]],
    );
}

#[test]
fn toml() {
    check(
        "toml",
        r##"# P.
[package]
name = "x"
[[bin]]
name = "y"
"##,
        expect![[r#"
            section package @2-3 "[package]" doc "P."
            section package.name @3-3 "name = \"x\""
            section bin @4-5 "[[bin]]"
            section bin.name @5-5 "name = \"y\""
        "#]],
    );
}

#[test]
fn vue() {
    check(
        "vue",
        r##"<template><div/></template>
<script setup lang="ts">
import { ref } from 'vue';
const go = () => ref(1);
</script>
"##,
        expect![[r#"
            import Member vue member ref as ref @3:9
            function go @4-4 "const go = ()"
            return go <- import ref(number)
            call import ref /1 in go @4:17
        "#]],
    );
}

#[test]
fn yaml() {
    check(
        "yaml",
        r##"# Name.
name: x
jobs:
  build:
    steps:
      - run: y
"##,
        expect![[r#"
            section name @2-2 "name" doc "Name."
            section jobs @3-6 "jobs"
            section jobs.build @4-6 "build"
            section jobs.build.steps @5-6 "steps"
        "#]],
    );
}

#[test]
fn zig() {
    check(
        "zig",
        r##"const std = @import("std");
pub fn add(a: i32, b: i32) i32 { return helper(a) + b; }
const Point = struct { x: i32, fn len(self: Point) i32 { return self.x; } };
test "adds" { _ = add(1, 2); }
const Color = enum { red, green, fn warm(self: Color) bool { return self == .red; } };
const Pair = struct { []const u8, u8 };
pub fn List(comptime T: type) type {
    return struct { items: []T, pub fn push(self: *@This(), item: T) void { grow(self); } };
}
test add { _ = add(1, 2); }
"##,
        expect![[r#"
            variable std Private @1-1 "const std = @import(\"std\")"
            function add @2-2 "pub fn add(a: i32, b: i32) i32" (a: ?, b: ?) -> ?
            struct Point Private @3-3 "const Point = struct { x: i32, fn len(self: Point) i32 { return self.x; } }"
            field Point.x Private @3-3 "x: i32"
            method Point.len Private @3-3 "fn len(self: Point) i32" (self: Point) -> ?
            function adds Private test @4-4 "test \"adds\""
            enum Color Private @5-5 "const Color = enum { red, green, fn warm(self: Color) bool { return self == .red; } }"
            field Color.red Private @5-5 "red"
            field Color.green Private @5-5 "green"
            method Color.warm Private @5-5 "fn warm(self: Color) bool" (self: Color) -> ?
            struct Pair Private @6-6 "const Pair = struct { []const u8, u8 }"
            function List @7-9 "pub fn List(comptime T: type) type" (T: ?) -> ?
            struct List.<struct1> Private @8-8 "struct { items: []T, pub fn push(self: *@This(), item: T) void { grow(self); } }"
            field List.<struct1>.items Private @8-8 "items: []T"
            method List.<struct1>.push @8-8 "pub fn push(self: *@This(), item: T) void" (self: ?, item: parameter T) -> ?
            function <test1> Private test @10-10 "test add"
            type parameter self : Point
            flow local _ <- add()
            type parameter self : Color
            type parameter item : parameter T
            flow local _ <- add()
            call free helper in add @2:40
            type Point in Point.len @3:44
            read parameter self.x in Point.len @3:69
            call add in adds @4:18
            type Color in Color.warm @5:47
            call free grow in List.<struct1>.push @8:76
            call add in <test1> @10:15
        "#]],
    );
}

#[test]
fn clauses_are_one_function() {
    check(
        "elixir",
        "defmodule Shop do\n  def go(:a), do: one()\n  def go(:b), do: two()\n  def other(x), do: go(x)\nend\n\
         defimpl Shown, for: Shop do\n  def show(x), do: x\nend\n",
        expect![[r#"
            module Shop @1-5 "defmodule Shop do"
            function Shop.go @2-3 "def go(:a), do: one()"
            function Shop.other @4-4 "def other(x), do: go(x)"
            extension Shown @6-8 "defimpl Shown, for: Shop do"
            function Shown.show @7-7 "def show(x), do: x"
            call free one in Shop.go @2:18
            call free two in Shop.go @3:18
            call go /1 in Shop.other @4:20
            type Shop in Shown @6:20
        "#]],
    );
    check(
        "haskell",
        "data Cart = Cart { items :: [Item] } | Empty\ntotal Empty = 0\ntotal c = size (items c)\n",
        expect![[r#"
            struct Cart @1-1 "data Cart ="
            enummember Cart.Cart @1-1 "Cart"
            field Cart.Cart.items @1-1 "items :: [Item]" -> ?
            enummember Cart.Empty @1-1 "Empty"
            function total @2-3 "total Empty"
            type free Item in Cart.Cart.items @1:29
            call free size /1 in total @3:10
            call free items /1 in total @3:16
        "#]],
    );
}

#[test]
fn functions_belong_to_what_they_are_put_into() {
    check(
        "lua",
        "local M = {}\nfunction M.new(x) return M.go(x) end\nfunction M:add(item) end\nM.go = function(c) return c end\nlocal f = function() end\n",
        expect![[r#"
            variable M @1-1 "M = {}"
            function new of M @2-2 "function M.new(x)" (x)
            function add of M @3-3 "function M:add(item) end" (item)
            function go of M @4-4 "M.go = function(c)" (c)
            function f @5-5 "f = function() end"
            flow M <- item([{}], 0)
            return new <- [M.go(parameter x)]
            flow M.new <- def new
            flow M.add <- def add
            return go <- [parameter c]
            flow M.go <- def go
            type M in new @2:9
            read M in new @2:25
            call M.go /1 in new @2:27
            type M in add @3:9
            type M @4:0
        "#]],
    );
}

#[test]
fn kinds_that_a_word_tells() {
    check(
        "swift",
        "struct Circle: Shape {\n  var size: Int\n}\nextension Circle {\n  func grow() { draw() }\n}\nenum Color {\n  case red\n}\n",
        expect![[r#"
            struct Circle Internal @1-3 "struct Circle: Shape" extends free Shape
            field Circle.size Internal @2-2 "var size: Int"
            extension Circle of Circle Internal @4-6 "extension Circle"
            method Circle.grow Internal @5-5 "func grow()"
            enum Color Internal @7-9 "enum Color"
            enummember Color.red Internal @8-8 "case red"
            inherit free Shape in Circle @1:15
            type free Int in Circle @2:12
            type Circle in Circle @4:10
            call free draw in Circle.grow @5:16
        "#]],
    );
}
