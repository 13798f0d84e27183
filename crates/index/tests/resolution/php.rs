//! PHP: namespaces, `use`, static and instance members, traits, promoted properties, PHPDoc, values.

calls! {
    functions_of_no_namespace: r#"
//- functions.php
<?php
function helper() {}
function shadowed() {}
class Thing {}
//- main.php
<?php
namespace App\Deep;
function shadowed() {}
function run() {
    helper();
//  ^ =calls functions.php:helper
    \helper();
//   ^ =calls functions.php:helper
    shadowed();
//  ^ =calls main.php:shadowed
    Thing();
}
"#;
    namespaces_and_use: r#"
//- app/Http/Home.php
<?php
namespace App\Http;
use App\Models\User;
use App\Models\{Post, Tag as Label};
use function App\Support\help;
class Home {
    public function show() {
        User::find();
        //    ^^^^ =calls app/Models/User.php:User.find
        Post::find();
        //    ^^^^ =calls app/Models/Post.php:Post.find
        Label::find();
        //     ^^^^ =calls app/Models/Tag.php:Tag.find
        help();
      //^^^^ =calls app/Support/helpers.php:help
        \App\Models\User::find();
        //                ^^^^ =calls app/Models/User.php:User.find
        Sibling::near();
        //       ^^^^ =calls app/Http/Sibling.php:Sibling.near
        \strlen('x');
    }
}
//- app/Http/Sibling.php
<?php
namespace App\Http;
class Sibling { static function near() {} }
//- app/Models/User.php
<?php
namespace App\Models;
class User { static function find() {} }
//- app/Models/Post.php
<?php
namespace App\Models;
class Post { static function find() {} }
//- app/Models/Tag.php
<?php
namespace App\Models;
class Tag { static function find() {} }
//- app/Support/helpers.php
<?php
namespace App\Support;
function help() {}
"#;

    receivers: r#"
//- a.php
<?php
class Mailer { function send() {} }
trait Logs { function log() {} }
class Base { function boot() {} function __construct() {} }
class App extends Base {
    use Logs;
    private Mailer $typed;
    /** @var Mailer */
    private $documented;
    public function __construct(private Mailer $promoted) {
        parent::__construct();
        //      ^^^^^^^^^^^ =calls a.php:Base.__construct
    }
    /** @return Mailer */
    function mailer() { return $this->promoted; }
    function run(Mailer $given, $late) {
        $this->typed->send();
        //            ^^^^ =calls a.php:Mailer.send
        $this->documented->send();
        //                 ^^^^ =calls a.php:Mailer.send
        $this->promoted->send();
        //               ^^^^ =calls a.php:Mailer.send
        $given->send();
        //      ^^^^ =calls a.php:Mailer.send
        $this->mailer()->send();
        //     ^^^^^^ =calls a.php:App.mailer
        //               ^^^^ =calls a.php:Mailer.send
        $this->log();
        //     ^^^ =calls a.php:Logs.log
        $this->boot();
        //     ^^^^ =calls a.php:Base.boot
        self::make();
        //    ^^^^ =calls a.php:App.make
        $m = new Mailer();
        $m->send();
        //  ^^^^ =calls a.php:Mailer.send
        foreach ([new Mailer()] as $each) {
            $each->send();
            //     ^^^^ =calls a.php:Mailer.send
        }
        $late->send();
    }
    static function make() {}
}
"#;

    values: r#"
//- a.php
<?php
function one() { return 'two'; }
function apply(callable $f) { $f(); }
//                            ^^ calls a.php:C.target
class C {
    function target() {}
    function go() {
        $f = fn() => one();
        //           ^^^ =calls a.php:one
        $f();
        apply([$this, 'target']);
      //^^^^^ =calls a.php:apply
        $x = $this ?? null;
        $x->target();
        //  ^^^^^^ calls a.php:C.target
    }
}
"#;
}
