//! Errors outside of protected calls.

use perilune_runtime::string::LuaString;

use crate::entry::Entry;
use crate::state::{CFunction, LuaState};

/// Ends the process because of an error in C code that nothing protects (manual 4.4).
///
/// # Safety
/// An error was raised.
#[cold]
pub(crate) unsafe fn unprotected(l: *mut LuaState) -> ! {
    let error = (*(*l).state).error;
    let panic: Option<CFunction> = (*(*l).global).panic;
    if let Some(panic) = panic {
        Entry::new(l).push(error);
        panic(l);
    } else {
        let message = if error.is_string() {
            String::from_utf8_lossy(LuaString::bytes(error.as_string())).into_owned()
        } else {
            "error object is not a string".to_owned()
        };
        eprintln!("PANIC: unprotected error in call to Lua API ({message})");
    }
    std::process::abort()
}
