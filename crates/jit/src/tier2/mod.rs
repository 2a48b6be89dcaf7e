//! Tier 2: the optimizing compiler.
//!
//! The compiler builds a function in SSA form ([`ir`]) from bytecode and feedback, runs passes on
//! it and lowers it to Cranelift IR. `--dump=ssa` prints the function. For an instruction that has
//! no operation in this representation, [`generic`](crate::generic) emits the code.

mod build;
mod dominators;
pub(crate) mod ir;
mod known;
mod loops;
mod lower;
#[cfg(test)]
mod parse;
mod passes;
mod print;
mod rows;
mod shapes;
mod verify;

use std::collections::HashSet;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilderContext;

use build::Loops;

use crate::analysis::complete::Invocation;
use crate::analysis::live::Live;
use crate::codegen::inline::{Caller, InlinedFrame};
use crate::entity::Pc;
use crate::generic::single::Generic;
use crate::pipeline::input::{Input, Translated};
use crate::pipeline::symbols::Callees;
use crate::testing::fault::Fault;

/// Fills `func` with the code of a function.
///
/// # Errors
/// Returns the error that the verifier finds in the intermediate representation, if it runs.
pub(crate) fn compile(
    func: &mut Function,
    context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    input: &Input<'_>,
    mut callees: Callees<'_>,
) -> Result<Translated, String> {
    let mut candidates = Vec::new();
    let called = Invocation { proto: input.proto, snapshot: input.snapshot, passed: None };
    let calls = build::add_candidates(&mut candidates, called, input.inlinees);
    let mut loops = Loops::default();
    loop {
        let mut generic = Generic::begin(func, context, input, callees.again());
        let f = build(&generic, input, (&candidates, &calls), &mut loops)?;
        generic.set_captured(&f.captured);
        add_frames(&mut generic, &f, &candidates);
        lower::reserve_virtuals(&f, generic.emit());
        generic.enter(Pc::new(input.entry.unwrap_or(0)));
        let mut noisy = HashSet::new();
        let exits = lower::lower(&f, generic, &mut noisy).finish(isa);
        if noisy.is_empty() || input.fault == Some(Fault::NoisyLoops) {
            return Ok(Translated { exits, ssa: f });
        }
        noisy.into_iter().for_each(|place| loops.note_noisy(place));
        func.clear();
    }
}

/// Builds the intermediate representation of a function, and runs the passes.
fn build(
    generic: &Generic<'_>,
    input: &Input<'_>,
    (candidates, calls): (&[build::Candidate<'_>], &build::Calls),
    loops: &mut Loops,
) -> Result<ir::Function, String> {
    let (flow, _, tags) = generic.analyses();
    let needed = Live::in_interpreter(input.proto);
    let source = build::Source {
        proto: input.proto,
        snapshot: input.snapshot,
        flow,
        needed: &needed,
        tags,
        calls,
        entry: Pc::new(input.entry.unwrap_or(0)),
        is_loop: input.entry.is_some(),
        early: None,
        counts: input.counts,
        verify_values: input.verify_values,
        fault: input.fault,
    };
    let mut f = build::build(source, candidates, loops);
    check(&f, "building", input)?;
    passes::run(&mut f, input.verify_values, input.fault);
    check(&f, "the passes", input)?;
    Ok(f)
}

/// Adds the frames of inlined functions to `generic`, which translates their instructions.
fn add_frames<'a>(generic: &mut Generic<'a>, f: &ir::Function, all: &[build::Candidate<'a>]) {
    generic.emit().reserve(f.frames[ir::Frame::new(0)].size);
    for frame in f.frames.values() {
        let (Some(inlinee), Some(caller)) = (frame.inlinee, frame.caller) else { continue };
        // a call in a loop with a peeled iteration has two frames
        let part = all[inlinee].part.clone();
        let ir::Caller { frame: at, pc, is_tail } = caller;
        let caller = Caller { frame: at.index(), pc, is_tail };
        let &ir::FrameData { offset, size, extra, .. } = frame;
        generic.add_frame(part, InlinedFrame { caller, offset, size, extra });
    }
}

/// Verifies the function if the options ask for it.
fn check(f: &ir::Function, after: &str, input: &Input<'_>) -> Result<(), String> {
    match input.verify {
        true => verify::verify(f).map_err(|e| format!("verifier: after {after}: {e}\n{f}")),
        false => Ok(()),
    }
}
