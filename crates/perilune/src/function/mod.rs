//! Functions.

mod call;
mod create;
mod native;
mod wrap;

use std::ffi::c_void;

use perilune_runtime::native::{Cx, Val};

#[cfg(feature = "async")]
pub use crate::futures::{AsyncCallFuture, LuaNativeAsyncFn};
pub use native::{LuaNativeFn, LuaNativeFnMut};
#[cfg(feature = "async")]
pub(crate) use wrap::Wrapped;

use crate::control::Handle;
use crate::listing::feedback;
use crate::stack::Raw;
use crate::{Error, Result, Table, WeakLua};

/// A handle to a function, of Lua or of the host.
///
/// ```
/// let lua = perilune::Lua::new();
/// let add: perilune::Function = lua.load("function(a, b) return a + b end").eval()?;
/// assert_eq!(add.call::<i64>((1, 2))?, 3);
/// let next = add.bind(1)?;
/// assert_eq!(next.call::<i64>(41)?, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Function(pub(crate) Handle);

/// Information about a function (`debug.getinfo`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The name, where one is known.
    pub name: Option<String>,
    /// The kind of the name.
    pub name_what: Option<&'static str>,
    /// `Lua`, `C` or `main`.
    pub what: &'static str,
    /// The chunk's name as it was given.
    pub source: Option<String>,
    /// The chunk's name as it appears in messages.
    pub short_src: Option<String>,
    /// The line where the definition begins.
    pub line_defined: Option<usize>,
    /// The line where the definition ends.
    pub last_line_defined: Option<usize>,
    /// Number of upvalues.
    pub num_upvalues: u8,
    /// Number of parameters.
    pub num_params: u8,
    /// Whether the function is variadic.
    pub is_vararg: bool,
}

impl Function {
    /// Returns the table of globals of a Lua function, which is its upvalue `_ENV`.
    pub fn environment(&self) -> Option<Table> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        let f = self.val(cx).as_func().filter(|f| !f.is_native())?;
        for i in 0.. {
            let (name, v) = cx.upvalue(f, i)?;
            if name == b"_ENV" {
                return v.as_table().map(|t| Table(s.handle(Raw(t.val().raw()))));
            }
        }
        None
    }

    /// Sets the table of globals of a Lua function; other functions keep theirs. Returns false for
    /// functions that have none.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn set_environment(&self, env: Table) -> Result<bool> {
        let entry = self.0.enter();
        let s = entry.stack();
        let env = s.word(&env.0);
        let cx = &*s.cx();
        let Some(f) = self.val(cx).as_func().filter(|f| !f.is_native()) else { return Ok(false) };
        for i in 0.. {
            match cx.upvalue(f, i) {
                None => return Ok(false),
                Some((name, _)) if name == b"_ENV" => {
                    // A new function provides the upvalue, so that other functions do not see the
                    // change.
                    let holder =
                        cx.load(b"return x", b"=env", b"t", None).map_err(|m| Error::syntax(&m))?;
                    let Some(holder) = holder.as_func() else { return Ok(false) };
                    // SAFETY: rooted by its handle.
                    cx.set_upvalue(holder, 0, unsafe { Val::of(cx, env.0) });
                    cx.join_upvalues(f, i, holder, 0);
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
        Ok(false)
    }

    fn val<'a>(&self, cx: &'a Cx) -> Val<'a> {
        // SAFETY: rooted by the handle.
        unsafe { Val::of(cx, self.0.word()) }
    }

    /// Returns information about the function.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn info(&self) -> FunctionInfo {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        let Some(f) = self.val(cx).as_func() else { unreachable!("a function") };
        let i = cx.function_info(f);
        let line = |n: i64| usize::try_from(n).ok();
        let text = |b: &[u8]| Some(String::from_utf8_lossy(b).into_owned());
        FunctionInfo {
            name: None,
            name_what: None,
            what: i.what,
            source: text(&i.source),
            short_src: text(&i.short_source),
            line_defined: line(i.line_defined),
            last_line_defined: line(i.last_line),
            num_upvalues: i.upvalues,
            num_params: i.params,
            is_vararg: i.is_vararg,
        }
    }

    /// Returns the binary chunk of a Lua function, without debug information if `strip`; empty for
    /// functions of the host.
    pub fn dump(&self, strip: bool) -> Vec<u8> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        self.val(cx).as_func().and_then(|f| cx.dump(f, strip)).unwrap_or_default()
    }

    /// Returns the feedback that the interpreter has recorded for a Lua function and the functions
    /// inside it, as text; empty for functions of the host. For tests.
    #[doc(hidden)]
    pub fn feedback(&self) -> String {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        self.val(cx).as_func().and_then(feedback).unwrap_or_default()
    }

    /// Returns a weak reference to the function's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the function.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}
