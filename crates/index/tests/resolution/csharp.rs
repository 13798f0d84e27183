//! C#: namespaces, `using`, properties, overrides, lambdas, patterns, values.

use crate::common::MemoryTree;
use index::model::{EdgeKind, Origin, Target};

calls! {
    what_an_array_is_copied_into_holds_the_same: r#"
//- A.cs
using System.Linq;
interface ITask { void Run(); }
class Runner {
    private ITask[] Tasks { get; set; } = [];
    void All() {
        var tasks = Tasks.ToList();
        foreach (var task in tasks) { task.Run(); }
//                                         ^^^ =calls A.cs:ITask.Run
    }
}
"#;
    namespaces_and_using: r#"
//- App/Main.cs
using Acme.Models;
using static Acme.Util.Text;
using Mail = Acme.Util.Mailer;
namespace Acme.App.Web;
class Main {
    void F() {
        User.Find();
        //   ^^^^ =calls Models/User.cs:User.Find
        Upper();
      //^^^^^ =calls Util/Text.cs:Text.Upper
        Mail.Send();
        //   ^^^^ =calls Util/Mailer.cs:Mailer.Send
        Sibling.Near();
        //      ^^^^ =calls App/Sibling.cs:Sibling.Near
        Outer.Up();
        //    ^^ =calls App/Outer.cs:Outer.Up
        Acme.Models.User.Find();
        //               ^^^^ =calls Models/User.cs:User.Find
        Console.WriteLine();
        Helper();
      //^^^^^^ =calls App/Main.cs:Main.Helper
        this.Helper();
        //   ^^^^^^ =calls App/Main.cs:Main.Helper
    }
    void Helper() {}
}
//- App/Sibling.cs
namespace Acme.App.Web { class Sibling { public static void Near() {} } }
//- App/Outer.cs
namespace Acme.App;
class Outer { public static void Up() {} }
//- Models/User.cs
namespace Acme.Models;
public class User { public static void Find() {} }
//- Util/Text.cs
namespace Acme.Util;
public static class Text { public static void Upper() {} }
//- Util/Mailer.cs
namespace Acme.Util;
public class Mailer { public static void Send() {} }
"#;

    receivers: r#"
//- A.cs
class Mailer { public void Send() {} public Mailer Next() { return this; } }
class Base { public Base(int n) {} public virtual void Boot() {} }
class App : Base {
    private readonly Mailer _mailer = new();
    public Mailer Given { get; set; }
    public App() : base(1) {}
    public override void Boot() { base.Boot(); }
    //                                 ^^^^ =calls A.cs:Base.Boot
    public void Run(Mailer m, object o) {
        _mailer.Send();
        //      ^^^^ =calls A.cs:Mailer.Send
        Given.Send();
        //    ^^^^ =calls A.cs:Mailer.Send
        m?.Send();
        // ^^^^ =calls A.cs:Mailer.Send
        m.Next().Send();
        //^^^^ =calls A.cs:Mailer.Next
        //       ^^^^ =calls A.cs:Mailer.Send
        var made = new Mailer();
        made.Send();
        //   ^^^^ =calls A.cs:Mailer.Send
        if (o is Mailer found) { found.Send(); }
        //                             ^^^^ =calls A.cs:Mailer.Send
        ((Mailer)o).Send();
        //          ^^^^ =calls A.cs:Mailer.Send
        foreach (var each in new[] { made }) { each.Send(); }
        //                                          ^^^^ calls A.cs:Mailer.Send
        o.Send();
    }
}
"#;
    /// Of a type of outside or of the tree, by what is known of the receiver; a type's own members come first.
    extensions: r#"
//- App/Main.cs
using Acme.Text;
namespace Acme.App;
class Order { public void Shorten(int n) {} }
class Main {
    void Run(string text, Order order, int count) {
        text.Shorten(3).Quoted();
        //   ^^^^^^^ =calls Text/Strings.cs:Strings.Shorten
        //              ^^^^^^ =calls Text/Strings.cs:Strings.Quoted
        Strings.Quoted(text);
        //      ^^^^^^ =calls Text/Strings.cs:Strings.Quoted
        order.Shorten(3);
        //    ^^^^^^^ =calls App/Main.cs:Order.Shorten
        order.Ship();
        //    ^^^^ =calls App/Orders.cs:Orders.Ship
        count.Quoted();
        text.Trim();
    }
}
//- App/Orders.cs
namespace Acme.App;
static class Orders {
    public static void Ship(this Order order) { order.Shorten(1); }
    //                                                ^^^^^^^ =calls App/Main.cs:Order.Shorten
}
//- Text/Strings.cs
namespace Acme.Text;
public static class Strings {
    public static string Shorten(this string text, int n) { return text; }
    public static string Quoted(this string text) { return text; }
    public static string Trim(this string text, int how) { return text; }
}
"#;
    /// What follows a conditional that opens a brace is still where it stands.
    conditionals_that_cut_through_statements: r#"
//- A.cs
class Paths {
    static string Relative(string path) {
#if (!SMALL)
        if (Native.IsUnix()) {
#endif
            return Short(path);
            //     ^^^^^ =calls A.cs:Paths.Short
#if (!SMALL)
        }
        return path;
#endif
    }
    static string Short(string path) { return path; }
}
class User {
    void Run() { Paths.Short("a"); }
    //                 ^^^^^ =calls A.cs:Paths.Short
}
"#;

    accessors_run_code: r#"
//- A.cs
class Mailer { public void Send() {} }
class App {
    Mailer _mailer;
    static void Ensure() {}
    void Changed() {}
    public Mailer Mail {
        get { Ensure(); return _mailer; }
        //    ^^^^^^ =calls A.cs:App.Ensure
        set { value.Send(); Changed(); }
        //          ^^^^ =calls A.cs:Mailer.Send
        //                  ^^^^^^^ =calls A.cs:App.Changed
    }
    public Mailer Other => Make();
    //                     ^^^^ =calls A.cs:App.Make
    static Mailer Make() { return null; }
    void Run() {
        Mail.Send();
        //   ^^^^ =calls A.cs:Mailer.Send
        Other.Send();
        //    ^^^^ =calls A.cs:Mailer.Send
    }
}
"#;

    partial_types_are_one: r#"
//- Form.cs
namespace Ui {
    public partial class Form : Window, IShown {
        public Form() { Layout(); }
        //              ^^^^^^ =calls Form.Designer.cs:Form.Layout
        public void Show() { this.Paint(); Later(); }
        //                        ^^^^^ =calls Form.More.cs:Form.Paint
        //                                 ^^^^^ =calls Form.More.cs:Form.Later
    }
    public class Window { protected virtual void Later() {} public virtual void Move() {} }
    public interface IShown { void Show(); }
}
//- Form.Designer.cs
namespace Ui {
    partial class Form {
        void Layout() { Move(); }
        //              ^^^^ =calls Form.cs:Window.Move
    }
}
//- Form.More.cs
namespace Ui {
    public partial class Form {
        void Paint() { Show(); }
        //             ^^^^ =calls Form.cs:Form.Show
        protected override void Later() { base.Later(); }
        //                                     ^^^^^ =calls Form.cs:Window.Later
    }
}
//- Main.cs
using Ui;
class Main {
    void Run() {
        var form = new Form();
        //             ^^^^ =calls Form.cs:Form.Form
        form.Show();
        //   ^^^^ =calls Form.cs:Form.Show
    }
}
"#;

    overloads_by_properties: r#"
//- A.cs
class Id {}
class Entry { public Id Key { get; set; } public bool Open { get; set; } public const string Name = "x"; }
class One { public void Go() {} }
class Two { public void Go() {} }
class Writer {
    One Write(string name, Id id) { return null; }
    Two Write(string name, bool yes) { return null; }
    void Run(Entry e) {
        Write(Entry.Name, e.Key).Go();
        //                       ^^ =calls A.cs:One.Go
      //^^^^^ =calls A.cs:Writer.Write
        Write(Entry.Name, e.Open).Go();
        //                        ^^ =calls A.cs:Two.Go
      //^^^^^ =calls A.cs:Writer.Write
    }
}
"#;

    overloads_by_what_arguments_are: r#"
//- A.cs
using System.Windows.Forms;
class One { public void Go() {} }
class Two { public void Go() {} }
class Three { public void Go() {} }
class Box {
    byte[] m_bytes;
    One Put(bool lit, string text) { return null; }
    Two Put(bool lit, byte[] bytes) { return null; }
    Three Put(bool lit, Box inner) { return null; }
    One Count(ulong number, bool all) { return null; }
    Two Count(ulong number, uint least) { return null; }
    One Press(string code, int key) { return null; }
    Two Press(string code, Keys key) { return null; }
    One Pick(Box one) { return null; }
    Two Pick(Box[] all) { return null; }
    void Texts(string s, string[] words, int n, object o, string t) {
        Put(true, words[0]).Go();
        //                  ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(n > 1, "a" + n).Go();
        //                  ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(!true, s.Remove(0, 2).Trim()).Go();
        //                                ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, n.ToString()).Go();
        //                       ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, t ?? string.Empty).Go();
        //                            ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, string.Empty).Go();
        //                       ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        var made = s.Substring(1);
        Put(false, made).Go();
        //               ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
    }
    void Others(KeyValuePair<string, byte[]> pair, List<string> lines, Box[] all) {
        Put(false, Convert.FromBase64String("x")).Go();
        //                                        ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, m_bytes).Go();
        //                  ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, pair.Value).Go();
        //                     ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, lines[0]).Go();
        //                   ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Box.Put
        Put(false, this).Go();
        //               ^^ =calls A.cs:Three.Go
      //^^^ =calls A.cs:Box.Put
        Count(7, 4).Go();
        //          ^^ =calls A.cs:Two.Go
      //^^^^^ =calls A.cs:Box.Count
        Count(7, true).Go();
        //             ^^ =calls A.cs:One.Go
      //^^^^^ =calls A.cs:Box.Count
        Press("x", Keys.Back).Go();
        //                    ^^ =calls A.cs:Two.Go
      //^^^^^ =calls A.cs:Box.Press
        Press("x", (int)Keys.Back).Go();
        //                         ^^ =calls A.cs:One.Go
      //^^^^^ =calls A.cs:Box.Press
        Pick(all).Go();
        //        ^^ =calls A.cs:Two.Go
      //^^^^ =calls A.cs:Box.Pick
        Pick(all[0]).Go();
        //           ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Box.Pick
    }
    void Unknown(TextBox field) {
        Put(false, field.Text).Go();
        //                     ^^ ~calls A.cs:One.Go, A.cs:Two.Go, A.cs:Three.Go
      //^^^ ~calls A.cs:Box.Put
        Put(false, char.ToUpper('x')).Go();
        //                            ^^ ~calls A.cs:One.Go, A.cs:Two.Go, A.cs:Three.Go
      //^^^ ~calls A.cs:Box.Put
    }
}
"#;

    what_collects_the_rest: r#"
//- A.cs
class One { public void Go() {} }
class Two { public void Go() {} }
class Log {
    One Say(string format, params object[] parts) { return null; }
    Two Say(int level, params string[] parts) { return null; }
    void Run(string[] all) {
        Say("a", 1, 2, 3).Go();
        //                ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Log.Say
        Say(1, "a", "b").Go();
        //               ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Log.Say
        Say(1).Go();
        //     ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Log.Say
        Say(1, all).Go();
        //          ^^ =calls A.cs:Two.Go
      //^^^ =calls A.cs:Log.Say
    }
    One Fill(string format, params object[] parts) { return null; }
    Two Fill(string format, object part) { return null; }
    void Prefer(string text, object part, object[] parts) {
        Fill(text, part).Go();
        //               ^^ =calls A.cs:Two.Go
      //^^^^ =calls A.cs:Log.Fill
        Fill(text, part, part).Go();
        //                     ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Log.Fill
        Fill(text, parts).Go();
        //                ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Log.Fill
    }
}
"#;

    passing_by_reference: r#"
//- A.cs
class One { public void Go() {} }
class Two { public void Go() {} }
class Check {
    One That(object actual, string text) { return null; }
    Two That<T>(ref T actual, string text) { actual.ToString(); return null; }
    One Read(string text, int most) { return null; }
    Two Read(string text, out int most) { most = 1; Read(text, most).Go(); return null; }
    //                                                               ^^ =calls A.cs:One.Go
    //                                              ^^^^ =calls A.cs:Check.Read
    One All<T>(T[] items) { return null; }
    Two All(string one) { return null; }
    void Run(bool yes, int n, int[] numbers, Check other) {
        That(yes, "x").Go();
        //             ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Check.That
        That(other, "x").Go();
        //               ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Check.That
        Read("x", out n).Go();
        //               ^^ =calls A.cs:Two.Go
      //^^^^ =calls A.cs:Check.Read
        Read("x", n).Go();
        //           ^^ =calls A.cs:One.Go
      //^^^^ =calls A.cs:Check.Read
        All(numbers).Go();
        //           ^^ =calls A.cs:One.Go
      //^^^ =calls A.cs:Check.All
    }
}
"#;

    members_called_like_types: r#"
//- A.cs
class Contains { public Contains(string text) {} }
class Text {
    void Contains(string part) {}
    void Run() {
        Contains("x");
      //^^^^^^^^ =calls A.cs:Text.Contains
        new Contains("x");
        //  ^^^^^^^^ =calls A.cs:Contains.Contains
    }
}
"#;

    members_for_an_interface_alone: r#"
//- A.cs
interface IPile { void Add(string item); void Clear(); }
class Pile : IPile {
    public void Add(object item) {}
    void IPile.Add(string item) { Add(item); }
    //                            ^^^ =calls A.cs:Pile.Add
    void IPile.Clear() {}
    void Run(Pile pile, IPile any) {
        pile.Add("x");
        //   ^^^ =calls A.cs:Pile.Add
        pile.Clear();
        any.Clear();
        //  ^^^^^ =calls A.cs:IPile.Clear
        //  ^^^^^ ~calls A.cs:Pile.Clear
    }
}
"#;

    extensions_that_are_left_out: r#"
//- Shims.cs
namespace Acme;
static class Shims {
#if OLD
    public static string Joined(this string[] words) { return null; }
    public static string Named(this Order order) { return null; }
#endif
    public static string Upper(this string text, int from) { return null; }
}
//- Main.cs
namespace Acme;
class Order {}
class Main {
    void Run(string[] words, string text, Order order) {
        words.Joined();
        //    ^^^^^^ ?calls Shims.cs:Shims.Joined
        text.Upper(1);
        //   ^^^^^ =calls Shims.cs:Shims.Upper
        text.Upper("x", 1);
        Shims.Upper(text, 1);
        //    ^^^^^ =calls Shims.cs:Shims.Upper
    }
}
"#;

    overloads_of_a_base: r#"
//- A.cs
class Stream {
    public void Close() { Close(true); }
    //                    ^^^^^ =calls A.cs:Stream.Close
    //                    ^^^^^ calls A.cs:FileStream.Close
    protected virtual void Close(bool all) {}
}
class FileStream : Stream {
    protected override void Close(bool all) { base.Close(all); }
    //                                             ^^^^^ =calls A.cs:Stream.Close
}
class User {
    void Run(FileStream stream) { stream.Close(); }
    //                                   ^^^^^ =calls A.cs:Stream.Close
}
"#;

    members_named_as_their_types: r#"
//- A.cs
namespace N {
    class Pool { public Pool() {} public void Fill() {} public static void Reset() {} }
    static class Program {
        static Pool m_pool;
        public static Pool Pool {
            get {
                if (m_pool == null) m_pool = new Pool();
                //                               ^^^^ =calls A.cs:Pool.Pool
                Pool.Reset();
                //   ^^^^^ calls A.cs:Pool.Reset
                return m_pool;
            }
        }
    }
    class User {
        void Run() { Program.Pool.Fill(); }
        //                        ^^^^ =calls A.cs:Pool.Fill
    }
}
"#;

    fields_of_other_parts: r#"
//- A.cs
partial class Form { void Run() { m_menu.Open(); } }
//                                       ^^^^ =calls C.cs:Menu.Open
//- B.cs
partial class Form { private Menu m_menu; }
//- C.cs
class Menu { public void Open() {} }
"#;
}

