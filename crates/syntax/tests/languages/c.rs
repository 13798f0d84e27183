//! C, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn the_preprocessor() {
    check(
        "c",
        r#"#ifndef GUARD_H
#define GUARD_H
#include <linux/fs.h>
#include "foo.h"
#define MAX 10
#define ALIAS real_function
/* Locks it. */
#define LOCK(x, ...) do { \
    mutex_lock(&(x)->m); x(1); "f(1)"; \
} while (0)
#if defined(CONFIG_X) && VERSION(2)
int a(void) { return MAX; }
#elif OTHER
int a(void) { return 2; }
#else
int a(void) { LOCK(1); return 3; }
#endif
#endif
"#,
        expect![[r##"
            import Include linux/fs.h reexported @3:9
            import Include .foo.h reexported @4:9
            constant MAX @5-5 "#define MAX 10"
            constant ALIAS @6-6 "#define ALIAS real_function"
            macro LOCK @8-10 "#define LOCK(x, ...)" (x, *...) doc "Locks it."
            function a @12-12 "int a(void)" -> ?
            function a @14-14 "int a(void)" -> ?
            function a @16-16 "int a(void)" -> ?
            flow ALIAS <- free real_function
            return a <- MAX
            flow a <- def a
            return a <- number
            flow a <- def a
            return a <- number
            call free mutex_lock /255 in LOCK @9:4
            read MAX in a @12:21
            call LOCK /1 in a @16:14
        "##]],
    );
}

#[test]
fn records_and_types() {
    check(
        "c",
        r#"
/** What can be done. */
struct ops { int (*open)(struct inode *inode, int flags); void *data, *more[2]; struct { int deep; } inner; union { int u; }; unsigned bits : 3; };
typedef struct { int x; } point;
typedef struct node { struct node *next; } node;
typedef struct node *node_pointer;
typedef int (*handler)(int);
enum color { RED, GREEN = 2 };
typedef enum { ON, OFF } state;
struct stat;
int stat(const char *path, struct stat *out);
"#,
        expect![[r#"
            struct ops @3-3 "struct ops" doc "What can be done."
            field ops.open @3-3 "int (*open)(struct inode *inode, int flags)" -> fn(free struct inode, ?, ?)
            field ops.data @3-3 "void *data, *more[2]"
            field ops.more @3-3 "void *data, *more[2]"
            field ops.deep @3-3 "int deep"
            field ops.inner @3-3 "struct { int deep; } inner"
            field ops.u @3-3 "int u"
            field ops.bits @3-3 "unsigned bits : 3"
            struct point @4-4 "struct"
            field point.x @4-4 "int x"
            struct node @5-5 "struct node"
            field node.next @5-5 "struct node *next" -> &struct node
            typealias node_pointer @6-6 "typedef struct node *node_pointer" -> &struct node
            typealias handler @7-7 "typedef int (*handler)(int)" -> fn(?, ?)
            enum color @8-8 "enum color"
            enummember color.RED @8-8 "RED"
            enummember color.GREEN @8-8 "GREEN = 2"
            enum state @9-9 "enum"
            enummember state.ON @9-9 "ON"
            enummember state.OFF @9-9 "OFF"
            function stat declaration @11-11 "int stat(const char *path, struct stat *out)" (path: ?, out: &free struct stat) -> ?
            flow node_pointer <- &struct node
            flow handler <- fn(?, ?)
            type parameter out : &free struct stat
            type free struct inode in ops @3:32
            type struct node in node @5:29
            type struct node @6:15
            type free struct stat @10:7
            type free struct stat in stat @11:34
        "#]],
    );
}

#[test]
fn functions_and_variables() {
    check(
        "c",
        r#"
static int my_open(struct inode *inode, int flags) { return stat("x", 0); }
static const struct ops my_ops = { .open = my_open, .inner = { .deep = 1 } };
struct command { const char *name; int (*run)(int); };
static struct command commands[] = { { "a", run_a }, { .name = "b", .run = run_b } };
extern int prototype(const char *text, ...);
int global, *pointer = &global;
char *find(void);
char *find(void) { return 0; }
int main(int argc, char **argv) {
    handler h = run_a;
    h(1);
    for (int i = 0; i < 2; i++) commands[i].run(i);
    point p = { 1 };
    p.x += 2;
    node *n = (node *)malloc(sizeof(node));
    n->next->next = n;
    int (*direct)(int) = argc ? run_a : run_b;
    (*direct)(3);
    use(&(struct ops){ .open = my_open });
    goto out;
out:
    return prototype("x");
}
"#,
        expect![[r#"
            function my_open Private @2-2 "static int my_open(struct inode *inode, int flags)" (inode: &free struct inode, flags: ?) -> ?
            variable my_ops Private @3-3 "static const struct ops my_ops = { .open = my_open, .inner = { .deep = 1 } }" -> free struct ops
            struct command @4-4 "struct command"
            field command.name @4-4 "const char *name"
            field command.run @4-4 "int (*run)(int)" -> fn(?, ?)
            variable commands Private @5-5 "static struct command commands[] = { { \"a\", run_a }, { .name = \"b\", .run = run_b } }" -> &struct command
            function prototype declaration @6-6 "extern int prototype(const char *text, ...)" (text: ?, *) -> ?
            variable global @7-7 "int global, *pointer = &global" -> ?
            variable pointer @7-7 "int global, *pointer = &global" -> ?
            function find declaration @8-8 "char *find(void)" -> ?
            function find @9-9 "char *find(void)" -> ?
            function main entry @10-24 "int main(int argc, char **argv)" (argc: ?, argv: ?) -> ?
            type parameter inode : &free struct inode
            return my_open <- free stat("x", number)
            type my_ops : free struct ops
            flow new free struct ops().open <- my_open
            flow new free struct ops().inner <- {"deep": number}
            flow my_ops <- new free struct ops()
            type commands : &struct command
            flow new struct command().name <- "a"
            flow new struct command().run <- free run_a
            flow new struct command().name <- "b"
            flow new struct command().run <- free run_b
            flow commands <- [new struct command(), new struct command()]
            flow pointer <- global
            return find <- number
            type local h : free handler
            flow local h <- free run_a
            flow maybe local i <- number
            type local p : free point
            flow local p <- new free point()
            type local n : &free node
            flow local n <- a &free node
            flow local n.next.next <- local n
            type local direct : fn(?, ?)
            flow local direct <- any(free run_a, free run_b)
            flow new free struct ops().open <- my_open
            return main <- prototype("x")
            type free struct inode in my_open @2:26
            call free stat /2 in my_open @2:60
            type free struct ops @3:20
            read my_open @3:43
            type struct command @5:14
            read free run_a @5:44
            read free run_b @5:75
            read global @7:24
            type free handler in main @11:4
            read free run_a in main @11:16
            call local h /1 in main @12:4
            read commands in main @13:32
            call commands[].run /1 in main @13:44
            type free point in main @14:4
            read local p.x in main @15:6
            write local p.x in main @15:6
            type free node in main @16:4
            type free node in main @16:15
            call free malloc /1 in main @16:22
            read free node in main @16:36
            read local n.next in main @17:7
            write local n.next.next in main @17:13
            read free run_a in main @18:32
            read free run_b in main @18:40
            call local direct /1 in main @19:6
            call free use /1 in main @20:4
            type free struct ops in main @20:17
            read my_open in main @20:31
            call prototype /1 in main @23:11
        "#]],
    );
}
