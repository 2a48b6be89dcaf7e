//! Accesses to the state through the pinned register.
//!
//! Cranelift copies the pinned register before each use, `mov rax, r15; mov eax, [rax + 0x5d8]`.
//! This module removes the copies and lets the accesses use the register itself.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

/// Returns the replacements of instructions by address: the text of an access through the pinned
/// register, or nothing for a copy that is not needed. A copy is not needed if the instructions
/// that follow it in a straight line only access memory through it, and then overwrite it.
pub(super) fn accesses(
    list: &[Instruction],
    targets: &BTreeSet<u64>,
) -> BTreeMap<u64, Option<String>> {
    let mut changed = BTreeMap::new();
    for (k, copy) in list.iter().enumerate() {
        if let Some(register) = copied(copy)
            && let Some(uses) = uses(&list[k + 1..], register, targets)
        {
            changed.insert(copy.ip(), None);
            changed.extend(uses.into_iter().map(|(ip, text)| (ip, Some(text))));
        }
    }
    changed
}

/// Returns the register to which the pinned one is copied.
fn copied(i: &Instruction) -> Option<Register> {
    let registers = i.op0_kind() == OpKind::Register && i.op1_kind() == OpKind::Register;
    let is_copy = i.mnemonic() == Mnemonic::Mov && registers && i.op1_register() == Register::R15;
    is_copy.then(|| i.op0_register())
}

/// Returns the accesses through a register up to where it is overwritten, with the pinned register
/// in its place; `None` if it is used in another way.
fn uses(
    list: &[Instruction],
    register: Register,
    targets: &BTreeSet<u64>,
) -> Option<Vec<(u64, String)>> {
    let mut uses = Vec::new();
    let mut info = InstructionInfoFactory::new();
    for i in list {
        if targets.contains(&i.ip()) || i.flow_control() != FlowControl::Next {
            return None;
        }
        let overwrites = overwritten(i) == Some(register);
        if has_memory(i) && i.memory_base() == register {
            uses.push((i.ip(), by_pinned(i)?));
            let operands = (0..i.op_count()).filter(|&n| i.op_kind(n) == OpKind::Register);
            let mut others = operands.skip(usize::from(overwrites)).map(|n| i.op_register(n));
            if others.any(|r| r.full_register() == register) {
                return None;
            }
        } else {
            let used = info.info(i).used_registers();
            let mut same = used.iter().filter(|u| u.register().full_register() == register);
            if same.any(|u| u.access() != OpAccess::Write) {
                return None;
            }
        }
        if overwrites {
            return Some(uses);
        }
    }
    None
}

fn has_memory(i: &Instruction) -> bool {
    (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory)
}

/// Returns the register that an instruction overwrites completely without reading it.
fn overwritten(i: &Instruction) -> Option<Register> {
    let loads = matches!(i.mnemonic(), Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Lea);
    let r = (loads && i.op0_kind() == OpKind::Register).then(|| i.op0_register())?;
    // a write of the lower half of a register sets the upper half to 0
    (r.is_gpr64() || r.is_gpr32()).then(|| r.full_register())
}

/// Returns the text of a move of 32 or 64 bits with the pinned register as base.
fn by_pinned(i: &Instruction) -> Option<String> {
    if i.mnemonic() != Mnemonic::Mov || i.memory_index() != Register::None {
        return None;
    }
    let place = format!("[r15 + {:#x}]", i.memory_displacement64());
    let name =
        |r: Register| (r.is_gpr64() || r.is_gpr32()).then(|| format!("{r:?}").to_lowercase());
    if i.op0_kind() == OpKind::Register {
        Some(format!("mov {}, {place}", name(i.op0_register())?))
    } else if i.op1_kind() == OpKind::Register {
        Some(format!("mov {place}, {}", name(i.op1_register())?))
    } else {
        None
    }
}
