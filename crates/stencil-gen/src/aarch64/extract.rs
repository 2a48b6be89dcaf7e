//! Creates stencils from compiled functions: finds the holes and changes the branches.
//!
//! A function is compiled with numbers in place of its holes, and again for each kind of hole with
//! a different number. The instructions in which a number has changed by the same amount contain
//! the hole, and nothing else may have changed. Numbers that are always below 4096 occur as offsets
//! of loads and stores and as immediate operands of additions; the others are set by pairs of MOVZ
//! and MOVK.
//!
//! Rarely executed code is not moved to a separate part, because conditional branches have a short
//! range.

use super::assemble::reference;
use super::frame::{Body, body};
use super::instr::{Instr, Number, SIZE};
use crate::compiled::Compiled;
use crate::extracted::{Extracted, Part, Patch, Place};
use crate::stencil::Hole;
use crate::symbol::Symbol;
use crate::target::Compile;
use perilune_semantics::{Field, Jump};

/// Returns whether the number for a hole is always small.
fn is_small(hole: Hole) -> bool {
    matches!(hole, Hole::Register(_) | Hole::Constant(Field::B | Field::C))
}

/// Returns the placeholder for a hole. No placeholder is near another one, neither half of a large
/// one is 0, and none is encoded as a bit mask.
pub(super) fn placeholder(hole: Hole) -> i32 {
    let index = hole.index() as i32;
    if is_small(hole) { 0x410 + 0x210 * index } else { 0x1357_2460 + 0x0101_0110 * index }
}

/// Returns the amounts by which the placeholder of a hole is raised.
fn raises(hole: Hole) -> [i32; 2] {
    if is_small(hole) { [0x10, 0x150] } else { [0x40, 0x12_1230] }
}

/// Creates a stencil: see `Target::extract`.
pub(super) fn extract(
    label: &str,
    falls: Option<Jump>,
    compile: Compile<'_>,
) -> Result<Option<Extracted>, String> {
    let instructions = |code: &Compiled| -> Result<Body, String> {
        body(&code.bytes).map_err(|what| format!("{label}: {what}"))
    };
    let code = compile(None)?;
    let Body { mut list, has_frame: false } = instructions(&code)? else { return Ok(None) };
    let mut holes = vec![None; list.len()];
    for hole in Hole::ALL {
        for by in raises(hole) {
            let other = instructions(&compile(Some((hole, by)))?)?.list;
            compare(&list, &other, hole, by, &mut holes)
                .map_err(|what| format!("{label}: {what} for another {hole:?}"))?;
        }
    }

    let leads_to = |i: &Instr, jump| i.is_jump() && target(&code, i) == Some(Symbol::Target(jump));
    let falls = falls.filter(|&jump| list.last().is_some_and(|i| leads_to(i, jump)));
    if falls.is_some() {
        list.pop();
    }
    let starts: Vec<usize> = list.iter().map(|i| i.at).collect();
    let mut part = Part::default();
    for (n, i) in list.iter().enumerate() {
        let at = n * SIZE;
        let mut new = Instr { at, word: i.word };
        match (target(&code, i), i.target()) {
            (Some(Symbol::Target(jump)), _) if i.is_jump() => {
                part.places.push(Place { at, patch: Patch::Jump(jump), addend: 0 });
            }
            (Some(other), _) => return Err(format!("{label}: a reference to {}", other.label())),
            (None, Some(to)) => {
                // to the instruction at or after the target, or to the end of the stencil
                let to = starts.partition_point(|&start| start < to) * SIZE;
                new = new.with_target(to).ok_or_else(|| format!("{label}: a far branch"))?;
            }
            (None, None) if i.depends_on_address() => {
                return Err(format!("{label}: {}, which depends on its address", i.text()?));
            }
            (None, None) => {}
        }
        if let Some((hole, addend)) = holes[n] {
            part.places.push(Place { at, patch: Patch::Hole(hole), addend });
            new = new.without_number();
        }
        part.bytes.extend_from_slice(&new.word.to_le_bytes());
        part.listing.push((at + SIZE, i.text()?));
    }
    Ok(Some(Extracted { hot: part, cold: Part::default(), falls }))
}

/// Returns the symbol to which an instruction refers.
fn target(code: &Compiled, i: &Instr) -> Option<Symbol> {
    reference(code, i).map(|r| r.to)
}

/// Compares instructions with those for another number, and records the holes with their addends.
fn compare(
    list: &[Instr],
    others: &[Instr],
    hole: Hole,
    by: i32,
    holes: &mut [Option<(Hole, i32)>],
) -> Result<(), String> {
    if list.len() != others.len() {
        return Err("other code".to_owned());
    }
    let mut n = 0;
    while n < list.len() {
        let (value, count) = number(list, n);
        let (other, _) = number(others, n);
        let range = n..n + count;
        let same = |i: &Instr, o: &Instr| i.without_number() == o.without_number();
        if !list[range.clone()].iter().zip(&others[range.clone()]).all(|(i, o)| same(i, o)) {
            return Err(format!("another instruction at {:#x}", list[n].at));
        }
        if value != other {
            let addend = value - placeholder(hole);
            let new = Some((hole, addend));
            let is_pair = count == 2;
            let is_new = holes[n].is_none() || holes[n] == new;
            // An offset or addend has twelve bits, which suffice for the largest number with its
            // addend.
            let fits = if is_small(hole) { (0..0xF0).contains(&addend) } else { is_pair };
            if other - value != by || !is_new || !fits || addend < 0 {
                return Err(format!("another number at {:#x}", list[n].at));
            }
            holes[range].fill(new);
        }
        n += count;
    }
    Ok(())
}

/// Returns the number that begins with an instruction, and how many instructions contain it.
fn number(list: &[Instr], n: usize) -> (i32, usize) {
    let upper = list.get(n + 1).filter(|next| next.destination() == list[n].destination());
    match (list[n].number(), upper.and_then(|next| next.number())) {
        (Some((lower, Number::Lower)), Some((upper, Number::Upper))) => {
            ((lower | upper << 16) as i32, 2)
        }
        (Some((value, _)), _) => (value as i32, 1),
        (None, _) => (0, 1),
    }
}
