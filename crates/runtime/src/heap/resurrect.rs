//! The phase Resurrect: finds the objects to be finalized, and marks the objects that they refer to
//! (manual 2.5.3).
//!
//! When marking ends, an object without a mark is unreachable and stays so: no object that the
//! program can reach refers to it. Therefore the objects with finalizers are examined in slices,
//! between which the program runs, and the objects to which they refer are marked in slices as
//! well. New objects have no mark either, and are distinguished by the time of their creation: they
//! are registered, and listed with the boxed objects, after those that existed when marking ended.
//!
//! **What must hold.** Nothing is freed before the phase ends. Tracing reaches only objects that
//! the program cannot access and objects that are already marked, so it needs no write barrier, and
//! finds no new objects. The program can obtain unmarked objects in three ways, which are handled
//! as follows:
//!
//! * from weak tables: values are cleared before the phase begins. Keys are cleared near its end,
//!   and [hidden](super::clearing) from traversals until then;
//! * from the string table and from the transitions of shapes, both of which mark what they return;
//! * from inline caches, which are cleared before the phase begins.

use super::finalizers::{Finalizers, Stage};
use super::mark::prefetch;
use super::marker::Marker;
use super::stop::Stop;
use super::trace::Visitor;
use super::weak_tables::Left;
use super::{Heap, Phase};
use crate::header::GcHeader;
use crate::state::State;
use crate::table::LocalShape;
use crate::value::Value;

/// How many bytes a slice marks. The caller counts it as a slice of sweeping in addition.
const MARKED_AT_ONCE: usize = if cfg!(test) { 512 } else { 64 * 1024 };
/// The number of objects by which prefetching of headers is ahead.
const SOON: usize = 8;

impl State {
    /// Begins the phase, and performs a few of its slices in the same pause, which may end it.
    /// Returns false when the collector has lost an object: then a new cycle has begun.
    pub(super) unsafe fn begin_resurrection(&mut self) -> bool {
        let heap = &mut self.heap;
        let marker = &mut heap.marker;
        marker.resurrects = true;
        marker.weak.rounds = 0;
        heap.finalizers.begin_walk(marker.recount);
        heap.phase = Phase::Resurrect;
        let mut slices = 0;
        while self.heap.phase == Phase::Resurrect && slices < self.heap.slices.resurrection {
            slices += 1;
            self.resurrect_slice();
        }
        self.heap.phase != Phase::Mark
    }

    /// Does one slice. Afterwards the phase is Resurrect, or Purge when it has ended, or Mark when
    /// an object could not be recorded, so that a new cycle had to begin.
    pub(super) unsafe fn resurrect_slice(&mut self) {
        let before = self.heap.marker.live;
        let given_up = !self.resurrect_some();
        if given_up {
            self.give_up_resurrection();
        } else {
            // The balance accounts for memory that is freed from here on.
            self.heap.pace.live += self.heap.marker.live - before;
        }
    }

    /// Does one slice. Returns false when an object could not be recorded.
    unsafe fn resurrect_some(&mut self) -> bool {
        loop {
            let stage = self.heap.finalizers.stage;
            let ended = match stage {
                Stage::Walk => self.heap.walk_finalizers(),
                Stage::Compact => self.heap.finalizers.compact(self.heap.slices.finalizers),
                Stage::Mark => self.mark_resurrected(),
                Stage::Clear => {
                    let cleared = self.clear_after_resurrection();
                    if cleared {
                        self.forget_dead();
                    }
                    cleared
                }
                Stage::HandOver => self.heap.finalizers.hand_over(self.heap.slices.finalizers),
                Stage::Done => {
                    self.end_resurrection();
                    return true;
                }
            };
            if self.heap.marker.lost {
                return false;
            }
            if !ended {
                return true;
            }
            // A stage without work ends at once.
            self.heap.finalizers.stage = stage.next();
        }
    }

    /// Marks some of the objects that are reachable from objects to be finalized. Returns whether
    /// all are marked.
    unsafe fn mark_resurrected(&mut self) -> bool {
        let Heap { marker, finalizers, slices, .. } = &mut self.heap;
        let all = finalizers.mark(marker, slices.finalizers);
        if !marker.has_gray() && !finalizers.has_resurrected() {
            return true;
        }
        match marker.converge_some(MARKED_AT_ONCE) {
            Left::Some => false,
            Left::ByKey => {
                // Tables that are found now are visited by the next slice.
                marker.converge_by_key();
                false
            }
            Left::Nothing => all,
        }
    }

    /// Clears some weak keys, and weak values of resurrected tables, which the program cannot reach
    /// yet. Returns whether all are cleared.
    unsafe fn clear_after_resurrection(&mut self) -> bool {
        self.count_clearing();
        if self.heap.marker.clear_places() {
            self.advance_epoch();
        }
        let Heap { marker, slices, .. } = &mut self.heap;
        !marker.stop.was_due() && marker.clear_keys(slices.keys)
    }

