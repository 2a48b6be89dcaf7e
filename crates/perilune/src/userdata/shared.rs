//! Userdata whose value is behind a shared pointer: `Rc<T>`, `Rc<RefCell<T>>`, `Arc<T>`,
//! `Arc<Mutex<T>>`, `Arc<RwLock<T>>`.
//!
//! They have the fields and methods of `T`. Lua calls a wrapper function, which locks or borrows
//! the value, records its address, and calls the native function of the method.

use std::any::TypeId;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

use perilune_runtime::native::{Cx, NativeResult};
use perilune_runtime::userdata::CellHead;

use super::held::{Pointer, hold_of};
use super::registry::UserDataRegistry;
use super::target::{Outer, Place, Target, first};
use super::traits::UserData;
use crate::callback::{bound_at, inside};

/// Locks or borrows the value of the first argument, and calls the method.
fn entry<P: Pointer<T>, T: 'static>(cx: &mut Cx) -> NativeResult {
    /// Restores the address of the outer method's value.
    struct Before<'a>(&'a Cell<*mut ()>, *mut ());
    impl Drop for Before<'_> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let n = cx.top();
    // SAFETY: the function is bound to an `Outer`, which Lua cannot change (HIDDEN), and which
    // lives as long as the function.
    let outer = unsafe { &*bound_at::<Outer>(cx, 1) };
    let hold = inside(cx, |s| {
        // SAFETY: these values are the arguments of the call.
        let this = unsafe { first(s, 0, n) };
        // SAFETY: the pointer's target is that of `P`.
        unsafe { hold_of::<P, T>(&outer.place.pointer, s, this, outer.exclusive) }
            .map_err(|e| e.bad_self(&outer.name))
    })?;
    // the value is held until the method has returned
    let (value, ..) = hold;
    let at = &outer.place.at;
    let _before = Before(at, at.replace(value.cast()));
    (outer.inner)(cx)
}

impl<T> UserDataRegistry<T> {
    /// Returns the target of the shared pointers of this type, which methods of their values look
    /// for.
    fn pointer_target(&self, id: TypeId) -> Target {
        match &self.target {
            // of the userdata that hold pointers to pointers, neither is found
            Target::Held(_) => Target::Type(id),
            target => target.clone(),
        }
    }

    /// Takes over the fields and methods of the type `U`, whose values are found through `target`.
    fn take_parts_of<U: UserData>(&mut self, target: Target) {
        let mut other = UserDataRegistry::<U>::new(&self.lua, target);
        U::register(&mut other);
        let (mine, other) = (&mut self.parts, other.parts);
        mine.fields.extend(other.fields);
        mine.getters.extend(other.getters);
        mine.setters.extend(other.setters);
        mine.methods.extend(other.methods);
        mine.meta_methods.extend(other.meta_methods);
        mine.meta_fields.extend(other.meta_fields);
        mine.failure = mine.failure.take().or(other.failure);
    }
}

macro_rules! userdata {
    ($($t:ty)*) => {$(
        /// The userdata has the fields and methods of the value it points to. A method fails with
        /// [`Error::UserDataBorrowError`](crate::Error::UserDataBorrowError) or
        /// [`Error::UserDataBorrowMutError`](crate::Error::UserDataBorrowMutError) while the host
        /// has a conflicting borrow; a method that mutates a value in a plain `Rc` or `Arc`
        /// requires that there are no other pointers to it.
        impl<T: UserData + 'static> UserData for $t {
            fn register(registry: &mut UserDataRegistry<$t>) {
                let pointer = registry.pointer_target(TypeId::of::<$t>());
                registry.take_parts_of::<T>(Target::Held(Rc::new(Place {
                    pointer,
                    at: Cell::new(std::ptr::null_mut()),
                    head: CellHead { id: TypeId::of::<$t>(), borrow: Cell::new(0) },
                    entry: entry::<$t, T>,
                })));
            }
        }
    )*};
}

userdata!(Rc<T> Rc<RefCell<T>> Arc<T> Arc<Mutex<T>> Arc<RwLock<T>>);
