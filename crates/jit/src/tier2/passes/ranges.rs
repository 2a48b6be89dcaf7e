//! Moves bounds checks out of counting loops: checks once, in front of the loop, that all elements
//! that it loads are in their arrays.
//!
//! The last index of a `for` loop over integers is known when the loop begins. If an array that the
//! loop does not replace or resize is long enough for the first and the last index, it contains all
//! elements in between, and their loads need no bounds checks. If it is not, the loop would at some
//! point load an element that is not in the array, so the frame is deoptimized; code that is
//! compiled after that checks bounds in each iteration.

use std::collections::BTreeMap;

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};

use crate::codegen::number::Operator;
use crate::tier2::ir::{Block, End, Function, Inst, Op, Range, Value};
use crate::tier2::loops::NaturalLoops;

/// The largest distance of an index from that of the loop, such that the sum with an array index
/// does not overflow.
const MAX_DISTANCE: i64 = 1 << 20;

/// A counting loop, seen from the jump to its head.
struct Counting {
    /// The index, which is a parameter of the head.
    index: Value,
    /// The index and the number of further iterations, as they are passed to the head.
    first: Value,
    left: Value,
    step: i64,
}

/// Runs the pass.
pub(super) fn run(f: &mut Function) {
    let is_marked = |block: &Block| f.blocks[*block].insts.iter().any(|inst| is_mark(&inst.op));
    let marked: Vec<Block> = f.order.iter().copied().filter(is_marked).collect();
    if marked.is_empty() {
        return;
    }
    let loops = NaturalLoops::of(f);
    let definitions = definitions(f);
    for block in marked {
        let n = f.blocks[block].insts.iter().position(|inst| is_mark(&inst.op));
        let mark = f.blocks[block].insts.remove(n.expect("it is marked"));
        let Op::Counts(reg, step, state) = mark.op else { unreachable!("it is a mark") };
        let Some(members) = members(f, &loops, block) else { continue };
        let Some(counting) = counting(f, &definitions, (block, reg.index()), step, &members) else {
            continue;
        };
        let found = accesses(f, &definitions, &counting, &members);
        for (table, (range, places)) in found {
            for (block, n) in places {
                if let Op::Number(.., is_inside, _) = &mut f.blocks[block].insts[n].op {
                    *is_inside = true;
                }
            }
            let op = Op::GuardRange(table, [counting.first, counting.left], range, state);
            f.blocks[block].insts.push(Inst { op, result: None, ..mark });
        }
    }
}

fn is_mark(op: &Op) -> bool {
    matches!(op, Op::Counts(..))
}

/// Returns the instructions that compute values.
fn definitions(f: &Function) -> SecondaryMap<Value, Option<Op>> {
    let mut definitions = SecondaryMap::new();
    for &block in &f.order {
        for inst in &f.blocks[block].insts {
            if let Some(v) = inst.result {
                definitions[v] = Some(inst.op);
            }
        }
    }
    definitions
}

/// Returns the blocks of the loop to which a block leads, if it is a quiet loop that has no other
/// entry and does not change metatables.
fn members<'a>(f: &Function, loops: &'a NaturalLoops, from: Block) -> Option<&'a EntitySet<Block>> {
    let End::Jump(target) = &f.blocks[from].end else { return None };
    let head = target.block;
    let members = loops.innermost(head).filter(|_| f.blocks[head].is_loop)?;
    f.blocks[head].quiet?;
    let enters = |&block: &Block| {
        !members.contains(block) && f.blocks[block].end.targets().any(|t| t.block == head)
    };
    let is_entered_here = f.order.iter().filter(|block| enters(block)).eq([&from]);
    let keeps_headers = |&block: &Block| {
        let insts = &mut f.blocks[block].insts.iter();
        insts.all(|inst| match inst.op {
            Op::SetClass(..) | Op::SetMetatable(..) => false,
            Op::SetElement(_, _, _, changes, _) => !changes.grows,
            _ => true,
        })
    };
    let is_kept = f.order.iter().filter(|block| members.contains(**block)).all(keeps_headers);
    (is_entered_here && is_kept).then_some(members)
}

