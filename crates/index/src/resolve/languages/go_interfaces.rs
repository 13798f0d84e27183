//! Interfaces of Go's library that types implement without a word: a method of theirs is run by code outside of the tree.
//!
//! Each is its package, its name and its methods: name, types of the parameters without packages, number of results.

use super::LibraryInterface;

macro_rules! interfaces {
    ($($module:literal $name:ident { $($method:ident($($type_:literal),*) $results:literal),+ })*) => {
        &[$(LibraryInterface {
            module: $module,
            name: stringify!($name),
            methods: &[$((stringify!($method), &[$($type_),*], $results)),+],
        }),*]
    };
}

pub(super) const LIBRARY: &[LibraryInterface] = interfaces! {
    "" error { Error() 1 }
    "fmt" Stringer { String() 1 }
    "fmt" GoStringer { GoString() 1 }
    "fmt" Formatter { Format("State", "rune") 0 }
    "io" Reader { Read("[]byte") 2 }
    "io" Writer { Write("[]byte") 2 }
    "io" Closer { Close() 1 }
    "io" Seeker { Seek("int64", "int") 2 }
    "io" ReaderAt { ReadAt("[]byte", "int64") 2 }
    "io" WriterAt { WriteAt("[]byte", "int64") 2 }
    "io" ReaderFrom { ReadFrom("Reader") 2 }
    "io" WriterTo { WriteTo("Writer") 2 }
    "io" ByteReader { ReadByte() 2 }
    "io" ByteWriter { WriteByte("byte") 1 }
    "io" StringWriter { WriteString("string") 2 }
    "net/http" Handler { ServeHTTP("ResponseWriter", "*Request") 0 }
    "net/http" RoundTripper { RoundTrip("*Request") 2 }
    "net/http" Flusher { Flush() 0 }
    "net/http" Hijacker { Hijack() 3 }
    "net/http" Pusher { Push("string", "*PushOptions") 1 }
    "net/http" FileSystem { Open("string") 2 }
    "net/http" ResponseWriter { Header() 1, Write("[]byte") 2, WriteHeader("int") 0 }
    "net" Addr { Network() 1, String() 1 }
    "net" Listener { Accept() 2, Close() 1, Addr() 1 }
    "sort" Interface { Len() 1, Less("int", "int") 1, Swap("int", "int") 0 }
    "container/heap" Interface { Push("any") 0, Pop() 1, Len() 1, Less("int", "int") 1, Swap("int", "int") 0 }
    "context" Context { Deadline() 2, Done() 1, Err() 1, Value("any") 1 }
    "sync" Locker { Lock() 0, Unlock() 0 }
    "flag" Value { Set("string") 1, String() 1 }
    "encoding" TextMarshaler { MarshalText() 2 }
    "encoding" TextUnmarshaler { UnmarshalText("[]byte") 1 }
    "encoding" BinaryMarshaler { MarshalBinary() 2 }
    "encoding" BinaryUnmarshaler { UnmarshalBinary("[]byte") 1 }
    "encoding/json" Marshaler { MarshalJSON() 2 }
    "encoding/json" Unmarshaler { UnmarshalJSON("[]byte") 1 }
    "encoding/xml" Marshaler { MarshalXML("*Encoder", "StartElement") 1 }
    "encoding/xml" Unmarshaler { UnmarshalXML("*Decoder", "StartElement") 1 }
    "database/sql" Scanner { Scan("any") 1 }
    "database/sql/driver" Valuer { Value() 2 }
};