    unsafe fn end_resurrection(&mut self) {
        let marker = &mut self.heap.marker;
        debug_assert!(!marker.has_gray());
        marker.weak.clear();
        marker.reached = None;
        marker.atomic = false;
        marker.resurrects = false;
        marker.recount = false;
        marker.given_up = 0;
        self.heap.forget_new();
        self.heap.phase = Phase::Purge;
        if self.strings.capacity() <= self.heap.slices.strings {
            self.purge_slice();
        }
    }

    /// Begins a new cycle in the middle of the phase. The objects to be finalized that were found
    /// are kept.
    #[cold]
    unsafe fn give_up_resurrection(&mut self) {
        self.heap.marker.resurrects = false;
        self.heap.forget_new();
        self.heap.large.cancel_sweep();
        self.heap.boxed.cancel_sweep();
        self.strings.cancel_purge();
        self.heap.pace.unfinished = self.heap.pace.generational;
        self.heap.phase = Phase::Mark;
        self.heap.marker.given_up = self.heap.marker.given_up.saturating_add(1);
        self.start_cycle();
    }

    /// Ends the phase if it has begun, before the state is closed.
    pub(super) unsafe fn finish_resurrection(&mut self) {
        if self.heap.phase == Phase::Resurrect {
            self.heap.marker.stop = Stop::new();
            while self.heap.phase == Phase::Resurrect {
                self.resurrect_slice();
            }
        }
    }

    /// Keeps a shape that was found by a transition, and its names, alive: it may be dead, but not
    /// forgotten yet.
    #[inline]
    pub(crate) unsafe fn keep_shape(&mut self, shape: *mut LocalShape) -> *mut LocalShape {
        if self.heap.phase == Phase::Resurrect && !shape.is_null() {
            self.keep_shape_cold(shape);
        }
        shape
    }

    #[cold]
    unsafe fn keep_shape_cold(&mut self, shape: *mut LocalShape) {
        let marker = &mut self.heap.marker;
        if !marker.is_marked(shape.cast()) {
            // Names are strings, so nothing becomes gray. As it is not scanned again, a successor
            // that it gets later has to be logged: a young collection would not find it.
            (*shape).header.mark = marker.mark;
            (*shape).header.flags |= GcHeader::UNLOGGED;
            for &name in &(*shape).keys {
                marker.pointer(name);
            }
            // A shape with a metatable has no such successor itself.
            let successor = (*shape).with_meta;
            if !successor.is_null() {
                self.keep_shape_cold(successor);
            }
        }
    }
}

impl Heap {
    /// Resets the marks that distinguish objects that were created in the phase.
    unsafe fn forget_new(&mut self) {
        self.blocks.forget_new();
        self.boxed.forget_new();
    }

    /// Looks at some of the objects with finalizers. Returns whether it has looked at all.
    unsafe fn walk_finalizers(&mut self) -> bool {
        let Heap { finalizers, marker, slices, .. } = self;
        finalizers.walk(marker, slices.finalizers)
    }
}

impl Finalizers {
    /// Looks at up to `count` objects, and takes out those that are not marked. Returns whether it
    /// has looked at all.
    pub(super) unsafe fn walk(&mut self, marker: &mut Marker, count: usize) -> bool {
        for _ in 0..count {
            if self.walk.at == self.walk.from {
                return true;
            }
            self.walk.at -= 1;
            let at = self.walk.at;
            if let Some(v) = at.checked_sub(SOON).and_then(|soon| self.registered.get(soon))
                && !v.is_nil()
            {
                prefetch(v.as_header());
            }
            let Some(v) = self.registered.get(at) else { continue };
            if v.is_nil() || marker.is_marked(v.as_header()) {
                continue;
            }
            if !self.found.push(v) {
                // The object stays registered, and has to be kept until the next cycle.
                marker.object(v.as_header());
                self.walk.kept = true;
                continue;
            }
            self.registered.replace(at, Value::NIL);
            self.holes += 1;
        }
        self.walk.at == self.walk.from
    }

    /// Marks up to `count` of the objects that were found. Returns whether all are marked.
    pub(super) unsafe fn mark(&mut self, marker: &mut Marker, count: usize) -> bool {
        let end = self.found.len().min(self.walk.marked + count);
        for i in self.walk.marked..end {
            if let Some(v) = self.found.get(i + SOON) {
                prefetch(v.as_header());
            }
            if let Some(v) = self.found.get(i) {
                marker.object(v.as_header());
            }
        }
        self.walk.marked = end;
        end == self.found.len()
    }
}
