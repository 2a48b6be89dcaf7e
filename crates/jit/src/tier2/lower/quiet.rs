//! Quiet loops: the parts of memory that they leave unchanged.

use std::collections::HashSet;

use cranelift_codegen::ir;
use perilune_bytecode::Op as Bytecode;

use super::Lower;
use crate::codegen::builtin::changes_tables;
use crate::codegen::memory::{Region, Regions};
use crate::tier2::ir::{Block, End, Op, Place};

/// A loop that leaves some regions of memory unchanged.
pub(super) struct QuietLoop {
    pub(super) kept: Regions,
    /// Its last block.
    pub(super) last: Block,
    /// The bases of the frame on the edges that enter the loop.
    bases: Vec<ir::Value>,
}

impl QuietLoop {
    /// Returns the base of the frame in the loop, if it is the same on all edges.
    pub(super) fn base(&self) -> Option<ir::Value> {
        let &first = self.bases.first()?;
        self.bases.iter().all(|&base| base == first).then_some(first)
    }
}

impl Lower<'_, '_> {
    /// Finds the regions of memory that quiet loops leave unchanged.
    pub(super) fn find_quiet_loops(&mut self, noisy: &mut HashSet<Place>) {
        let f = self.f;
        for (n, &head) in f.order.iter().enumerate() {
            let Some(place) = f.blocks[head].quiet else { continue };
            let leads_to = |b: Block, to| f.blocks[b].end.targets().any(|t| t.block == to);
            let Some(size) = f.order[n..].iter().rposition(|&b| leads_to(b, head)) else {
                continue;
            };
            // blocks that only lead out of the loop are not part of it
            let mut members = vec![head];
            for &b in f.order[n + 1..=n + size].iter().rev() {
                if members.iter().any(|&to| leads_to(b, to)) {
                    members.push(b);
                }
            }
            let has_loop = members[1..].iter().any(|&b| f.blocks[b].is_loop);
            let kept = members.iter().try_fold(Regions::ALL, |kept, &b| self.kept_by(b, kept));
            let Some(kept) = kept.filter(|_| !has_loop) else {
                noisy.insert(place);
                continue;
            };
            if !members.iter().any(|&b| self.needs_polls(b)) {
                self.rare_polls.extend(members.into_iter().filter(|&b| leads_to(b, head)));
            }
            // a poll stores registers, and the collector changes the flags of objects
            let kept = kept.without(Region::Slots).without(Region::State).without(Region::Flags);
            let last = f.order[n + size];
            self.quiet.insert(head, QuietLoop { kept, last, bases: Vec::new() });
        }
    }

    /// Returns which of these regions a block leaves unchanged; `None` if it may change all of
    /// them, or must not occur in a quiet loop.
    fn kept_by(&mut self, block: Block, mut kept: Regions) -> Option<Regions> {
        let data = &self.f.blocks[block];
        if matches!(data.end, End::Generic(..)) {
            return None;
        }
        for inst in &data.insts {
            match inst.op {
                Op::Generic(_) | Op::Call(_) => return None,
                Op::FastPath(_) if self.instr(inst).op() == Bytecode::TForCall => {}
                Op::FastPath(_) | Op::Poll(_, false) => return None,
                Op::AddField(..) | Op::Traversal(..) => return None,
                Op::Library(library, ..)
                    if library.inlined.is_none() && changes_tables(library.number) =>
                {
                    return None;
                }
                Op::SetClass(..) | Op::SetMetatable(..) => kept = kept.without(Region::Objects),
                Op::SetField(..) => kept = kept.without(Region::Fields),
                Op::SetElement(_, _, _, changes, _) => {
                    kept = kept.without(Region::Elements);
                    if changes.grows {
                        // the array, and the hash part, from which elements may move to it
                        kept = kept.without(Region::Objects).without(Region::Fields);
                    }
                }
                _ => {}
            }
        }
        Some(kept)
    }

    /// Returns whether a loop with this block has to poll in each iteration, because its operations
    /// allocate, and thus request collections, or may take long.
    fn needs_polls(&self, block: Block) -> bool {
        self.f.blocks[block].insts.iter().any(|inst| match inst.op {
            Op::NewTable(..) | Op::Allocate(_) | Op::Closure(..) | Op::SetList(..) => true,
            Op::Equal(..) | Op::FastPath(_) => true,
            Op::Library(library, ..) => library.inlined.is_none() || library.tag.is_none(),
            Op::SetElement(_, _, _, changes, _) => changes.grows,
            _ => false,
        })
    }

    /// Records the base at a jump to the head of a loop.
    pub(super) fn enter_loop(&mut self, head: Block) {
        if let Some(quiet) = self.quiet.get_mut(&head) {
            quiet.bases.push(self.generic.emit().current_base());
        }
    }
}
