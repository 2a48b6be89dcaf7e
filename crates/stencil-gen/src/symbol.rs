//! The functions of generated code, and the functions that it refers to.

use perilune_bytecode::Op;
use perilune_semantics::{Jump, Runtime, parts, step};

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    /// A part of the handler of an opcode.
    Handler(Op, usize),
    /// Calls a function of the runtime to execute one instruction.
    Step(Runtime),
    /// Calls the runtime, after an instruction, to handle the requests in the poll word.
    Poll,
    /// Continues with the frame on top. This is the entry to the interpreter.
    Continue,
    /// Begins a function whose frame is on top, and which has no stitched code.
    Enter,
    /// Continues in a function that has no stitched code.
    Return,
    /// Calls the runtime to stitch the code of the function that is about to begin, and begins it.
    Stitch,
    /// Continues in the stitched code of the running function, if it has some. Handlers jump here
    /// after an instruction that stitched code has left to them.
    Resume,
    /// The function in the slots of methods without machine code. It is not generated.
    Interpret,
    /// A function of the runtime. It is not generated.
    Runtime(Runtime),
    /// The stitched code of another instruction of the function. It is not generated.
    Target(Jump),
}

/// The targets of jumps, in the order of their external names.
pub(crate) const JUMPS: [Jump; 8] = [
    Jump::Next,
    Jump::Skip,
    Jump::Own,
    Jump::Following,
    Jump::Back,
    Jump::Ahead,
    Jump::Past,
    Jump::General,
];

/// The namespace of generated functions among the external names of generated code.
const GENERATED: u32 = 0;
/// The number of parts that have names.
const PARTS: u32 = 5;
/// The first external name after those of handlers.
const OTHERS: u32 = 256 * PARTS;
/// The functions that are generated besides the handlers, in the order of their external names.
const FIXED: [Symbol; 6] =
    [Symbol::Poll, Symbol::Continue, Symbol::Enter, Symbol::Return, Symbol::Stitch, Symbol::Resume];
/// The namespace of places in stitched code.
const STITCHED: u32 = 2;

impl Symbol {
    /// Returns all functions that are generated. The first parts of handlers, which are executed
    /// most, come first.
    pub(crate) fn generated() -> Vec<Symbol> {
        let handlers = (0..PARTS as usize).flat_map(|part| {
            let having = Op::ALL.iter().filter(move |&&op| part < parts(op));
            having.map(move |&op| Symbol::Handler(op, part))
        });
        let steps = Symbol::steps().into_iter().map(Symbol::Step);
        handlers.chain(steps).chain(FIXED).collect()
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

    /// Returns the name by which Cranelift knows the symbol.
    pub(crate) fn external(self) -> (u32, u32) {
        match self {
            Symbol::Handler(op, part) => (GENERATED, op as u32 * PARTS + part as u32),
            Symbol::Interpret => (GENERATED, OTHERS + FIXED.len() as u32),
            Symbol::Step(f) => (GENERATED, OTHERS + 1 + FIXED.len() as u32 + f as u32),
            Symbol::Target(jump) => (STITCHED, jump as u32),
            Symbol::Runtime(f) => f.external(),
            fixed => {
                let index = FIXED.iter().position(|&other| other == fixed);
                (GENERATED, OTHERS + index.expect("it is listed") as u32)
            }
        }
    }

    /// Returns the symbol with an external name.
    pub(crate) fn from_external(namespace: u32, index: u32) -> Option<Symbol> {
        let runtime = Runtime::ALL.iter().map(|&f| Symbol::Runtime(f));
        let targets = JUMPS.map(Symbol::Target);
        let generated = Symbol::generated().into_iter();
        let mut all = generated.chain([Symbol::Interpret]).chain(runtime).chain(targets);
        all.find(|symbol| symbol.external() == (namespace, index))
    }

    /// Returns the label in assembly. Labels in braces are operands of the template.
    pub(crate) fn label(self) -> String {
        match self {
            Symbol::Handler(op, 0) => format!("perilune_{}", op.name()),
            Symbol::Handler(op, part) => format!("perilune_{}_{part}", op.name()),
            Symbol::Step(f) => format!("perilune_{}", f.name().to_uppercase()),
            Symbol::Poll => "perilune_POLL".to_owned(),
            Symbol::Continue => "perilune_CONTINUE".to_owned(),
            Symbol::Enter => "perilune_ENTER".to_owned(),
            Symbol::Return => "perilune_INTERPRET".to_owned(),
            Symbol::Stitch => "perilune_STITCH".to_owned(),
            Symbol::Resume => "perilune_RESUME".to_owned(),
            Symbol::Target(jump) => format!("{jump:?}"),
            Symbol::Interpret => "{interpret}".to_owned(),
            Symbol::Runtime(f) => format!("{{{}}}", f.name()),
        }
    }
}

/// An entry of the table of handlers, after the entries that dispatch instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// A part of the handler of an opcode.
    Handler(Op, usize),
    /// A function that is not the handler of an opcode.
    Function(Symbol),
    /// The table by which the interpreter dispatches.
    Interpreting,
    /// The table by which handlers return to stitched code.
    Returning,
}

impl Route {
    /// Returns all entries, in their order.
    pub(crate) fn all() -> Vec<Route> {
        let handlers = Op::ALL
            .iter()
            .flat_map(|&op| (0..parts(op).max(1)).map(move |part| Route::Handler(op, part)));
        let functions = [Symbol::Poll, Symbol::Enter, Symbol::Return, Symbol::Interpret];
        let others = [Route::Interpreting, Route::Returning];
        let steps = Symbol::steps().into_iter().map(|f| Route::Function(Symbol::Step(f)));
        handlers.chain(steps).chain(functions.map(Route::Function)).chain(others).collect()
    }

    /// Returns the distance of the entry in bytes from the beginning of a table.
    ///
    /// # Panics
    /// Panics if there is no such entry.
    pub(crate) fn offset(self) -> i32 {
        let index = Route::all().iter().position(|&other| other == self);
        let index = Op::COUNT + index.expect("there is such an entry");
        (index * size_of::<usize>()) as i32
    }

    /// Returns the label of the function or table in the entry.
    pub(crate) fn label(self) -> String {
        match self {
            Route::Handler(op, 0) => Symbol::entry(op).label(),
            Route::Handler(op, part) => Symbol::Handler(op, part).label(),
            Route::Function(symbol) => symbol.label(),
            Route::Interpreting => "perilune_handlers".to_owned(),
            Route::Returning => "perilune_returning".to_owned(),
        }
    }
}
