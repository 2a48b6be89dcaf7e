//! The functions of generated code, and those that it names.

use perilune_bytecode::Op;
use perilune_semantics::{Runtime, parts, step};

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    /// A part of the handler of an opcode.
    Handler(Op, usize),
    /// Has a function of the runtime execute one instruction.
    Step(Runtime),
    /// Has the runtime do what the poll word requests after an instruction.
    Poll,
    /// Continues with the frame on top: what the interpreter enters.
    Continue,
    /// What the slots of methods without machine code hold. It is not generated.
    Interpret,
    /// A function of the runtime. It is not generated.
    Runtime(Runtime),
}

/// The namespace of generated functions among the external names of generated code.
const GENERATED: u32 = 0;
/// The number of parts that have names.
const PARTS: u32 = 4;
/// The first name that is not that of a handler.
const OTHERS: u32 = 256 * PARTS;

impl Symbol {
    /// Returns all functions that are generated.
    pub(crate) fn generated() -> Vec<Symbol> {
        let handlers = Op::ALL
            .iter()
            .flat_map(|&op| (0..parts(op)).map(move |part| Symbol::Handler(op, part)));
        let steps = Symbol::steps().into_iter().map(Symbol::Step);
        handlers.chain(steps).chain([Symbol::Poll, Symbol::Continue]).collect()
    }

    /// Returns the functions of the runtime that execute one instruction.
    fn steps() -> Vec<Runtime> {
        let wanted = |f: &Runtime| Op::ALL.iter().any(|&op| step(op) == *f);
        Runtime::ALL.iter().copied().filter(wanted).collect()
    }

    /// Returns the handler of an opcode.
    pub(crate) fn entry(op: Op) -> Symbol {
        if parts(op) == 0 { Symbol::Step(step(op)) } else { Symbol::Handler(op, 0) }
    }

    /// Returns the name that Cranelift knows it by.
    pub(crate) fn external(self) -> (u32, u32) {
        match self {
            Symbol::Handler(op, part) => (GENERATED, op as u32 * PARTS + part as u32),
            Symbol::Poll => (GENERATED, OTHERS),
            Symbol::Continue => (GENERATED, OTHERS + 1),
            Symbol::Interpret => (GENERATED, OTHERS + 2),
            Symbol::Step(f) => (GENERATED, OTHERS + 3 + f as u32),
            Symbol::Runtime(f) => f.external(),
        }
    }

    /// Returns the symbol with a name.
    pub(crate) fn from_external(namespace: u32, index: u32) -> Option<Symbol> {
        let fixed = [Symbol::Interpret];
        let runtime = Runtime::ALL.iter().map(|&f| Symbol::Runtime(f));
        let generated = Symbol::generated().into_iter();
        let mut all = fixed.into_iter().chain(runtime).chain(generated);
        all.find(|symbol| symbol.external() == (namespace, index))
    }

    /// Returns the label in assembly. Those in braces are operands of the template.
    pub(crate) fn label(self) -> String {
        match self {
            Symbol::Handler(op, 0) => format!("perilune_{}", op.name()),
            Symbol::Handler(op, part) => format!("perilune_{}_{part}", op.name()),
            Symbol::Step(f) => format!("perilune_{}", f.name().to_uppercase()),
            Symbol::Poll => "perilune_POLL".to_owned(),
            Symbol::Continue => "perilune_CONTINUE".to_owned(),
            Symbol::Interpret => "{interpret}".to_owned(),
            Symbol::Runtime(f) => format!("{{{}}}", f.name()),
        }
    }
}
