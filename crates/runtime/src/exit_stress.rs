//! The mode `exit-stress`, for tests: guards of compiled code fail although their conditions hold.
//!
//! If a guard never fails, its side exit is untested: the frame state may refer to the wrong
//! instruction, or the exit may omit a store to a register. In this mode, exits are taken
//! frequently and everywhere.

use crate::chaos::Chaos;

/// Decides which guards fail. The decisions come from a seed, so a run on one thread is
/// reproducible.
#[repr(C)]
#[derive(Default)]
pub struct ExitStress {
    /// Code that is compiled for this mode decrements this number at each guard, and exits at the
    /// guard at which it becomes 0. Without the mode it starts at 0, so decrementing it practically
    /// never makes it 0.
    pub guards_left: u64,
    choices: Option<Chaos>,
}

impl ExitStress {
    /// Starts the mode.
    pub fn new(seed: u64) -> ExitStress {
        ExitStress { guards_left: 1, choices: Some(Chaos::new(seed)) }
    }

    /// Returns whether the exit that was just taken was forced; if so, also chooses the guard at
    /// which the next exit is forced.
    pub fn is_forced(&mut self) -> bool {
        let Some(choices) = self.choices.as_mut().filter(|_| self.guards_left == 0) else {
            return false;
        };
        // Short distances take the exits of code that runs rarely, long ones let code get far.
        let longest = 1 << (choices.draw() % 8);
        self.guards_left = 1 + choices.draw() % longest;
        true
    }
}
