//! The engine: what states share.

use std::sync::Arc;

use perilune_jit::{Jit, JitOptions};
use perilune_runtime::engine::EngineShared;
use perilune_runtime::native::{Cx, Func};

use crate::{Error, Program, listing};

/// What any number of states on any number of threads share: shapes, symbols, and the code of programs. Cheap to clone.
///
/// ```
/// use perilune::{Engine, Lua};
///
/// let engine = Engine::new();
/// let program = engine.compile("return ... * 2", "=double")?;
/// let sum: i64 = (1..=2)
///     .map(|n| {
///         let (engine, program) = (engine.clone(), program.clone());
///         std::thread::spawn(move || {
///             let lua = Lua::with_engine(&engine);
///             lua.load_program(&program).call::<i64>(n).expect("it runs")
///         })
///     })
///     .map(|t| t.join().expect("no panic"))
///     .sum();
/// assert_eq!(sum, 6);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) jit: Option<Arc<Jit>>,
}

/// What an engine is made with.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    jit: Option<JitOptions>,
}

impl EngineOptions {
    /// The defaults: a compiler with the default options.
    pub fn new() -> EngineOptions {
        EngineOptions { jit: Some(JitOptions::default()) }
    }

    /// With a compiler with these options: when it compiles, how much code there may be, how many threads it has.
    #[must_use]
    pub fn jit(mut self, options: JitOptions) -> EngineOptions {
        self.jit = Some(options);
        self
    }

    /// Without a compiler.
    #[must_use]
    pub fn interpreter(mut self) -> EngineOptions {
        self.jit = None;
        self
    }

    /// The engine.
    pub fn build(self) -> Engine {
        Engine::with_options(self)
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions::new()
    }
}

impl Engine {
    /// A new engine with these options.
    pub fn with_options(options: EngineOptions) -> Engine {
        let jit = options.jit.map(|o| Jit::new(o, perilune_interp::CALLS));
        Engine { shared: EngineShared::new(), jit }
    }

    /// A new engine, with a compiler with the default options.
    pub fn new() -> Engine {
        EngineOptions::new().build()
    }

    /// A new engine without a compiler: its states interpret.
    pub fn interpreter() -> Engine {
        EngineOptions::new().interpreter().build()
    }

    /// A new engine whose states compile what is hot to machine code.
    pub fn with_jit(options: JitOptions) -> Engine {
        EngineOptions::new().jit(options).build()
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
