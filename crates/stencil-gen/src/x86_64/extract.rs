//! Creates stencils from compiled functions: finds the holes, splits code that is rarely executed
//! from the rest, and encodes both.
//!
//! A function is compiled with numbers in place of its holes, and again for each kind of hole with
//! a different number. The instructions in which a displacement or an immediate has changed by the
//! same amount contain the hole, and nothing else may have changed.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, ConstantOffsets, Formatter, Instruction, InstructionBlock,
    IntelFormatter, Mnemonic,
};
use perilune_semantics::Jump;

use super::assemble::{is_branch, reference};
use super::frame::without_frame;
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
    falls: bool,
    compile: Compile<'_>,
) -> Result<Option<Extracted>, String> {
    let code = compile(None)?;
    let Some(mut list) = without_frame(&code.bytes) else { return Ok(None) };
    let mut holes = vec![Holes::default(); list.len()];
    for hole in Hole::ALL {
        for by in RAISES {
            let other = compile(Some((hole, by)))?;
            let other = without_frame(&other.bytes).unwrap_or_default();
            if other.len() != list.len() {
                return Err(format!("{label}: other code for another {hole:?}"));
            }
            for ((i, o), found) in list.iter().zip(&other).zip(&mut holes) {
                compare(i, o, hole, by, found)
                    .map_err(|what| format!("{label}: {what} for another {hole:?} at {i}"))?;
            }
        }
    }

    // Jumps to removed instructions lead to the instruction that follows.
    let starts: Vec<u64> = list.iter().map(Instruction::ip).collect();
    for i in list.iter_mut().filter(|i| is_branch(i) && reference(&code, i).is_none()) {
        let target = i.near_branch_target();
        let to = starts.iter().find(|&&start| start >= target);
        i.set_near_branch64(*to.ok_or_else(|| format!("{label}: a jump to the end"))?);
    }
    let first_cold = first_cold(&code, &list);
    // a jump to the next instruction at the end of the hot part is left out
    let is_last = |i: &Instruction| {
        i.mnemonic() == Mnemonic::Jmp && reference(&code, i) == Some(Symbol::Target(Jump::Next))
    };
    let dropped = falls && first_cold > 0 && is_last(&list[first_cold - 1]);
    let dropped_at = list[first_cold.saturating_sub(1)].ip();
    for i in &mut list {
        match reference(&code, i) {
            Some(Symbol::Target(jump)) if is_branch(i) => {
                i.set_near_branch64(TARGETS_AT + jump as u64 * TARGET_SIZE);
            }
            Some(other) => return Err(format!("{label}: a reference to {}", other.label())),
            // a branch to the jump that is left out
            None if is_branch(i) && dropped && i.near_branch_target() == dropped_at => {
                i.set_near_branch64(TARGETS_AT + Jump::Next as u64 * TARGET_SIZE);
            }
            None => {}
        }
    }
    let end_of_hot = if dropped { first_cold - 1 } else { first_cold };
    let (hot, cold) = (&list[..end_of_hot], &list[first_cold..]);
    encode(label, hot, cold, &holes[..end_of_hot], &holes[first_cold..]).map(Some)
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

/// Returns the index of the first instruction of the cold part. Cranelift places cold blocks last;
/// the parts are separated after a jump, before the first run of instructions that are mostly cold.
fn first_cold(code: &Compiled, list: &[Instruction]) -> usize {
    let is_cold = |i: &Instruction| {
        let at = i.ip() as usize;
        code.places.iter().find(|(range, _)| range.contains(&at)).map(|&(_, is_cold)| is_cold)
    };
    let mut start = 0;
    for run in list.split_inclusive(|i| i.mnemonic() == Mnemonic::Jmp) {
        let (cold, hot): (Vec<_>, Vec<_>) = run.iter().filter_map(is_cold).partition(|&c| c);
        if start > 0 && cold.len() > hot.len() {
            return start;
        }
        start += run.len();
    }
    list.len()
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
    let cold_from = cold.first().map_or(u64::MAX, Instruction::ip);
    let mut parts = Vec::new();
    for (result, (list, holes)) in encoded.into_iter().zip([(hot, hot_holes), (cold, cold_holes)]) {
        let starts = &result.new_instruction_offsets;
        let mut part = Part { bytes: result.code_buffer, ..Part::default() };
        for n in 0..list.len() {
            let start = starts[n] as usize;
            let end = starts.get(n + 1).map_or(part.bytes.len(), |&end| end as usize);
            let offsets = result.constant_offsets[n];
            place_holes(&mut part, start, offsets, holes[n])
                .ok_or_else(|| format!("{label}: a hole of another size at {}", list[n]))?;
            place_branch(&mut part, result.rip, end, &list[n], cold_from);
            let mut text = String::new();
            IntelFormatter::new().format(&list[n], &mut text);
            part.listing.push((end, text));
        }
        parts.push(part);
    }
    let cold = parts.pop().unwrap_or_default();
    let hot = parts.pop().unwrap_or_default();
    Ok(Extracted { hot, cold })
}

fn place_holes(
    part: &mut Part,
    start: usize,
    offsets: ConstantOffsets,
    holes: Holes,
) -> Option<()> {
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

/// Records a branch out of the part, whose distance is the last four bytes before `end`.
fn place_branch(part: &mut Part, rip: u64, end: usize, i: &Instruction, cold_from: u64) {
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
    } else if !is_cold && target >= cold_from {
        (Patch::Cold, (to() - COLD_AT) as i32)
    } else if is_cold && target < cold_from {
        (Patch::Hot, to() as i32)
    } else {
        return;
    };
    part.bytes[at..end].copy_from_slice(&[0; 4]);
    part.places.push(Place { at, patch, addend });
}
