//! Scopes: functions and userdata that borrow data of the host for the duration of a call.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;

use crate::callback::Callee;
use crate::cell::HostCell;
use crate::control::Handle;
use crate::stack::{Raw, Stack};
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::userdata::{Erased, Scoped, Target};
use crate::{AnyUserData, Error, Function, Lua, Result, UserData, UserDataRegistry};

/// The destructor of an item of a scope. It removes the value from Lua and returns it; the scope
/// drops the returned values after it has removed all items.
type End<'a> = Box<dyn FnOnce() -> Option<Box<dyn Erased + 'a>> + 'a>;

/// Creates functions and userdata that may borrow values that outlive the scope ([`Lua::scope`]).
pub struct Scope<'scope, 'env: 'scope> {
    ends: Ends<'env>,
    destructors: Destructors<'env>,
    lua: Lua,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Lua {
    /// Calls `f` with a scope, whose functions and userdata may borrow data that is not `'static`.
    /// They become invalid when `f` returns: later uses fail with [`Error::CallbackDestructed`] and
    /// [`Error::UserDataDestructed`].
    ///
    /// ```
    /// # fn main() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let mut log = Vec::new();
    /// lua.scope(|scope| {
    ///     let f = scope.create_function_mut(|_, text: String| { log.push(text); Ok(()) })?;
    ///     lua.globals().set("log", f)?;
    ///     lua.load("log 'one' log 'two'").exec()
    /// })?;
    /// assert_eq!(log, ["one", "two"]);
    /// assert!(lua.load("log 'three'").exec().is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the error of `f`.
    pub fn scope<'env, R>(
        &self,
        f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        // the lock keeps the data that the scope shares with its functions on this thread
        let _guard = self.control.lock.hold();
        let scope = Scope {
            ends: Ends { list: RefCell::default(), over: Cell::new(false) },
            destructors: Destructors(RefCell::default()),
            lua: self.clone(),
            scope: PhantomData,
            env: PhantomData,
        };
        // The scope stays borrowed (shared) to its end, since items that are dropped then may still
        // refer to it.
        let _afterwards = AtEnd(|| scope.destructors.run());
        let _first = AtEnd(|| scope.ends.end());
        f(&scope)
    }
}

