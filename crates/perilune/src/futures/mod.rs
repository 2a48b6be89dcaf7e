//! Async functions of the host, and calls as futures (feature `async`).
//!
//! An async function runs in a coroutine. While its future is pending, it yields a marker, and each
//! resumption of the coroutine polls the future again. [`AsyncThread`] resumes the coroutine on
//! behalf of an executor; Lua code that resumes it sees the marker as a yielded value.

mod call;
mod function;
mod polling;
mod thread;

pub use call::AsyncCallFuture;
pub(crate) use function::AsyncCallee;
pub use function::LuaNativeAsyncFn;
pub(crate) use polling::Polling;
pub use thread::AsyncThread;

use crate::{LightUserData, Lua};

impl Lua {
    /// The marker that a coroutine yields while its future is pending.
    #[doc(hidden)]
    pub fn poll_pending() -> LightUserData {
        static MARKER: u8 = 0;
        LightUserData((&raw const MARKER).cast_mut().cast())
    }
}
