//! Functions.

use std::ffi::c_void;

use perilune_runtime::native::{Cx, NativeResult, Val};

use crate::callback::{Mutable, Plain};
use crate::control::Handle;
#[cfg(feature = "async")]
pub use crate::futures::{AsyncCallFuture, LuaNativeAsyncFn};
use crate::stack::Raw;
use crate::traits::{FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::MaybeSend;
use crate::{Error, ExternalError, Lua, Result, Table, Value, WeakLua};

/// A handle to a function, of Lua or of the host.
///
/// ```
/// let lua = perilune::Lua::new();
/// let add: perilune::Function = lua.load("function(a, b) return a + b end").eval()?;
/// assert_eq!(add.call::<i64>((1, 2))?, 3);
/// let next = add.bind(1)?;
/// assert_eq!(next.call::<i64>(41)?, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Function(pub(crate) Handle);

/// Information about a function (`debug.getinfo`).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The name, where one is known.
    pub name: Option<String>,
    /// The kind of the name.
    pub name_what: Option<&'static str>,
    /// `Lua`, `C` or `main`.
    pub what: &'static str,
    /// The chunk's name as it was given.
    pub source: Option<String>,
    /// The chunk's name as it appears in messages.
    pub short_src: Option<String>,
    /// The first line.
    pub line_defined: Option<usize>,
    /// The last line.
    pub last_line_defined: Option<usize>,
    /// Number of upvalues.
    pub num_upvalues: u8,
    /// Number of parameters.
    pub num_params: u8,
    /// Whether the function is variadic.
    pub is_vararg: bool,
}

impl Function {
    /// Calls the function.
    ///
    /// # Errors
    /// Returns the error that the function raises, with a traceback, or that of a conversion.
    ///
    /// # Panics
    /// Resumes the panic of a host function that was called and that no `pcall` caught.
    #[inline]
    pub fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let at = s.top();
        s.push(Raw(self.0.word()));
        s.push(Raw(perilune_runtime::value::Value::NIL));
        // SAFETY: P1: callee, header and arguments are pushed; results lie where the callee was.
        unsafe {
            let n = match args.push_into_stack_multi(s) {
                Ok(n) => n,
                Err(e) => {
                    s.cut(at);
                    return Err(e);
                }
            };
            match ((*s.st).vm.traced)(s.st, (*s.st).base.add(at), n) {
                Ok(n) => {
                    let r = R::from_stack_multi(at, n, s);
                    s.cut(at);
                    r
                }
                Err(_) => Err(s.caught(at)),
            }
        }
    }

    /// Returns a function that calls this one with these arguments before its own.
    ///
    /// # Errors
    /// Returns [`Error::BindError`] for more than 254 arguments.
    pub fn bind(&self, args: impl IntoLuaMulti) -> Result<Function> {
        let entry = self.0.enter();
        let s = entry.stack();
        let top = s.top();
        s.reserve(8)?;
        s.push(Raw(self.0.word()));
        // SAFETY: P1.
        let n = match unsafe { args.push_into_stack_multi(s) } {
            Ok(0) => {
                s.cut(top);
                return Ok(self.clone());
            }
            Ok(n) => n,
            Err(e) => {
                s.cut(top);
                return Err(e);
            }
        };
        if n > 254 {
            s.cut(top);
            return Err(Error::BindError);
        }
        let cx = s.cx();
        let values: Vec<Val<'_>> = (top..=top + n).map(|i| cx.get(i)).collect();
        let f = cx.func(call_bound, &values).val().raw();
        let f = Function(s.handle(Raw(f)));
        s.cut(top);
        Ok(f)
    }

    /// Returns the table of globals of a Lua function, which is its upvalue `_ENV`.
    pub fn environment(&self) -> Option<Table> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        let f = self.val(cx).as_func().filter(|f| !f.is_native())?;
        for i in 0.. {
            let (name, v) = cx.upvalue(f, i)?;
            if name == b"_ENV" {
                return v.as_table().map(|t| Table(s.handle(Raw(t.val().raw()))));
            }
        }
        None
    }

    /// Sets the table of globals of a Lua function; other functions keep theirs. Returns false for
    /// functions that have none.
    ///
    /// # Errors
    /// None at present.
    pub fn set_environment(&self, env: Table) -> Result<bool> {
        let entry = self.0.enter();
        let s = entry.stack();
        let env = s.word(&env.0);
        let cx = &*s.cx();
        let Some(f) = self.val(cx).as_func().filter(|f| !f.is_native()) else { return Ok(false) };
        for i in 0.. {
            match cx.upvalue(f, i) {
                None => return Ok(false),
                Some((name, _)) if name == b"_ENV" => {
                    // A new function holds the variable, so that other functions do not see the
                    // change.
                    let holder =
                        cx.load(b"return x", b"=env", b"t", None).map_err(|m| Error::syntax(&m))?;
                    let Some(holder) = holder.as_func() else { return Ok(false) };
                    // SAFETY: rooted by its handle.
                    cx.set_upvalue(holder, 0, unsafe { Val::of(cx, env.0) });
                    cx.join_upvalues(f, i, holder, 0);
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
        Ok(false)
    }

    fn val<'a>(&self, cx: &'a Cx) -> Val<'a> {
        // SAFETY: rooted by the handle.
        unsafe { Val::of(cx, self.0.word()) }
    }

    /// Returns information about the function.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn info(&self) -> FunctionInfo {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        let Some(f) = self.val(cx).as_func() else { unreachable!("a function") };
        let i = cx.function_info(f);
        let line = |n: i64| usize::try_from(n).ok();
        let text = |b: &[u8]| Some(String::from_utf8_lossy(b).into_owned());
        FunctionInfo {
            name: None,
            name_what: None,
            what: i.what,
            source: text(&i.source),
            short_src: text(&i.short_source),
            line_defined: line(i.line_defined),
            last_line_defined: line(i.last_line),
            num_upvalues: i.upvalues,
            num_params: i.params,
            is_vararg: i.is_vararg,
        }
    }

    /// Returns the binary chunk of a Lua function, without debug information if `strip`; empty for
    /// functions of the host.
    pub fn dump(&self, strip: bool) -> Vec<u8> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        self.val(cx).as_func().and_then(|f| cx.dump(f, strip)).unwrap_or_default()
    }

    /// Returns a weak reference to the function's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the function.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }

    /// Wraps a Rust function that may fail in a value that converts to a Lua function.
    pub fn wrap<F, A, R, E>(func: F) -> impl IntoLua
    where
        F: LuaNativeFn<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        Wrapped(move |lua: &Lua| {
            lua.create_function(move |_, args: A| {
                func.call(args).map_err(ExternalError::into_lua_err)
            })
        })
    }

    /// Like [`Function::wrap`], for closures that change their state.
    pub fn wrap_mut<F, A, R, E>(func: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        let mut func = func;
        Wrapped(move |lua: &Lua| {
            lua.create_function_mut(move |_, args: A| {
                func.call(args).map_err(ExternalError::into_lua_err)
            })
        })
    }

    /// Like [`Function::wrap`], for functions that do not fail. A `Result` that they return becomes
    /// two results in Lua.
    pub fn wrap_raw<F, A>(func: F) -> impl IntoLua
    where
        F: LuaNativeFn<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        Wrapped(move |lua: &Lua| lua.create_function(move |_, args: A| Ok(func.call(args))))
    }

    /// Like [`Function::wrap_raw`], for closures that change their state.
    pub fn wrap_raw_mut<F, A>(func: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        let mut func = func;
        Wrapped(move |lua: &Lua| lua.create_function_mut(move |_, args: A| Ok(func.call(args))))
    }
}

