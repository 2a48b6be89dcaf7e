//! Writes compiled functions as assembly: bytes with a listing next to them, jumps and references
//! by label, and unwind data.
//!
//! The parts of a native frame that a function does not need are removed (`super::frame`).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use iced_x86::{Formatter, Instruction, IntelFormatter, Mnemonic, OpKind};

use super::frame::{PROLOGUE, Saved, decode, is_epilogue, spills};
use super::pinned;
use crate::compiled::{Assembled, Compiled};
use crate::symbol::Symbol;

/// Returns a function as assembly.
pub(super) fn assemble(symbol: Symbol, code: &Compiled) -> Result<Assembled, String> {
    let label = symbol.label();
    let fail = |what: &str, at: u64| format!("{label}: {what} at {at:#x}");
    let bytes = &code.bytes;
    if !bytes.starts_with(&PROLOGUE) {
        return Err(fail("no prologue", 0));
    }
    let list = decode(bytes);
    let has_frame = list.iter().any(|i| i.mnemonic() == Mnemonic::Call) || spills(&list);
    let targets: BTreeSet<u64> = list
        .iter()
        .filter(|i| is_branch(i) && reference(code, i).is_none())
        .map(Instruction::near_branch_target)
        .collect();
    let starts: BTreeSet<u64> = list.iter().map(Instruction::ip).collect();
    if !targets.is_subset(&starts) {
        return Err(fail("a jump into an instruction", 0));
    }

    let mut out = String::new();
    let mut count = 0;
    // The most frequently executed functions begin at a cache line.
    let align = if matches!(symbol, Symbol::Handler(_, 0)) { 6 } else { 4 };
    writeln!(
        out,
        "    .p2align {align}\n    .type {label}, @function\n{label}:\n    .cfi_startproc"
    )
    .expect("a string grows");
    let direct = pinned::accesses(&list, &targets);
    let mut saved = Saved::default();
    let mut left_frame = false;
    for i in &list {
        let at = i.ip() as usize;
        if i.is_invalid() {
            return Err(fail("bytes that are no instruction", i.ip()));
        }
        if targets.contains(&i.ip()) {
            writeln!(out, ".L{label}_{at:x}:").expect("a string grows");
        }
        let in_epilogue = is_epilogue(bytes, &starts, at);
        let setup = at < PROLOGUE.len();
        if !has_frame && (setup || in_epilogue || saved.is_save(i)) {
            continue;
        }
        if has_frame && !setup && !in_epilogue && saved.is_move(i) {
            continue;
        }
        match direct.get(&i.ip()) {
            Some(None) => continue,
            Some(Some(text)) => {
                count += 1;
                writeln!(out, "    {text}").expect("a string grows");
                continue;
            }
            None => {}
        }
        count += 1;
        write_instruction(&mut out, &label, code, i).map_err(|what| fail(&what, i.ip()))?;
        if has_frame && setup {
            out.push_str(if at == 0 {
                "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
            } else {
                "    .cfi_def_cfa_register rbp\n"
            });
        } else if has_frame && in_epilogue && i.mnemonic() == Mnemonic::Pop {
            out.push_str("    .cfi_remember_state\n    .cfi_def_cfa rsp, 8\n");
            left_frame = true;
        } else if left_frame {
            // the jump or return after the epilogue
            out.push_str("    .cfi_restore_state\n");
            left_frame = false;
        }
    }
    writeln!(out, "    .cfi_endproc\n    .size {label}, . - {label}\n").expect("a string grows");
    Ok(Assembled { text: out, count, has_frame })
}

/// Returns whether an instruction is a jump to a known place.
pub(super) fn is_branch(i: &Instruction) -> bool {
    i.op0_kind() == OpKind::NearBranch64 && i.mnemonic() != Mnemonic::Call
}

/// Returns the symbol to which an instruction refers.
pub(super) fn reference(code: &Compiled, i: &Instruction) -> Option<Symbol> {
    let place = (i.next_ip() as usize).checked_sub(4)?;
    code.references.iter().find(|r| r.at == place).map(|r| r.to)
}

/// Writes an instruction: as text if it contains a label, otherwise as bytes.
fn write_instruction(
    out: &mut String,
    label: &str,
    code: &Compiled,
    i: &Instruction,
) -> Result<(), String> {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let to = reference(code, i).map(Symbol::label);
    match to {
        Some(to) if i.op0_kind() == OpKind::NearBranch64 => {
            writeln!(out, "    {name} {to}").map_err(|e| e.to_string())?;
        }
        Some(to) if i.mnemonic() == Mnemonic::Mov => {
            let register = format!("{:?}", i.op0_register()).to_lowercase();
            writeln!(out, "    mov {register}, [rip + {to}@GOTPCREL]")
                .map_err(|e| e.to_string())?;
        }
        Some(to) => return Err(format!("a reference to {to}")),
        None if is_branch(i) => {
            let target = i.near_branch_target();
            writeln!(out, "    {name} .L{label}_{target:x}").map_err(|e| e.to_string())?;
        }
        None => {
            if i.mnemonic() == Mnemonic::Call || i.is_ip_rel_memory_operand() {
                return Err(format!("{name}, which depends on its address"));
            }
            let at = i.ip() as usize;
            let bytes: Vec<String> =
                code.bytes[at..at + i.len()].iter().map(|b| format!("{b:#04x}")).collect();
            let mut text = String::new();
            IntelFormatter::new().format(i, &mut text);
            writeln!(out, "    .byte {:<54} # {text}", bytes.join(", "))
                .map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}
