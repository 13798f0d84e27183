//! C#: namespaces, `using`, properties, overrides, lambdas, patterns, values.

calls! {
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
