//! Writes compiled functions as assembly: bytes with a listing beside them, jumps and references by
//! label, and unwind data.
//!
//! The registers that functions overwrite are saved where the interpreter is entered, and one that
//! calls nothing needs no native frame. Cranelift always saves registers, and makes a frame in
//! functions with tail calls; both are removed here. The frame stays if there is a call in the
//! function or a value is spilled.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use iced_x86::{
    Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register,
};

use crate::compile::Compiled;
use crate::symbol::Symbol;

/// `push rbp; mov rbp, rsp`
const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xE5];
/// `mov rsp, rbp; pop rbp`
const EPILOGUE: [u8; 4] = [0x48, 0x89, 0xEC, 0x5D];

/// An assembled function.
pub(crate) struct Assembled {
    /// The text.
    pub(crate) text: String,
    /// Number of instructions.
    pub(crate) count: usize,
    /// Whether it makes a native frame.
    pub(crate) has_frame: bool,
}

/// Returns a function as assembly.
pub(crate) fn assemble(symbol: Symbol, code: &Compiled) -> Result<Assembled, String> {
    let label = symbol.label();
    let fail = |what: &str, at: u64| format!("{label}: {what} at {at:#x}");
    let bytes = &code.bytes;
    if !bytes.starts_with(&PROLOGUE) {
        return Err(fail("no prologue", 0));
    }
    let list: Vec<Instruction> =
        Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).iter().collect();
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
    writeln!(out, "    .p2align 4\n    .type {label}, @function\n{label}:\n    .cfi_startproc")
        .expect("a string grows");
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
        let in_epilogue = (0..EPILOGUE.len()).any(|back| {
            at.checked_sub(back).is_some_and(|start| {
                starts.contains(&(start as u64))
                    && bytes[start..].starts_with(&EPILOGUE)
                    && (back == 0 || back == 3)
            })
        });
        let setup = at < PROLOGUE.len();
        if !has_frame && (setup || in_epilogue || saved.is_save(i)) {
            continue;
        }
        if has_frame && !setup && !in_epilogue && saved.is_move(i) {
            continue;
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

/// The registers that a function saves for its caller.
#[derive(Default)]
struct Saved {
    room: u64,
    count: u64,
    /// Where registers are saved, in a function with a frame.
    places: Vec<(Register, u64)>,
    /// Whether the instructions that save them are over.
    began: bool,
}

impl Saved {
    /// Returns whether an instruction saves or restores a register, or makes room for that.
    fn is_save(&mut self, i: &Instruction) -> bool {
        let stack = i.op0_register() == Register::RSP;
        match i.mnemonic() {
            Mnemonic::Sub if stack => {
                self.room += i.immediate(1);
                true
            }
            Mnemonic::Add if stack => true,
            Mnemonic::Mov if i.memory_base() == Register::RSP => {
                let saves = i.op0_kind() == OpKind::Memory && is_saved(i.op1_register());
                self.count += u64::from(saves);
                saves || is_saved(i.op0_register())
            }
            _ => false,
        }
    }

    /// Returns whether an instruction of a function with a frame saves or restores a register. The
    /// first instructions do, and then those that load a register from the place where it is saved.
    fn is_move(&mut self, i: &Instruction) -> bool {
        if i.mnemonic() != Mnemonic::Mov || i.memory_base() != Register::RSP {
            // the room is made first
            self.began |= !(i.mnemonic() == Mnemonic::Sub && i.op0_register() == Register::RSP);
            return false;
        }
        let place = i.memory_displacement64();
        if i.op0_kind() != OpKind::Memory {
            return self.places.contains(&(i.op0_register(), place));
        }
        let saves = !self.began && is_saved(i.op1_register());
        if saves {
            self.places.push((i.op1_register(), place));
        }
        self.began |= !saves;
        saves
    }

    /// Returns whether the room on the stack is for saved registers only.
    fn is_all(&self) -> bool {
        self.room == (self.count * 8).next_multiple_of(16)
    }
}

/// Returns whether a function keeps values of its own on the stack.
fn spills(list: &[Instruction]) -> bool {
    let mut saved = Saved::default();
    let body = list.iter().filter(|i| i.ip() >= PROLOGUE.len() as u64);
    let others = body.filter(|i| !saved.is_save(i)).filter(|i| uses_stack(i)).count();
    // each epilogue has two instructions
    let epilogues = list.iter().filter(|i| i.mnemonic() == Mnemonic::Pop).count();
    others != 2 * epilogues || !saved.is_all()
}

fn is_saved(r: Register) -> bool {
    matches!(r, Register::RBX | Register::R12 | Register::R13 | Register::R14)
}

fn uses_stack(i: &Instruction) -> bool {
    let stack = |r| matches!(r, Register::RSP | Register::RBP);
    (0..i.op_count()).any(|n| match i.op_kind(n) {
        OpKind::Register => stack(i.op_register(n)),
        OpKind::Memory => stack(i.memory_base()) || stack(i.memory_index()),
        _ => false,
    }) || matches!(i.mnemonic(), Mnemonic::Push | Mnemonic::Pop | Mnemonic::Ret)
}

fn is_branch(i: &Instruction) -> bool {
    i.op0_kind() == OpKind::NearBranch64 && i.mnemonic() != Mnemonic::Call
}

/// Returns what an instruction refers to.
fn reference(code: &Compiled, i: &Instruction) -> Option<Symbol> {
    let place = (i.next_ip() as usize).checked_sub(4)?;
    code.references.iter().find(|r| r.at == place).map(|r| r.to)
}

/// Writes an instruction: as text if it has a label in it, else as bytes.
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
