//! Mode `chaos`: code is compiled, stitched and discarded at random, including code for feedback
//! that was never recorded.

use std::sync::Arc;

use perilune_bytecode::Feedback;
use perilune_code::{Cause, Method};
use perilune_runtime::chaos::Chaos;
use perilune_runtime::frame::Frame;
use perilune_runtime::frames::Frames;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::State;
use perilune_runtime::state::Threshold;
use perilune_runtime::value::Tag;

use crate::engine::state::JitState;
use crate::feedback::snapshot::Snapshot;

impl Snapshot {
    /// Removes or invents feedback of operators and accesses. Code must be correct whatever the
    /// feedback.
    pub(crate) fn scramble(&mut self, inst: &Instance, chaos: &mut Chaos) {
        for (i, cell) in inst.proto.code.iter().zip(&mut self.cells) {
            if matches!(i.op().feedback(), Feedback::Operands | Feedback::Access) {
                let bits = chaos.draw();
                match bits & 3 {
                    0 => *cell = 0,
                    1 => *cell = (bits >> 8) as u32 & 7,
                    _ => {}
                }
            }
        }
        for field in &mut self.fields {
            field.paths.retain(|_| !chaos.once_in(8));
            if field.paths.len() > 1 && chaos.once_in(4) {
                field.paths.reverse();
            }
        }
    }
}

/// Returns the instance of a random Lua function near the top of the running stack.
unsafe fn some_instance(st: *mut State, chaos: &mut Chaos) -> Option<*mut Instance> {
    let mut found = None;
    for frame in Frames::from(Frame((*st).base)) {
        let callee = frame.callee();
        if callee.tag() == Tag::FUNCTION {
            found = Some((*callee.as_function()).instance);
            if chaos.once_in(2) {
                break;
            }
        }
    }
    found
}

impl JitState {
    /// Compiles a method, whether it has code or not, with feedback that is partly invented.
    unsafe fn compile_scrambled(
        &mut self,
        st: *mut State,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
        chaos: &mut Chaos,
    ) {
        let mut snapshot = Snapshot::take(st, inst);
        snapshot.prunes = chaos.draw() & 1 != 0;
        snapshot.scramble(&*inst, chaos);
        let shapes = snapshot.hold_shapes(st, &[]);
        self.compile(st, method, inst, entry, snapshot, shapes);
    }

    /// Disturbs the state in one random way.
    ///
    /// # Safety
    /// A safepoint of the state.
    pub(crate) unsafe fn disturb(&mut self, st: *mut State, chaos: &mut Chaos) {
        let Some(inst) = some_instance(st, chaos) else { return };
        let attached = self.attached(&(*inst).proto);
        let space = self.space().clone();
        // Without the optimizing compiler, stitched code is discarded more often.
        let first = if self.optimizes() { 0 } else { 8 };
        match first + chaos.draw() % (16 - first) {
            0..2 => drop(space.invalidate(&attached.method, Cause::Chaos)),
            2..4 => {
                let loops = attached.all_loops();
                if !loops.is_empty() {
                    let (_, method) = &loops[chaos.draw() as usize % loops.len()];
                    space.invalidate(method, Cause::Chaos);
                }
            }
            4..6 => self.compile_scrambled(st, &attached.method, inst, None, chaos),
            6..8 => {
                let loops = attached.all_loops();
                if !loops.is_empty() {
                    let (pc, method) = &loops[chaos.draw() as usize % loops.len()];
                    self.compile_scrambled(st, method, inst, Some(*pc), chaos);
                }
            }
            8 => {
                space.advance_now();
            }
            9 => {
                space.advance_now();
                self.announce_frames(st);
                space.collect();
            }
            10 if chaos.once_in(8) => {
                let usage = space.usage();
                space.evict(usage.total - usage.free);
            }
            11 => self.unstitch(&attached),
            12 | 13 => {
                self.unstitch(&attached);
                space.advance_now();
                self.announce_frames(st);
                space.collect();
            }
            _ => {
                (*st).entry_threshold = Threshold::at(1 + (chaos.draw() & 7) as u32);
                (*st).loop_threshold = Threshold::at(1 + (chaos.draw() & 127) as u32);
            }
        }
    }
}
