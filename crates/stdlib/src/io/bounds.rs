//! How long, and how much, is read at a time: files and pipes need not end.

use std::io;

use perilune_runtime::native::{Cx, Raised, StopSign};

/// What ends a read early.
pub(crate) struct Bounds<'a> {
    sign: Option<StopSign<'a>>,
    /// Most bytes.
    room: usize,
}

impl Bounds<'_> {
    /// Nothing does.
    pub(crate) const NONE: Bounds<'static> = Bounds { sign: None, room: usize::MAX };

    /// The limits of the script. What is read is in a buffer first, and in a string then.
    pub(crate) fn of(cx: &Cx) -> Bounds<'_> {
        Bounds { sign: Some(cx.stop_sign()), room: cx.room() / 2 }
    }

    /// Fails when the script has to stop, or so many bytes are too many; [`is_refusal`] knows the error.
    #[inline]
    pub(crate) fn check(&self, bytes: usize) -> io::Result<()> {
        let stops = self.sign.as_ref().is_some_and(StopSign::is_up);
        if stops || bytes > self.room {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(())
    }
}

/// Whether an error is that of [`Bounds::check`], and not one of the file.
pub(crate) fn is_refusal(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::OutOfMemory && e.raw_os_error().is_none()
}

/// The error to raise for that of [`Bounds::check`]; `None` for errors of the file.
pub(crate) fn refusal(cx: &Cx, e: &io::Error) -> Option<Raised> {
    is_refusal(e).then(|| cx.interrupted().err().unwrap_or_else(|| cx.memory_error()))
}
