//! Creation of coroutines.

use perilune_runtime::native::Val;

use crate::stack::Raw;
use crate::triggers::ThreadEventKind;
use crate::{Function, Lua, Result, Thread};

impl Lua {
    /// Creates a coroutine that will call `func`.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached,
    /// or the error of the callback for new coroutines.
    pub fn create_thread(&self, func: Function) -> Result<Thread> {
        let entry = self.enter();
        let s = entry.stack();
        s.poll()?;
        let f = s.word(&func.0);
        let cx = &*s.cx();
        // SAFETY: rooted by its handle.
        let th = cx.new_thread(unsafe { Val::of(cx, f.0) });
        let th = Thread(s.handle(Raw(th.raw())));
        th.tell(|t| t.on_create, ThreadEventKind::Create)?;
        Ok(th)
    }

    /// Returns the running coroutine, which may be the main one.
    pub fn current_thread(&self) -> Thread {
        let entry = self.enter();
        let s = entry.stack();
        let th = s.cx().running().0.raw();
        Thread(s.handle(Raw(th)))
    }
}
