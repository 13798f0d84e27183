//! Scala: packages, imports, and members found through traits of other files.

calls! {
    through_bases: r#"
//- list/List.scala
package list
class List[A](items: Array[A]) extends LinearSeq[A] with Sized {
  def sum(): Int = foldLeft(0)
//                 ^^^^^^^^ =calls list/ops/LinearOps.scala:LinearOps.foldLeft
  def count(): Int = size()
//                   ^^^^ =calls list/Sized.scala:Sized.size
}
//- list/LinearSeq.scala
package list
import list.ops.{LinearOps => Ops, Unused}
trait LinearSeq[A] extends Ops[A]
//- list/Sized.scala
package list
trait Sized { def size(): Int = 1 }
//- list/ops/LinearOps.scala
package list.ops
trait LinearOps[A] { def foldLeft(z: Int): Int = z }
//- app/Main.scala
package app
import list._, java.util.Date
import list.List
object Main {
  def main(): Unit = {
    val xs = new List(Array(1))
    xs.foldLeft(0)
//     ^^^^^^^^ =calls list/ops/LinearOps.scala:LinearOps.foldLeft
    xs.size()
//     ^^^^ =calls list/Sized.scala:Sized.size
    Helper.help()
//         ^^^^ =calls app/Helper.scala:Helper.help
  }
}
//- app/Helper.scala
package app
object Helper { def help(): Unit = {} }
"#;
}
