//! The auxiliary library (manual 5), whose function names begin with `luaL_`.

#![allow(non_snake_case)] // the names are PUC's

pub(crate) mod arguments;
pub(crate) mod buffers;
pub(crate) mod chunks;
pub(crate) mod libraries;
pub(crate) mod metatables;
pub(crate) mod references;
pub(crate) mod results;
pub(crate) mod texts;
