//! GCX1: tab-separated rows under a one-line header, so that a table names its columns once.
//!
//! ```
//! let rows = serde_json::json!([{"id": "a.go::F", "line": 3}, {"id": "b.go::G", "line": 14}]);
//! let text = wire::gcx::to_string("search", &rows).unwrap();
//! assert_eq!(text, "GCX1 tool=search fields=id,line rows=2\na.go::F\t3\nb.go::G\t14\n");
//! assert_eq!(wire::gcx::from_str(&text).unwrap(), rows);
//! ```
//!
//! Values with a [`Layout`](crate::layout::Layout) go through [`to_string_with`] and [`from_str_with`]; any other value
//! through [`to_string`] and [`from_str`]. Both directions are exact. Where the reference codec loses data, the text is
//! spelled so that its decoders still read the right words: see `docs/formats/gcx.md`.

mod cell;
mod decode;
mod document;
mod encode;
mod error;
mod json_cell;
mod key;
mod reader;
mod rows;
mod section;
mod shape;
mod stop;
mod table;
mod text;
mod transcode;
mod writer;

pub(crate) use decode::to_value;
pub use decode::{from_slice, from_str, from_str_with, value_with};
pub use document::Document;
pub(crate) use document::opens;
pub use encode::{to_string, to_string_in_one_section, to_string_with};
pub use error::{Error, ErrorKind, Result};
pub(crate) use reader::parse_header;
pub use reader::{Header, Line, Reader, row_values};
pub use writer::Writer;
