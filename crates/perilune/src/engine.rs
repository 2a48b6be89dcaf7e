//! The engine that states share.

use std::sync::Arc;

use perilune_jit::{Jit, JitOptions};
use perilune_runtime::engine::EngineShared;
use perilune_runtime::native::{Cx, Func};

use crate::{Error, Program, listing};

/// The data that states share, on any number of threads: shapes, symbols, and the code of programs.
/// An engine is cheap to clone.
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

/// The options of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    jit: Option<JitOptions>,
}

impl EngineOptions {
    /// Returns the defaults: a compiler with its default options if
    /// [`Engine::COMPILES_BY_DEFAULT`] holds, otherwise none.
    pub fn new() -> EngineOptions {
        EngineOptions { jit: Engine::COMPILES_BY_DEFAULT.then(JitOptions::default) }
    }

    /// Sets the options of the compiler: when it compiles, how much code it keeps, how many threads
    /// it uses.
    #[must_use]
    pub fn jit(mut self, options: JitOptions) -> EngineOptions {
        self.jit = Some(options);
        self
    }

    /// Disables the compiler.
    #[must_use]
    pub fn interpreter(mut self) -> EngineOptions {
        self.jit = None;
        self
    }

    /// Creates the engine.
    pub fn build(self) -> Engine {
        Engine::with_options(self)
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions::new()
    }
}

// Both crates list the targets. Code that cannot be entered must not be compiled.
const _: () = assert!(!Jit::IS_SUPPORTED || perilune_interp::ENTERS_CODE);

impl Engine {
    /// Whether engines have a compiler by default. On aarch64 they do not, and [`Engine::with_jit`]
    /// enables it: machine code for aarch64 has been run only under an emulator, which orders
    /// memory accesses more strongly than real processors.
    pub const COMPILES_BY_DEFAULT: bool = Jit::IS_DEFAULT;

    /// Creates an engine with these options.
    pub fn with_options(options: EngineOptions) -> Engine {
        // Platforms for which no machine code is generated interpret everything.
        let jit = options.jit.filter(|_| Jit::IS_SUPPORTED);
        let jit = jit.map(|o| Jit::new(o, perilune_interp::CALLS));
        Engine { shared: EngineShared::new(), jit }
    }

    /// Creates an engine with the default options: see [`EngineOptions::new`].
    pub fn new() -> Engine {
        EngineOptions::new().build()
    }

    /// Creates an engine without a compiler, whose states interpret all code.
    pub fn interpreter() -> Engine {
        EngineOptions::new().interpreter().build()
    }

    /// Creates an engine whose states compile hot code to machine code.
    pub fn with_jit(options: JitOptions) -> Engine {
        EngineOptions::new().jit(options).build()
    }

    /// Compiles source text, or accepts a binary chunk, as a program that any number of the
    /// engine's states can run. They share its bytecode and its machine code. `name` has the form
    /// that [`crate::Chunk::set_name`] describes.
    ///
    /// # Errors
    /// Returns [`Error::SyntaxError`] if the source does not compile, or if the binary chunk is
    /// invalid.
    pub fn compile(
        &self,
        source: impl AsRef<[u8]>,
        name: impl AsRef<[u8]>,
    ) -> Result<Program, Error> {
        Program::new(self, source.as_ref(), name.as_ref())
    }

    /// Starts compiling all functions of a program to machine code before they run, on all compile
    /// threads. Functions that call each other are compiled together. Returns the number of
    /// functions; [`Engine::wait_for_compiler`] waits until they are compiled. Returns 0 for a
    /// program of another engine.
    pub fn precompile(&self, program: &Program) -> usize {
        self.jit_for(&program.engine).map_or(0, |jit| jit.precompile(&program.proto))
    }

    /// Returns the compiler if `owner`, whose functions it is to compile, is this engine. A
    /// compiler frees code when none of its own engine's states runs it.
    fn jit_for(&self, owner: &Arc<EngineShared>) -> Option<&Arc<Jit>> {
        self.jit.as_ref().filter(|_| Arc::ptr_eq(&self.shared, owner))
    }

    /// Compiles a function of one of the engine's states and all functions inside it, like
    /// [`Engine::precompile`], and waits until that is done. Returns 0 for functions of the host,
    /// and for a state of another engine.
    pub fn precompile_function(&self, cx: &Cx, f: Func<'_>) -> usize {
        let Some(jit) = self.jit_for(listing::engine(cx)) else { return 0 };
        let Some(proto) = listing::proto(&f) else { return 0 };
        let count = jit.precompile(proto);
        cx.blocking(|| jit.wait());
        count
    }

    /// Recompiles, in the background, everything that has machine code, and replaces the old code;
    /// for tests. Returns the number of methods and loops that are recompiled.
    pub fn recompile_all(&self) -> usize {
        self.jit.as_ref().map_or(0, |jit| jit.recompile_all())
    }

    /// Waits until no compilation is pending. No state may be running on this thread.
    pub fn wait_for_compiler(&self) {
        if let Some(jit) = &self.jit {
            jit.wait();
        }
    }

    /// Returns metrics of the machine code and its compilation by name; empty for an engine without
    /// a compiler.
    pub fn jit_metrics(&self) -> Vec<(&'static str, u64)> {
        self.jit.as_ref().map_or_else(Vec::new, |jit| jit.metrics())
    }

    /// Returns the metrics of [`Engine::jit_metrics`] as text, together with the average costs of
    /// compilation and, if [`JitOptions::stats`] is set, the functions that were refused and the
    /// reasons. For an engine without a compiler, the text says so.
    pub fn jit_report(&self) -> String {
        match &self.jit {
            Some(jit) => jit.report(),
            None => "there is no compiler\n".to_owned(),
        }
    }

    /// Returns the number of field names that programs of the engine's states use. A name is freed
    /// with its last user.
    pub fn symbols(&self) -> usize {
        self.shared.symbol_count()
    }

    /// Returns the number of table shapes that the engine's states use, including the two empty
    /// shapes. A shape is freed with its last user.
    pub fn shapes(&self) -> usize {
        self.shared.shape_count()
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}
