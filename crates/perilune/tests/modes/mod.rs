//! The modes in which a test of the whole engine runs.

use perilune::{Engine, JitOptions, Lua};

/// How code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// In the interpreter.
    Off,
    /// Every method is compiled before it runs.
    Tier1Sync,
    /// Hot methods are compiled by other threads.
    Background,
    /// Random decisions at safepoints, by this seed.
    Chaos(u64),
}

/// All of them.
pub(crate) const MODES: [Mode; 5] =
    [Mode::Off, Mode::Tier1Sync, Mode::Background, Mode::Chaos(1), Mode::Chaos(2)];

impl Mode {
    /// A state in this mode, of an engine of its own.
    pub(crate) fn state(self) -> Lua {
        let engine = match self {
            Mode::Off => Engine::interpreter(),
            Mode::Tier1Sync => Engine::with_jit(JitOptions {
                threshold: 1,
                loop_threshold: 1,
                sync: true,
                ..JitOptions::default()
            }),
            Mode::Background => Engine::with_jit(JitOptions::default()),
            Mode::Chaos(seed) => Engine::with_jit(JitOptions::chaos(seed)),
        };
        let lua = Lua::with_engine(&engine);
        if let Mode::Chaos(seed) = self {
            lua.set_chaos(seed);
        }
        lua
    }
}
