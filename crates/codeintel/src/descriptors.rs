//! Descriptors: a type, a function or a symbol said in one schema, whatever its language.
//!
//! Listings come from the snapshot alone ([`symbol()`]). A single type or function is read again from its file, which must be the
//! one that was indexed, because parameters, defaults and the text of documentation are not worth keeping for every symbol.

pub mod class;
pub mod docs;
pub mod function;
mod head;
pub mod home;
pub mod lookup;
pub mod markdown;
pub(crate) mod php;
pub mod reading;
pub mod schema;
pub mod symbol;
pub mod words;

pub use home::Homes;
pub use schema::{
    ClassDescriptor, FieldDescriptor, FunctionDescriptor, ParamDescriptor, RelationDescriptor, ReturnDescriptor,
    SymbolDescriptor, SymbolLocation,
};
pub use symbol::symbol;
