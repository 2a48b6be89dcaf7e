//! Methods as host functions.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::rc::Rc;

use perilune_runtime::value::Value as Word;

use super::shared::Place;
use crate::callback::{Callee, alone};
use crate::cell::HostCell;
use crate::scope::Scoped;
use crate::stack::{Raw, Stack};
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::types::short_type_name;
use crate::{Error, Lua, Result};

/// The values that methods apply to.
#[derive(Clone)]
pub(crate) enum Target {
    /// All userdata of a type.
    Type(TypeId),
    /// One userdata, of a type that borrows: the address of its value, null after the end of its
    /// scope.
    One(Rc<Cell<*mut ()>>),
    /// All userdata that hold a pointer to a value of a type. The calling function holds the value.
    Held(Rc<Place>),
}

/// A borrow of a userdata's value, which ends when this is dropped.
pub(crate) struct Guard {
    pub(super) head: *const perilune_runtime::userdata::CellHead,
}

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the value is borrowed, so that the cell is not freed.
        unsafe { (*self.head).end() }
    }
}

impl Guard {
    /// Returns the head of the cell without ending the borrow.
    pub(super) fn into_head(self) -> *const perilune_runtime::userdata::CellHead {
        std::mem::ManuallyDrop::new(self).head
    }

    /// Borrows the value of a userdata of this type.
    pub(crate) fn borrow<T: 'static>(
        s: Stack<'_>,
        v: Raw,
        exclusive: bool,
    ) -> Result<(*mut T, Guard)> {
        // SAFETY: the target is that of the type.
        unsafe { Target::Type(TypeId::of::<T>()).borrow(s, v, exclusive) }
    }
}

impl Target {
    /// Borrows the value of the first argument, if it is one of these.
    #[inline(always)]
    unsafe fn borrow<T>(&self, s: Stack<'_>, v: Raw, exclusive: bool) -> Result<(*mut T, Guard)> {
        let (head, at) = match self {
            Target::Type(id) => match s.cell_of(v, *id) {
                // The type is `T`, by its registry.
                Some(head) => (head, HostCell::value(head.cast::<HostCell<T>>())),
                None => return Err(mismatch::<T>(s, v)),
            },
            Target::Held(place) => return Ok(place.borrow()),
            Target::One(place) => {
                let at = place.get();
                let Some(cell) = HostCell::<Scoped>::of(s, v) else {
                    return Err(mismatch::<T>(s, v));
                };
                if at.is_null() {
                    return Err(Error::UserDataDestructed);
                }
                if !(*cell).is_taken() && (*HostCell::value(cell)).address() != at {
                    return Err(Error::UserDataTypeMismatch);
                }
                (cell.cast(), at.cast())
            }
        };
        let begun = if exclusive { (*head).begin_exclusive() } else { (*head).begin_shared() };
        match begun {
            Ok(()) => Ok((at, Guard { head })),
            Err(why) => Err(crate::cell::unavailable(why, exclusive)),
        }
    }
}

#[cold]
pub(super) fn mismatch<T>(s: Stack<'_>, v: Raw) -> Error {
    if s.cell(v).is_some() {
        return Error::UserDataTypeMismatch;
    }
    let message = format!("expected userdata of type '{}'", short_type_name::<T>());
    Error::from_lua_conversion(s.type_name(v), "userdata", message)
}

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

/// Returns the first argument.
///
/// # Safety
/// The `n` values from `at` on are the arguments.
#[inline(always)]
pub(super) unsafe fn first(s: Stack<'_>, at: usize, n: usize) -> Raw {
    if n > 0 { s.get(at) } else { Raw(Word::NIL) }
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
