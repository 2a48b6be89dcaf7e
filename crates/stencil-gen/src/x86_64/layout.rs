//! The order of the code of a stencil.
//!
//! Cranelift ends each block with a jump. In code that is executed for each bytecode instruction,
//! and at the ends of stencils, these jumps matter: this module threads branches through jumps,
//! inverts branches around a jump, moves rarely executed code to the end, and makes the hot part
//! end with the jump that can be omitted because the code of the target follows.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic};

use super::assemble::{is_branch, reference};
use crate::compiled::Compiled;
use crate::symbol::Symbol;

/// The instructions of a stencil in their final order. Addresses only identify them.
pub(crate) struct Ordered {
    pub(crate) list: Vec<Instruction>,
    /// The symbols to which branches lead, by the address of the branch.
    pub(crate) symbols: BTreeMap<u64, Symbol>,
    /// The index of the first instruction of the cold part.
    pub(crate) first_cold: usize,
}

/// A sequence of instructions that is entered at the first one and left at the last one.
struct Block {
    list: Vec<Instruction>,
    is_cold: bool,
}

impl Block {
    fn start(&self) -> u64 {
        self.list[0].ip()
    }

    fn last(&self) -> &Instruction {
        self.list.last().expect("a block has instructions")
    }

    /// Returns whether control can continue in the block that follows.
    fn falls(&self) -> bool {
        let leaves = [FlowControl::IndirectBranch, FlowControl::Exception];
        !is_jump(self.last()) && !leaves.contains(&self.last().flow_control())
    }
}

fn is_jump(i: &Instruction) -> bool {
    i.mnemonic() == Mnemonic::Jmp && is_branch(i)
}

/// Orders the instructions of a compiled function, without those of its frame.
pub(crate) fn order(
    label: &str,
    code: &Compiled,
    list: Vec<Instruction>,
) -> Result<Ordered, String> {
    let mut symbols = BTreeMap::new();
    for i in &list {
        match reference(code, i) {
            Some(symbol @ Symbol::Target(_)) if is_branch(i) => {
                symbols.insert(i.ip(), symbol);
            }
            Some(other) => return Err(format!("{label}: a reference to {}", other.label())),
            None => {}
        }
    }
    let mut list = list;
    // Jumps to removed instructions lead to the instruction that follows.
    let starts: Vec<u64> = list.iter().map(Instruction::ip).collect();
    for i in list.iter_mut().filter(|i| is_branch(i) && !symbols.contains_key(&i.ip())) {
        let target = i.near_branch_target();
        let to = starts.iter().find(|&&start| start >= target);
        i.set_near_branch64(*to.ok_or_else(|| format!("{label}: a jump to the end"))?);
    }
    let blocks = blocks(code, list, &symbols);
    let mut blocks = reachable(blocks, &mut symbols);
    // A cold block that is entered by jumps only, and left by one, can move behind the others.
    let mut entered = true;
    let mut cold = Vec::new();
    let mut hot = Vec::new();
    for block in blocks.drain(..) {
        let falls = block.falls();
        let stays = entered || !block.is_cold;
        let moves = !stays && !falls;
        entered = falls;
        if moves { cold.push(block) } else { hot.push(block) }
    }
    // Cold blocks that fall into others are a sequence at the end.
    let tail = hot.iter().rposition(|b| !b.is_cold).map_or(0, |n| n + 1);
    let mut rest = hot.split_off(tail);
    if hot.last().is_some_and(Block::falls) {
        // The hot part must end by a jump.
        hot.append(&mut rest);
    }
    rest.append(&mut cold);
    invert(&mut hot, &mut symbols);
    invert(&mut rest, &mut symbols);
    let flat = |blocks: Vec<Block>| blocks.into_iter().flat_map(|b| b.list).collect::<Vec<_>>();
    let mut list = flat(hot);
    let first_cold = list.len();
    list.extend(flat(rest));
    Ok(Ordered { list, symbols, first_cold })
}

/// Splits the code into blocks.
fn blocks(code: &Compiled, list: Vec<Instruction>, symbols: &BTreeMap<u64, Symbol>) -> Vec<Block> {
    let local = |i: &&Instruction| is_branch(i) && !symbols.contains_key(&i.ip());
    let targets: BTreeSet<u64> =
        list.iter().filter(local).map(Instruction::near_branch_target).collect();
    let is_cold = |i: &Instruction| {
        let at = i.ip() as usize;
        code.places.iter().find(|(range, _)| range.contains(&at)).map(|&(_, is_cold)| is_cold)
    };
    let mut blocks: Vec<Block> = Vec::new();
    let mut ended = true;
    for i in list {
        if ended || targets.contains(&i.ip()) {
            blocks.push(Block { list: Vec::new(), is_cold: false });
        }
        ended = i.flow_control() != FlowControl::Next;
        blocks.last_mut().expect("one was begun").list.push(i);
    }
    for block in &mut blocks {
        let (cold, hot): (Vec<_>, Vec<_>) =
            block.list.iter().filter_map(is_cold).partition(|&cold| cold);
        let is_trap = block.list[0].mnemonic() == Mnemonic::Ud2;
        block.is_cold = is_trap || cold.len() > hot.len();
    }
    // Blocks of moves, which have no place in the source, are as cold as what follows them.
    let hot: BTreeSet<u64> = blocks.iter().filter(|b| !b.is_cold).map(Block::start).collect();
    let mut next_is_cold = true;
    for block in blocks.iter_mut().rev() {
        if block.list.iter().all(|i| is_cold(i).is_none()) {
            let last = block.last();
            block.is_cold = match is_jump(last) {
                true => {
                    symbols.contains_key(&last.ip()) || !hot.contains(&last.near_branch_target())
                }
                false => next_is_cold,
            };
        }
        next_is_cold = block.is_cold;
    }
    blocks
}

