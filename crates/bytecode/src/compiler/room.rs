//! Room for the fields that the code after a constructor adds to its table.
//!
//! Many objects are created empty and get their fields from the statements that follow. The code
//! that is certainly executed after NEWTABLE determines how many there will be, so these tables
//! immediately get room and slots for them, as if the constructor named them.
//!
//! Other objects get their fields from a method or function that the code calls next, as in
//! `local o = setmetatable({}, self) o:init()`. These get room for a few fields.

use smallvec::SmallVec;

use crate::effects::{effects, stores_element};
use crate::flow::{Next, is_passed, next};
use crate::instr::Instr;
use crate::opcode::Op;

/// The largest number of inline field slots of a table.
pub const MAX_ROOM: usize = 64;

/// The most instructions that are looked at after a constructor. Each of many tables in a long
/// function would otherwise look at all of the function.
const MAX_DISTANCE: usize = 200;

/// As [`MAX_DISTANCE`], in a constructor with positional items. These are used by the constructor,
/// so at most a call to `setmetatable` follows, and there may be thousands of them.
const MAX_DISTANCE_IN_LIST: usize = 4;

/// The number of fields for which an object that other functions initialize gets room.
const EXPECTED: usize = 4;

/// Raises operand B of each NEWTABLE to the number of fields that the table has after the stores of
/// the constructor and those that follow. `lists` are the first and last instructions of the
/// constructors with positional items, in order.
pub(super) fn make(code: &mut [Instr], lists: &[(usize, usize)]) {
    let mut targets: Option<Vec<bool>> = None;
    let mut lists = lists.iter().copied().peekable();
    for pc in 0..code.len() {
        if code[pc].op() != Op::NewTable {
            continue;
        }
        let targets = targets.get_or_insert_with(|| jump_targets(code));
        while lists.next_if(|&(_, last)| last < pc).is_some() {}
        let is_item = lists.peek().is_some_and(|&(first, _)| first < pc);
        let distance = if is_item { MAX_DISTANCE_IN_LIST } else { MAX_DISTANCE };
        let i = code[pc];
        let (table, own) = (i.a(), i.b());
        let room = fields(code, targets, (pc, distance), (table, own)).max(own);
        if room <= MAX_ROOM {
            code[pc] = Instr::abc(Op::NewTable, table as u8, room as u8, i.c() as u8);
        }
    }
}

/// Returns, for each pc, whether a jump leads to it.
fn jump_targets(code: &[Instr]) -> Vec<bool> {
    let mut found = vec![false; code.len() + 1];
    for pc in (0..code.len()).filter(|&pc| jumps(code, pc)) {
        if let Next::Branches(to) | Next::Goes(to) = next(code, pc) {
            found[to] = true;
        }
    }
    found
}

/// Returns whether control may continue elsewhere than at the next instruction.
fn jumps(code: &[Instr], pc: usize) -> bool {
    // LOADKX and SETLIST only skip their EXTRAARG.
    !matches!(code[pc].op(), Op::LoadKX | Op::SetList) && next(code, pc) != Next::Falls
}

/// Returns how many fields the table of the NEWTABLE at `pc` gets from the first `own` stores to
/// its register, which are those of its constructor, and from the stores that are always executed
/// after these, among `distance` instructions.
fn fields(
    code: &[Instr],
    targets: &[bool],
    (pc, distance): (usize, usize),
    (mut table, mut own): (usize, usize),
) -> usize {
    let mut names: SmallVec<[usize; 16]> = SmallVec::new();
    let mut left = distance;
    let (mut is_object, mut is_used) = (false, false);
    for (q, &i) in code.iter().enumerate().skip(pc + 1) {
        let op = i.op();
        if own == 0 {
            if left == 0 || targets[q] || jumps(code, q) {
                is_used |= next(code, q) != Next::Leaves;
                break;
            }
            left -= 1;
        }
        if stores_element(op) && i.a() == table {
            if matches!(op, Op::SetField | Op::SetFieldK) && !names.contains(&i.b()) {
                names.push(i.b());
            }
            own = own.saturating_sub(1);
        } else if own == 0 && is_passed(i, table) {
            table = i.a();
            is_object = true;
        } else if own == 0 && is_object && matches!(op, Op::SelfK | Op::Move) && i.b() == table {
            is_used = true;
        } else if own == 0 && effects(i).changes(table) {
            break;
        }
        if names.len() > MAX_ROOM {
            break;
        }
    }
    if is_object && is_used { names.len().max(EXPECTED) } else { names.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: usize) {
        let proto = crate::compile_source(source.as_bytes(), b"=test", 0).ok().expect("compiles");
        let found = proto.code.iter().find(|i| i.op() == Op::NewTable).map(|i| i.b());
        assert_eq!(found, Some(expected), "{source}");
    }

    #[test]
    fn stores_that_follow_get_room() {
        check("local t = {}", 0);
        check("local t = {} t.x = 1 t.y = t t.x = 2", 2);
        check("local t = {a = 1, b = x or y} t.c = f(t) t.a = 3", 3);
        check("local t = {[1] = 2, [3] = 4} t.x = 1", 2);
        check("local t = setmetatable({}, c) t.x = 1 return t", 1);
        check("local t = setmetatable({}, {__index = c}) t.x, t.y = 1, 2 return t", 2);
        check("local t = {} t[1] = 2 t.x = 1 t[x] = 3 t.y = 4", 2);
        check("local t = setmetatable({}, c) t:init() return t", EXPECTED);
        check("local t = setmetatable({x = 1}, c) init(t) return t", EXPECTED);
        check("local t = setmetatable({}, c) if x then t.x = 1 end return t", EXPECTED);
        check("local t = {} t:init() return t", 0);
        check("local t = {1, 2} t.x = 1", 1);
        check("local t = {{1}, {2}} t.x = 1", 1);
        // each assignment is two instructions
        let far = |n: usize| format!("local t = {{}} {} t.x = 1", "a = b ".repeat(n));
        check(&far(MAX_DISTANCE / 2 - 1), 1);
        check(&far(MAX_DISTANCE / 2), 0);
    }

    #[test]
    fn stores_that_may_not_be_executed_get_none() {
        check("local t = {} if x then t.x = 1 end t.y = 1", 0);
        check("local t = {} t.a = 1 while x do t.x = 1 end", 1);
        check("local t = {} t.a = 1 goto on ::on:: t.x = 1", 1);
        check("local t = {} t = x t.x = 1", 0);
        check("local t = {} do return t end t.x = 1", 0);
        check("local t = {} local u = x u.x = 1", 0);
        let many: String = (0..70).map(|n| format!("t.f{n} = {n} ")).collect();
        check(&format!("local t = {{}} {many}"), 0);
    }
}
