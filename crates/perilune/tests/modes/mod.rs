//! The modes in which a test of the whole engine runs.

use perilune::{Engine, JitOptions, Lua};

/// The way in which code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Code runs in the interpreter.
    Off,
    /// Every method is compiled before it runs.
    Sync,
    /// Hot methods are compiled by other threads.
    Background,
    /// Safepoints make random decisions, determined by this seed.
    Chaos(u64),
}

/// All modes.
pub(crate) const MODES: [Mode; 5] =
    [Mode::Off, Mode::Sync, Mode::Background, Mode::Chaos(1), Mode::Chaos(2)];

impl Mode {
    /// Creates a state in this mode, with its own engine.
    pub(crate) fn state(self) -> Lua {
        self.state_that(false)
    }

    /// Creates a state in this mode, with its own engine, which counts instructions if `counts` is
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
