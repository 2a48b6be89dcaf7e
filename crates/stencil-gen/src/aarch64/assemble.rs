//! Writes compiled functions as assembly.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cranelift_codegen::binemit::Reloc;

use super::frame::{Body, LINK, POP, PUSH, body};
use super::instr::Instr;
use crate::compiled::{Assembled, Compiled, Reference};
use crate::symbol::Symbol;

/// Returns a function as assembly.
pub(super) fn assemble(symbol: Symbol, code: &Compiled) -> Result<Assembled, String> {
    let label = symbol.label();
    let Body { list, has_frame } = body(&code.bytes).map_err(|what| format!("{label}: {what}"))?;
    let starts: BTreeSet<usize> = list.iter().map(|i| i.at).collect();
    // Jumps to removed instructions are redirected to the next remaining instruction.
    let target = |i: &Instr| starts.range(i.target()?..).next().copied();
    let branches = list.iter().filter(|i| reference(code, i).is_none());
    let targets: BTreeSet<usize> = branches.filter_map(target).collect();

    let mut out = String::new();
    // The most frequently executed functions begin at a cache line.
    let align = if matches!(symbol, Symbol::Handler(_, 0)) { 6 } else { 4 };
    let mut write = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string grows");
    write(format_args!(
        "    .p2align {align}\n    .type {label}, @function\n{label}:\n    .cfi_startproc\n"
    ));
    let mut left_frame = false;
    for i in &list {
        if targets.contains(&i.at) {
            write(format_args!(".L{label}_{:x}:\n", i.at));
        }
        let text = match reference(code, i) {
            Some(r) => referring(i, r),
            None => plain(&label, i, target(i)),
        };
        let text = text.map_err(|what| format!("{label}: {what} at {:#x}", i.at))?;
        write(format_args!("    {text}\n"));
        match i.word {
            PUSH if has_frame => write(format_args!(
                "    .cfi_def_cfa_offset 16\n    .cfi_offset x29, -16\n    .cfi_offset x30, -8\n"
            )),
            LINK if has_frame => write(format_args!("    .cfi_def_cfa_register x29\n")),
            POP if has_frame => {
                write(format_args!("    .cfi_remember_state\n    .cfi_def_cfa sp, 0\n"));
                write(format_args!("    .cfi_restore x29\n    .cfi_restore x30\n"));
                left_frame = true;
            }
            // the jump or return after the frame was removed
            _ if left_frame => {
                write(format_args!("    .cfi_restore_state\n"));
                left_frame = false;
            }
            _ => {}
        }
    }
    write(format_args!("    .cfi_endproc\n    .size {label}, . - {label}\n\n"));
    Ok(Assembled { text: out, count: list.len(), has_frame })
}

/// Returns the reference that an instruction contains.
pub(super) fn reference<'a>(code: &'a Compiled, i: &Instr) -> Option<&'a Reference> {
    code.references.iter().find(|r| r.at == i.at)
}

/// Returns the text of an instruction with a reference.
fn referring(i: &Instr, reference: &Reference) -> Result<String, String> {
    let to = reference.to.label();
    let x = i.destination();
    match reference.kind {
        Reloc::Arm64Call if i.is_jump() => Ok(format!("b {to}")),
        Reloc::Arm64Call if i.is_call() => Ok(format!("bl {to}")),
        Reloc::Aarch64AdrPrelPgHi21 => Ok(format!("adrp x{x}, {to}")),
        Reloc::Aarch64AddAbsLo12Nc => Ok(format!("add x{x}, x{x}, :lo12:{to}")),
        Reloc::Aarch64AdrGotPage21 => Ok(format!("adrp x{x}, :got:{to}")),
        Reloc::Aarch64Ld64GotLo12Nc => Ok(format!("ldr x{x}, [x{x}, :got_lo12:{to}]")),
        _ => Err(format!("a reference to {to}")),
    }
}

/// Returns the text of an instruction without a reference: the mnemonic and a label if it branches
/// to a target, otherwise its encoding with a listing.
fn plain(label: &str, i: &Instr, target: Option<usize>) -> Result<String, String> {
    if let Some(text) = i.branch_text() {
        let target = target.ok_or("a branch to the end")?;
        return Ok(format!("{text}.L{label}_{target:x}"));
    }
    let text = i.text()?;
    if i.depends_on_address() {
        return Err(format!("{text}, which depends on its address"));
    }
    // braces are operands of the template that contains the assembly
    let text = text.replace('{', "{{").replace('}', "}}");
    Ok(format!(".inst {:#010x} // {text}", i.word))
}
