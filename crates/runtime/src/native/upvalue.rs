//! The upvalues of functions, and bound values of native ones (manual 6.10, `debug.getupvalue`).

use super::{Cx, Func, Val};
use crate::closure::{LuaClosure, NativeClosure};
use crate::header::GcHeader;
use crate::state::State;
use crate::upvalue::Upvalue;
use crate::value::{SlotExt, Value};

impl Cx {
    /// Returns name and value of upvalue `i` (from 0) of a function. The name is empty for native
    /// functions, and `(no name)` where it was stripped. `None` if it does not exist.
    pub fn upvalue(&self, f: Func<'_>, i: usize) -> Option<(Vec<u8>, Val<'_>)> {
        // SAFETY: N2; indexes are checked.
        unsafe {
            let place = upvalue_place(f, i)?;
            Some((upvalue_name(f, i), Val::new(place.get())))
        }
    }

    /// Sets upvalue `i` (from 0) of a function; returns its name, or `None` if it does not exist.
    /// The bound values of native functions that are not written in C cannot be set, since these
    /// functions and the compiler rely on their types.
    pub fn set_upvalue(&self, f: Func<'_>, i: usize, v: Val<'_>) -> Option<Vec<u8>> {
        // SAFETY: N2; the barrier follows the store, for the object that holds the value.
        unsafe {
            let place = upvalue_place(f, i)?;
            if f.is_native() && (*f.val().raw().as_native()).foreign.is_null() {
                return None;
            }
            place.put(v.raw());
            if f.is_native() {
                (*self.state()).barrier(f.val().raw().as_header());
            } else {
                let u = *LuaClosure::upvalue(f.val().raw().as_function(), i);
                (*self.state()).barrier(u.cast());
                self.change_upvalue(f, i);
            }
            Some(upvalue_name(f, i))
        }
    }

    /// Returns an address that identifies the variable of upvalue `i` (from 0); `None` if it does
    /// not exist.
    pub fn upvalue_id(&self, f: Func<'_>, i: usize) -> Option<u64> {
        // SAFETY: N2; indexes are checked.
        unsafe {
            let place = upvalue_place(f, i)?;
            if f.is_native() {
                return Some(place.expose_provenance() as u64);
            }
            let u: *mut Upvalue = *LuaClosure::upvalue(f.val().raw().as_function(), i);
            Some(u.expose_provenance() as u64)
        }
    }

    /// Makes upvalue `i` of `f` refer to the variable of upvalue `j` of `g`.
    ///
    /// # Panics
    /// Panics if they are not Lua functions with these upvalues.
    pub fn join_upvalues(&self, f: Func<'_>, i: usize, g: Func<'_>, j: usize) {
        assert!(!f.is_native() && !g.is_native());
        // SAFETY: N2; indexes are checked; barrier after the store.
        unsafe {
            assert!(upvalue_place(f, i).is_some() && upvalue_place(g, j).is_some());
            let u = *LuaClosure::upvalue(g.val().raw().as_function(), j);
            *LuaClosure::upvalue(f.val().raw().as_function(), i) = u;
            (*self.state()).barrier(f.val().raw().as_header());
            // from now on, the program may assign a variable that is constant for the code of `f`,
            // or assign through `f` a variable that is constant for the code of `g`
            self.change_upvalue(f, i);
            self.change_upvalue(g, j);
        }
    }

    /// Tells machine code that the variable of upvalue `i` of a Lua function has changed.
    ///
    /// # Safety
    /// The upvalue exists.
    unsafe fn change_upvalue(&self, f: Func<'_>, i: usize) {
        let proto = crate::debug::proto_of(f.val().raw());
        let Some(proto) = proto else { return };
        if proto.upvalues.get(i).is_some_and(|desc| desc.constant) {
            change_constant(&mut *self.state(), proto.is_environment(i));
        }
    }
}

/// Records that a debug function has changed a variable that the program never assigns. Frames of
/// machine code are deoptimized, since they may rely on it: every time that the variable is an
/// environment, and otherwise the first time, since code that is entered later takes notice.
pub(super) fn change_constant(st: &mut State, is_environment: bool) {
    let may_be_relied_on = match is_environment {
        true => st.relies_on_globals,
        false => std::mem::replace(&mut st.constants_changed, 1) == 0,
    };
    if may_be_relied_on {
        st.leave_machine_code();
    }
}

/// Returns the place of the value of upvalue `i` of a function.
unsafe fn upvalue_place(f: Func<'_>, i: usize) -> Option<*mut Value> {
    let raw = f.val().raw();
    let hidden = (*raw.as_header()).flags & GcHeader::HIDDEN != 0;
    if hidden || i >= (*raw.as_header()).aux as usize {
        return None;
    }
    if f.is_native() {
        Some(NativeClosure::bound(raw.as_native(), i))
    } else {
        Some((**LuaClosure::upvalue(raw.as_function(), i)).place)
    }
}

unsafe fn upvalue_name(f: Func<'_>, i: usize) -> Vec<u8> {
    if f.is_native() {
        return Vec::new();
    }
    let proto = crate::debug::proto_of(f.val().raw());
    match proto.and_then(|p| Some(p.str(p.upvalues.get(i)?.name?))) {
        Some(name) => name.to_vec(),
        None => b"(no name)".to_vec(),
    }
}
