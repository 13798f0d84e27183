//! PHP, as facts. Run with `UPDATE_EXPECT=1` to rewrite the expectations, and read the difference before accepting it.

use crate::common::check;
use expect_test::expect;

#[test]
fn classes_properties_and_phpdoc() {
    check(
        "php",
        r#"<?php
namespace App\Models;
use App\Base\{Model, Thing as T};

/** A user of the shop. More words. */
#[Attr]
abstract class User extends Model implements \Countable {
    use HasFactory;
    const A = 1;
    protected ?string $table = 'users';
    public function __construct(private readonly Mailer $mailer, int ...$rest) {}
    /**
     * @param T[] $things
     * @return static
     */
    public static function make($things) { return new static(); }
}

enum Suit: string { case Hearts = 'H'; }
interface Named { public function name(): string; }
function helper(User $u) { return $u->name(); }
"#,
        expect![[r##"
            package App\Models
            import Member App\Base member Model as Model @3:14
            import Member App\Base member Thing as T @3:21
            class User abstract @6-17 "#[Attr] abstract class User extends Model implements \\Countable" extends import Model implements free Countable mixes free HasFactory doc "A user of the shop."
            constant User.A static @9-9 "const A = 1"
            field User.table Protected @10-10 "protected ?string $table = 'users'"
            constructor User.__construct @11-11 "public function __construct(private readonly Mailer $mailer, int ...$rest)" ($mailer: free Mailer, *$rest: ?)
            field User.mailer Private @11-11 "private readonly Mailer $mailer" -> free Mailer
            method User.make static @16-16 "public static function make($things)" ($things: &import T) -> def User
            enum Suit @19-19 "enum Suit: string"
            enummember Suit.Hearts static @19-19 "case Hearts = 'H'"
            interface Named abstract @20-20 "interface Named"
            method Named.name abstract @20-20 "public function name(): string" -> ?
            function helper @21-21 "function helper(User $u)" ($u: User)
            flow this.A <- number
            flow this.table <- "users"
            type parameter $mailer : free Mailer
            flow this.mailer <- parameter $mailer
            type parameter $things : &import T
            return User.make <- new def User()
            type parameter $u : User
            return helper <- parameter $u.name()
            inherit import Model in User @7:28
            inherit free Countable in User @7:46
            inherit free HasFactory in User @8:8
            type free Mailer in User.__construct @11:49
            instantiate def User in User.make @16:54
            type User in helper @21:16
            call parameter $u.name in helper @21:38
        "##]],
    );
}
