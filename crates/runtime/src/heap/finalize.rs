//! Registers objects for finalization, and calls finalizers (manual 2.5.3).

use std::sync::atomic::Ordering;

use super::Heap;
use crate::first_panic::FirstPanic;
use crate::header::{GcHeader, Kind};
use crate::hook::Quiet;
use crate::meta::Event;
use crate::state::{State, poll};
use crate::string::LuaString;
use crate::table::Table;
use crate::value::{SlotExt, Value};

/// How many finalizers are discarded at once when the script has to stop.
const DROPPED_AT_ONCE: usize = 10_000;

impl State {
    /// Marks `object` for finalization: its finalizer will be called when the object is
    /// unreachable. Does nothing if it is already marked, or if the state is being closed. If there
    /// is no memory, the next safepoint raises the error.
    ///
    /// # Safety
    /// `object` is a live table or full userdata whose metatable has a field `__gc`.
    pub unsafe fn register_finalizer(&mut self, object: Value) {
        let flags = &raw mut (*object.as_header()).flags;
        let finalizers = &self.heap.finalizers;
        if *flags & GcHeader::FINALIZER == 0 && !finalizers.closing && !finalizers.off {
            let registered = &mut self.heap.finalizers.registered;
            let has_room = registered.has_room();
            if !registered.push(object) {
                return self.skip_for_memory();
            }
            *flags |= GcHeader::FINALIZER;
            if !has_room {
                self.heap.memory.note_short();
                self.request(poll::GC);
            }
        }
    }

    /// Registers `object` for finalization if `meta` (may be null) has `__gc`.
    ///
    /// # Safety
    /// `object` is a live table or userdata, and `meta` is its metatable.
    pub unsafe fn note_finalizer(&mut self, object: Value, meta: *mut Table) {
        if meta.is_null() || (*object.as_header()).flags & GcHeader::FINALIZER != 0 {
            return;
        }
        if !Table::fast_event(self, meta, Event::Gc).is_nil() {
            self.register_finalizer(object);
        }
    }

    /// Stops marking objects for finalization, so that `__gc` has no effect.
    pub fn ignore_finalizers(&mut self) {
        self.heap.finalizers.off = true;
    }

    /// Notes that a panic has unwound the running finalizer.
    pub fn finalizer_unwound(&mut self) {
        self.heap.finalizers.running = false;
    }

    /// Returns whether finalizers are waiting to be called.
    pub fn finalizers_pending(&self) -> bool {
        self.heap.finalizers.has_pending()
    }

    /// Drops the host values whose userdata were swept. Their destructors may use the state, so
    /// this happens at the points where finalizers run. Values that are borrowed remain for later.
    ///
    /// # Safety
    /// As for [`State::run_finalizers`].
    #[inline]
    pub(super) unsafe fn drop_dead(&mut self) {
        if !self.heap.boxed.dead.is_empty() && !self.gc_is_blocked() {
            self.heap.finalizers.changes += 1;
            drop_all(self);
        }
    }

    /// Calls up to `limit` pending finalizers on the running coroutine, above `top`. The stack may
    /// move. Errors become warnings; an interrupt also stops the script afterwards. Does nothing
    /// inside a finalizer.
    ///
    /// # Safety
    /// This is a safepoint: `base` and `top` are those of the running coroutine's top frame, and
    /// the caller holds no bare pointer.
    pub unsafe fn run_finalizers(&mut self, limit: usize) {
        let st: *mut State = self;
        if (*st).heap.finalizers.running {
            return;
        }
        (*st).drop_dead();
        let (stands, mut dropped) = ((*st).limit_stands(), 0);
        if (*st).must_stop() && !stands && !(*st).heap.finalizers.closing {
            // Finalizers wait until the script has been interrupted.
            return;
        }
        // Finalizers that are Lua functions would fail at once, and are discarded. Their number is
        // limited, as the script has to stop.
        for _ in 0..if stands { limit.max(DROPPED_AT_ONCE) } else { limit } {
            if stands && !(*st).heap.finalizers.closing {
                dropped += 1;
                if dropped > DROPPED_AT_ONCE {
                    break;
                }
            }
            let Some(object) = (*st).heap.finalizers.next() else { break };
            (*st).heap.finalizers.changes += 1;
            (*st).heap.finalizers.running = true;
            // one that a destructor of the host has met, or a finalizer that panicked, is over
            (*st).heap.finalizers.interrupted = false;
            finalize(st, object);
            (*st).heap.finalizers.running = false;
            let interrupted = std::mem::take(&mut (*st).heap.finalizers.interrupted);
            if interrupted && !(*st).heap.finalizers.closing {
                (*st).poll.fetch_or(poll::INTERRUPT, Ordering::Relaxed);
                break;
            }
        }
        (*st).heap.pace.after_finalizers();
    }

