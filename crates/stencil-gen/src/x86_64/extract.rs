//! Creates stencils from compiled functions: finds the holes, splits code that is rarely executed
//! from the rest, and encodes both.
//!
//! A function is compiled with numbers in place of its holes, and again for each kind of hole with
//! a different number. The instructions in which a displacement or an immediate has changed by the
//! same amount contain the hole, and nothing else may have changed.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, ConstantOffsets, Formatter, Instruction,
    InstructionBlock, IntelFormatter, Mnemonic,
};
use perilune_semantics::Jump;

use super::assemble::is_branch;
use super::frame::without_frame;
use super::layout::{Ordered, end_with, order};
use crate::compiled::Compiled;
use crate::extracted::{Extracted, Part, Patch, Place};
use crate::stencil::Hole;
use crate::symbol::{JUMPS, Symbol};
use crate::target::Compile;

/// The amounts by which numbers are raised.
const RAISES: [i32; 2] = [0x40, 0x1230];
/// The address of cold parts while they are encoded, farther than a short jump reaches.
const COLD_AT: u64 = 0x1000_0000;
/// The address of the code of other instructions while a stencil is encoded.
const TARGETS_AT: u64 = 0x2000_0000;
const TARGET_SIZE: u64 = 0x10_0000;

/// Returns the placeholder for a hole. No placeholder is near another one or fits into a byte.
pub(super) fn placeholder(hole: Hole) -> i32 {
    0x1000_0000 + 0x0100_0000 * hole.index() as i32
}

/// The holes of an instruction: of its displacement and of its immediate.
#[derive(Clone, Copy, Default)]
struct Holes {
    displacement: Option<(Hole, i32)>,
    immediate: Option<(Hole, i32)>,
}

/// Creates a stencil: see `Target::extract`.
pub(super) fn extract(
    label: &str,
    falls: Option<Jump>,
    compile: Compile<'_>,
) -> Result<Option<Extracted>, String> {
    let ordered = |code: &Compiled| -> Result<Option<Ordered>, String> {
        let Some(list) = without_frame(&code.bytes) else { return Ok(None) };
        let mut ordered = order(label, code, list)?;
        if let Some(jump) = falls {
            end_with(&mut ordered, Symbol::Target(jump));
        }
        Ok(Some(ordered))
    };
    let Some(Ordered { mut list, symbols, first_cold }) = ordered(&compile(None)?)? else {
        return Ok(None);
    };
    let mut holes = vec![Holes::default(); list.len()];
    for hole in Hole::ALL {
        for by in RAISES {
            let other = ordered(&compile(Some((hole, by)))?)?;
            let other = other.filter(|o| o.symbols == symbols && o.first_cold == first_cold);
            let other = other.filter(|o| o.list.len() == list.len());
            let other = other.ok_or_else(|| format!("{label}: other code for another {hole:?}"))?;
            for ((i, o), found) in list.iter().zip(&other.list).zip(&mut holes) {
                compare(i, o, hole, by, found)
                    .map_err(|what| format!("{label}: {what} for another {hole:?} at {i}"))?;
            }
        }
    }
    for (i, _) in list.iter_mut().zip(&holes).filter(|(_, holes)| has_operand(holes)) {
        extend_sign(i).map_err(|e| format!("{label}: {e}"))?;
    }
    let last = first_cold.checked_sub(1).map(|n| list[n]);
    let is_left_out = |jump: Jump| {
        last.is_some_and(|i| {
            i.mnemonic() == Mnemonic::Jmp && symbols.get(&i.ip()) == Some(&Symbol::Target(jump))
        })
    };
    let falls = falls.filter(|&jump| is_left_out(jump));
    for i in list.iter_mut().filter(|i| is_branch(i)) {
        let to = match symbols.get(&i.ip()) {
            Some(&Symbol::Target(jump)) => Some(jump),
            // a branch to the jump that is left out
            _ => falls.filter(|_| last.is_some_and(|l| l.ip() == i.near_branch_target())),
        };
        if let Some(jump) = to {
            i.set_near_branch64(TARGETS_AT + jump as u64 * TARGET_SIZE);
        }
    }
    let end_of_hot = first_cold - usize::from(falls.is_some());
    let (hot, cold) = (&list[..end_of_hot], &list[first_cold..]);
    let parts = encode(label, hot, cold, &holes[..end_of_hot], &holes[first_cold..])?;
    Ok(Some(Extracted { falls, ..parts }))
}

/// Returns whether an instruction contains an operand, which may be negative.
fn has_operand(holes: &Holes) -> bool {
    matches!(holes.immediate, Some((Hole::Immediate(_), _)))
}

/// Turns a 32-bit move, which zero-extends, into a sign-extending one.
fn extend_sign(i: &mut Instruction) -> Result<(), iced_x86::IcedError> {
    if i.code() == Code::Mov_r32_imm32 {
        let number = i.immediate32() as i32;
        let to = i.op0_register().full_register();
        let at = i.ip();
        *i = Instruction::with2(Code::Mov_rm64_imm32, to, number)?;
        i.set_ip(at);
    }
    Ok(())
}

