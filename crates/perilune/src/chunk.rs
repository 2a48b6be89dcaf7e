//! Loading and running source text.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perilune_bytecode::Proto;
use perilune_runtime::load::Reason;
use perilune_runtime::native::Val;

use crate::stack::Raw;
use crate::traits::{FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::{Error, Function, Lua, Program, Result, Table, Value};

/// A source of a chunk: source text or a binary chunk, given by value or as a file.
pub trait AsChunk {
    /// Returns the chunk's name. The default is the source location of the call to [`Lua::load`].
    fn name(&self) -> Option<String> {
        None
    }

    /// Returns the chunk's own table of globals; `None` stands for that of the state.
    ///
    /// # Errors
    /// Returns an error when the table cannot be created.
    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        let _ = lua;
        Ok(None)
    }

    /// Returns the only accepted kind of chunk, or `None` to accept both.
    fn mode(&self) -> Option<ChunkMode> {
        None
    }

    /// Returns the bytes of the chunk.
    ///
    /// # Errors
    /// Returns the system's error when a file cannot be read.
    fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
    where
        Self: 'a;
}

macro_rules! chunks {
    ($($t:ty: $source:expr;)*) => {$(
        impl AsChunk for $t {
            fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
            where
                Self: 'a,
            {
                let f: fn(&Self) -> Cow<'a, [u8]> = $source;
                Ok(f(self))
            }
        }
    )*};
}

chunks! {
    &str: |s| Cow::Borrowed(s.as_bytes());
    String: |s| Cow::Owned(s.clone().into_bytes());
    &String: |s| Cow::Borrowed(s.as_bytes());
    &[u8]: |s| Cow::Borrowed(s);
    Vec<u8>: |s| Cow::Owned(s.clone());
    &Vec<u8>: |s| Cow::Borrowed(s);
}

impl<const N: usize> AsChunk for &[u8; N] {
    fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
    where
        Self: 'a,
    {
        Ok(Cow::Borrowed(*self))
    }
}

macro_rules! files {
    ($($t:ty)*) => {$(
        impl AsChunk for $t {
            fn name(&self) -> Option<String> {
                Some(format!("@{}", self.display()))
            }

            fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
            where
                Self: 'a,
            {
                std::fs::read(self).map(Cow::Owned)
            }
        }
    )*};
}

files!(&Path PathBuf);

impl<C: AsChunk + ?Sized> AsChunk for Box<C> {
    fn name(&self) -> Option<String> {
        (**self).name()
    }

    fn environment(&self, lua: &Lua) -> Result<Option<Table>> {
        (**self).environment(lua)
    }

    fn mode(&self) -> Option<ChunkMode> {
        (**self).mode()
    }

    fn source<'a>(&self) -> std::io::Result<Cow<'a, [u8]>>
    where
        Self: 'a,
    {
        (**self).source()
    }
}

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkMode {
    /// Source text.
    Text,
    /// A binary chunk made by `string.dump`.
    Binary,
}

/// A chunk that is ready to run: source text or a binary chunk with a name, or a compiled program.
///
/// ```
/// let lua = perilune::Lua::new();
/// let n: i64 = lua.load("6 * 7").eval()?;
/// assert_eq!(n, 42);
/// lua.load("x = ...").set_name("setup").call::<()>(n)?;
/// assert_eq!(lua.globals().get::<i64>("x")?, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
#[must_use = "chunks do nothing before they are run"]
pub struct Chunk<'a> {
    lua: Lua,
    code: Code<'a>,
    /// Computed lazily, since many chunks are given a name later.
    name: OnceCell<String>,
    place: Option<&'static Location<'static>>,
    env: Result<Option<Table>>,
    mode: Option<ChunkMode>,
}

enum Code<'a> {
    Source(std::io::Result<Cow<'a, [u8]>>),
    Compiled(Arc<Proto>),
}

