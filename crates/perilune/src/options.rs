//! The options of a state.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use perilune_runtime::native::{Cx, Raised};
use perilune_stdlib as lib;

/// Options of a state.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LuaOptions {
    /// Whether `pcall` and `xpcall` catch panics of host functions as error values (the default).
    /// In either case, a panic that no `pcall` has caught is resumed in the call of the host.
    pub catch_rust_panics: bool,
    /// Accepted for compatibility with mlua, and ignored: coroutines that have ended are left to
    /// the collector.
    #[cfg(feature = "async")]
    pub thread_pool_size: usize,
}

impl LuaOptions {
    /// Returns the defaults.
    pub const fn new() -> LuaOptions {
        LuaOptions {
            catch_rust_panics: true,
            #[cfg(feature = "async")]
            thread_pool_size: 0,
        }
    }

    /// Sets [`LuaOptions::thread_pool_size`].
    #[cfg(feature = "async")]
    #[must_use]
    pub const fn thread_pool_size(mut self, size: usize) -> LuaOptions {
        self.thread_pool_size = size;
        self
    }

    /// Sets [`LuaOptions::catch_rust_panics`].
    #[must_use]
    pub const fn catch_rust_panics(mut self, enabled: bool) -> LuaOptions {
        self.catch_rust_panics = enabled;
        self
    }
}

impl Default for LuaOptions {
    fn default() -> LuaOptions {
        LuaOptions::new()
    }
}

/// A selection of standard libraries (manual 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StdLib(u32);

impl StdLib {
    /// `coroutine`
    pub const COROUTINE: StdLib = StdLib(1);
    /// `table`
    pub const TABLE: StdLib = StdLib(1 << 1);
    /// `io`
    pub const IO: StdLib = StdLib(1 << 2);
    /// `os`
    pub const OS: StdLib = StdLib(1 << 3);
    /// `string`
    pub const STRING: StdLib = StdLib(1 << 4);
    /// `utf8`
    pub const UTF8: StdLib = StdLib(1 << 5);
    /// `math`
    pub const MATH: StdLib = StdLib(1 << 7);
    /// `package` and `require`
    pub const PACKAGE: StdLib = StdLib(1 << 8);
    /// `debug`
    pub const DEBUG: StdLib = StdLib(1 << 31);
    /// The libraries that give no access to anything outside the state. Some basic functions do;
    /// [`crate::Sandbox`] removes those.
    pub const SANDBOX: StdLib = StdLib(
        StdLib::COROUTINE.0 | StdLib::TABLE.0 | StdLib::STRING.0 | StdLib::UTF8.0 | StdLib::MATH.0,
    );
    /// No libraries, only the basic functions.
    pub const NONE: StdLib = StdLib(0);
    /// All libraries.
    pub const ALL: StdLib = StdLib(u32::MAX);
    /// All libraries except `debug`.
    pub const ALL_SAFE: StdLib = StdLib((1 << 30) - 1);

    /// Returns whether the selection contains at least one of the libraries in `lib`.
    #[must_use]
    pub const fn contains(self, lib: StdLib) -> bool {
        self.0 & lib.0 != 0
    }

    /// Opens the selected libraries.
    pub(crate) fn open(self, cx: &mut Cx) -> Result<(), Raised> {
        lib::base::open(cx)?;
        type Open = fn(&mut Cx) -> Result<(), Raised>;
        let libraries: [(StdLib, Open); 9] = [
            (StdLib::PACKAGE, lib::package::open),
            (StdLib::COROUTINE, lib::coroutine::open),
            (StdLib::TABLE, lib::table::open),
            (StdLib::IO, lib::io::open),
            (StdLib::OS, lib::os::open),
            (StdLib::STRING, lib::string::open),
            (StdLib::MATH, lib::math::open),
            (StdLib::UTF8, lib::utf8::open),
            (StdLib::DEBUG, lib::debug::open),
        ];
        for (lib, open) in libraries {
            if self.contains(lib) {
                open(cx)?;
            }
        }
        Ok(())
    }
}

macro_rules! bits {
    ($($op:ident $f:ident $assign:ident $g:ident;)*) => {$(
        impl $op for StdLib {
            type Output = StdLib;
            fn $f(self, other: StdLib) -> StdLib {
                StdLib($op::$f(self.0, other.0))
            }
        }

        impl $assign for StdLib {
            fn $g(&mut self, other: StdLib) {
                *self = $op::$f(*self, other);
            }
        }
    )*};
}

bits! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}

impl Not for StdLib {
    type Output = StdLib;
    fn not(self) -> StdLib {
        StdLib(!self.0)
    }
}
