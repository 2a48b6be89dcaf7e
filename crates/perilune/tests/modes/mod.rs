//! The modes in which a test of the whole engine runs.

use perilune::{Engine, JitOptions, Lua};

/// The way in which code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// In the interpreter.
    Off,
    /// Every method is compiled before it runs.
    Sync,
    /// Hot methods are compiled by other threads.
    Background,
    /// Random decisions at safepoints, by this seed.
    Chaos(u64),
}

/// All of them.
pub(crate) const MODES: [Mode; 5] =
    [Mode::Off, Mode::Sync, Mode::Background, Mode::Chaos(1), Mode::Chaos(2)];

impl Mode {
    /// Makes a state in this mode, of an engine of its own.
    pub(crate) fn state(self) -> Lua {
        self.state_that(false)
    }

    /// Makes a state in this mode, of an engine of its own that counts instructions if `counts` is
    /// set.
    pub(crate) fn state_that(self, counts: bool) -> Lua {
        let options = match self {
            Mode::Off => None,
            Mode::Sync => Some(JitOptions {
                threshold: 1,
                loop_threshold: 1,
                sync: true,
                ..JitOptions::default()
            }),
            Mode::Background => Some(JitOptions::eager()),
            Mode::Chaos(seed) => Some(JitOptions::chaos(seed)),
        };
        let engine = match options {
            None => Engine::interpreter(),
            Some(options) => Engine::with_jit(JitOptions { counts, ..options }),
        };
        let lua = Lua::with_engine(&engine);
        if let Mode::Chaos(seed) = self {
            lua.set_chaos(seed);
        }
        lua
    }
}