/// Compares an instruction with the same one for another number.
fn compare(
    i: &Instruction,
    other: &Instruction,
    hole: Hole,
    by: i32,
    found: &mut Holes,
) -> Result<(), String> {
    let mut same = *other;
    let displacements = (i.memory_displacement64() as i64, other.memory_displacement64() as i64);
    if displacements.0 != displacements.1 {
        let addend = displacements.0 - i64::from(placeholder(hole));
        let new = (hole, i32::try_from(addend).map_err(|e| e.to_string())?);
        if displacements.1 - displacements.0 != i64::from(by)
            || found.displacement.is_some_and(|old| old != new)
        {
            return Err("another displacement".to_owned());
        }
        found.displacement = Some(new);
        same.set_memory_displacement64(i.memory_displacement64());
    }
    let last = i.op_count().saturating_sub(1);
    let immediate = |i: &Instruction| i.try_immediate(last).unwrap_or(0) as i64;
    if !is_branch(i) && immediate(i) != immediate(other) {
        let addend = immediate(i) - i64::from(placeholder(hole));
        let new = (hole, i32::try_from(addend).map_err(|e| e.to_string())?);
        if immediate(other) - immediate(i) != i64::from(by)
            || found.immediate.is_some_and(|old| old != new)
        {
            return Err("another immediate".to_owned());
        }
        found.immediate = Some(new);
        same.try_set_immediate_i64(last, immediate(i)).map_err(|e| e.to_string())?;
    }
    if same != *i || other.ip() != i.ip() { Err("another instruction".to_owned()) } else { Ok(()) }
}

/// Encodes both parts of a stencil.
fn encode(
    label: &str,
    hot: &[Instruction],
    cold: &[Instruction],
    hot_holes: &[Holes],
    cold_holes: &[Holes],
) -> Result<Extracted, String> {
    let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS
        | BlockEncoderOptions::RETURN_CONSTANT_OFFSETS;
    let blocks = [InstructionBlock::new(hot, 0), InstructionBlock::new(cold, COLD_AT)];
    let encoded = BlockEncoder::encode_slice(64, &blocks, options).map_err(|e| e.to_string())?;
    let is_in = |list: &[Instruction], at: u64| list.iter().any(|i| i.ip() == at);
    let mut parts = Vec::new();
    for (result, (list, holes)) in encoded.into_iter().zip([(hot, hot_holes), (cold, cold_holes)]) {
        let starts = &result.new_instruction_offsets;
        let mut part = Part { bytes: result.code_buffer, ..Part::default() };
        for n in 0..list.len() {
            let start = starts[n] as usize;
            let end = starts.get(n + 1).map_or(part.bytes.len(), |&end| end as usize);
            let offsets = result.constant_offsets[n];
            place_holes(&mut part, start, offsets, holes[n], &list[n])
                .ok_or_else(|| format!("{label}: a hole of another size at {}", list[n]))?;
            let target = list[n].near_branch_target();
            let other = match result.rip {
                COLD_AT => is_in(hot, target),
                _ => is_in(cold, target),
            };
            place_branch(&mut part, result.rip, end, &list[n], other);
            let mut text = String::new();
            IntelFormatter::new().format(&list[n], &mut text);
            part.listing.push((end, text));
        }
        parts.push(part);
    }
    let cold = parts.pop().unwrap_or_default();
    let hot = parts.pop().unwrap_or_default();
    Ok(Extracted { hot, cold, falls: None })
}

fn place_holes(
    part: &mut Part,
    start: usize,
    offsets: ConstantOffsets,
    holes: Holes,
    i: &Instruction,
) -> Option<()> {
    if has_operand(&holes) && i.code() == Code::Mov_r32_imm32 {
        return None;
    }
    let displacement = (offsets.displacement_offset(), offsets.displacement_size());
    let immediate = (offsets.immediate_offset(), offsets.immediate_size());
    for (hole, (at, size)) in [(holes.displacement, displacement), (holes.immediate, immediate)] {
        let Some((hole, addend)) = hole else { continue };
        if size != 4 {
            return None;
        }
        let at = start + at;
        part.bytes[at..at + 4].copy_from_slice(&[0; 4]);
        part.places.push(Place { at, patch: Patch::Hole(hole), addend });
    }
    Some(())
}

/// Records a branch out of the part. Its displacement is in the last four bytes before `end`;
/// `leaves` says whether it leads to the other part.
fn place_branch(part: &mut Part, rip: u64, end: usize, i: &Instruction, leaves: bool) {
    if !is_branch(i) {
        return;
    }
    let target = i.near_branch_target();
    let is_cold = rip == COLD_AT;
    let at = end - 4;
    let distance = || i32::from_le_bytes(part.bytes[at..end].try_into().expect("four bytes"));
    let to = || (rip + end as u64).wrapping_add_signed(i64::from(distance()));
    let (patch, addend) = if target >= TARGETS_AT {
        let jump = (target - TARGETS_AT) / TARGET_SIZE;
        (Patch::Jump(JUMPS[jump as usize]), 0)
    } else if !leaves {
        return;
    } else if is_cold {
        (Patch::Hot, to() as i32)
    } else {
        (Patch::Cold, (to() - COLD_AT) as i32)
    };
    part.bytes[at..end].copy_from_slice(&[0; 4]);
    part.places.push(Place { at, patch, addend });
}
