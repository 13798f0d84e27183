//! Kotlin: packages, constructors, properties, companions, lambdas, narrowing.

calls! {
    /// A class that invokes its base, an object that does, and entries of an enum run constructors.
    constructors_of_bases: r#"
//- app/Shapes.kt
package com.acme.app
open class Shape(val sides: Int) {
    constructor() : this(0)
    //              ^^^^ calls app/Shapes.kt:Shape.Shape
}
interface Drawn
class Square(n: Int) : Shape(n), Drawn
//                     ^^^^^^^^ =calls app/Shapes.kt:Shape.Shape
class Plain : Drawn
fun make() {
    val one = object : Shape(3) {}
    //                 ^^^^^^^^ =calls app/Shapes.kt:Shape.Shape
}
enum class Size(val n: Int) {
    SMALL(1),
//  ^^^^^ =calls app/Shapes.kt:Size.Size
}
"#;
    /// What is written in a companion is imported from it, extensions of types of outside as well.
    members_of_companions: r#"
//- app/Main.kt
package com.acme.app
import com.acme.lib.Kind.Companion.build
import com.acme.lib.Kind.Companion.toKind
fun main() {
    build()
//  ^^^^^ =calls lib/Kind.kt:Kind.build
    "x".toKind()
    //  ^^^^^^ calls lib/Kind.kt:Kind.toKind
    "x".toOther()
    //  ^^^^^^^ none
}
//- lib/Kind.kt
package com.acme.lib
class Kind(val text: String) {
    companion object {
        fun build(): Int = 1
        fun String.toKind(): Int = 2
        fun String.toOther(): Int = 3
    }
}
"#;
    packages_and_receivers: r#"
//- app/Main.kt
package com.acme.app
import com.acme.lib.Tool
import com.acme.lib.help as aid
class Base2
class Main(private val tool: Tool) {
    val made = Tool()
    fun run(o: Any) {
        tool.use()
        //   ^^^ =calls lib/Tool.kt:Tool.use
        made.use()
        //   ^^^ =calls lib/Tool.kt:Tool.use
        aid()
      //^^^ =calls lib/Tool.kt:help
        helper()
      //^^^^^^ =calls app/Main.kt:Main.helper
        near()
      //^^^^ =calls app/Near.kt:near
        Tool.build().use()
        //   ^^^^^ =calls lib/Tool.kt:Tool.build
        //           ^^^ =calls lib/Tool.kt:Tool.use
        listOf(Tool()).forEach { it.use() }
        println("x")
        (o as Tool).use()
        //          ^^^ =calls lib/Tool.kt:Tool.use
        val t = if (made == tool) Tool() else null
        t?.use()
        // ^^^ calls lib/Tool.kt:Tool.use
        o.toString()
    }
    private fun helper() {}
}
//- app/Near.kt
package com.acme.app
fun near() {}
//- lib/Tool.kt
package com.acme.lib
class Tool {
    fun use() {}
    companion object {
        fun build(): Tool = Tool()
    }
}
fun help() {}
"#;
    /// Of a type of outside, by what is known of the receiver; a type's own members come first.
    extensions: r#"
//- app/Main.kt
package com.acme.app
import com.acme.lib.shorten
import com.acme.lib.wrap as packed
import com.acme.more.*
class Name {
    fun shorten(n: Int) {}
}
fun String.own(): String = this
fun run(text: String, name: Name, count: Int, items: List<String>) {
    text.shorten(3).own()
    //   ^^^^^^^ =calls lib/Text.kt:shorten
    //              ^^^ =calls app/Main.kt:own
    name.shorten(3)
    //   ^^^^^^^ =calls app/Main.kt:Name.shorten
    text.packed()
    //   ^^^^^^ calls lib/Text.kt:wrap
    items.forEach { it.shorten(1) }
    //                 ^^^^^^^ calls lib/Text.kt:shorten
    text.spread()
    //   ^^^^^^ =calls more/More.kt:spread
    count.spread()
    count.hidden()
    text.trim()
    text.cut(limit = 3)
    //   ^^^ =calls app/Main.kt:cut
    text.joined(1, 2, 3)
    //   ^^^^^^ =calls app/Main.kt:joined
}
fun String.cut(from: Int = 0, limit: Int, strict: Boolean = false) {}
fun String.joined(vararg parts: Int, separator: String = ",") {}
//- lib/Text.kt
package com.acme.lib
fun String.shorten(n: Int): String = this.take(n)
fun <T> T.wrap() {}
private fun Int.hidden() {}
//- more/More.kt
package com.acme.more
fun String.spread() {}
fun String.trim(how: Int) {}
private fun Int.hidden() {}
"#;

    builders_give_themselves_back: r#"
//- Url.kt
package p
class Url {
  class Builder {
    var host: String? = null
    fun host(host: String) = apply { this.host = host }
    fun port(port: Int) = this.also { it.host = "x" }
    fun build(): Url = Url()
  }
  fun open() {}
}
fun main() {
  Url.Builder().host("h").port(1).build().open()
  //            ^^^^ =calls Url.kt:Url.Builder.host
  //                      ^^^^ =calls Url.kt:Url.Builder.port
  //                              ^^^^^ =calls Url.kt:Url.Builder.build
  //                                      ^^^^ =calls Url.kt:Url.open
}
"#;

    type_arguments_say_what_is_held: r#"
//- Calls.kt
package p
import java.util.ArrayDeque
class Call { fun cancel() {} }
class Job { fun cancel() {} }
class Dispatcher {
  private val running = ArrayDeque<Call>()
  private val jobs = ArrayDeque<Job>()
  private val all = mutableListOf<Call>()
  fun stop() {
    for (call in running) call.cancel()
    //                         ^^^^^^ =calls Calls.kt:Call.cancel
    for (job in jobs) job.cancel()
    //                    ^^^^^^ =calls Calls.kt:Job.cancel
    all.forEach { it.cancel() }
    //               ^^^^^^ ~calls Calls.kt:Call.cancel
  }
}
"#;

    extensions_of_a_type_for_itself: r#"
//- Pins.kt
package p
class Pins {
  fun check(name: String) {
    name.quoted()
    //   ^^^^^^ =calls Pins.kt:Pins.quoted
    buildString { append("x"); shout() }
    //                         ^^^^^ ~calls Pins.kt:Pins.shout
  }
  companion object {
    private fun StringBuilder.shout() {}
    private fun String.quoted(): String = this
  }
}
//- Other.kt
package p
fun use(name: String) { name.quoted() }
"#;
    names_that_are_keywords_elsewhere: r#"
//- Stream.kt
class Stream {
  private var set: Int = 0
  fun receive() {
    val open: Boolean
    locked {
  //^^^^^^ =calls Stream.kt:Stream.locked
      open = true
    }
    if (!open) close()
  //           ^^^^^ =calls Stream.kt:Stream.close
    set = 0
    close()
  //^^^^^ =calls Stream.kt:Stream.close
  }
  fun locked(action: () -> Unit) {}
  fun close() {}
}
"#;
    parameters_that_are_functions_are_called: r#"
//- Run.kt
package p
fun run() {}
fun twice(run: () -> Unit) {
  run()
//^^^ ~calls Run.kt:step
}
class Timer {
  fun start(start: Int) { start(start, 1) }
  //                      ^^^^^ =calls Run.kt:Timer.start
  fun start(start: Int, step: Int) {}
}
fun step() {}
fun main() { twice(::step) }
//           ^^^^^ =calls Run.kt:twice
"#;
    a_function_of_the_class_hides_one_of_the_file: r#"
//- Run.kt
package p
fun run() {}
fun only() {}
val size = 1
fun stop() {}
open class Base { fun stop() {} }
class Timer : Base() {
  fun start() { run(); only(); stop(); print(size) }
  //            ^^^ =calls Run.kt:Timer.run
  //                   ^^^^ =calls Run.kt:only
  //                           ^^^^ =calls Run.kt:Base.stop
  fun run() {}
  fun size() = 2
}
fun main() { run() }
//           ^^^ =calls Run.kt:run
"#;
    classes_on_one_line: r#"
//- One.kt
package p
class First { fun put() {} }
class Second { fun run() { First().put() } }
//                                 ^^^ =calls One.kt:First.put
object Third { fun run() { Second().run() } }
//                                  ^^^ =calls One.kt:Second.run
"#;
    /// A class has the constructors that are written in it: those of its base run because it runs them.
    constructors_are_not_inherited: r#"
//- Nodes.kt
package p
open class Node(val next: Node? = null)
open class Item : Node()
//                ^^^^^^ =calls Nodes.kt:Node.Node
interface Named
class Last : Named, Item()
//                  ^^^^^^ none
fun make() { Item() }
//           ^^^^ none
"#;
    /// What is called like an interface is a function beside it; what is called like a class is either, by what is passed.
    functions_named_as_types: r#"
//- Jobs.kt
package p
interface Job { fun run() }
class Sure(val name: String) : Job { override fun run() {} }
fun Job(name: String): Job = Sure(name)
//                           ^^^^ =calls Jobs.kt:Sure.Sure
class Stop(val message: String)
fun Stop(time: Long, job: Job): Stop = Stop("late")
//                                     ^^^^ =calls Jobs.kt:Stop.Stop
fun main() {
  Job("a")
//^^^ =calls Jobs.kt:Job
  Stop(1L, Sure("b"))
//^^^^ =calls Jobs.kt:Stop
//         ^^^^ =calls Jobs.kt:Sure.Sure
  Stop("c")
//^^^^ =calls Jobs.kt:Stop.Stop
}
"#;
    /// A property does not override a function of its name.
    properties_and_functions_of_one_name: r#"
//- Body.kt
package p
abstract class Body { abstract fun source(): String }
class Real(text: String) : Body() {
  override fun source() = text
}
class Other(private val source: String) : Named()
abstract class Named : Body() { override fun source() = "" }
fun read(body: Body) = body.source()
//                          ^^^^^^ calls Body.kt:Body.source, Body.kt:Real.source, Body.kt:Named.source
"#;
    /// Which extension runs, the declared type says: members of heirs with its name are others. A member comes before an extension.
    extensions_are_not_overridden: r#"
//- Scope.kt
package p
interface Scope
class Task : Scope { fun cancel(why: String) {} }
fun Scope.cancel(why: String) {}
fun stop(scope: Scope) { scope.cancel("now") }
//                             ^^^^^^ =calls Scope.kt:cancel
fun end(task: Task, why: Any) { task.cancel(why) }
//                                   ^^^^^^ =calls Scope.kt:Task.cancel
"#;
    /// Names of arguments, characters and functions after the call tell overloads apart.
    overloads_by_names_characters_and_blocks: r#"
//- Over.kt
package p
class Right { fun go() {} }
class Other { fun go() {} }
class Text {
  fun cut(at: String, from: Int = 0): Other = TODO()
  fun cut(at: Char, from: Int = 0): Right = TODO()
  fun check(name: String, all: List<String>): Other = TODO()
  fun check(name: String, wait: Int = 0, each: (String) -> Unit): Right = TODO()
  fun on(first: Boolean = false, handler: Int): Other = TODO()
  fun on(last: Boolean = true, other: Int): Right = TODO()
}
fun main(text: Text) {
  text.cut(';').go()
  //   ^^^ =calls Over.kt:Text.cut
  //            ^^ =calls Over.kt:Right.go
  text.cut(";", 1).go()
  //   ^^^ =calls Over.kt:Text.cut
  //               ^^ =calls Over.kt:Other.go
  text.check("a") { }.go()
  //   ^^^^^ =calls Over.kt:Text.check
  //                  ^^ =calls Over.kt:Right.go
  text.on(other = 1).go()
  //   ^^ =calls Over.kt:Text.on
  //                 ^^ =calls Over.kt:Right.go
}
"#;
    /// Constructors are told apart by what is passed to those of the same class and of the base.
    constructors_that_are_passed_on_to: r#"
//- Heads.kt
package p
class Bytes
open class Head(val key: Bytes, val value: Bytes) {
  constructor(key: String, value: Bytes) : this(Bytes(), value)
  //                                       ^^^^^^^^^^^^^^^^^^^^ =calls Heads.kt:Head.Head
}
class Low(text: String) : Head(text, Bytes())
//                        ^^^^^^^^^^^^^^^^^^^ =calls Heads.kt:Head.Head
"#;
    /// What a constructor takes is seen by what runs with it, and by nothing else.
    parameters_of_constructors: r#"
//- Held.kt
package p
class Tool { fun use() {} }
class Other { fun use() {} }
val tool = Other()
class Held(tool: Tool) {
  val first = tool.use()
  //               ^^^ =calls Held.kt:Tool.use
  init {
    tool.use()
    //   ^^^ =calls Held.kt:Tool.use
    listOf(1).forEach { tool.use() }
    //                       ^^^ =calls Held.kt:Tool.use
  }
  fun run() { tool.use() }
  //               ^^^ calls Held.kt:Other.use
}
"#;
    /// What is only kept for compiled code is never meant.
    hidden_functions: r#"
//- Old.kt
package p
class Right { fun go() {} }
class Other { fun go() {} }
class Flow {
  @Deprecated("old", level = DeprecationLevel.HIDDEN)
  fun buffer(size: Int): Other = Other()
  fun buffer(size: Int, late: Boolean = false): Right = Right()
}
fun main(flow: Flow) { flow.buffer(1).go() }
//                          ^^^^^^ =calls Old.kt:Flow.buffer
//                                    ^^ =calls Old.kt:Right.go
"#;
    /// A bare call of an extension needs something around it that the extension is for.
    receivers_of_bare_calls: r#"
//- Bare.kt
package p
import java.time.Duration
import java.util.jar.JarFile
interface Scope
open class Node
class Leaf : Node() { fun fold() { mark() } }
//                                 ^^^^ =calls Bare.kt:mark
fun Scope.plus(other: Int) {}
fun Node.mark() {}
fun Duration.late() { plus(1) }
//                    ^^^^ none
fun Scope.more() { plus(1) }
//                 ^^^^ =calls Bare.kt:plus
fun Any.maybe() { if (this is Scope) plus(1) }
//                                   ^^^^ =calls Bare.kt:plus
fun within(each: Scope.() -> Unit) {}
fun Node.each() { within { plus(1) } }
//                ^^^^^^ =calls Bare.kt:within
//                         ^^^^ calls Bare.kt:plus
fun lonely() { mark() }
//             ^^^^ none
"#;
    /// What a type of outside is extended for, its heirs are called on.
    extensions_of_types_of_outside: r#"
//- Close.kt
package p
import java.io.Closeable
import java.net.Socket
class File : Closeable { override fun close() {} }
class Right { fun go() {} }
class Other { fun go() {} }
fun Closeable.quietly(): Right = Right()
fun Socket.quietly(): Other = Other()
fun done(file: File, socket: Socket) {
  file.quietly().go()
  //   ^^^^^^^ =calls Close.kt:quietly
  //             ^^ calls Close.kt:Right.go
  socket.quietly().go()
  //     ^^^^^^^ =calls Close.kt:quietly
  //               ^^ calls Close.kt:Other.go
}
"#;
    annotated_accessors_and_comments_in_comments: r#"
//- Stream.kt
package p
class Stream {
  val open: Boolean
    @Synchronized get() { return check(1) }
    //                           ^^^^^ =calls Stream.kt:Stream.check
  /* a /* that isn't */ one */
  class Inner {
    fun run(stream: Stream) { stream.check(2) }
    //                               ^^^^^ =calls Stream.kt:Stream.check
  }
  @get:Synchronized var last = open
  fun check(n: Int) = n > 0 && !open
}
"#;
    /// A function written in place sees the members of the receiver that its parameter's type says, before those around.
    receivers_of_lambdas: r#"
//- flow/Flow.kt
package flow
interface Collector { fun emit(value: Int) }
class Settings { fun set(key: Int) {} }
fun flow(name: String = "", block: suspend Collector.() -> Unit) {}
fun each(block: (Settings) -> Unit) {}
fun Collector.all() {}
fun emit(value: Int) {}
class Maker {
  fun emit(value: Int) {}
  fun set(key: Int) {}
  fun make() {
    flow { emit(1) }
  //^^^^ =calls flow/Flow.kt:flow
  //       ^^^^ ~calls flow/Flow.kt:Collector.emit
    flow { this.emit(2) }
  //^^^^ =calls flow/Flow.kt:flow
    //          ^^^^ ~calls flow/Flow.kt:Collector.emit
    flow { this@Maker.emit(3) }
  //^^^^ =calls flow/Flow.kt:flow
    //                ^^^^ =calls flow/Flow.kt:Maker.emit
    flow { all() }
  //^^^^ =calls flow/Flow.kt:flow
  //       ^^^ =calls flow/Flow.kt:all
    each { set(1); it.set(2) }
  //^^^^ =calls flow/Flow.kt:each
  //       ^^^ =calls flow/Flow.kt:Maker.set
  //                  ^^^ ~calls flow/Flow.kt:Settings.set
    Settings().apply { set(3) }
  //                   ^^^ ~calls flow/Flow.kt:Settings.set
    with(Settings()) { set(4); emit(5) }
  //                   ^^^ ~calls flow/Flow.kt:Settings.set
  //                           ^^^^ =calls flow/Flow.kt:Maker.emit
    emit(6)
  //^^^^ =calls flow/Flow.kt:Maker.emit
  }
}
fun main() { flow { emit(7) } }
//           ^^^^ =calls flow/Flow.kt:flow
//                  ^^^^ ~calls flow/Flow.kt:Collector.emit
"#;
    /// An extension of another package must be imported, whatever it extends.
    extensions_of_other_packages: r#"
//- a/Scope.kt
package a
class Scope
fun Scope.here() {}
//- b/Other.kt
package b
import a.Scope
fun Scope.tick() {}
fun Scope.named() {}
private fun Scope.own() {}
//- c/Main.kt
package c
import a.*
import b.named
fun main(scope: Scope) {
  scope.here()
  //    ^^^^ =calls a/Scope.kt:here
  scope.named()
  //    ^^^^^ =calls b/Other.kt:named
  scope.tick()
  //    ^^^^ none
  scope.own()
  //    ^^^ none
}
"#;
    /// What extends a type of outside has that as receiver, wherever it is written.
    receivers_of_extensions_in_types: r#"
//- Url.kt
package p
class Url {
  fun size() = 1
  companion object {
    fun CharArray.count() = this.size()
    //                           ^^^^ none
  }
}
"#;
    /// What a variable is first given says which overload it is passed to.
    overloads_by_what_a_variable_holds: r#"
//- Held.kt
package p
import okio.ByteString
class Right { fun go() {} }
class Other { fun go() {} }
fun name(): ByteString = TODO()
fun text(): String = TODO()
fun put(key: ByteString): Right = TODO()
fun put(key: String): Other = TODO()
fun main() {
  val key = name()
  //        ^^^^ =calls Held.kt:name
  put(key).go()
//^^^ =calls Held.kt:put
  //       ^^ =calls Held.kt:Right.go
  var text = text()
  //         ^^^^ =calls Held.kt:text
  put(text).go()
//^^^ =calls Held.kt:put
  //        ^^ =calls Held.kt:Other.go
}
"#;
    /// A type of outside is no heir of a type of the tree, so its members are not extensions of that.
    extensions_of_the_tree_and_receivers_of_outside: r#"
//- Future.kt
package p
import java.util.concurrent.Future
interface Job
fun Job.cancel(why: Boolean) {}
fun Future<*>.stop(why: Boolean) {}
fun main(future: Future<*>, job: Job) {
  future.cancel(false)
  //     ^^^^^^ none
  future.stop(false)
  //     ^^^^ =calls Future.kt:stop
  job.cancel(false)
  //  ^^^^^^ =calls Future.kt:cancel
}
"#;
}