/// Of one method that is written in both branches of a conditional, the one that is compiled by default may run; the other
/// is a candidate and no more.
#[test]
fn alternatives() {
    let text = r#"
#define FAST
class Box {
#if OLD
    public static int Load(byte[] bytes) { return 1; }
#else
    public static int Load(byte[] bytes) { return 2; }
#endif
#if FAST && !OLD
    public static int Save(int n) { return 1; }
#else
    public static int Save(int n) { return 2; }
#endif
#if OLD
    public static int Only() { return 1; }
    public static int Wide(int n) { return 1; }
#endif
    public static int Wide(string text) { return 2; }
    void Run(byte[] bytes) { Load(bytes); Save(1); Only(); Wide(1); }
}
"#;
    let tree = MemoryTree::new([("A.cs".to_string(), text.to_string())]);
    let resolved = tree.resolve();
    let facts = &tree.files[0].2;
    let mut found = Vec::new();
    for edge in &resolved[0].edges {
        if let (EdgeKind::Calls, Target::Symbol(symbol)) = (edge.kind, &edge.to) {
            let line = facts.definition(symbol.definition.unwrap()).name_at.line;
            found.push((tree.name(*symbol), line, edge.origin));
        }
    }
    found.sort();
    let load = "A.cs:Box.Load".to_string();
    let save = "A.cs:Box.Save".to_string();
    let expected = vec![
        (load.clone(), 5, Origin::TextMatched),
        (load, 7, Origin::AstInferred),
        ("A.cs:Box.Only".to_string(), 15, Origin::AstResolved),
        (save.clone(), 10, Origin::AstInferred),
        (save, 12, Origin::TextMatched),
        ("A.cs:Box.Wide".to_string(), 16, Origin::AstResolved),
    ];
    assert_eq!(found, expected);
}
