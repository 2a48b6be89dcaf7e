//! Guards for the speculations of instructions, and deoptimization where they fail.

use cranelift_codegen::ir::Block;

use super::Translator;
use crate::analysis::facts::facts;
use crate::analysis::tags::Tags;
use crate::codegen::value::Known;
use crate::entity::Pc;
use crate::exits::state::{FrameState, Point};
use crate::testing::fault::Fault;

impl Translator<'_> {
    /// Emits the guards of an OSR entry: the frame goes back to the interpreter at once unless its
    /// registers have the tags that they had when the loop became hot.
    pub(super) fn check_entry(&mut self, entry: Pc) {
        let wrong = self.emit.cold_block();
        if self.fault != Some(Fault::UncheckedEntry) {
            self.emit.guard_home_tags(self.tag_flow.at(entry).known(), wrong);
        }
        // Code that reads the frame relies only on these tags.
        self.tags = self.tag_flow.at(entry).clone();
        self.verify_registers(entry);
        self.tags = Tags::unknown(self.proto);
        // the exit is counted, so that the loop is compiled again for other tags
        self.emit.deoptimize_in(wrong, FrameState::home(entry, Point::Before));
    }

    /// Emits the guards for the speculations of the instruction at `pc`. Their tags are known while
    /// the instruction is translated, and after it ([`step`](crate::analysis::tags::step)).
    pub(super) fn speculate(&mut self, pc: Pc) {
        self.guarded.clear();
        let guards = facts(self.snapshot, pc, self.instr(pc)).guards;
        let mut other = None;
        for (r, tag) in guards {
            let known = self.tag(r);
            if !matches!(known, Known::Tag(known) if known == tag) {
                let other = match other {
                    Some(block) => block,
                    None => {
                        let block = *other.insert(self.emit.cold_block());
                        self.emit.stress_exit(block);
                        block
                    }
                };
                if !self.emit.require(&[known], tag, other) {
                    self.emit.jump(other);
                    // the rest is unreachable
                    let rest = self.emit.block();
                    self.emit.switch_to(rest);
                }
            }
            self.guarded.push((r, tag));
        }
        if let Some(other) = other {
            self.deoptimize_at(other, pc);
        }
    }

    /// Continues after guards of the instruction at `pc` that branch to `failed`, where the frame
    /// is deoptimized.
    pub(super) fn deoptimize_at(&mut self, failed: Block, pc: Pc) {
        self.emit.deoptimize_in(failed, FrameState::home(pc, Point::After));
    }
}