    /// Calls all finalizers, including those of live objects, at the end of the state. No more
    /// objects are marked for finalization.
    ///
    /// # Safety
    /// As for [`State::run_finalizers`].
    pub unsafe fn gc_close(&mut self) {
        self.heap.finalizers.closing = true;
        // A finalizer that ends the process comes here as well; the others then run from inside it.
        self.heap.finalizers.running = false;
        self.finish_resurrection();
        self.run_finalizers(usize::MAX);
    }
}

impl Heap {
    /// Records that the program obeys an interrupt. If a finalizer is running, the request is
    /// repeated when it has ended.
    pub(crate) fn note_interrupt(&mut self) {
        self.finalizers.interrupted |= self.finalizers.running;
    }
}

/// Blocks the collector while host values are dropped, until it is dropped itself, also by a panic.
struct Resting(*mut State);

impl Drop for Resting {
    fn drop(&mut self) {
        // SAFETY: the state outlives its collection.
        unsafe { (*self.0).finalizer_unwound() }
    }
}

/// Drops all host values of dead userdata that are not borrowed, and then resumes the first panic
/// of their destructors.
#[cold]
unsafe fn drop_all(st: *mut State) {
    (*st).heap.finalizers.running = true;
    let resting = Resting(st);
    let mut panics = FirstPanic::default();
    // Values that are kept move to the front.
    let mut kept = 0;
    loop {
        let dead = &mut (*st).heap.boxed.dead;
        match dead.last() {
            Some(last) if dead.len() > kept => {
                if last.is_borrowed() {
                    let last = dead.len() - 1;
                    dead.swap(kept, last);
                    kept += 1;
                } else {
                    // Dropped here, where no reference to the list exists.
                    let value = dead.pop();
                    panics.call(|| drop(value));
                }
            }
            _ => break,
        }
    }
    drop(resting);
    panics.resume();
}

/// Calls the finalizer of an object, if its metatable still has one that can be called.
unsafe fn finalize(st: *mut State, object: Value) {
    let header = object.as_header();
    // The object is an ordinary one again, and can be marked for finalization again.
    (*header).flags &= !GcHeader::FINALIZER;
    let meta = match (*header).kind {
        Kind::Table if (*object.as_table()).meta & 1 == 0 => {
            std::ptr::with_exposed_provenance_mut::<Table>((*object.as_table()).meta)
        }
        Kind::Userdata | Kind::Memory => (*object.as_userdata()).meta,
        _ => return,
    };
    if meta.is_null() {
        return;
    }
    let function = Table::get_str(meta, (&(*st).event_names)[Event::Gc as usize]);
    if function.is_nil() || !(*st).calls_destructor(function) {
        // The state is being closed and is out of time.
        return;
    }
    let thread = (*st).thread;
    let saved = (
        (*st).base.offset_from((*thread).stack),
        (*st).top.offset_from((*thread).stack),
        (*st).error,
        (*st).error_handled,
        (*st).error_kind,
        (*st).native_depth,
    );
    // The hook is not called inside finalizers and does not notice them, as the program does not
    // decide when the collector runs.
    let quiet = Quiet::begin(thread);
    let hook = (*thread).hook.as_ref().map(|hook| hook.position());

    // The callee, the header and the argument: frames have room for them above `top`.
    let callee = (*st).top;
    callee.put(function);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(object);
    (*st).top = callee.add(3);
    if ((*st).vm.finalize)(st, callee, 1).is_err() {
        State::recover(st, saved.0 as usize, (saved.1 - saved.0) as usize, false);
        let error = (*st).top.sub(1).get();
        let message = if error.is_string() {
            crate::cfmt::c_str(LuaString::bytes(error.as_string())).to_vec()
        } else {
            b"error object is not a string".to_vec()
        };
        if let Some(warn) = (*st).finalizer_warn {
            let text = [b"error in __gc (", message.as_slice(), b")"].concat();
            warn(st, &text);
        }
    }
    debug_assert!((*st).thread == thread);
    (*st).base = (*thread).stack.offset(saved.0);
    (*st).top = (*thread).stack.offset(saved.1);
    ((*st).error, (*st).error_handled, (*st).error_kind) = (saved.2, saved.3, saved.4);
    (*st).native_depth = saved.5;
    if let (Some(hook), Some(before)) = ((*thread).hook.as_mut(), hook) {
        hook.restore(before);
    }
    drop(quiet);
}