impl<'a> Chunk<'a> {
    pub(crate) fn new(
        lua: &Lua,
        chunk: impl AsChunk + 'a,
        place: &'static Location<'static>,
    ) -> Chunk<'a> {
        let name = chunk.name().map_or_else(OnceCell::new, OnceCell::from);
        let (env, mode) = (chunk.environment(lua), chunk.mode());
        let code = Code::Source(chunk.source());
        Chunk { lua: lua.clone(), code, name, place: Some(place), env, mode }
    }

    /// Creates a chunk from `proto`, which the engine of `lua` has compiled.
    pub(crate) fn of_program(lua: &Lua, proto: Arc<Proto>) -> Chunk<'static> {
        let code = Code::Compiled(proto);
        let name = OnceCell::new();
        Chunk { lua: lua.clone(), code, name, place: None, env: Ok(None), mode: None }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        let of_place = |place: &Location<'_>| format!("@{}:{}", place.file(), place.line());
        self.name.get_or_init(|| self.place.map(of_place).unwrap_or_default())
    }

    /// Sets the name: `@` and a file name, `=` and a name to display as it is, or source text. The
    /// name of a compiled program cannot be changed.
    pub fn set_name(mut self, name: impl Into<String>) -> Chunk<'a> {
        self.name = OnceCell::from(name.into());
        self
    }

    /// Returns the chunk's own table of globals; `None` stands for that of the state.
    pub fn environment(&self) -> Option<&Table> {
        self.env.as_ref().ok()?.as_ref()
    }

    /// Sets the table of globals.
    pub fn set_environment(mut self, env: Table) -> Chunk<'a> {
        self.env = Ok(Some(env));
        self
    }

    /// Returns the kind of chunk that was set or, if none was set, the kind of the source.
    pub fn mode(&self) -> ChunkMode {
        match (&self.mode, &self.code) {
            (Some(mode), _) => *mode,
            (None, Code::Source(Ok(s))) if s.first() != Some(&0x1B) => ChunkMode::Text,
            _ => ChunkMode::Binary,
        }
    }

    /// Accepts only this kind of chunk.
    pub fn set_mode(mut self, mode: ChunkMode) -> Chunk<'a> {
        self.mode = Some(mode);
        self
    }

    /// Runs the chunk and discards its results.
    ///
    /// # Errors
    /// Returns an error if the chunk does not compile or raises an error.
    pub fn exec(self) -> Result<()> {
        self.call(())
    }

    /// Evaluates the chunk as an expression or, if it is not one, as a block of statements, and
    /// returns the results.
    ///
    /// # Errors
    /// Fails like [`Chunk::exec`], and also when the results cannot be converted.
    pub fn eval<R: FromLuaMulti>(self) -> Result<R> {
        self.into_evaluated()?.call(())
    }

    /// Compiles the chunk as an expression or, if it is not one, as a block of statements.
    pub(crate) fn into_evaluated(self) -> Result<Function> {
        if let (ChunkMode::Text, Code::Source(Ok(source))) = (self.mode(), &self.code)
            && let Ok(f) = self.function(&[b"return ", &source[..]].concat())
        {
            return Ok(f);
        }
        self.into_function()
    }

    /// Runs the chunk with arguments, which it receives in `...`, and returns the results.
    ///
    /// # Errors
    /// See [`Chunk::eval`].
    pub fn call<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<R> {
        self.into_function()?.call(args)
    }

    /// Compiles the chunk to a function.
    ///
    /// # Errors
    /// Returns an error if the chunk does not compile, or if a file cannot be read.
    pub fn into_function(self) -> Result<Function> {
        match &self.code {
            Code::Source(Ok(source)) => self.function(source),
            Code::Source(Err(e)) => {
                Err(Error::external(std::io::Error::new(e.kind(), e.to_string())))
            }
            Code::Compiled(proto) => {
                let entry = self.lua.enter();
                let s = entry.stack();
                s.poll()?;
                let env = self.env.clone()?.map(|t| s.word(&t.0));
                // SAFETY: the proto is that of a `Program`. It was verified when it was compiled,
                // and `Lua::load_program` has checked that it belongs to this engine. The
                // environment is rooted by its handle.
                let f = unsafe {
                    let env = env.map(|env| Val::of(s.cx(), env.0));
                    s.cx().instantiate(proto, env).map(|f| f.raw())
                };
                let Some(f) = f else {
                    s.check_stored()?;
                    return Err(Error::not_enough_memory());
                };
                Ok(Function(s.handle(Raw(f))))
            }
        }
    }

    fn function(&self, source: &[u8]) -> Result<Function> {
        let entry = self.lua.enter();
        let s = entry.stack();
        s.poll()?;
        let env = self.env.clone()?.map(|t| s.word(&t.0));
        let mode: &[u8] = match self.mode {
            None => b"bt",
            Some(ChunkMode::Text) => b"t",
            Some(ChunkMode::Binary) => b"b",
        };
        let cx = &*s.cx();
        // SAFETY: rooted by the chunk's handle.
        let env = env.map(|e| unsafe { Val::of(cx, e.0) });
        match cx.try_load(source, self.name().as_bytes(), mode, env) {
            Ok(f) => Ok(Function(s.handle(Raw(f.raw())))),
            Err(e) => Err(match e.reason {
                Reason::Rejected => Error::syntax(&e.message),
                Reason::Memory => {
                    s.check_stored()?;
                    Error::not_enough_memory()
                }
                Reason::Limit | Reason::Interrupted => {
                    Error::RuntimeError(String::from_utf8_lossy(&e.message).into_owned())
                }
            }),
        }
    }

    /// Wraps a chunk in a value that converts to the function compiled from it.
    #[track_caller]
    pub fn wrap(chunk: impl AsChunk + 'a) -> impl IntoLua {
        Wrapped { chunk, place: Location::caller() }
    }
}

struct Wrapped<C> {
    chunk: C,
    place: &'static Location<'static>,
}

impl<C: AsChunk> IntoLua for Wrapped<C> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        Chunk::new(lua, self.chunk, self.place).into_function().map(Value::Function)
    }
}

impl Lua {
    /// Creates a chunk from source text or a binary chunk, to run in this state. It is compiled
    /// when it is run or converted to a function, which then reports errors in the source.
    #[track_caller]
    pub fn load<'a>(&self, chunk: impl AsChunk + 'a) -> Chunk<'a> {
        Chunk::new(self, chunk, Location::caller())
    }

    /// Creates a chunk from a compiled program of this state's engine, to run in this state. If the
    /// program belongs to another engine, running the chunk fails.
    pub fn load_program(&self, program: &Program) -> Chunk<'static> {
        let mut chunk = Chunk::of_program(self, program.proto.clone());
        if !Arc::ptr_eq(&self.control.engine.shared, &program.engine) {
            let e = std::io::Error::other("the program belongs to another engine");
            chunk.code = Code::Source(Err(e));
        }
        chunk
    }
}
