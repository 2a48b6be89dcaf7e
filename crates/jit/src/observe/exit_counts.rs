//! Counts the exits of code, by place.

use std::collections::HashMap;
use std::fmt::Write as _;

use perilune_bytecode::{Proto, disassemble_instruction};
use perilune_code::lock::{Mutex, lock};

use super::label::Label;

/// The number of places that are reported.
const REPORTED: usize = 20;

/// Counts of exits by function and instruction.
#[derive(Default)]
pub(crate) struct ExitCounts(Mutex<HashMap<(String, u32), (u64, String)>>);

impl ExitCounts {
    /// Counts an exit at the instruction at `pc` of a function.
    pub(crate) fn count(&self, label: &Label, proto: &Proto, pc: u32) {
        let mut counts = lock(&self.0);
        let instruction = || disassemble_instruction(proto, pc as usize).trim().to_owned();
        let entry = counts.entry((label.to_string(), pc));
        entry.or_insert_with(|| (0, instruction())).0 += 1;
    }

    /// Returns a line for each of the places with the most exits, in descending order.
    pub(crate) fn text(&self) -> String {
        let counts = lock(&self.0);
        let mut all: Vec<_> = counts.iter().collect();
        all.sort_unstable_by(|(a, (n, _)), (b, (m, _))| m.cmp(n).then(a.cmp(b)));
        let mut out = String::new();
        for ((label, _), (n, instruction)) in all.into_iter().take(REPORTED) {
            let _ = writeln!(out, "{n:>16}  exits at {label}: {instruction}");
        }
        out
    }
}