impl<'scope, 'env: 'scope> Scope<'scope, 'env> {
    /// Creates a function that calls `func` and becomes invalid when the scope ends.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_function<F, A, R>(&'scope self, func: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + 'scope,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.function(Box::new(move |s, at, n| {
            // SAFETY: the arguments of the running function.
            let args = unsafe { A::from_stack_args(at, n, 1, None, s)? };
            let r = func(s.lua, args)?;
            // SAFETY: the results of the running function.
            unsafe { r.push_into_stack_multi(s) }
        }))
    }

    /// Like [`Scope::create_function`], for `FnMut` closures.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn create_function_mut<F, A, R>(&'scope self, func: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + 'scope,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let func = RefCell::new(func);
        self.create_function(move |lua, args| {
            let mut func = func.try_borrow_mut().map_err(|_| Error::RecursiveMutCallback)?;
            func(lua, args)
        })
    }

    /// Returns an error if the scope has ended: destructors of its items may still try to use it.
    fn check_open(&self) -> Result<()> {
        if self.ends.over.get() { Err(Error::runtime("the scope has ended")) } else { Ok(()) }
    }

    fn function(&'scope self, run: Box<Run<'scope>>) -> Result<Function> {
        self.check_open()?;
        // SAFETY: only the lifetime changes: when the scope ends, the closure is dropped and no
        // longer called.
        let run = unsafe { std::mem::transmute::<Box<Run<'scope>>, Box<Run<'static>>>(run) };
        let place = Rc::new(Borrowing { run: RefCell::new(Some(Rc::new(run))) });
        let end = place.clone();
        let entry = self.lua.enter();
        let f = entry.stack().function::<(), (), _>(place, true)?;
        self.ends.list.borrow_mut().push(Box::new(move || {
            let run = end.run.borrow_mut().take();
            run.map(|run| Box::new(run) as Box<dyn Erased>)
        }));
        Ok(f)
    }

    /// Creates a userdata that borrows a value.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_userdata_ref<T: UserData + 'static>(
        &'scope self,
        data: &'env T,
    ) -> Result<AnyUserData> {
        self.borrowed((&raw const *data).cast_mut(), true, T::register)
    }

    /// Creates a userdata that mutably borrows a value.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_userdata_ref_mut<T: UserData + 'static>(
        &'scope self,
        data: &'env mut T,
    ) -> Result<AnyUserData> {
        self.borrowed(data, false, T::register)
    }

    /// Creates a userdata that borrows a value of a registered type.
    ///
    /// # Errors
    /// See [`Lua::create_any_userdata`].
    pub fn create_any_userdata_ref<T: 'static>(&'scope self, data: &'env T) -> Result<AnyUserData> {
        self.borrowed((&raw const *data).cast_mut(), true, |_| ())
    }

    /// Creates a userdata that mutably borrows a value of a registered type.
    ///
    /// # Errors
    /// See [`Lua::create_any_userdata`].
    pub fn create_any_userdata_ref_mut<T: 'static>(
        &'scope self,
        data: &'env mut T,
    ) -> Result<AnyUserData> {
        self.borrowed(data, false, |_| ())
    }

    fn borrowed<T: 'static>(
        &'scope self,
        at: *mut T,
        shared: bool,
        register: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<AnyUserData> {
        self.check_open()?;
        let entry = self.lua.enter();
        let s = entry.stack();
        let cell = HostCell::borrowing(at, shared, &self.lua.control);
        let u = self.lua.userdata_of::<T>(s, cell, register)?;
        let handle = s.handle(u);
        let end = handle.clone();
        self.ends.list.borrow_mut().push(Box::new(move || {
            with_cell::<T>(&end, |cell| {
                // SAFETY: the cell is alive because its userdata is; the scope ends only after all
                // borrows have ended.
                unsafe {
                    assert_free(cell, usize::from(shared));
                    HostCell::forget(cell);
                }
            });
            None
        }));
        Ok(AnyUserData(handle))
    }

    /// Creates a userdata with a value that may contain references.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_userdata<T: UserData + 'env>(&'scope self, data: T) -> Result<AnyUserData> {
        self.create_any_userdata(data, T::register)
    }

    /// Creates a userdata with a value that may contain references, and with the fields and methods
    /// that `register` adds. The userdata has its own metatable.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_any_userdata<T: 'env>(
        &'scope self,
        data: T,
        register: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<AnyUserData> {
        self.check_open()?;
        let place = Rc::new(Cell::new(std::ptr::null_mut()));
        let mut registry = UserDataRegistry::new(&self.lua, Target::One(place.clone()));
        register(&mut registry);
        let meta = registry.build(&self.lua, |_| ())?;
        let entry = self.lua.enter();
        let s = entry.stack();
        s.poll()?;
        // SAFETY: the value is taken out and dropped when the scope ends.
        let scoped = unsafe { Scoped::new(Box::new(data), place.clone()) };
        let u = s.udata(HostCell::boxed(scoped, Some(&self.lua.control)));
        s.set_udata_meta(u, s.word(&meta.0));
        let handle = s.handle(u);
        let end = handle.clone();
        self.ends.list.borrow_mut().push(Box::new(move || {
            place.set(std::ptr::null_mut());
            let mut value = None;
            with_cell::<Scoped>(&end, |cell| {
                // SAFETY: the cell is alive because its userdata is.
                unsafe {
                    assert_free(cell, 0);
                    value = HostCell::take(cell).ok();
                }
            });
            value.map(|v| v.value as Box<dyn Erased>)
        }));
        Ok(AnyUserData(handle))
    }

    /// Registers a function to be called when the scope has ended.
    pub fn add_destructor(&'scope self, destructor: impl FnOnce() + 'env) {
        self.destructors.0.borrow_mut().push(Box::new(destructor));
    }
}

/// The code of a function of a scope.
type Run<'a> = dyn Fn(Stack<'_>, usize, usize) -> Result<usize> + 'a;

/// A function of a scope; empty after the scope's end.
struct Borrowing {
    run: RefCell<Option<Rc<Box<Run<'static>>>>>,
}

impl Callee<(), ()> for Rc<Borrowing> {
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let run = self.run.borrow().clone().ok_or(Error::CallbackDestructed)?;
        run(s, at, n)
    }
}

fn with_cell<T: 'static>(handle: &Handle, f: impl FnOnce(*mut HostCell<T>)) {
    let entry = handle.enter();
    let s = entry.stack();
    if let Some(cell) = HostCell::<T>::of(s, Raw(handle.word())) {
        f(cell);
    }
}

/// Aborts the process if a value of a scope is in use when the scope ends, since its user would
/// continue with a dangling reference. Lua code cannot cause this, because a scope ends only after
/// all calls that were made in it; a leaked borrow can.
unsafe fn assert_free<T: 'static>(cell: *mut HostCell<T>, own: usize) {
    if !(*cell).is_taken() && (*cell).borrows() != own as isize {
        eprintln!("a userdata is borrowed beyond the end of its scope");
        std::process::abort();
    }
}

/// Calls a function when it is dropped.
struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The destructors of the items that the scope has created.
struct Ends<'a> {
    list: RefCell<Vec<End<'a>>>,
    /// Set when the scope ends; the scope creates no items afterwards.
    over: Cell<bool>,
}

impl Ends<'_> {
    fn end(&self) {
        // Removes all items before any is dropped, as destructors may panic or call Lua.
        self.over.set(true);
        let ends = std::mem::take(&mut *self.list.borrow_mut());
        let values: Vec<_> = ends.into_iter().map(|end| end()).collect();
        drop(values);
    }
}

/// The functions to call after the scope has ended.
struct Destructors<'a>(RefCell<Vec<Box<dyn FnOnce() + 'a>>>);

impl Destructors<'_> {
    fn run(&self) {
        let all = std::mem::take(&mut *self.0.borrow_mut());
        for destructor in all {
            destructor();
        }
    }
}
