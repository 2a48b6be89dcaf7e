//! The definitions, by opcode.
//!
//! A definition may have several parts: code that calls the runtime is in a part of its own, so
//! that the first part needs no native frame.

mod arithmetic;
mod calls;
mod comparisons;
mod elements;
mod fields;
mod globals;
mod loops;
mod moves;
mod objects;

use perilune_bytecode::Op;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump};
use crate::runtime::Runtime;

use arithmetic::{Bitwise, Numeric, Operand};
use comparisons::Order;

/// Returns the number of parts of an opcode's definition; 0 for EXTRAARG, which is an operand of
/// the instruction before it.
pub fn parts(op: Op) -> usize {
    match op {
        Op::ExtraArg => 0,
        Op::GetField | Op::SelfK => 5,
        Op::Call | Op::SetField | Op::SetFieldK => 4,
        Op::Return | Op::Return0 | Op::Return1 => 3,
        Op::GetTable
        | Op::SetTable
        | Op::SetTableK
        | Op::SetI
        | Op::SetIK
        | Op::GetI
        | Op::Mod
        | Op::ModK
        | Op::IDiv
        | Op::IDivK
        | Op::Lt
        | Op::Le
        | Op::TailCall
        | Op::TForCall
        | Op::NewTable => 2,
        _ => 1,
    }
}

/// Returns the function of the runtime that executes those instructions of an opcode that its
/// definition leaves to the runtime.
pub fn step(op: Op) -> Runtime {
    match op {
        Op::GetField | Op::SelfK => Runtime::StepGetField,
        Op::GetTable | Op::GetI | Op::SelfR => Runtime::StepGet,
        Op::GetTabUp => Runtime::StepGetGlobal,
        Op::SetField | Op::SetFieldK => Runtime::StepSetField,
        Op::SetTable | Op::SetTableK | Op::SetI | Op::SetIK => Runtime::StepSet,
        Op::Len => Runtime::StepLength,
        Op::Eq => Runtime::StepEqual,
        Op::Lt | Op::Le => Runtime::StepOrder,
        Op::Call => Runtime::StepCall,
        Op::TailCall => Runtime::StepTailCall,
        Op::Return | Op::Return0 | Op::Return1 => Runtime::StepReturn,
        Op::ForPrep => Runtime::StepPrepare,
        Op::TForCall => Runtime::StepIterate,
        _ => Runtime::Single,
    }
}

