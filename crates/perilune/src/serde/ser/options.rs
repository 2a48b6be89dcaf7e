//! Options of serialization.

use crate::serde::DEFAULT_RECURSION_LIMIT;

/// Options of serialization.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Maximum nesting of containers, options and newtypes. Deeper nesting needs more native stack.
    /// Default: 128.
    pub recursion_limit: usize,
    /// Whether lists have the metatable [`array_metatable`](crate::LuaSerdeExt::array_metatable).
    /// Default: true.
    pub set_array_metatable: bool,
    /// Whether `None` is [`null`](crate::LuaSerdeExt::null) rather than nil. Default: true.
    pub serialize_none_to_null: bool,
    /// Whether `()` and unit structs are `null` rather than nil. Default: true.
    pub serialize_unit_to_null: bool,
    /// Whether numbers of `serde_json` with its feature `arbitrary_precision` become numbers.
    /// Default: false.
    pub detect_serde_json_arbitrary_precision: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options::new()
    }
}

impl Options {
    /// Returns the default options.
    pub const fn new() -> Options {
        Options {
            recursion_limit: DEFAULT_RECURSION_LIMIT,
            set_array_metatable: true,
            serialize_none_to_null: true,
            serialize_unit_to_null: true,
            detect_serde_json_arbitrary_precision: false,
        }
    }

    /// Sets [`Options::recursion_limit`].
    #[must_use]
    pub const fn recursion_limit(mut self, limit: usize) -> Options {
        self.recursion_limit = limit;
        self
    }

    /// Sets [`Options::set_array_metatable`].
    #[must_use]
    pub const fn set_array_metatable(mut self, enabled: bool) -> Options {
        self.set_array_metatable = enabled;
        self
    }

    /// Sets [`Options::serialize_none_to_null`].
    #[must_use]
    pub const fn serialize_none_to_null(mut self, enabled: bool) -> Options {
        self.serialize_none_to_null = enabled;
        self
    }

    /// Sets [`Options::serialize_unit_to_null`].
    #[must_use]
    pub const fn serialize_unit_to_null(mut self, enabled: bool) -> Options {
        self.serialize_unit_to_null = enabled;
        self
    }

    /// Sets [`Options::detect_serde_json_arbitrary_precision`].
    #[must_use]
    pub const fn detect_serde_json_arbitrary_precision(mut self, enabled: bool) -> Options {
        self.detect_serde_json_arbitrary_precision = enabled;
        self
    }
}
