//! What the thunks of [`crate::thunk`] call.
//!
//! A thunk has a number, and in all states of the process it calls functions with the same code: C
//! code may pass the address of a function of the library to another state.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use perilune_runtime::closure::NativeClosure;
use perilune_runtime::header::GcHeader;
use perilune_runtime::native::{Cx, NativeFn};
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::arch::THUNKS;

/// What a thunk calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    /// The address of the code.
    code: usize,
    /// The number of the builtin.
    builtin: u32,
    /// Whether the function has bound values, such as the default files of the library `io`.
    has_bound: bool,
    /// The address of the function if its bound values are the program's or the host's, so that
    /// there is no such function in other states; otherwise 0.
    only: usize,
}

impl Target {
    /// Returns the target that is a native function.
    ///
    /// # Safety
    /// `f` is live.
    pub(crate) unsafe fn of(f: *mut NativeClosure) -> Target {
        let bound = usize::from((*f).header.aux);
        // Programs see the bound values, except for those that belong to functions of the library
        // and those of the host, which are userdata.
        let is_hidden = (*f).header.flags & GcHeader::HIDDEN != 0;
        let is_shared = (0..bound).all(|i| {
            // SAFETY: the function has so many bound values.
            let tag = unsafe { NativeClosure::bound(f, i).get() }.tag();
            is_hidden && matches!(tag, Tag::TABLE | Tag::FUNCTION | Tag::NATIVE)
        });
        Target {
            code: (*f).func as usize,
            builtin: (*f).header.word,
            has_bound: bound > 0,
            only: if is_shared { 0 } else { f.addr() },
        }
    }

    /// Returns the function of a state that is this target: one of its libraries, or else, if it
    /// has no bound values, a new one.
    ///
    /// # Safety
    /// N1.
    pub(crate) unsafe fn in_state(self, cx: &Cx) -> Option<*mut NativeClosure> {
        let found = self.in_libraries(cx.state());
        if found.is_some() || self.has_bound {
            return found;
        }
        // SAFETY: the address is that of a native function's code.
        let code = unsafe { std::mem::transmute::<usize, NativeFn>(self.code) };
        let f = cx.func(code, &[]).val().raw().as_native();
        (*f).header.word = self.builtin;
        Some(f)
    }

    /// Returns the function of a loaded library that is this target.
    unsafe fn in_libraries(self, st: *mut State) -> Option<*mut NativeClosure> {
        let loaded = Table::get_str((*st).registry, (*st).intern(b"_LOADED"));
        for library in values(st, loaded) {
            for v in values(st, library) {
                if v.tag() == Tag::NATIVE && Target::of(v.as_native()) == self {
                    return Some(v.as_native());
                }
            }
        }
        None
    }
}

/// Returns the values in a table; nothing if the value is not a table.
unsafe fn values(st: *mut State, table: Value) -> Vec<Value> {
    let mut values = Vec::new();
    if table.is_table() {
        let table = table.as_table();
        let mut at = Table::start(st, table);
        while let Some((next, _, v)) = Table::next_index(table, at) {
            values.push(v);
            at = next;
        }
    }
    values
}

/// The numbers of the thunks that are in use in the process.
#[derive(Default)]
struct Numbers {
    known: HashMap<Target, usize, foldhash::fast::FixedState>,
    /// The targets by number; `None` for a number that is free again.
    targets: Vec<Option<Target>>,
}

fn numbers() -> MutexGuard<'static, Numbers> {
    static NUMBERS: LazyLock<Mutex<Numbers>> = LazyLock::new(Mutex::default);
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the number of the thunk that calls a target; `None` if all [`THUNKS`] are in use.
pub(crate) fn number_of(target: Target) -> Option<usize> {
    let Numbers { known, targets } = &mut *numbers();
    if let Some(number) = known.get(&target) {
        return Some(*number);
    }
    let number = if targets.len() < THUNKS {
        targets.push(Some(target));
        targets.len() - 1
    } else {
        let number = targets.iter().position(Option::is_none)?;
        targets[number] = Some(target);
        number
    };
    known.insert(target, number);
    Some(number)
}

/// Returns what the thunk with a number calls.
pub(crate) fn target(number: usize) -> Option<Target> {
    *numbers().targets.get(number)?
}

/// Frees the thunks of the functions that only one state has, when that state ends.
pub(crate) fn release(used: impl Iterator<Item = usize>) {
    let Numbers { known, targets } = &mut *numbers();
    for number in used {
        if let Some(target) = targets[number].take_if(|target| target.only != 0) {
            known.remove(&target);
        }
    }
}
