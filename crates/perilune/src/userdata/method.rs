//! Methods as host functions.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::target::{Target, first};
use crate::callback::{Callee, alone};
use crate::stack::Stack;
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::types::short_type_name;
use crate::{Lua, Result};

/// The data of a method besides its code.
pub(crate) struct Owner {
    target: Target,
    name: String,
}

impl Owner {
    pub(crate) fn new<T>(target: &Target, name: &str) -> Owner {
        Owner { target: target.clone(), name: function_name::<T>(name) }
    }
}

/// Returns the name of a function of a type for messages.
pub(crate) fn function_name<T>(name: &str) -> String {
    format!("{}.{name}", short_type_name::<T>())
}

/// A method that borrows its value.
pub(crate) struct Method<M> {
    pub(crate) owner: Owner,
    pub(crate) method: M,
}

impl<M, T, A, R> Callee<(PhantomData<T>, A), R> for Method<M>
where
    M: Fn(&Lua, &T, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let name = &self.owner.name;
        let args = A::from_stack_args(at + 1, n.saturating_sub(1), 2, Some(name), s);
        let this = self.owner.target.borrow::<T>(s, first(s, at, n), false);
        let (this, guard) = this.map_err(|e| e.bad_self(name))?;
        // SAFETY: the value is borrowed as long as the guard lives.
        let r = (self.method)(s.lua, unsafe { &*this }, args?)?;
        let n = r.push_into_stack_multi(s)?;
        drop(guard);
        Ok(n)
    }
}

/// A method that mutably borrows its value.
pub(crate) struct MethodMut<M> {
    pub(crate) owner: Owner,
    pub(crate) method: RefCell<M>,
}

impl<M, T, A, R> Callee<(PhantomData<T>, A), R> for MethodMut<M>
where
    M: FnMut(&Lua, &mut T, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let mut method = alone(&self.method)?;
        let name = &self.owner.name;
        let args = A::from_stack_args(at + 1, n.saturating_sub(1), 2, Some(name), s);
        let this = self.owner.target.borrow::<T>(s, first(s, at, n), true);
        let (this, guard) = this.map_err(|e| e.bad_self(name))?;
        // SAFETY: the value is borrowed as long as the guard lives.
        let r = method(s.lua, unsafe { &mut *this }, args?)?;
        let n = r.push_into_stack_multi(s)?;
        drop((guard, method));
        Ok(n)
    }
}

/// A function of a type.
pub(crate) struct Named<F> {
    pub(crate) name: String,
    pub(crate) f: F,
}

impl<F, A, R> Callee<A, R> for Named<F>
where
    F: Fn(&Lua, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let args = A::from_stack_args(at, n, 1, Some(&self.name), s)?;
        (self.f)(s.lua, args)?.push_into_stack_multi(s)
    }
}

/// A function of a type that changes its own state.
pub(crate) struct NamedMut<F> {
    pub(crate) name: String,
    pub(crate) f: RefCell<F>,
}

impl<F, A, R> Callee<A, R> for NamedMut<F>
where
    F: FnMut(&Lua, A) -> Result<R> + 'static,
    A: FromLuaMulti,
    R: IntoLuaMulti,
{
    #[inline(always)]
    unsafe fn run(&self, s: Stack<'_>, at: usize, n: usize) -> Result<usize> {
        let mut f = alone(&self.f)?;
        let r = f(s.lua, A::from_stack_args(at, n, 1, Some(&self.name), s)?)?;
        drop(f);
        r.push_into_stack_multi(s)
    }
}
