//! The verifier: checks all properties of the code on which the interpreter relies without further
//! checks.
//!
//! It makes three passes over each function: operands by themselves ([`operands`]), the shape of
//! control flow ([`shape`]), and the contents of registers on every path ([`flow`]). After them:
//!
//! 1. Operands name existing registers, constants of the right type, upvalues and functions.
//! 2. Control stays in the code, never enters a pair (test and JMP, LOADKX or SETLIST and EXTRAARG,
//!    producer and consumer of a multiple value) in its middle, and never runs off the end.
//! 3. No register is read that was not written on every path since its last release; so neither the
//!    header of a finished call nor a slot that a collection did not see is ever read.
//! 4. A return that does not close variables is reached only if there is no open upvalue and no
//!    pending to-be-closed variable.
//! 5. The state of a numeric loop is written only by the instructions of that loop, and no closure
//!    captures it, or the position of a generic loop.

mod flow;
mod operands;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::proto::Proto;

/// The deepest nesting of functions; the parser's limit is lower.
const MAX_NESTING: usize = 220;

/// The reason why a function may not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// What is wrong.
    pub reason: &'static str,
    /// The pc of the instruction that violates the property, if there is one.
    pub pc: Option<usize>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pc {
            Some(pc) => write!(f, "{} at instruction {pc}", self.reason),
            None => f.write_str(self.reason),
        }
    }
}

impl std::error::Error for VerifyError {}

type Result<T = ()> = std::result::Result<T, VerifyError>;

fn ensure(condition: bool, pc: usize, reason: &'static str) -> Result {
    if condition { Ok(()) } else { Err(VerifyError { reason, pc: Some(pc) }) }
}

fn ensure_all(condition: bool, reason: &'static str) -> Result {
    if condition { Ok(()) } else { Err(VerifyError { reason, pc: None }) }
}

/// Verifies a function and all functions inside it.
///
/// # Errors
/// Returns the first property that does not hold.
pub fn verify(proto: &Proto) -> Result {
    verify_nested(proto, None, 0)
}

fn verify_nested(proto: &Proto, parent: Option<&Proto>, depth: usize) -> Result {
    ensure_all(depth <= MAX_NESTING, "functions nest too deeply")?;
    tables(proto, parent)?;
    operands::check(proto)?;
    shape::check(proto)?;
    flow::check(proto)?;
    proto.protos.iter().try_for_each(|inner| verify_nested(inner, Some(proto), depth + 1))
}

/// Checks everything except the code.
fn tables(proto: &Proto, parent: Option<&Proto>) -> Result {
    ensure_all(!proto.code.is_empty(), "no code")?;
    ensure_all(proto.code.len() <= i32::MAX as usize, "too much code")?;
    ensure_all(proto.num_params <= proto.max_stack, "more parameters than registers")?;
    ensure_all(proto.upvalues.len() <= 255, "too many upvalues")?;
    let lines = proto.lines.len();
    ensure_all(lines == 0 || lines == proto.code.len(), "bad line table")?;
    if let Some(parent) = parent {
        for upvalue in &proto.upvalues {
            let limit =
                if upvalue.in_stack { parent.max_stack as usize } else { parent.upvalues.len() };
            ensure_all((upvalue.index as usize) < limit, "bad upvalue source")?;
        }
    }
    for local in &proto.locals {
        let in_order = local.start_pc <= local.end_pc && local.end_pc as usize <= proto.code.len();
        ensure_all(in_order && local.register < proto.max_stack, "bad local variable")?;
    }
    Ok(())
}
