//! Assumptions about operands, for which the baseline compiler has variants of an instruction.

use perilune_bytecode::Op;
use perilune_bytecode::feedback::{access, operands};
use perilune_runtime::value::Tag;

use crate::form::Field;

/// What a variant of an instruction assumes about the operands. It contains the code for these
/// alone, and records no feedback. For other operands it continues in the general variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speculation {
    /// Nothing: this is the general variant.
    Nothing,
    /// Integers, or an element of an array of integers.
    Integers,
    /// Floats, or an element of an array of floats.
    Floats,
    /// A float in a register, and an integer that is a constant or an immediate operand.
    Mixed,
    /// An element of an array of any values.
    Values,
    /// An element of an array of booleans.
    Booleans,
}

/// The condition under which a variant of an instruction is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The bits of the feedback cell that matter.
    pub mask: u32,
    /// The value of these bits.
    pub seen: u32,
    /// The constant that has to be a number of this kind.
    pub constant: Option<(Field, Tag)>,
}

/// The registers and the constant that an operator reads.
struct Operator {
    registers: &'static [Field],
    constant: Option<Field>,
}

/// Returns the operands of operators that have variants.
fn operator(op: Op) -> Option<Operator> {
    use Field::{A, B, C};
    let (registers, constant): (&[Field], _) = match op {
        Op::AddI | Op::SubI | Op::ShlI | Op::ShrI => (&[B], None),
        Op::AddK
        | Op::SubK
        | Op::MulK
        | Op::DivK
        | Op::ModK
        | Op::IDivK
        | Op::BAndK
        | Op::BOrK
        | Op::BXorK => (&[B], Some(C)),
        Op::KAdd | Op::KSub | Op::KMul | Op::KDiv => (&[C], Some(B)),
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Mod
        | Op::IDiv
        | Op::BAnd
        | Op::BOr
        | Op::BXor
        | Op::Shl
        | Op::Shr => (&[B, C], None),
        Op::Unm | Op::BNot => (&[B], None),
        Op::Lt | Op::Le => (&[A, B], None),
        Op::LtI | Op::LeI | Op::GtI | Op::GeI => (&[A], None),
        _ => return None,
    };
    Some(Operator { registers, constant })
}

/// Returns the speculations for which an opcode has variants.
pub fn speculations(op: Op) -> &'static [Speculation] {
    use Speculation::{Booleans, Floats, Integers, Mixed, Values};
    match op {
        Op::AddI | Op::SubI => &[Integers, Mixed],
        Op::AddK | Op::SubK | Op::MulK | Op::KAdd | Op::KSub | Op::KMul => {
            &[Integers, Floats, Mixed]
        }
        Op::DivK | Op::KDiv => &[Floats, Mixed],
        Op::Div => &[Floats],
        Op::Add | Op::Sub | Op::Mul | Op::Unm => &[Integers, Floats],
        Op::Lt | Op::Le | Op::LtI | Op::LeI | Op::GtI | Op::GeI => &[Integers, Floats],
        Op::ModK
        | Op::IDivK
        | Op::Mod
        | Op::IDiv
        | Op::BAndK
        | Op::BOrK
        | Op::BXorK
        | Op::BAnd
        | Op::BOr
        | Op::BXor
        | Op::Shl
        | Op::Shr
        | Op::ShlI
        | Op::ShrI
        | Op::BNot => &[Integers],
        Op::GetTable | Op::GetI | Op::SetTable | Op::SetTableK | Op::SetI | Op::SetIK => {
            &[Integers, Floats, Values, Booleans]
        }
        _ => &[],
    }
}

/// Returns the condition under which an opcode's variant for a speculation is chosen.
pub fn condition(op: Op, speculation: Speculation) -> Condition {
    let constant = |tag| operator(op).and_then(|o| o.constant).map(|field| (field, tag));
    let numbers = |seen, tag| Condition { mask: operands::ALL, seen, constant: constant(tag) };
    let array = |kind| Condition {
        mask: access::ALL & !access::OUTSIDE & !access::SPARSE,
        seen: access::ARRAY | kind,
        constant: None,
    };
    let is_operator = operator(op).is_some();
    match speculation {
        Speculation::Integers if is_operator => numbers(operands::INT, Tag::INTEGER),
        Speculation::Floats if is_operator => numbers(operands::FLOAT, Tag::FLOAT),
        Speculation::Mixed => numbers(operands::MIXED, Tag::INTEGER),
        Speculation::Integers => array(access::INTS),
        Speculation::Floats => array(access::FLOATS),
        Speculation::Values => array(access::ANY),
        Speculation::Booleans => array(access::BOOLS),
        Speculation::Nothing => unreachable!("the general variant has no condition"),
    }
}

/// Returns the registers of an operator that may be floats which the preceding instruction has left
/// in a machine register, if the variant assumes floats.
pub fn carried(op: Op, speculation: Speculation) -> &'static [Field] {
    match operator(op) {
        Some(o) if matches!(speculation, Speculation::Floats | Speculation::Mixed) => o.registers,
        _ => &[],
    }
}

/// Returns whether a variant leaves its result, a float, in a machine register too.
pub fn carries(op: Op, speculation: Speculation) -> bool {
    let is_test = perilune_bytecode::flow::is_test(op);
    !is_test && !carried(op, speculation).is_empty()
}
