//! Tier 2: the optimizing compiler.
//!
//! Bytecode and feedback become a function in SSA form ([`ir`]), which is printed by
//! `--dump=ssa`; passes change it; it is lowered to Cranelift IR. What it has no operations for is
//! executed by the code that tier 1 has for the instruction.

mod build;
pub(crate) mod ir;
mod known;
mod lower;
mod passes;
mod print;
mod verify;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;

use crate::analysis::live::Live;
use crate::codegen::inline::Caller;
use crate::entity::Pc;
use crate::pipeline::input::{Input, Translated};
use crate::pipeline::symbols::Callees;
use crate::tier1::generic::{Generic, Part};

/// Fills `func` with the code of a function.
///
/// # Errors
/// The fault that is found in the intermediate representation, where that is verified.
pub(crate) fn compile<'a>(
    func: &'a mut Function,
    context: &'a mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    input: &Input<'a>,
    callees: Callees<'a>,
) -> Result<Translated, String> {
    let entry = Pc::new(input.entry.unwrap_or(0));
    let mut generic = Generic::begin(func, context, input, callees);
    let mut candidates = Vec::new();
    let calls = build::add_candidates(&mut candidates, input.inlinees);
    let (flow, _, tags) = generic.analyses();
    let needed = Live::in_interpreter(input.proto);
    let source = build::Source {
        proto: input.proto,
        snapshot: input.snapshot,
        flow,
        needed: &needed,
        tags,
        calls: &calls,
        entry,
        is_loop: input.entry.is_some(),
        verify_values: input.verify_values,
        fault: input.fault,
    };
    let mut f = build::build(source, &candidates);
    check(&f, "building", input)?;
    passes::run(&mut f);
    check(&f, "the passes", input)?;
    add_frames(&mut generic, &f, candidates);
    generic.enter(entry);
    let exits = lower::lower(&f, generic).finish(isa);
    Ok(Translated { exits, ssa: Some(f) })
}

/// Adds the frames of inlined functions to what translates their instructions.
fn add_frames<'a>(generic: &mut Generic<'a>, f: &ir::Function, all: Vec<build::Candidate<'a>>) {
    let mut parts: Vec<Option<Part<'a>>> = all.into_iter().map(|c| Some(c.part)).collect();
    for frame in f.frames.values() {
        let (Some(inlinee), Some(caller)) = (frame.inlinee, frame.caller) else { continue };
        let part = parts[inlinee].take().expect("each is inlined at one call");
        let caller = Caller { frame: caller.frame.index(), pc: caller.pc };
        generic.add_frame(part, frame.offset, caller);
    }
}

/// Verifies the function, if that is asked for.
fn check(f: &ir::Function, after: &str, input: &Input<'_>) -> Result<(), String> {
    match input.verify {
        true => verify::verify(f).map_err(|e| format!("verifier: after {after}: {e}\n{f}")),
        false => Ok(()),
    }
}