/// Lets branches to a jump lead to its target, and removes blocks that cannot be reached.
fn reachable(mut blocks: Vec<Block>, symbols: &mut BTreeMap<u64, Symbol>) -> Vec<Block> {
    let jumps: BTreeMap<u64, Instruction> =
        blocks.iter().filter(|b| is_jump(&b.list[0])).map(|b| (b.start(), b.list[0])).collect();
    for block in &mut blocks {
        let Some(i) = block.list.last_mut().filter(|i| is_branch(i)) else { continue };
        let mut steps = 0;
        while !symbols.contains_key(&i.ip())
            && let Some(jump) = jumps.get(&i.near_branch_target())
            && steps <= jumps.len()
        {
            steps += 1;
            match symbols.get(&jump.ip()).copied() {
                Some(symbol) => {
                    symbols.insert(i.ip(), symbol);
                }
                None => i.set_near_branch64(jump.near_branch_target()),
            }
        }
    }
    let mut reached = BTreeSet::new();
    let mut open = vec![0];
    while let Some(n) = open.pop() {
        if !reached.insert(n) {
            continue;
        }
        let last = blocks[n].last();
        if is_branch(last) && !symbols.contains_key(&last.ip()) {
            let target = last.near_branch_target();
            open.extend(blocks.iter().position(|b| b.start() == target));
        }
        if blocks[n].falls() && n + 1 < blocks.len() {
            open.push(n + 1);
        }
    }
    let mut n = 0;
    blocks.retain(|_| {
        n += 1;
        reached.contains(&(n - 1))
    });
    blocks
}

/// Inverts conditional branches around a jump, and removes jumps to the next block.
fn invert(blocks: &mut Vec<Block>, symbols: &mut BTreeMap<u64, Symbol>) {
    for n in (0..blocks.len()).rev() {
        let next = blocks.get(n + 1).map(Block::start);
        // a jump to the next block
        let last = *blocks[n].last();
        let leads_on = |i: &Instruction| {
            !symbols.contains_key(&i.ip()) && Some(i.near_branch_target()) == next
        };
        if is_jump(&last) && leads_on(&last) && blocks[n].list.len() > 1 {
            blocks[n].list.pop();
        }
    }
    let mut n = 0;
    while n + 1 < blocks.len() {
        let branch = *blocks[n].last();
        let jump = blocks[n + 1].list[0];
        let after = blocks.get(n + 2).map(Block::start);
        let entered = |at: u64| {
            let local = |i: &Instruction| {
                is_branch(i) && !symbols.contains_key(&i.ip()) && i.near_branch_target() == at
            };
            blocks.iter().any(|b| local(b.last()))
        };
        let around = is_branch(&branch)
            && !is_jump(&branch)
            && is_jump(&jump)
            && !entered(jump.ip())
            && !symbols.contains_key(&branch.ip())
            && after == Some(branch.near_branch_target());
        if around {
            let mut inverted = branch;
            inverted.negate_condition_code();
            match symbols.get(&jump.ip()).copied() {
                Some(symbol) => {
                    symbols.insert(branch.ip(), symbol);
                }
                None => inverted.set_near_branch64(jump.near_branch_target()),
            }
            *blocks[n].list.last_mut().expect("a block has instructions") = inverted;
            blocks.remove(n + 1);
        } else {
            n += 1;
        }
    }
}

/// Makes a hot part that ends with a branch to one symbol and a jump to another end with the jump
/// to `falls`, if the branch leads there.
pub(crate) fn end_with(ordered: &mut Ordered, falls: Symbol) {
    let end = ordered.first_cold;
    let Some([branch, jump]) = end
        .checked_sub(2)
        .and_then(|from| <&mut [Instruction; 2]>::try_from(&mut ordered.list[from..end]).ok())
    else {
        return;
    };
    let to = |i: &Instruction| ordered.symbols.get(&i.ip()).copied();
    let is_conditional = is_branch(branch) && !is_jump(branch);
    if let (true, true, Some(there), Some(here)) =
        (is_conditional, is_jump(jump), to(branch), to(jump))
        && there == falls
        && here != falls
    {
        branch.negate_condition_code();
        ordered.symbols.insert(branch.ip(), here);
        ordered.symbols.insert(jump.ip(), there);
    }
}