/// Emits a part of the definition of an opcode.
///
/// # Panics
/// Panics if there is no such part.
pub fn define<F: Form>(e: &mut Emitter<'_, F>, op: Op, part: usize) {
    assert!(part < parts(op), "{op:?} has no part {part}");
    use Field::{A, B, Bx, C};
    use Operand::{Constant, Immediate, Register};
    match op {
        Op::Move => e.move_from(Jump::Next, |e| e.register(B)),
        Op::LoadK => e.move_from(Jump::Next, |e| e.constant(Bx)),
        Op::LoadKX => e.move_from(Jump::Skip, |e| e.constant(Field::Extra)),
        Op::LoadI => e.load_integer(),
        Op::LoadF => e.load_float(),
        Op::LoadFalse => e.load_plain(Tag::FALSE, Jump::Next),
        Op::LFalseSkip => e.load_plain(Tag::FALSE, Jump::Skip),
        Op::LoadTrue => e.load_plain(Tag::TRUE, Jump::Next),
        Op::LoadNil => e.load_nils(),
        Op::GetUpval => e.get_upvalue(),
        Op::SetUpval => e.set_upvalue(),
        Op::GetTabUp => e.get_global(),
        Op::SetTabUp => e.set_global(|e| e.register(C)),
        Op::SetTabUpK => e.set_global(|e| e.constant(C)),
        Op::GetTable => e.get_table(part),
        Op::GetI => e.get_element(part),
        Op::SetTable => e.set_table(part, |e| e.register(C)),
        Op::SetTableK => e.set_table(part, |e| e.constant(C)),
        Op::SetI => e.set_element(part, |e| e.register(C)),
        Op::SetIK => e.set_element(part, |e| e.constant(C)),
        Op::GetField => e.get_field(part, false),
        Op::SelfK => e.get_field(part, true),
        Op::SelfR => e.get_named_method(),
        Op::SetField => e.set_field(part, |e| e.register(C)),
        Op::SetFieldK => e.set_field(part, |e| e.constant(C)),
        Op::NewTable => e.new_table(part),
        Op::Closure => e.closure(),
        Op::SetList => e.set_list(),
        Op::VarArg => e.extra_arguments(),
        Op::Concat => e.join(),
        Op::CallMeta => e.set_class(),

        Op::AddI => e.arithmetic(Numeric::Add, Register(B), Immediate(C)),
        Op::SubI => e.arithmetic(Numeric::Sub, Register(B), Immediate(C)),
        Op::AddK => e.arithmetic(Numeric::Add, Register(B), Constant(C)),
        Op::SubK => e.arithmetic(Numeric::Sub, Register(B), Constant(C)),
        Op::MulK => e.arithmetic(Numeric::Mul, Register(B), Constant(C)),
        Op::KAdd => e.arithmetic(Numeric::Add, Constant(B), Register(C)),
        Op::KSub => e.arithmetic(Numeric::Sub, Constant(B), Register(C)),
        Op::KMul => e.arithmetic(Numeric::Mul, Constant(B), Register(C)),
        Op::Add => e.arithmetic(Numeric::Add, Register(B), Register(C)),
        Op::Sub => e.arithmetic(Numeric::Sub, Register(B), Register(C)),
        Op::Mul => e.arithmetic(Numeric::Mul, Register(B), Register(C)),
        Op::DivK => e.divide(Register(B), Constant(C)),
        Op::KDiv => e.divide(Constant(B), Register(C)),
        Op::Div => e.divide(Register(B), Register(C)),
        Op::PowK => e.power(Register(B), Constant(C)),
        Op::Pow => e.power(Register(B), Register(C)),
        Op::ModK => e.floor_divide(part, true, Register(B), Constant(C)),
        Op::Mod => e.floor_divide(part, true, Register(B), Register(C)),
        Op::IDivK => e.floor_divide(part, false, Register(B), Constant(C)),
        Op::IDiv => e.floor_divide(part, false, Register(B), Register(C)),
        Op::BAndK => e.bitwise(Bitwise::And, Register(B), Constant(C)),
        Op::BOrK => e.bitwise(Bitwise::Or, Register(B), Constant(C)),
        Op::BXorK => e.bitwise(Bitwise::Xor, Register(B), Constant(C)),
        Op::BAnd => e.bitwise(Bitwise::And, Register(B), Register(C)),
        Op::BOr => e.bitwise(Bitwise::Or, Register(B), Register(C)),
        Op::BXor => e.bitwise(Bitwise::Xor, Register(B), Register(C)),
        Op::ShlI => e.bitwise(Bitwise::ShiftLeft, Register(B), Immediate(C)),
        Op::ShrI => e.bitwise(Bitwise::ShiftRight, Register(B), Immediate(C)),
        Op::Shl => e.bitwise(Bitwise::ShiftLeft, Register(B), Register(C)),
        Op::Shr => e.bitwise(Bitwise::ShiftRight, Register(B), Register(C)),
        Op::Unm => e.negate(),
        Op::BNot => e.invert(),
        Op::Not => e.not(),
        Op::Len => e.length(),

        Op::Jmp => e.take(Jump::Own, |_| {}),
        Op::Eq => e.equal(),
        Op::EqK => e.equal_constant(),
        Op::EqI => e.equal_immediate(),
        Op::Lt => e.order(part, Order::Less),
        Op::Le => e.order(part, Order::LessEqual),
        Op::LtI => e.order_immediate(Order::Less),
        Op::LeI => e.order_immediate(Order::LessEqual),
        Op::GtI => e.order_immediate(Order::Greater),
        Op::GeI => e.order_immediate(Order::GreaterEqual),
        Op::Test => e.test(A, None),
        Op::TestSet => e.test(B, Some(A)),

        Op::Call => e.call_function(part),
        Op::TailCall => e.tail_call(part),
        Op::Close => e.close(),
        Op::Tbc => e.mark_to_close(),
        Op::Return => e.return_values(part),
        Op::Return0 => e.return_nothing(part),
        Op::Return1 => e.return_one(part),
        Op::ForPrep => e.prepare_loop(),
        Op::ForLoop => e.numeric_round(),
        Op::TForPrep => e.start_generic(),
        Op::TForCall => e.generic_call(part),
        Op::TForLoop => e.generic_round(),
        // The call has already set up the frame.
        Op::VarArgPrep => e.next(),
        Op::ExtraArg => unreachable!("there is no definition"),
    }
}
