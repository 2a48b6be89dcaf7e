//! Type feedback: the meaning of the bits in a feedback cell, and the record of each instruction.

use crate::instr::Instr;
use crate::opcode::Feedback;
use crate::proto::Proto;

/// A bit of a feedback cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedbackBit {
    /// The bit.
    pub mask: u32,
    /// Its name in listings.
    pub name: &'static str,
}

macro_rules! bits {
    ($(#[$doc:meta])+ $module:ident: $($(#[$meaning:meta])+ $bit:ident $name:literal;)+) => {
        $(#[$doc])+
        pub mod $module {
            use super::FeedbackBit;

            /// Numbers of the bits.
            #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
            enum Number { $($bit),+ }

            $($(#[$meaning])+ pub const $bit: u32 = 1 << Number::$bit as u32;)+

            /// All bits.
            pub const ALL: u32 = $($bit)|+;

            /// All bits with their names, the lowest first.
            pub const BITS: &[FeedbackBit] = &[$(FeedbackBit { mask: $bit, name: $name }),+];
        }
    };
}

bits! {
    /// Bits of [`Feedback::Operands`]: the kinds of operands that an operator has seen.
    operands:
    /// Two integers, or one if there is only one operand.
    INT "integers";
    /// Two floats, or one.
    FLOAT "floats";
    /// An integer and a float.
    MIXED "mixed numbers";
    /// Strings.
    STRING "strings";
    /// Anything else, including operands with metamethods.
    OTHER "others";
}

bits! {
    /// Bits of [`Feedback::Access`]: the kinds of tables and keys that an access has seen.
    access:
    /// A table and an integer key.
    ARRAY "integer keys";
    /// A table and a string key.
    STRING "string keys";
    /// A table and a key of another kind.
    OTHER "other keys";
    /// An element of an array of integers. The bits of the other kinds of array follow this one in
    /// the order of the runtime's `ArrayKind`.
    INTS "arrays of integers";
    /// An element of an array of floats.
    FLOATS "arrays of floats";
    /// An element of an array of any values.
    ANY "arrays of any values";
    /// An element of an array of booleans.
    BOOLS "arrays of booleans";
    /// An integer that is not a key of the array part.
    OUTSIDE "outside the array";
    /// A value that is not a table.
    NO_TABLE "not a table";
    /// A store to an integer key that is neither in the array part nor right after it.
    SPARSE "stores far from the array";
    /// A table and a key that is a float with an integral value, which stands for the equal
    /// integer. The kinds of arrays are recorded as for integers.
    INTEGRAL "integral float keys";
}

impl Feedback {
    /// Returns the bits that a cell of this kind consists of; none for counts and records.
    pub const fn bits(self) -> &'static [FeedbackBit] {
        match self {
            Feedback::Operands => operands::BITS,
            Feedback::Access => access::BITS,
            _ => &[],
        }
    }

    /// Returns the names of the bits that are set in a cell of this kind, separated by commas.
    pub fn describe(self, cell: u32) -> String {
        let set = self.bits().iter().filter(|bit| cell & bit.mask != 0);
        set.map(|bit| bit.name).collect::<Vec<_>>().join(", ")
    }
}

/// The number of records of each kind in a function's code. Records are numbered per kind, in code
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordCounts {
    /// Inline caches of fields.
    pub fields: u32,
    /// Inline caches of globals.
    pub globals: u32,
    /// Callees.
    pub callees: u32,
    /// Instructions that make tables.
    pub sites: u32,
}

impl RecordCounts {
    /// Counts the records of a function's code.
    pub fn of(code: &[Instr]) -> RecordCounts {
        let mut counts = RecordCounts::default();
        for instr in code {
            counts.number(instr.op().feedback());
        }
        counts
    }

    /// Returns the number of the next record of a kind and counts it; `None` for feedback that is
    /// kept in the cell itself. When called for each instruction in code order, this numbers the
    /// records.
    pub fn number(&mut self, kind: Feedback) -> Option<u32> {
        let count = match kind {
            Feedback::Field => &mut self.fields,
            Feedback::Global => &mut self.globals,
            Feedback::Callee => &mut self.callees,
            Feedback::Site => &mut self.sites,
            Feedback::None | Feedback::Operands | Feedback::Access | Feedback::Count => {
                return None;
            }
        };
        *count += 1;
        Some(*count - 1)
    }
}

/// The feedback cells of a function that has not run.
///
/// The cell of an instruction with a record holds the record's number, permanently. Bits and counts
/// begin at 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FeedbackLayout {
    /// Number of records of each kind.
    pub counts: RecordCounts,
    /// The cell of each instruction.
    pub cells: Box<[u32]>,
}

impl FeedbackLayout {
    /// Returns the layout for a function.
    pub fn of(proto: &Proto) -> FeedbackLayout {
        let mut counts = RecordCounts::default();
        let cell = |instr: &Instr| counts.number(instr.op().feedback()).unwrap_or(0);
        let cells = proto.code.iter().map(cell).collect();
        FeedbackLayout { counts, cells }
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
        let RecordCounts { fields, globals, callees, sites } = layout.counts;
        assert_eq!((fields, globals, callees, sites), (2, 4, 2, 2));
        assert_eq!(layout.counts, RecordCounts::of(&proto.code));
        let of_kind = |kind: Feedback| -> Vec<u32> {
            (0..proto.code.len())
                .filter(|&pc| proto.code[pc].op().feedback() == kind)
                .map(|pc| layout.cells[pc])
                .collect()
        };
        for (kind, count) in [
            (Feedback::Field, fields),
            (Feedback::Global, globals),
            (Feedback::Callee, callees),
            (Feedback::Site, sites),
        ] {
            assert_eq!(of_kind(kind), (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn bits_have_distinct_names() {
        for kind in [Feedback::Operands, Feedback::Access] {
            let bits = kind.bits();
            for (i, bit) in bits.iter().enumerate() {
                assert_eq!(bit.mask, 1 << i);
                assert!(bits[..i].iter().all(|other| other.name != bit.name), "{}", bit.name);
            }
        }
        let cell = operands::INT | operands::OTHER;
        assert_eq!(Feedback::Operands.describe(cell), "integers, others");
        assert_eq!(Feedback::Access.describe(0), "");
        assert_eq!(Feedback::Count.describe(7), "");
    }
}
