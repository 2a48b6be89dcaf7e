//! Host values inside Lua.

mod any;
mod borrow;
mod index;
mod metamethod;
mod method;
mod registry;
mod shared;
mod traits;

pub use any::{AnyUserData, UserDataMetatable, UserDataMetatablePairs};
pub use borrow::{UserDataOwned, UserDataRef, UserDataRefMut};
pub use metamethod::MetaMethod;
pub(crate) use method::Target;
pub use registry::UserDataRegistry;
pub use traits::{UserData, UserDataFields, UserDataMethods};
