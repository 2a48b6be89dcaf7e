//! Options of deserialization.

use crate::serde::DEFAULT_RECURSION_LIMIT;

/// Options of deserialization.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Maximum nesting of tables. Deeper nesting needs more native stack. Default: 128.
    pub recursion_limit: usize,
    /// Whether functions, coroutines, errors and userdata that cannot be serialized cause an error.
    /// Otherwise such elements are skipped, and such values become a unit. Default: true.
    pub deny_unsupported_types: bool,
    /// Whether tables that contain themselves cause an error. Otherwise the second occurrence is
    /// skipped. Default: true.
    pub deny_recursive_tables: bool,
    /// Whether entries are sorted by their keys. Default: false.
    pub sort_keys: bool,
    /// Whether empty tables are treated as lists. Default: false.
    pub encode_empty_tables_as_array: bool,
    /// Whether only tables whose keys are all indices, with few holes, are treated as lists.
    /// Otherwise every table whose length is greater than 0 is a list. Default: false.
    pub detect_mixed_tables: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

macro_rules! setters {
    ($($f:ident: $t:ty;)*) => {$(
        #[doc = concat!("Sets [`Options::", stringify!($f), "`].")]
        #[must_use]
        pub const fn $f(mut self, enabled: $t) -> Options {
            self.$f = enabled;
            self
        }
    )*};
}

impl Options {
    /// Returns the default options.
    pub const fn new() -> Options {
        Options {
            recursion_limit: DEFAULT_RECURSION_LIMIT,
            deny_unsupported_types: true,
            deny_recursive_tables: true,
            sort_keys: false,
            encode_empty_tables_as_array: false,
            detect_mixed_tables: false,
        }
    }

    setters! {
        recursion_limit: usize;
        deny_unsupported_types: bool;
        deny_recursive_tables: bool;
        sort_keys: bool;
        encode_empty_tables_as_array: bool;
        detect_mixed_tables: bool;
    }
}
