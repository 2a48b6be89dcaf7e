//! Bounds for reading, since files and pipes may never end.

use std::io;

use perilune_runtime::native::{Cx, Raised, StopSign};

/// The conditions that end a read early.
pub(crate) struct Bounds<'a> {
    sign: Option<StopSign<'a>>,
    /// Maximum number of bytes.
    room: usize,
}

impl Bounds<'_> {
    /// No bounds.
    pub(crate) const NONE: Bounds<'static> = Bounds { sign: None, room: usize::MAX };

    /// Returns the limits of the script. The bytes read are first in a buffer and then in a string,
    /// so half of the remaining memory is available for them. A string has at most 4 GB.
    pub(crate) fn of(cx: &Cx) -> Bounds<'_> {
        const LONGEST: usize = u32::MAX as usize - (1 << 26);
        Bounds { sign: Some(cx.stop_sign()), room: (cx.room() / 2).min(LONGEST) }
    }

    /// Returns a bound for the number of bytes.
    #[cfg(test)]
    pub(crate) fn of_room(room: usize) -> Bounds<'static> {
        Bounds { sign: None, room }
    }

    /// Returns an error when the script must stop, or when this number of bytes is too large.
    /// [`is_refusal`] recognizes the error.
    #[inline]
    pub(crate) fn check(&self, bytes: usize) -> io::Result<()> {
        let stops = self.sign.as_ref().is_some_and(StopSign::is_up);
        if stops || bytes > self.room {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(())
    }

    /// Appends bytes to those that were read. Returns an error as [`Bounds::check`], and if there
    /// is no memory.
    #[inline]
    pub(crate) fn append(&self, out: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
        self.check(out.len())?;
        reserve(out, bytes.len())?;
        out.extend_from_slice(bytes);
        Ok(())
    }
}

/// Makes room for more bytes. Returns an error if there is no memory, which [`is_refusal`]
/// recognizes.
#[inline]
pub(crate) fn reserve(out: &mut Vec<u8>, more: usize) -> io::Result<()> {
    out.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

/// Returns whether an error comes from [`Bounds::check`] and not from the file.
pub(crate) fn is_refusal(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::OutOfMemory && e.raw_os_error().is_none()
}

/// Returns the error to raise for an error of [`Bounds::check`]; `None` for errors of the file.
pub(crate) fn refusal(cx: &Cx, e: &io::Error) -> Option<Raised> {
    is_refusal(e).then(|| cx.interrupted().err().unwrap_or_else(|| cx.memory_error()))
}
