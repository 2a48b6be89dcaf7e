//! The roots: objects and values that are alive by themselves.

use super::Phase;
use super::trace::Visitor;
use crate::state::State;

impl State {
    /// Updates the running thread's saved registers, through which its stack is read.
    pub(super) unsafe fn sync_running(&mut self) {
        self.heap.marker.running = self.thread;
        if !self.thread.is_null() {
            (*self.thread).base = self.base;
            (*self.thread).top = self.top;
        }
    }

    /// Visits all roots.
    pub(super) unsafe fn visit_roots<V: Visitor>(&self, v: &mut V) {
        v.pointer(self.main_thread);
        // The coroutines that wait for the running one are reachable from it through `resumer`.
        v.pointer(self.thread);
        v.pointer(self.registry);
        v.pointer(self.globals);
        v.value(self.error);
        for meta in self.type_metas {
            v.pointer(meta);
        }
        for name in self.event_names {
            v.pointer(name);
        }
        for name in self.type_names {
            v.pointer(name);
        }
        for string in self.byte_strings {
            v.pointer(string);
        }
        v.pointer(self.memory_message);
        if let Some(hook) = &self.hook_of_new {
            v.value(hook.function);
        }
        v.pointer(self.empty_shape);
        for value in self.host_roots.values() {
            v.value(value);
        }
        for o in self.heap.finalizers.pending() {
            v.object(o);
        }
        if self.heap.phase == Phase::Mark {
            // The last cycle was abandoned before these were pending.
            for found in self.heap.finalizers.found.iter() {
                v.value(found);
            }
        }
    }

    /// Marks the roots.
    pub(super) unsafe fn mark_roots(&mut self) {
        let mut marker = std::mem::take(&mut self.heap.marker);
        self.visit_roots(&mut marker);
        self.heap.marker = marker;
    }
}
