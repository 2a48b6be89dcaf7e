//! Values of the host inside Lua.

mod any;

pub use any::AnyUserData;
