//! Kotlin: packages, constructors, properties, companions, lambdas, narrowing.

use crate::common::check_calls;

macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident: $fixture:expr;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            check_calls($fixture);
        }
    )*};
}

calls! {
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
}
