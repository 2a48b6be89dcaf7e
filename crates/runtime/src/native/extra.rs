//! Operations that only the standard library needs: the collector, interrupts, arrays in bulk,
//! upvalues.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Cx, Func, LoadError, Raised, Tab, Val};
use crate::closure::{LuaClosure, NativeClosure, Upvalue};
use crate::header::GcHeader;
use crate::heap::Mode;
use crate::interrupt::REASONS;
use crate::meta::Event;
use crate::state::{State, poll};
use crate::table::{ArrayKind, Table};
use crate::value::{SlotExt, Tag, Value};

/// Number of instructions that are charged for a piece of work of a long-running library function.
const PIECE_OF_WORK: u64 = 100;

/// Number of bytes of source text that take about as long to compile as an instruction takes to
/// execute.
const BYTES_PER_INSTRUCTION: usize = 4;

/// Charges a piece of work; returns whether the script must stop.
///
/// # Safety
/// The state is alive.
#[inline]
pub(crate) unsafe fn piece_of_work(st: *mut State) -> bool {
    if (*st).counts {
        (*st).spend(PIECE_OF_WORK);
    }
    (*st).interrupt_due()
}

/// Tells, on any thread, whether the script must stop.
pub struct StopSign<'a>(&'a AtomicU32);

impl StopSign<'_> {
    /// Returns whether the script must stop.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (poll::INTERRUPT | poll::PATIENCE) == poll::INTERRUPT
    }
}

impl Cx {
    /// Returns whether a long-running function must stop now, because of a request or a limit.
    /// Where instructions are counted, charges 100 of them.
    #[inline]
    pub fn interrupt_pending(&self) -> bool {
        // SAFETY: N1.
        unsafe { piece_of_work(self.state()) }
    }

