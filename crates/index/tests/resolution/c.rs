//! C: linkage, headers, function pointers, macros.

calls! {
    what_a_source_file_declares_or_defines_as_macro_is_its_own: r#"
//- parser.c
void release(void *x);
void known(void *x);
#define SIZE(x) other(x)
void parse(void *x) { release(x); SIZE(x); }
//                    ^^^^^^^ calls parser.c:release
//                                ^^^^ =calls parser.c:SIZE
//- main.c
void run(void *x) { release(x); SIZE(x); known(x); }
//                                       ^^^^^ =calls known.c:known
//- known.c
void known(void *x) {}
"#;
    linkage_and_headers: r#"
//- include/lib/api.h
int api_open(const char *path);
static inline int api_quick(void) { return api_open("q"); }
//                                         ^^^^^^^^ =calls src/api.c:api_open
#define API_RUN(x) api_open(x)
//                 ^^^^^^^^ =calls src/api.c:api_open
//- src/api.c
#include <lib/api.h>
static int helper(void) { return 1; }
int later(void);
int api_open(const char *path) { return helper() + later(); }
//                                      ^^^^^^ =calls src/api.c:helper
//                                                 ^^^^^ =calls src/api.c:later
int later(void) { return 2; }
//- src/main.c
#include "lib/api.h"
#include <stdio.h>
static int helper(void) { return 3; }
int main(void) {
    helper();
 // ^^^^^^ =calls src/main.c:helper
    api_quick();
 // ^^^^^^^^^ =calls include/lib/api.h:api_quick
    API_RUN("x");
 // ^^^^^^^ =calls include/lib/api.h:API_RUN
    printf("no");
    return api_open("y");
 //        ^^^^^^^^ =calls src/api.c:api_open
}
//- src/other.c
static int unrelated(void) { return helper(); }
"#;
    nearest_of_several_definitions: r#"
//- arch/x86/init.c
void setup(void) {}
//- arch/x86/boot/start.c
void start(void) { setup(); }
//                 ^^^^^ =calls arch/x86/init.c:setup
//- arch/arm/init.c
void setup(void) {}
//- arch/arm/start.c
void start_arm(void) { setup(); }
//                     ^^^^^ =calls arch/arm/init.c:setup
//- kernel/main.c
void run(void) { setup(); }
//               ^^^^^ ~calls arch/arm/init.c:setup, arch/x86/init.c:setup
"#;
    function_pointers_in_tables: r#"
//- a.c
struct inode { int n; };
struct ops { int (*open)(struct inode *inode); void (*close)(void); };
static int my_open(struct inode *inode) { return 0; }
static void my_close(void) {}
static const struct ops my_ops = { .open = my_open, .close = my_close };
static int run_a(int n) { return n; }
static int run_b(int n) { return n; }
static struct { const char *name; } unused;
struct command { const char *name; int (*run)(int); };
static struct command commands[] = { { "a", run_a }, { "b", run_b } };
typedef int (*handler)(int);

int use(struct ops *ops, struct inode *inode, int n) {
    ops->open(inode);
 //      ^^^^ ~calls a.c:my_open
    (*ops->close)();
 //        ^^^^^ ~calls a.c:my_close
    my_ops.open(inode);
 //        ^^^^ ~calls a.c:my_open
    commands[n].run(n);
 //             ^^^ ~calls a.c:run_a, a.c:run_b
    handler h = n ? run_a : run_b;
    h(1);
 // ^ ~calls a.c:run_a, a.c:run_b
    int (*direct)(int) = run_a;
    direct(2);
 // ^^^^^^ ~calls a.c:run_a
    return 0;
}
"#;
    functions_passed_and_returned: r#"
//- a.c
typedef void (*callback)(int);
static void on_event(int n) {}
static void register_callback(callback cb) { cb(1); }
//                                           ^^ ~calls a.c:on_event
static callback pick(void) { return on_event; }
struct stat { int size; };
int stat(const char *path, struct stat *out) { return 0; }
void use(void) {
    struct stat out;
    register_callback(on_event);
 // ^^^^^^^^^^^^^^^^^ =calls a.c:register_callback
    pick()(2);
 // ^^^^ =calls a.c:pick
 // ^^^^ ~calls a.c:on_event
    stat("x", &out);
 // ^^^^ =calls a.c:stat
    strlen("library");
}
"#;
}
