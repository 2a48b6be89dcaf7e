//! Names of functions in dumps and reports.

use std::fmt;
use std::sync::Arc;

use perilune_bytecode::{Proto, place};

use super::source_map::line;

/// The name and place of a function, and the loop if it is an OSR entry: `fib@fib.lua:1`,
/// `main@fib.lua/loop:7`.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// The name, without the place.
    pub(crate) name: Arc<str>,
    /// The file and line, or only the file for a main function.
    pub(crate) place: String,
    /// The line of the loop, for an OSR entry.
    pub(crate) entry: Option<u32>,
}

impl Label {
    pub(crate) fn new(proto: &Proto, name: Option<Arc<str>>, entry: Option<u32>) -> Label {
        let unnamed = if proto.line_defined == 0 { "main" } else { "anonymous" };
        let entry = entry.map(|pc| line(proto, pc));
        Label { name: name.unwrap_or_else(|| unnamed.into()), place: place(proto), entry }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.place)?;
        self.entry.map_or(Ok(()), |line| write!(f, "/loop:{line}"))
    }
}
