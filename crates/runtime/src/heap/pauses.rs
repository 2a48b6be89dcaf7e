//! The pauses of the program that the collector causes, recorded on request.
//!
//! A pause is the work of the collector at one safepoint, excluding the finalizers that it calls.
//! Times are processor times of the thread: on a machine that does other work, only these measure
//! the collector itself.

use super::Heap;

/// A part of the collector's work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Marking.
    Mark,
    /// The atomic step at the end of marking.
    Atomic,
    /// Removing dead strings from the string table.
    Purge,
    /// Sweeping, and returning memory to the system.
    Sweep,
}

impl Part {
    /// All parts, in the order of [`Pause::parts`].
    pub const ALL: [Part; 4] = [Part::Mark, Part::Atomic, Part::Purge, Part::Sweep];
}

/// One pause of the program, in nanoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Pause {
    /// Processor time of the thread.
    pub time: u64,
    /// The times of the parts of the work.
    pub parts: [u64; Part::ALL.len()],
}

/// The pauses so far.
#[derive(Default)]
pub(super) struct Pauses {
    ended: Vec<Pause>,
    current: Pause,
    /// The time when the current pause began, or when its last part ended; 0 if there is none.
    since: u64,
}

impl Pauses {
    fn lap(&mut self, part: Part) {
        let now = crate::sys::thread_time();
        let time = now - self.since;
        self.current.time += time;
        self.current.parts[part as usize] += time;
        self.since = now;
    }
}

impl Heap {
    /// Starts or ends recording. Both discard the pauses recorded so far.
    pub fn record_pauses(&mut self, on: bool) {
        self.pauses = on.then(Box::default);
    }

    /// Returns the pauses since the last call, in order.
    pub fn take_pauses(&mut self) -> Vec<Pause> {
        self.pauses.as_mut().map_or_else(Vec::new, |p| std::mem::take(&mut p.ended))
    }

    /// Notes that the program stops for the collector.
    pub(super) fn begin_pause(&mut self) {
        if let Some(p) = &mut self.pauses {
            p.current = Pause::default();
            p.since = crate::sys::thread_time();
        }
    }

    /// Notes that the collector has nothing to do at this safepoint, which therefore does not count
    /// as a pause.
    pub(super) fn drop_pause(&mut self) {
        if let Some(p) = &mut self.pauses {
            p.since = 0;
        }
    }

    /// Notes that the work since the last call, or since the pause began, was `part`.
    #[inline]
    pub(super) fn end_part(&mut self, part: Part) {
        if let Some(p) = &mut self.pauses
            && p.since != 0
        {
            p.lap(part);
        }
    }

    /// Notes that the program continues. The work since the last part was marking.
    pub(super) fn end_pause(&mut self) {
        if let Some(p) = &mut self.pauses
            && p.since != 0
        {
            p.lap(Part::Mark);
            p.ended.push(p.current);
            p.since = 0;
        }
    }
}
