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
}
