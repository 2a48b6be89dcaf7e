//! The native frames of compiled functions.
//!
//! The registers that functions overwrite are saved where the interpreter is entered, so a function
//! without calls needs no native frame. Cranelift always saves registers, and creates a frame in
//! functions with tail calls. This module finds the instructions that do so, which are then
//! removed. The frame stays if the function contains a call or spills a value.

use std::collections::BTreeSet;

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// `push rbp; mov rbp, rsp`
pub(super) const PROLOGUE: [u8; 4] = [0x55, 0x48, 0x89, 0xE5];
/// `mov rsp, rbp; pop rbp`
const EPILOGUE: [u8; 4] = [0x48, 0x89, 0xEC, 0x5D];

/// Returns the instructions of a function.
pub(super) fn decode(bytes: &[u8]) -> Vec<Instruction> {
    Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).iter().collect()
}

/// Returns whether the instruction at `at` is one of the two instructions of an epilogue. `starts`
/// are the addresses at which instructions begin.
pub(super) fn is_epilogue(bytes: &[u8], starts: &BTreeSet<u64>, at: usize) -> bool {
    [0, 3].into_iter().any(|back| {
        at.checked_sub(back).is_some_and(|start| {
            starts.contains(&(start as u64)) && bytes[start..].starts_with(&EPILOGUE)
        })
    })
}

/// Returns the instructions of a function except those of its frame; `None` if it needs the frame.
pub(super) fn without_frame(bytes: &[u8]) -> Option<Vec<Instruction>> {
    let list = decode(bytes);
    let calls = list.iter().any(|i| i.mnemonic() == Mnemonic::Call);
    if !bytes.starts_with(&PROLOGUE) || calls || spills(&list) {
        return None;
    }
    let starts: BTreeSet<u64> = list.iter().map(Instruction::ip).collect();
    let mut saved = Saved::default();
    let is_kept = |i: &Instruction| {
        let at = i.ip() as usize;
        at >= PROLOGUE.len() && !is_epilogue(bytes, &starts, at) && !saved.is_save(i)
    };
    Some(without_copies(list.into_iter().filter(is_kept).collect()))
}

/// Removes copies of the register with the state before loads that overwrite the copy. Cranelift
/// copies that register wherever it is used.
fn without_copies(list: Vec<Instruction>) -> Vec<Instruction> {
    let branches = list.iter().filter(|i| i.op0_kind() == OpKind::NearBranch64);
    let targets: BTreeSet<u64> = branches.map(Instruction::near_branch_target).collect();
    // the number of a register, whatever its width
    let number = |r: Register| match r as usize {
        r if r >= Register::RAX as usize => r - Register::RAX as usize,
        r => r.wrapping_sub(Register::EAX as usize),
    };
    let mut kept: Vec<Instruction> = Vec::with_capacity(list.len());
    for mut i in list {
        let copied = kept.last().filter(|last| {
            let copy = last.op0_register();
            let is_copy = last.code() == Code::Mov_rm64_r64 || last.code() == Code::Mov_r64_rm64;
            let is_load = matches!(i.code(), Code::Mov_r64_rm64 | Code::Mov_r32_rm32)
                && i.op1_kind() == OpKind::Memory
                && number(i.op0_register()) == number(copy);
            is_copy
                && last.op1_register() == Register::R15
                && is_load
                && i.memory_base() == copy
                && i.memory_index() == Register::None
                && !targets.contains(&i.ip())
        });
        if copied.is_some() {
            // jumps to the copy lead to the load
            let at = kept.pop().map_or(i.ip(), |copy| copy.ip());
            i.set_memory_base(Register::R15);
            i.set_ip(at);
        }
        kept.push(i);
    }
    kept
}

/// The registers that a function saves for its caller.
#[derive(Default)]
pub(super) struct Saved {
    room: u64,
    count: u64,
    /// The offsets at which registers are saved, in a function with a frame.
    places: Vec<(Register, u64)>,
    /// Whether the function's own code has begun, after the instructions that save registers.
    began: bool,
}

impl Saved {
    /// Returns whether an instruction saves or restores a register, or reserves the room for that.
    pub(super) fn is_save(&mut self, i: &Instruction) -> bool {
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

    /// Returns whether an instruction of a function with a frame saves or restores a register.
    /// Stores at the beginning save registers, and loads of a register from the offset at which it
    /// is saved restore it.
    pub(super) fn is_move(&mut self, i: &Instruction) -> bool {
        if i.mnemonic() != Mnemonic::Mov || i.memory_base() != Register::RSP {
            // the room is reserved before registers are saved
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

    /// Returns whether the room on the stack is used for saved registers only.
    fn is_all(&self) -> bool {
        self.room == (self.count * 8).next_multiple_of(16)
    }
}

/// Returns whether a function keeps values of its own on the stack.
pub(super) fn spills(list: &[Instruction]) -> bool {
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