    /// Charges the compilation of this number of bytes of source text, where instructions are
    /// counted. If that exceeds the limit, the compiler stops at its next check.
    pub fn count_source(&self, bytes: usize) {
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            if (*st).counts {
                (*st).spend((bytes / BYTES_PER_INSTRUCTION) as u64);
            }
        }
    }

    /// Returns what [`Cx::interrupt_pending`] reads, for work without the context.
    pub fn stop_sign(&self) -> StopSign<'_> {
        // SAFETY: N1; the word is atomic, and no exclusive reference to the state exists while
        // `self` is lent.
        StopSign(unsafe { &(*self.state()).poll })
    }

    /// Returns the number of bytes that the memory limit leaves.
    pub fn room(&self) -> usize {
        // SAFETY: N1.
        let st = unsafe { &*self.state() };
        st.memory_limit().saturating_sub(st.gc_count_bytes())
    }

    /// Returns the host's receiver of warnings.
    pub fn warn_function(&self) -> Option<fn(&Cx, &[u8])> {
        // SAFETY: N1.
        unsafe { (*self.state()).warn }
    }

    /// Withdraws a request to stop that came too late.
    pub fn forget_interrupt(&self) {
        // SAFETY: N1.
        unsafe { (*self.state()).forget_interrupt() };
    }

    /// Checks in long loops of native functions whether the script must stop. Where instructions
    /// are counted, charges 100 of them.
    ///
    /// # Errors
    /// Returns "interrupted!" after a request, or the error of the limit that was reached.
    #[inline]
    pub fn interrupted(&self) -> Result<(), Raised> {
        if !self.interrupt_pending() {
            return Ok(());
        }
        // SAFETY: N1.
        let why = unsafe { (*self.state()).take_interrupt() };
        Err(self.error(why))
    }

    /// Returns whether compilation was given up because the script must stop.
    pub fn is_interruption(error: &LoadError) -> bool {
        error.is_runtime && REASONS.iter().any(|reason| error.message == reason.as_bytes())
    }

    /// Makes room for `n` more values before value `at`; they are nil at first.
    ///
    /// # Panics
    /// Panics if there are fewer than `at` values, or no room.
    #[inline]
    pub fn open_gap(&self, at: usize, n: usize) {
        let top = self.top();
        assert!(at <= top);
        for _ in 0..n {
            self.push(Val::NIL);
        }
        // SAFETY: N1; slots below top + n exist now. Values are copied one by one: they were just
        // written in halves, and a wider copy would stall.
        unsafe {
            let place = self.base().add(at);
            for i in (0..top - at).rev() {
                place.add(i + n).put(place.add(i).get());
            }
            for i in 0..n {
                place.add(i).put(Value::NIL);
            }
        }
    }

    /// Returns whether a coroutine may yield at its current position.
    ///
    /// # Panics
    /// Panics if `co` is not a coroutine.
    pub fn thread_is_yieldable(&self, co: Val<'_>) -> bool {
        assert!(co.is_thread());
        // SAFETY: N2.
        unsafe { (*co.raw().as_thread()).non_yieldable == 0 }
    }

    /// Returns the binary chunk of a Lua function; `None` for a native one.
    pub fn dump(&self, f: Func<'_>, strip: bool) -> Option<Vec<u8>> {
        if f.is_native() {
            return None;
        }
        // SAFETY: N2; a closure's instance lives as long as it.
        unsafe {
            let instance = (*f.val().raw().as_function()).instance;
            Some(perilune_bytecode::dump(&(*instance).proto, strip))
        }
    }

    /// Performs a full collection (`collectgarbage("collect")`).
    pub fn gc_full(&mut self) {
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe { (*self.state()).gc_full() };
    }

    /// Performs a collector step as if `kilobytes` were allocated; returns whether it ended a
    /// cycle.
    pub fn gc_step(&mut self, kilobytes: usize) -> bool {
        // SAFETY: as above.
        unsafe { (*self.state()).gc_step(kilobytes).unwrap_or(false) }
    }

    /// Ends the state's life as far as a program can tell: closes the pending variables of the main
    /// coroutine and calls all finalizers. For `os.exit`.
    pub fn close_state(&mut self) {
        // SAFETY: N1; `&mut self` ends the life of every value. A pending variable's slot is alive.
        unsafe {
            let main = (*self.state()).main_thread;
            while let Some(slot) = (&mut (*main).to_close).pop() {
                let v = Val::new((*main).stack.add(slot as usize).get());
                if v.truthy() {
                    let h = self.metamethod(v, Event::Close);
                    self.push_callee(h);
                    self.push(v);
                    self.push(Val::NIL);
                    // an error here has no receiver
                    let _ = self.call_protected(2);
                }
            }
            (*self.state()).gc_close();
        }
    }

    /// Stops the collector.
    pub fn gc_stop(&mut self) {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_stop() }
    }

    /// Restarts the collector.
    pub fn gc_restart(&mut self) {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_restart() }
    }

    /// Returns whether the collector is not stopped.
    pub fn gc_is_running(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_is_running() }
    }

    /// Returns whether a finalizer is running, so that requests to the collector do nothing.
    pub fn gc_is_blocked(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_is_blocked() }
    }

    /// Returns the number of bytes in use.
    pub fn gc_count_bytes(&self) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_count_bytes() }
    }

    /// Sets the incremental mode; 0 leaves a parameter unchanged. Returns whether the mode was
    /// generational.
    pub fn gc_set_incremental(&mut self, pause: usize, multiplier: usize, size: usize) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_incremental(pause, multiplier, size) == Mode::Generational }
    }

    /// Sets the generational mode; 0 leaves a parameter unchanged. Returns whether the mode was
    /// generational.
    pub fn gc_set_generational(&mut self, minor: usize, major: usize) -> bool {
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe { (*self.state()).gc_set_generational(minor, major) == Mode::Generational }
    }

    /// Sets the pause and returns the old one.
    pub fn gc_set_pause(&mut self, percent: usize) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_pause(percent) }
    }

    /// Sets the step multiplier and returns the old one.
    pub fn gc_set_step_multiplier(&mut self, percent: usize) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_step_multiplier(percent) }
    }

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
    pub fn set_upvalue(&self, f: Func<'_>, i: usize, v: Val<'_>) -> Option<Vec<u8>> {
        // SAFETY: N2; the barrier follows the store, for the object that holds the value.
        unsafe {
            let place = upvalue_place(f, i)?;
            place.put(v.raw());
            if f.is_native() {
                // inline caches of members rely on the tables that are bound to an `__index` of the
                // host
                let st = self.state();
                (*st).meta_epoch = (*st).meta_epoch.next();
                (*st).barrier(f.val().raw().as_header());
            } else {
                let u = *LuaClosure::upvalue(f.val().raw().as_function(), i);
                (*self.state()).barrier(u.cast());
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
        }
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

/// The array part of a table whose elements are all integers or all floats.
pub enum NumberArray<'a> {
    /// Integers.
    Int(&'a mut [i64]),
    /// Floats.
    Float(&'a mut [f64]),
}

impl Cx {
    /// Passes the array part of the table at value `i` to `f`, if it holds numbers of one kind. `f`
    /// also receives a function that tells whether the script must stop.
    pub fn with_numbers<R>(
        &mut self,
        i: usize,
        f: impl FnOnce(NumberArray<'_>, &dyn Fn() -> bool) -> R,
    ) -> Option<R> {
        // SAFETY: N1, N2; both kinds have `array_len` elements of 8 bytes. `&mut self` excludes all
        // other access while `f` runs, and `f` can only read the state's requests to stop.
        unsafe {
            let t = self.get(i).as_table()?.ptr();
            let n = (*t).array_len as usize;
            let st = self.state();
            let stop = || piece_of_work(st);
            let numbers = match Table::kind(t) {
                ArrayKind::Int => {
                    NumberArray::Int(std::slice::from_raw_parts_mut((*t).array.cast(), n))
                }
                ArrayKind::Float => {
                    NumberArray::Float(std::slice::from_raw_parts_mut((*t).array.cast(), n))
                }
                _ => return None,
            };
            Some(f(numbers, &stop))
        }
    }
}

impl<'a> Tab<'a> {
    /// Inserts `v` before element `pos` and moves the elements up to `len` up by one, when `1 <=
    /// pos <= len` and all of them are in the array part. Primitive access; returns false if it did
    /// nothing.
    pub fn insert_element(self, cx: &Cx, pos: i64, v: Val<'_>) -> bool {
        // SAFETY: N2; `pos` is checked against the array.
        unsafe {
            let t = self.ptr();
            let n = i64::from((*t).array_len);
            if pos < 1 || pos > n {
                return false;
            }
            let st = &mut *cx.state();
            let last = Table::get_int(t, n);
            Table::set_int(st, t, n + 1, last);
            if i64::from((*t).array_len) <= n {
                // The new element is not in the array part. It does no harm there: the general path
                // writes it again.
                return false;
            }
            move_elements(st, t, pos as usize - 1, pos as usize, (n - pos) as usize);
            Table::set_int(st, t, pos, v.raw());
            true
        }
    }

    /// Removes element `pos` and moves the elements up to `len` down by one, when `1 <= pos <= len`
    /// and all of them are in the array part.
    pub fn remove_element(self, cx: &Cx, pos: i64) -> Option<Val<'a>> {
        // SAFETY: N2; `pos` is checked against the array.
        unsafe {
            let t = self.ptr();
            let n = i64::from((*t).array_len);
            if pos < 1 || pos > n {
                return None;
            }
            let v = Table::get_int(t, pos);
            let st = &mut *cx.state();
            move_elements(st, t, pos as usize, pos as usize - 1, (n - pos) as usize);
            Table::set_int(st, t, n, Value::NIL);
            Some(Val::new(v))
        }
    }
}

/// Copies `count` elements of the array part; both ranges are below `array_len`. A large table may
/// be traced partially, and elements could move from its untraced to its traced part, so this
/// counts as a store.
unsafe fn move_elements(st: *mut State, t: *mut Table, from: usize, to: usize, count: usize) {
    (*st).barrier(t.cast());
    let payloads = (*t).array.cast::<u64>();
    ptr::copy(payloads.add(from), payloads.add(to), count);
    if Table::kind(t) == ArrayKind::Any {
        let tags = (*t).array.add((*t).array_cap as usize * 8).cast::<Tag>();
        ptr::copy(tags.add(from), tags.add(to), count);
    }
}
