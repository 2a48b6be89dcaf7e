//! Provides instances with the stitched code of their functions: creates it, looks it up, and
//! creates it again after it was evicted.

use std::any::Any;
use std::time::Instant;

use perilune_bytecode::Proto;
use perilune_code::Cause;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::State;
use perilune_runtime::tier::stitched::PROLOGUE;

use super::attached::{Attached, label};
use super::jit::Jit;
use super::state::JitState;
use crate::baseline::Plan;
use crate::observe::metrics::Metric;
use crate::observe::observation::StitchedParts;
use crate::observe::source_map::Placed;
use crate::policy::hotness;
use crate::testing::mix::Fixed;

/// Adds the feedback that stitched code assumes and does not record to that of an instance.
///
/// # Safety
/// `inst` is a live instance of the function, and of the state that runs on this thread.
unsafe fn note_assumed(inst: *mut Instance, assumed: &[(u32, u32)]) {
    for &(pc, bits) in assumed {
        *(*inst).cells.add(pc as usize) |= bits;
    }
}

/// The error for code of this number of bytes, which does not fit.
#[derive(Clone, Copy)]
struct NoRoom(usize);

impl Jit {
    /// Returns the stitched code of a function, after stitching it if necessary, with stencils
    /// chosen by the feedback `cells`. The state that calls this is online, and stores the address
    /// before its next poll.
    fn stitched(&self, proto: &Proto, cells: &[u32]) -> Result<*const u8, NoRoom> {
        if !self.options.allows(proto, Fixed::Stitched) {
            return Err(NoRoom(usize::MAX));
        }
        let attached = self.attached(proto);
        let mut stitched = attached.stitched();
        let kept = stitched.code.as_ref().and_then(|code| self.space.keep(code));
        if let Some(address) = kept {
            return Ok(address);
        }
        if let Some(size) = stitched.size.filter(|&size| !self.space.has_room(size)) {
            return Err(NoRoom(size));
        }
        let start = Instant::now();
        let Some(plan) = Plan::new(proto, cells, self.options.speculate_unseen) else {
            stitched.size = Some(usize::MAX);
            return Err(NoRoom(usize::MAX));
        };
        let code = plan.stitch();
        self.observer().metrics.add(Metric::PlanNanoseconds, start.elapsed().as_nanos() as u64);
        let no_room = NoRoom(code.len());
        stitched.size = Some(code.len());
        let placed = self.space.place(&code, |range| -> Box<dyn Any + Send> {
            let code = Placed { address: range.address() as usize, bytes: range.bytes() };
            let parts = || StitchedParts {
                pieces: plan.pieces(),
                offsets: Plan::offsets(proto),
                stencils: plan.listing(),
            };
            Box::new(self.observer().stitched(proto, || label(proto, None), &code, parts))
        });
        let placement = placed.map_err(|_| no_room)?;
        if self.options.optimize {
            stitched.assumed = plan.assumed();
        }
        self.observer().metrics.add(Metric::StitchNanoseconds, start.elapsed().as_nanos() as u64);
        self.pace.stitched(start.elapsed());
        let address = self.space.keep(&placement).ok_or(no_room);
        stitched.code = Some(placement);
        address
    }
}

impl JitState {
    /// Returns the number of entries after which a function is stitched, given the current amount
    /// of code.
    pub(super) fn stitch_threshold(&self) -> u32 {
        let Jit { options, space, .. } = &*self.jit;
        let (usual, footprint) = (options.stitch_threshold, options.stitch_footprint);
        hotness::stitch_threshold(usual, space.usage().live, footprint)
    }

    /// Retires the stitched code of a function, if it has any. For tests.
    pub(crate) fn unstitch(&self, attached: &Attached) {
        let code = attached.stitched().code.take();
        if let Some(code) = code {
            self.jit.space.retire_placement(&code, Cause::Chaos);
        }
    }

    /// Gives an instance the stitched code of its function. Without room for it, code that has been
    /// cold is evicted. If that does not help, the state stitches nothing until a function becomes
    /// hot that fits into the available room.
    ///
    /// # Safety
    /// `inst` is a live instance of the state `st`, and its function is not in stitched code.
    pub(super) unsafe fn link(&mut self, st: *mut State, inst: *mut Instance) {
        if self.jit.options.stitch_threshold == u32::MAX {
            return;
        }
        let proto = &(*inst).proto;
        // SAFETY: an instance has a cell for each word of its function's code, which only this
        // thread writes.
        let cells = unsafe { std::slice::from_raw_parts((*inst).cells, proto.code.len()) };
        let mut found = self.jit.stitched(proto, cells);
        if let Err(NoRoom(size)) = found
            && self.make_room(size)
        {
            found = self.jit.stitched(proto, cells);
        }
        match found {
            Ok(address) => {
                note_assumed(inst, &self.jit.attached(proto).stitched().assumed);
                (*inst).stitched = address.wrapping_add(PROLOGUE).cast();
                (*st).stitch_threshold = self.stitch_threshold();
            }
            // No eviction can make room for this function.
            Err(NoRoom(size)) if size > self.jit.options.budget => {}
            Err(_) => (*st).stitch_threshold = u32::MAX,
        }
    }

    /// Evicts code, as there is no room for `size` bytes; returns whether there may be room now.
    /// Code that other states may still run is freed later.
    fn make_room(&self, size: usize) -> bool {
        /// The reciprocal of the part of the budget that one eviction frees at least: an eviction
        /// scans all code, so it should not free too little.
        const PART: usize = 16;
        let Jit { options, space, pace, .. } = &*self.jit;
        if size > options.budget || !pace.allows_eviction() {
            return false;
        }
        let start = Instant::now();
        // Offline, this state keeps no address of stitched code.
        self.mutator.blocking(|| {
            let wanted = (2 * size).max(options.budget / PART);
            // Code that is about to be freed counts as free.
            space.evict(wanted.saturating_sub(space.retired_placements()));
            space.advance_now();
        });
        pace.evicted(start.elapsed());
        space.has_room(size)
    }
}
