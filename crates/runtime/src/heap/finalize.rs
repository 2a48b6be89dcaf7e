//! Finalizers (manual 2.5.3).

use std::collections::VecDeque;

use super::mark::Marker;
use super::trace::Visitor;
use super::weak::NODES_BETWEEN_LOOKS;
use crate::header::{GcHeader, Kind};
use crate::meta::Event;
use crate::state::State;
use crate::table::Table;
use crate::value::{SlotExt, Tag, Value};

/// Finalizers that are done with at one time because a limit was reached.
const DROPPED_AT_ONCE: usize = 10_000;

/// Objects that are marked for finalization.
pub(crate) struct Finalizers {
    /// In the order in which they were marked; `..old` were alive at the end of the last cycle. Nil: pending by now.
    registered: Vec<Value>,
    old: usize,
    /// Unreached: their finalizers are to be called in this order.
    pending: VecDeque<Value>,
    /// A finalizer runs: the collector rests.
    pub(crate) running: bool,
    /// The state is closing: no object is marked for finalization any more.
    pub(crate) closing: bool,
    /// There are none: no object is ever marked.
    off: bool,
}

impl Finalizers {
    pub(crate) fn new() -> Finalizers {
        Finalizers {
            registered: Vec::new(),
            old: 0,
            pending: VecDeque::new(),
            running: false,
            closing: false,
            off: false,
        }
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = *mut GcHeader> {
        self.pending.iter().map(|v| v.as_header())
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Moves the unreached objects to the pending ones, the last marked first, and marks these. False when the collector had to stop: then it is done for
    /// some of them, of which the others may be reached now.
    pub(crate) unsafe fn separate(&mut self, marker: &mut Marker) -> bool {
        let from = if marker.recount { self.old } else { 0 };
        let first = self.pending.len();
        for (i, v) in self.registered[from..].iter_mut().enumerate().rev() {
            if i % NODES_BETWEEN_LOOKS == 0 && marker.stop.is_due() {
                break;
            }
            if !v.is_nil() && !marker.is_marked(v.as_header()) {
                self.pending.push_back(*v);
                *v = Value::NIL;
            }
        }
        if !marker.stop.was_due() {
            let mut i = 0;
            self.registered.retain(|v| {
                i += 1;
                i <= from || !v.is_nil()
            });
        }
        for i in first..self.pending.len() {
            marker.object(self.pending[i].as_header());
        }
        !marker.stop.was_due()
    }

    /// All that is registered now is old.
    pub(crate) fn end_cycle(&mut self) {
        self.old = self.registered.len();
    }
}

impl State {
    /// Marks `object` for finalization: its finalizer will be called when it is unreached. Nothing happens if it is marked
    /// already, or when the state is closing.
    ///
    /// # Safety
    /// `object` is a live table or full userdata, whose metatable has a field `__gc`.
    pub unsafe fn register_finalizer(&mut self, object: Value) {
        let flags = &raw mut (*object.as_header()).flags;
        let finalizers = &self.heap.finalizers;
        if *flags & GcHeader::FINALIZER == 0 && !finalizers.closing && !finalizers.off {
            *flags |= GcHeader::FINALIZER;
            self.heap.finalizers.registered.push(object);
        }
    }

    /// From now on no object is marked for finalization: `__gc` has no effect.
    pub fn ignore_finalizers(&mut self) {
        self.heap.finalizers.off = true;
    }

    /// The finalizer that was running has been left by a panic.
    pub fn finalizer_unwound(&mut self) {
        self.heap.finalizers.running = false;
    }

    /// Whether finalizers wait to be called.
    pub fn finalizers_pending(&self) -> bool {
        self.heap.finalizers.has_pending()
    }

    /// Calls up to `limit` pending finalizers, on the running coroutine, above `top`. The stack may move. Errors
    /// become warnings. Does nothing inside a finalizer.
    ///
    /// # Safety
    /// A safepoint: `base` and `top` are those of the running coroutine's top frame, and no bare pointer is held.
    pub unsafe fn run_finalizers(&mut self, limit: usize) {
        let st: *mut State = self;
        if (*st).heap.finalizers.running {
            return;
        }
        (*st).drop_dead();
        let (stands, mut dropped) = ((*st).limit_stands(), 0);
        if (*st).must_stop() && !stands && !(*st).heap.finalizers.closing {
            // they wait until the interrupt has been obeyed
            return;
        }
        // Those that are Lua functions would fail at once, and are done with. Not all of very many, as the script has to stop.
        for _ in 0..if stands { limit.max(DROPPED_AT_ONCE) } else { limit } {
            if stands && !(*st).heap.finalizers.closing {
                dropped += 1;
                if dropped > DROPPED_AT_ONCE {
                    break;
                }
            }
            let Some(object) = (*st).heap.finalizers.pending.pop_front() else { break };
            (*st).heap.finalizers.running = true;
            finalize(st, object);
            (*st).heap.finalizers.running = false;
        }
        (*st).heap.pace.after_finalizers();
    }

    /// Calls all finalizers, of live objects too, for the end of the state. Objects are not marked for finalization any more.
    ///
    /// # Safety
    /// As [`State::run_finalizers`].
    pub unsafe fn gc_close(&mut self) {
        if !self.heap.finalizers.closing {
            self.heap.finalizers.closing = true;
            let all = std::mem::take(&mut self.heap.finalizers.registered);
            let all = all.into_iter().filter(|v| !v.is_nil());
            self.heap.finalizers.pending.extend(all.rev());
        }
        // A finalizer that ends the process comes here too; the others then run from inside it.
        self.heap.finalizers.running = false;
        self.run_finalizers(usize::MAX);
    }
}

/// Calls the finalizer of one object, if its metatable still has one that can be called.
unsafe fn finalize(st: *mut State, object: Value) {
    let header = object.as_header();
    // It is an ordinary object again, and can be marked for finalization again.
    (*header).flags &= !GcHeader::FINALIZER;
    let meta = match (*header).kind {
        Kind::Table if (*object.as_table()).meta & 1 == 0 => {
            std::ptr::with_exposed_provenance_mut::<Table>((*object.as_table()).meta)
        }
        Kind::Userdata => (*object.as_userdata()).meta,
        _ => return,
    };
    if meta.is_null() {
        return;
    }
    let function = Table::get_str(meta, (&(*st).event_names)[Event::Gc as usize]);
    if function.is_nil() || function.tag() != Tag::NATIVE && (*st).limit_stands() {
        // at the end of a state that is out of time
        return;
    }
    let thread = (*st).thread;
    let saved = (
        (*st).base.offset_from((*thread).stack),
        (*st).top.offset_from((*thread).stack),
        (*st).error,
        (*st).error_handled,
        (*st).native_depth,
    );
    // No hooks inside finalizers.
    let hook_was_active = (*thread).hook.as_mut().map(|h| std::mem::replace(&mut h.active, true));

    // Callee, header, argument: frames have room for them above `top`.
    let callee = (*st).top;
    callee.put(function);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(object);
    (*st).top = callee.add(3);
    let result = ((*st).vm.finalize)(st, callee, 1);
    if result.is_err() {
        State::recover(st, saved.0 as usize, (saved.1 - saved.0) as usize);
        let error = (*st).top.sub(1).get();
        let message = if error.is_string() {
            crate::string::LuaString::bytes(error.as_string()).to_vec()
        } else {
            b"error object is not a string".to_vec()
        };
        if let Some(warn) = (*st).heap.warn {
            let text = [b"error in __gc (", message.as_slice(), b")"].concat();
            warn(&mut *st, &text);
        }
    }
    debug_assert!((*st).thread == thread);
    (*st).base = (*thread).stack.offset(saved.0);
    (*st).top = (*thread).stack.offset(saved.1);
    ((*st).error, (*st).error_handled, (*st).native_depth) = (saved.2, saved.3, saved.4);
    if let (Some(hook), Some(active)) = ((*thread).hook.as_mut(), hook_was_active) {
        hook.active = active;
    }
}
