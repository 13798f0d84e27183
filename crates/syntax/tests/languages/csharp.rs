//! C#, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn members_that_are_written_without_a_name() {
    check(
        "csharp",
        r#"namespace Shop;
public class Money {
    private int cents;
    ~Money() { Close(); }
    public int this[int part] { get { return Part(part); } set { Keep(value); } }
    public static Money operator +(Money left, Money right) { return Sum(left, right); }
    public static explicit operator int(Money money) => money.cents;
}
"#,
        expect![[r#"
            package Shop
            class Money exported @2-8 "public class Money"
            field Money.cents Private @3-3 "private int cents" -> free int
            method Money.~Money Private @4-4 "~Money()"
            property Money.this[] getter exported @5-5 "public int this[int part] { get { return Part(part); } set { Keep(value); } }" (part: free int) -> free int
            method Money.operator+ static exported @6-6 "public static Money operator +(Money left, Money right)" (left: Money, right: Money) -> Money
            method Money.operator int static exported @7-7 "public static explicit operator int(Money money)" (money: Money) -> free int
            type parameter part : free int
            type local value : free int
            return Money.this[] <- free Part(parameter part)
            type parameter left : Money
            type parameter right : Money
            return Money.operator+ <- free Sum(parameter left, parameter right)
            type parameter money : Money
            return Money.operator int <- parameter money.cents
            return Money.operator int <- parameter money.cents
            call free Close in Money.~Money @4:15
            call free Part /1 in Money.this[] @5:45
            call free Keep /1 in Money.this[] @5:65
            type Money in Money.operator+ @6:18
            type Money in Money.operator+ @6:35
            type Money in Money.operator+ @6:47
            call free Sum /2 in Money.operator+ @6:69
            type Money in Money.operator int @7:40
            read parameter money.cents in Money.operator int @7:62
        "#]],
    );
}

#[test]
fn what_collects_the_rest_and_what_is_left_out() {
    check(
        "csharp",
        r#"#define FAST
class Log : ILog {
    void Say(string format, params object[] parts) { }
    void ILog.Take(ref Log other, out int n) { Take(ref other, out n, this); }
#if OLD || !FAST
    int Load(byte[] bytes, Log? log) { return 1; }
#elif FAST
    int Load(byte[] bytes, Log? log) { return Say(log != null, "a" + bytes, this, !log); }
#else
    int Load(byte[] bytes, Log? log) { return 3; }
#endif
}
"#,
        expect![[r#"
            class Log Internal @2-12 "class Log : ILog" extends free ILog
            method Log.Say Private @3-3 "void Say(string format, params object[] parts)" (format: free string, *parts: free object) -> free void
            method Log.Take Private for-interface @4-4 "void ILog.Take(ref Log other, out int n)" (other: &Log, n: &free int) -> free void
            method Log.Load Private alternative @6-6 "int Load(byte[] bytes, Log? log)" (bytes: &free byte, log: Log) -> free int
            method Log.Load Private @8-8 "int Load(byte[] bytes, Log? log)" (bytes: &free byte, log: Log) -> free int
            method Log.Load Private alternative @10-10 "int Load(byte[] bytes, Log? log)" (bytes: &free byte, log: Log) -> free int
            type parameter format : free string
            type parameter parts : free object
            type parameter other : Log
            type parameter n : free int
            type parameter bytes : &free byte
            type parameter log : Log
            return Log.Load <- number
            type parameter bytes : &free byte
            type parameter log : Log
            return Log.Load <- free Say(boolean, text, this, boolean)
            type parameter bytes : &free byte
            type parameter log : Log
            return Log.Load <- number
            inherit free ILog in Log @2:12
            type Log in Log.Take @4:23
            call free Take /3 in Log.Take @4:47
            type Log in Log.Load @6:27
            type Log in Log.Load @8:27
            call free Say /4 in Log.Load @8:46
            type Log in Log.Load @10:27
        "#]],
    );
}
