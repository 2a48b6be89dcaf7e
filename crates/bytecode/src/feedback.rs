//! Where each instruction's feedback record is.

use crate::opcode::{Feedback, Op};
use crate::proto::Proto;

/// How many records of each kind an instance of a proto needs, and which instruction has which.
///
/// Records are numbered per kind, in code order. Kinds that are bits or counts live in the instruction's
/// own cell and have no record.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FeedbackLayout {
    /// Inline caches of fields.
    pub fields: u32,
    /// Inline caches of globals.
    pub globals: u32,
    /// Callees.
    pub callees: u32,
    /// Places that make tables.
    pub sites: u32,
    /// Per instruction: its record, or [`FeedbackLayout::NO_RECORD`].
    pub records: Box<[u32]>,
}

impl FeedbackLayout {
    /// The entry of an instruction without a record.
    pub const NO_RECORD: u32 = u32::MAX;

    /// The layout for a (verified) function.
    pub fn of(proto: &Proto) -> FeedbackLayout {
        let mut layout = FeedbackLayout::default();
        let records = proto
            .code
            .iter()
            .map(|instr| match layout.counter(instr.op()) {
                Some(counter) => {
                    *counter += 1;
                    *counter - 1
                }
                None => FeedbackLayout::NO_RECORD,
            })
            .collect();
        layout.records = records;
        layout
    }

    /// The record of the instruction at `pc`.
    pub fn record(&self, pc: usize) -> Option<u32> {
        self.records.get(pc).copied().filter(|&record| record != FeedbackLayout::NO_RECORD)
    }

    /// Number of records of a kind; 0 for kinds without records.
    pub fn count(&self, kind: Feedback) -> u32 {
        match kind {
            Feedback::Field => self.fields,
            Feedback::Global => self.globals,
            Feedback::Callee => self.callees,
            Feedback::Site => self.sites,
            Feedback::None | Feedback::Operands | Feedback::Access | Feedback::Count => 0,
        }
    }

    fn counter(&mut self, op: Op) -> Option<&mut u32> {
        match op.feedback() {
            Feedback::Field => Some(&mut self.fields),
            Feedback::Global => Some(&mut self.globals),
            Feedback::Callee => Some(&mut self.callees),
            Feedback::Site => Some(&mut self.sites),
            Feedback::None | Feedback::Operands | Feedback::Access | Feedback::Count => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_numbered_per_kind_in_code_order() {
        let proto = crate::compile_source(b"f(a.b, a.c, {}) g({})", b"=test", 0);
        let proto = proto.ok().expect("compiles");
        let layout = FeedbackLayout::of(&proto);
        assert_eq!((layout.fields, layout.globals, layout.callees, layout.sites), (2, 4, 2, 2));
        let of_kind = |kind: Feedback| -> Vec<u32> {
            (0..proto.code.len())
                .filter(|&pc| proto.code[pc].op().feedback() == kind)
                .filter_map(|pc| layout.record(pc))
                .collect()
        };
        for kind in [Feedback::Field, Feedback::Global, Feedback::Callee, Feedback::Site] {
            assert_eq!(of_kind(kind), (0..layout.count(kind)).collect::<Vec<_>>());
        }
        assert_eq!(layout.record(0), None);
    }
}
