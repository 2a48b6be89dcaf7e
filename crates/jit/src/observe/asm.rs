//! Disassembly of x86-64 machine code in Intel syntax, interleaved with the bytecode, with names
//! for addresses and offsets.

use std::fmt::Write as _;
use std::ops::Range;

use iced_x86::{
    Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register,
};
use perilune_bytecode::{Proto, disassemble_instruction};
use perilune_runtime::tier::RuntimeCalls;

use super::clif::state_name;
use super::source_map::Piece;
use crate::pipeline::symbols::runtime_functions;

/// Returns a listing of machine code, in which each piece follows its bytecode instruction. The
/// bytes of `offsets` are not instructions, but the offsets of the code of the instructions.
pub(crate) fn listing(
    proto: &Proto,
    code: &[u8],
    offsets: Range<usize>,
    pieces: &[Piece],
    calls: &RuntimeCalls,
) -> String {
    let calls = runtime_functions(calls);
    let mut out = format!("{} bytes\n", code.len());
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_space_after_operand_separator(true);
    options.set_branch_leading_zeros(false);
    options.set_first_operand_char_index(8);
    let decode = |part: Range<usize>| {
        let ip = part.start as u64;
        Decoder::with_ip(64, &code[part], ip, DecoderOptions::NONE).into_iter().collect()
    };
    let mut instrs: Vec<Instruction> = decode(0..offsets.start);
    let after: Vec<Instruction> = decode(offsets.end..code.len());
    instrs.extend(after);
    let mut state = StateRegisters::new(&instrs);
    let mut current = None;
    for instr in &instrs {
        let offset = instr.ip() as u32;
        if offset as usize == offsets.end && !offsets.is_empty() {
            let count = offsets.len() / size_of::<u32>();
            let _ = writeln!(out, "      {:04x}  {count} offsets of instructions", offsets.start);
        }
        let place = place_of(pieces, offset, code.len() as u32);
        if place.is_some() && place != current {
            match place {
                Some(Some(pc)) => {
                    let _ = writeln!(out, "{}", disassemble_instruction(proto, pc as usize));
                }
                _ => out.push_str("   - entry and exit\n"),
            }
            current = place;
        }
        let mut text = String::new();
        formatter.format(instr, &mut text);
        if let Some((number, name)) = runtime_operand(instr, &calls) {
            // the address differs from run to run
            text = text.replace(&format!("{number:#x}"), &format!("runtime.{name}"));
        }
        let _ = match state.operand(instr) {
            Some(name) => writeln!(out, "      {offset:04x}  {text:<35} ; state {name}"),
            None => writeln!(out, "      {offset:04x}  {text}"),
        };
        state.step(instr);
    }
    out
}

/// Returns the bytecode instruction that the code at an offset belongs to, or `Some(None)` if it
/// belongs to the function as a whole. `None` means that it belongs to the preceding code: it is
/// only a constant or a move between registers.
fn place_of(pieces: &[Piece], offset: u32, len: u32) -> Option<Option<u32>> {
    /// Shorter gaps belong to the code around them.
    const SHORT: u32 = 24;
    let next = pieces.partition_point(|p| p.end <= offset);
    let gap_end = match pieces.get(next) {
        Some(p) if p.start <= offset => return Some(Some(p.pc)),
        Some(p) => p.start,
        None => len,
    };
    let gap_start = next.checked_sub(1).map_or(0, |before| pieces[before].end);
    (gap_start == 0 || gap_end - gap_start >= SHORT).then_some(None)
}

/// Returns the function of the runtime whose address is an operand.
fn runtime_operand(
    instr: &Instruction,
    calls: &[(&'static str, u64)],
) -> Option<(u64, &'static str)> {
    use OpKind::{Immediate32, Immediate32to64, Immediate64};
    let immediate =
        |i: &u32| matches!(instr.op_kind(*i), Immediate32 | Immediate32to64 | Immediate64);
    let number = instr.immediate((0..instr.op_count()).find(immediate)?);
    calls.iter().find(|(_, address)| *address == number).map(|(name, _)| (number, *name))
}

/// The registers that hold the state's address: Cranelift pins it to r15 and copies it from there.
/// They are tracked linearly, for comments only.
struct StateRegisters {
    targets: Vec<u64>,
    copies: Vec<Register>,
}

impl StateRegisters {
    fn new(instrs: &[Instruction]) -> StateRegisters {
        let jumps = |i: &&Instruction| i.op_count() == 1 && i.op_kind(0) == OpKind::NearBranch64;
        let mut targets: Vec<u64> =
            instrs.iter().filter(jumps).map(Instruction::near_branch_target).collect();
        targets.sort_unstable();
        StateRegisters { targets, copies: Vec::new() }
    }

    /// Returns the name of an operand in memory, if it is a field of the state.
    fn operand(&mut self, instr: &Instruction) -> Option<&'static str> {
        if self.targets.binary_search(&instr.ip()).is_ok() {
            self.copies.clear();
        }
        let in_memory = (0..instr.op_count()).any(|i| instr.op_kind(i) == OpKind::Memory);
        let base = instr.memory_base();
        let is_state = base == Register::R15 || self.copies.contains(&base);
        let plain = instr.memory_index() == Register::None;
        if in_memory && is_state && plain {
            return state_name(instr.memory_displacement64());
        }
        None
    }

    /// Advances past an instruction.
    fn step(&mut self, instr: &Instruction) {
        let from_register = instr.op_count() == 2 && instr.op_kind(1) == OpKind::Register;
        let source = from_register.then(|| instr.op1_register());
        match (instr.mnemonic(), instr.op_kind(0)) {
            (Mnemonic::Jmp | Mnemonic::Call | Mnemonic::Ret, _) => self.copies.clear(),
            (Mnemonic::Cmp | Mnemonic::Test, _) => {}
            (mnemonic, OpKind::Register) => {
                let written = instr.op0_register();
                self.copies.retain(|copy| !overlap(*copy, written));
                if mnemonic == Mnemonic::Mov && source == Some(Register::R15) {
                    self.copies.push(written);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a write of a register may change a 64-bit one. A write of a 16-bit part counts
/// as a write of the whole register.
fn overlap(whole: Register, written: Register) -> bool {
    let (first, first_half, first_vector) = (Register::RAX, Register::EAX, Register::XMM0);
    let (first_byte, first_word) = (Register::AL, Register::AX);
    let number = match written {
        r if r >= first_vector => return false,
        r if r >= first => r as usize - first as usize,
        r if r >= first_half => r as usize - first_half as usize,
        r if r >= first_word => return true,
        // the second bytes of four registers lie between
        r => match r as usize - first_byte as usize {
            n if n < 4 => n,
            n => n - 4,
        },
    };
    number == whole as usize - first as usize
}
