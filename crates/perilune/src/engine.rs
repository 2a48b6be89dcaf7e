//! The engine: what states share.

use std::sync::Arc;

use perilune_jit::{Jit, JitOptions};
use perilune_runtime::engine::EngineShared;
use perilune_runtime::native::{Cx, Func};

use crate::{Error, Program, listing};

/// What any number of states on any number of threads share: shapes, symbols, and the code of programs.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) jit: Option<Arc<Jit>>,
}

impl Engine {
    /// A new engine, with a compiler with the default options.
    pub fn new() -> Engine {
        Engine::with_jit(JitOptions::default())
    }

    /// A new engine without a compiler: its states interpret.
    pub fn interpreter() -> Engine {
        Engine { shared: EngineShared::new(), jit: None }
    }

    /// A new engine whose states compile what is hot to machine code.
    pub fn with_jit(options: JitOptions) -> Engine {
        let jit = Jit::new(options, perilune_interp::CALLS);
        Engine { shared: EngineShared::new(), jit: Some(jit) }
    }

    /// Compiles source text (or takes a binary chunk) for any number of the engine's states to run: they share its bytecode, and its machine code. `name` is as of
    /// [`crate::Chunk::set_name`].
    ///
    /// # Errors
    /// If it does not compile.
    pub fn compile(
        &self,
        source: impl AsRef<[u8]>,
        name: impl AsRef<[u8]>,
    ) -> Result<Program, Error> {
        Program::new(self, source.as_ref(), name.as_ref())
    }

    /// Compiles all functions of a program to machine code before they run, those that call each other together, on all threads that compile.
    /// [`Engine::wait_for_compiler`] waits for them. Returns how many there are.
    pub fn precompile(&self, program: &Program) -> usize {
        self.jit.as_ref().map_or(0, |jit| jit.precompile(&program.proto))
    }

    /// As [`Engine::precompile`], of a function of one of the engine's states and all functions inside it; waits for them. 0 for functions of the host.
    pub fn precompile_function(&self, cx: &Cx, f: Func<'_>) -> usize {
        let (Some(jit), Some(proto)) = (&self.jit, listing::proto(&f)) else { return 0 };
        let count = jit.precompile(proto);
        cx.blocking(|| jit.wait());
        count
    }

    /// Compiles whatever has machine code anew, on other threads, and lets the new code take the place of the old: a mode for tests. Returns for how many methods
    /// and loops that was begun.
    pub fn recompile_all(&self) -> usize {
        self.jit.as_ref().map_or(0, |jit| jit.recompile_all())
    }

    /// Waits until nothing is being compiled any more. No state must be running on this thread.
    pub fn wait_for_compiler(&self) {
        if let Some(jit) = &self.jit {
            jit.wait();
        }
    }

    /// Figures of machine code and of its making, by name; none for an engine without a compiler.
    pub fn jit_figures(&self) -> Vec<(&'static str, u64)> {
        self.jit.as_ref().map_or_else(Vec::new, |jit| jit.figures())
    }

    /// The figures of [`Engine::jit_figures`] as text, with what compiling cost on the average and, with [`JitOptions::stats`], who was refused why.
    pub fn jit_report(&self) -> String {
        match &self.jit {
            Some(jit) => jit.report(),
            None => "there is no compiler\n".to_owned(),
        }
    }

    /// Field names that programs of the engine's states use now. They go away with their last user.
    pub fn symbols(&self) -> usize {
        self.shared.symbol_count()
    }

    /// Table layouts that the engine's states use now, the empty one included. They go away with their last user.
    pub fn shapes(&self) -> usize {
        self.shared.shape_count()
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}