/// Returns how a loop counts, given the register of its index.
fn counting(
    f: &Function,
    definitions: &SecondaryMap<Value, Option<Op>>,
    (from, reg): (Block, usize),
    step: i64,
    members: &EntitySet<Block>,
) -> Option<Counting> {
    let End::Jump(entry) = &f.blocks[from].end else { return None };
    let params = &f.blocks[entry.block].params;
    // A parameter that belongs to no register may match by its placeholder: `is_counted` rejects
    // it unless it counts as the index or the rounds do, and then it serves as well.
    let of = |n: usize| params.iter().position(|(_, r)| r.index() == reg + n);
    // a copy of the index is the same parameter
    let (index, left) = (of(0).or_else(|| of(3))?, of(1)?);
    let is_counted = |n: usize, operator: Operator, by: i64| {
        let param = params[n].0;
        let back = f.order.iter().filter(|block| members.contains(**block));
        let back = back.flat_map(|&block| f.blocks[block].end.targets());
        let mut args = back.filter(|t| t.block == entry.block).map(|t| t.args[n]);
        args.all(|arg| match definitions[arg] {
            Some(Op::IntArith(found, a, b, _)) => {
                found == operator && a == param && constant(definitions, b) == Some(by)
            }
            _ => false,
        })
    };
    let counts = is_counted(index, Operator::Add, step) && is_counted(left, Operator::Sub, 1);
    counts.then(|| Counting {
        index: params[index].0,
        first: entry.args[index],
        left: entry.args[left],
        step,
    })
}

fn constant(definitions: &SecondaryMap<Value, Option<Op>>, v: Value) -> Option<i64> {
    match definitions[v] {
        Some(Op::Integer(n)) => Some(n),
        _ => None,
    }
}

/// The loads from a table: the range of their indices, and their places.
type Accesses = BTreeMap<Value, (Range, Vec<(Block, usize)>)>;

/// Finds the loads of elements by the loop's index from tables that the loop does not replace.
fn accesses(
    f: &Function,
    definitions: &SecondaryMap<Value, Option<Op>>,
    counting: &Counting,
    members: &EntitySet<Block>,
) -> Accesses {
    let mut inside = EntitySet::new();
    let blocks: Vec<Block> =
        f.order.iter().copied().filter(|&block| members.contains(block)).collect();
    for &block in &blocks {
        let data = &f.blocks[block];
        let results = data.insts.iter().filter_map(|inst| inst.result);
        for v in data.params.iter().map(|&(v, _)| v).chain(results) {
            inside.insert(v);
        }
    }
    let distance = |key: Value| {
        let of = |a: Value, b: Value| {
            let n = constant(definitions, b).filter(|_| a == counting.index)?;
            (-MAX_DISTANCE..=MAX_DISTANCE).contains(&n).then_some(n)
        };
        match definitions[key] {
            _ if key == counting.index => Some(0),
            Some(Op::IntArith(Operator::Add, a, b, _)) => of(a, b).or_else(|| of(b, a)),
            Some(Op::IntArith(Operator::Sub, a, b, _)) => of(a, b).map(|n| -n),
            _ => None,
        }
    };
    let mut found = Accesses::new();
    for &block in &blocks {
        for (n, inst) in f.blocks[block].insts.iter().enumerate() {
            let Op::Number(table, key, ..) = inst.op else { continue };
            let Some(d) = distance(key).filter(|_| !inside.contains(table)) else { continue };
            let step = counting.step;
            let new = || (Range { step, least: d, most: d }, Vec::new());
            let (range, places) = found.entry(table).or_insert_with(new);
            (range.least, range.most) = (range.least.min(d), range.most.max(d));
            places.push((block, n));
        }
    }
    found
}
