//! Listings of the results of analyses, for their tests.

use std::fmt::Write as _;
use std::sync::Arc;

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::{Proto, disassemble_instruction};

use super::flow::Flow;
use crate::entity::Pc;

/// Compiles a chunk.
pub(crate) fn compile(source: &str) -> Arc<Proto> {
    let chunk = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
    chunk.unwrap_or_else(|_| panic!("it compiles"))
}

/// Checks the listing of the reachable instructions, each with its description by `describe`. Lines
/// of the listing have the instruction without its comment.
#[track_caller]
pub(crate) fn check(proto: &Proto, flow: &Flow, describe: impl Fn(Pc) -> String, expected: &str) {
    let mut found = String::new();
    for pc in Pc::all(proto).filter(|&pc| flow.reached[pc]) {
        let line = disassemble_instruction(proto, pc.index());
        let instruction = line.split(';').next().unwrap_or_default();
        // without the source line
        let words: Vec<&str> =
            instruction.split_whitespace().filter(|word| !word.starts_with('[')).collect();
        let line = format!("{}: {}", words.join(" "), describe(pc));
        let _ = writeln!(found, "{}", line.trim_end().trim_end_matches(':'));
    }
    let expected: String =
        expected.trim().lines().map(|line| format!("{}\n", line.trim())).collect();
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}