/// A value that converts to a function.
pub(crate) struct Wrapped<M>(pub(crate) M);

impl<M: FnOnce(&Lua) -> Result<Function>> IntoLua for Wrapped<M> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        (self.0)(lua).map(Value::Function)
    }
}

/// Implements bound functions: calls bound value 0 with the other bound values before its
/// arguments.
fn call_bound(cx: &mut Cx) -> NativeResult {
    if cx.step() == 1 {
        let n = cx.top() - cx.kept();
        return cx.ret(n);
    }
    let (bound, given) = (cx.bound_count(), cx.top());
    cx.reserve(bound + 2)?;
    cx.open_gap(0, bound + 1);
    cx.set(0, cx.bound(0));
    for i in 1..bound {
        cx.set(i + 1, cx.bound(i));
    }
    cx.call_then(given + bound - 1, 1)
}

/// A Rust closure or function whose parameters are the Lua arguments.
pub trait LuaNativeFn<A: FromLuaMulti> {
    /// The type of its result.
    type Output;
    /// Calls the function.
    fn call(&self, args: A) -> Self::Output;
}

/// Like [`LuaNativeFn`], for closures that change their state.
pub trait LuaNativeFnMut<A: FromLuaMulti> {
    /// The type of its result.
    type Output;
    /// Calls the function.
    fn call(&mut self, args: A) -> Self::Output;
}

macro_rules! native_functions {
    ($(($($name:ident)*))*) => {$(
        impl<FN, $($name,)* R> LuaNativeFn<($($name,)*)> for FN
        where
            FN: Fn($($name,)*) -> R,
            ($($name,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case)]
            fn call(&self, args: ($($name,)*)) -> R {
                let ($($name,)*) = args;
                self($($name,)*)
            }
        }

        impl<FN, $($name,)* R> LuaNativeFnMut<($($name,)*)> for FN
        where
            FN: FnMut($($name,)*) -> R,
            ($($name,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case)]
            fn call(&mut self, args: ($($name,)*)) -> R {
                let ($($name,)*) = args;
                self($($name,)*)
            }
        }
    )*};
}

native_functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
    (A B C D E F G H I J K L M) (A B C D E F G H I J K L M N) (A B C D E F G H I J K L M N O)
    (A B C D E F G H I J K L M N O P)
}

impl Lua {
    /// Creates a Lua function that calls `func`. The value of `Ok` becomes the results; `Err` is
    /// raised as an error. The function is treated as not `Send`; see
    /// [`Lua::create_send_function`].
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let greet = lua.create_function(|_, name: String| Ok(format!("Hello, {name}!")))?;
    /// lua.globals().set("greet", greet)?;
    /// assert_eq!(lua.load("greet 'moon'").eval::<String>()?, "Hello, moon!");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_function<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Plain(func), true)
    }

    /// Like [`Lua::create_function`], for closures that change their state. Calling the function
    /// while it runs fails with [`Error::RecursiveMutCallback`].
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_function_mut<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Mutable(func.into()), true)
    }

    /// Like [`Lua::create_function`], for closures that may change threads: the state can be
    /// detached ([`Lua::detach`]) while the function exists.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_send_function<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + Send + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Plain(func), false)
    }

    /// Combines [`Lua::create_function_mut`] and [`Lua::create_send_function`].
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_send_function_mut<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + Send + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Mutable(func.into()), false)
    }
}
