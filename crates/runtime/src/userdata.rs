//! Full userdata: a host value with a metatable and user values.

use std::any::Any;

use crate::header::GcHeader;
use crate::table::Table;
use crate::value::Value;

/// A userdata. Boxed outside the blocks, as it owns a Rust value that must be dropped.
#[repr(C)]
pub struct Userdata {
    /// Header.
    pub header: GcHeader,
    /// Its metatable, or null.
    pub meta: *mut Table,
    /// User values (manual 4.7, `lua_setiuservalue`).
    pub user_values: Box<[Value]>,
    /// The host's value; `None` once taken by a finalizer.
    pub data: Option<Box<dyn Any>>,
}

impl Userdata {
    /// `header.aux` of userdata whose data begins with a [`crate::host::CellHead`].
    pub const CELL: u8 = 1;
}
