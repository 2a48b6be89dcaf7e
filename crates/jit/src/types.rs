//! What is known of the tags of registers before each instruction, by constants, by the feedback that is taken for granted, and by control flow.
//!
//! Where feedback has seen operands of one kind only, code is made for that kind, and left for the interpreter when another comes
//! ([`Guess`]). So what follows such an instruction may rely on the tags of its operands and of its result.

use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Feedback, Instr, Op, Proto};
use perilune_runtime::value::Tag;

use crate::flow::Flow;
use crate::snapshot::{CalleeSeen, Snapshot};

/// Feedback bits of operators.
pub(crate) mod seen {
    pub(crate) const INT: u32 = 1;
    pub(crate) const FLOAT: u32 = 2;
    pub(crate) const MIXED: u32 = 4;
    /// What takes a metamethod, or has none.
    pub(crate) const OTHER: u32 = 16;
    /// All that there are.
    pub(crate) const ALL: u32 = 31;
}

/// Feedback bits of accesses with computed keys.
pub(crate) mod access {
    pub(crate) const ARRAY: u32 = 1;
    pub(crate) const STRING: u32 = 2;
    pub(crate) const OTHER: u32 = 4;
    pub(crate) const INTS: u32 = 8;
    pub(crate) const FLOATS: u32 = 16;
    pub(crate) const OUTSIDE: u32 = 64;
    pub(crate) const NO_TABLE: u32 = 128;
    /// All that there are.
    pub(crate) const ALL: u32 = 255;
}

/// What an operator's operands are taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guess {
    /// Integers, and so is the result.
    Int,
    /// Floats, and so is the result.
    Float,
    /// Numbers of both kinds; the result is a float. Two integers only where that makes no difference.
    Number,
    /// Nothing: whatever comes is handled.
    Any,
}

impl Guess {
    /// For an instruction whose feedback is `seen`.
    pub(crate) fn of(op: Op, seen: u32) -> Guess {
        use Op::*;
        let seen = seen & seen::ALL;
        let (int, float, number) = match op {
            AddI | SubI | AddK | SubK | MulK | KAdd | KSub | KMul | Add | Sub | Mul | ModK
            | Mod | IDivK | IDiv => (true, true, true),
            Unm | Lt | Le | LtI | LeI | GtI | GeI | ForPrep => (true, true, false),
            DivK | KDiv | Div | PowK | Pow => (false, true, true),
            BAndK | BOrK | BXorK | ShrI | ShlI | BAnd | BOr | BXor | Shl | Shr | BNot => {
                (true, false, false)
            }
            _ => return Guess::Any,
        };
        match seen {
            seen::INT if int => Guess::Int,
            seen::FLOAT if float => Guess::Float,
            0 => Guess::Any,
            s if number && s & !(seen::FLOAT | seen::MIXED) == 0 => Guess::Number,
            _ => Guess::Any,
        }
    }

    /// The tag of the result.
    fn result(self) -> u8 {
        match self {
            Guess::Int => Tag::INTEGER.0,
            Guess::Float | Guess::Number => Tag::FLOAT.0,
            Guess::Any => UNKNOWN,
        }
    }
}

/// Not known.
pub(crate) const UNKNOWN: u8 = 0xFF;

/// A tag per register, or [`UNKNOWN`].
pub(crate) type Tags = Box<[u8]>;

/// Registers, a bit for each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Set([u64; 4]);

impl Set {
    pub(crate) fn has(&self, r: usize) -> bool {
        self.0[r / 64] >> (r % 64) & 1 != 0
    }

    fn add(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(256) {
            self.0[r / 64] |= 1 << (r % 64);
        }
    }

    fn remove(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(256) {
            self.0[r / 64] &= !(1 << (r % 64));
        }
    }

    fn join(&mut self, other: &Set) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
}

/// What is known at the instructions where control flow meets.
pub(crate) struct Types {
    /// By pc; none where nothing meets.
    at: Box<[Option<Tags>]>,
    /// Registers that are read before they are written, by pc.
    live: Box<[Set]>,
}

impl Types {
    /// Of a function entered at `entry`.
    pub(crate) fn new(proto: &Proto, snapshot: &Snapshot, flow: &Flow, entry: usize) -> Types {
        let n = proto.code.len();
        let mut types = Types { at: vec![None; n].into(), live: vec![Set::default(); n].into() };
        let size = Types::size(proto);
        types.find_live(proto, flow);
        types.at[entry] = Some(types.at_entry(snapshot, flow, entry, size));
        let mut todo = vec![entry];
        while let Some(leader) = todo.pop() {
            let mut tags = types.at[leader].clone().expect("it was reached");
            let mut pc = leader;
            loop {
                let (next, jump) = flow.successors(proto, pc);
                let before = jump.is_some().then(|| tags.clone());
                if let (Some(to), Some(mut tags)) = (jump, before) {
                    step(proto, snapshot, flow, pc, true, &mut tags);
                    types.merge(to, &tags, &mut todo);
                }
                let Some(to) = next else { break };
                step(proto, snapshot, flow, pc, false, &mut tags);
                if flow.leader[to] {
                    types.merge(to, &tags, &mut todo);
                    break;
                }
                pc = to;
            }
        }
        types
    }

    /// What is known at the entry: of a loop, the tags there when it was found to be hot. They are looked at before.
    fn at_entry(&self, snapshot: &Snapshot, flow: &Flow, entry: usize, size: usize) -> Tags {
        let mut tags: Tags = vec![UNKNOWN; size].into();
        for (r, &tag) in snapshot.entry_tags.iter().enumerate() {
            if self.is_live(entry, r) && !flow.captured[r] {
                tags[r] = tag;
            }
        }
        tags
    }

    /// Registers that are looked at: those of the frame and those that calls use above.
    pub(crate) fn size(proto: &Proto) -> usize {
        (usize::from(proto.max_stack) + 8).min(256)
    }

    /// The tags at an instruction where control flow meets.
    pub(crate) fn at(&self, pc: usize) -> &Tags {
        self.at[pc].as_ref().expect("control flow gets there")
    }

    /// May register `r` be read from `pc` on?
    pub(crate) fn is_live(&self, pc: usize, r: usize) -> bool {
        self.live[pc].has(r)
    }

    fn merge(&mut self, to: usize, tags: &Tags, todo: &mut Vec<usize>) {
        match &mut self.at[to] {
            Some(known) => {
                let mut changed = false;
                for (k, t) in known.iter_mut().zip(tags) {
                    if *k != UNKNOWN && k != t {
                        *k = UNKNOWN;
                        changed = true;
                    }
                }
                if changed {
                    todo.push(to);
                }
            }
            none => {
                *none = Some(tags.clone());
                todo.push(to);
            }
        }
    }

    fn find_live(&mut self, proto: &Proto, flow: &Flow) {
        let mut changed = true;
        while changed {
            changed = false;
            for pc in (0..proto.code.len()).rev() {
                if !flow.reached[pc] {
                    continue;
                }
                let (next, jump) = flow.successors(proto, pc);
                let mut live = Set::default();
                for to in [next, jump].into_iter().flatten() {
                    live.join(&self.live[to]);
                }
                let i = proto.code[pc];
                let e = effects(i);
                for (from, count) in e.writes {
                    live.remove(from, count);
                }
                for (from, count) in e.reads {
                    live.add(from, count);
                }
                let open = matches!(i.op(), Op::Call | Op::TailCall | Op::Return | Op::SetList);
                if open && i.b() == 0 {
                    live.add(i.a(), 256 - i.a());
                }
                if live != self.live[pc] {
                    self.live[pc] = live;
                    changed = true;
                }
            }
        }
    }
}

/// The tags behind the instruction at `pc`, in sequence or (`jumps`) where it jumps to.
pub(crate) fn step(
    proto: &Proto,
    snapshot: &Snapshot,
    flow: &Flow,
    pc: usize,
    jumps: bool,
    tags: &mut Tags,
) {
    use Op::*;
    let i = proto.code[pc];
    let op = i.op();
    let (a, b) = (i.a(), i.b());
    let copied = if matches!(op, Move | SelfK | TestSet) { tags[b] } else { UNKNOWN };
    let guess = guess(snapshot, pc, i);
    let e = effects(i);
    let operands = match guess {
        Guess::Int => Tag::INTEGER.0,
        Guess::Float => Tag::FLOAT.0,
        Guess::Number | Guess::Any => UNKNOWN,
    };
    if operands != UNKNOWN && op != ForPrep {
        for (from, count) in e.reads {
            tags[from..from + count].fill(operands);
        }
    }
    let element = match op {
        GetTable | SetTable | SetTableK => {
            let key = if op == GetTable { i.c() } else { b };
            if keys_are_integers(snapshot, pc) {
                tags[key] = Tag::INTEGER.0;
            }
            element_tag(snapshot, pc)
        }
        GetI => element_tag(snapshot, pc),
        _ => None,
    };
    if let Some(object) = object_of(i).filter(|_| is_table(snapshot, pc, i)) {
        tags[object] = Tag::TABLE.0;
    }
    let copied = if op == SelfK { tags[b] } else { copied };
    if let Some(from) = e.releases {
        tags[from..].fill(UNKNOWN);
    }
    for (from, count) in e.writes {
        let end = (from + count).min(tags.len());
        tags[from.min(end)..end].fill(UNKNOWN);
    }
    match op {
        Move => tags[a] = copied,
        SelfK => tags[a + 2] = copied,
        GetTable | GetI => tags[a] = element.map_or(UNKNOWN, |tag| tag.0),
        TestSet if jumps => tags[a] = copied,
        LoadI => tags[a] = Tag::INTEGER.0,
        LoadF => tags[a] = Tag::FLOAT.0,
        LoadK => tags[a] = constant_tag(&proto.constants[i.bx()]),
        LoadKX => tags[a] = constant_tag(&proto.constants[proto.code[pc + 1].ax_value()]),
        LoadFalse | LFalseSkip => tags[a] = Tag::FALSE.0,
        LoadTrue => tags[a] = Tag::TRUE.0,
        LoadNil => tags[a..=a + b].fill(Tag::NIL.0),
        NewTable => tags[a] = Tag::TABLE.0,
        Closure => tags[a] = Tag::FUNCTION.0,
        ForPrep => {
            let tag = if jumps { UNKNOWN } else { guess.result() };
            tags[a..a + 4].fill(tag);
        }
        ForLoop if jumps => {
            let tag = match tags[a] {
                t if t == Tag::INTEGER.0 || t == Tag::FLOAT.0 => t,
                _ => UNKNOWN,
            };
            tags[a] = tag;
            tags[a + 3] = tag;
            if tag != tags[a + 1] {
                tags[a + 1] = UNKNOWN;
            }
        }
        TForPrep | TForCall | TForLoop => tags[a + 2] = UNKNOWN,
        Lt | Le | LtI | LeI | GtI | GeI => {}
        _ if e.writes[0] == (a, 1) && guess != Guess::Any => tags[a] = guess.result(),
        _ => {}
    }
    for (r, tag) in tags.iter_mut().enumerate() {
        if flow.captured[r] {
            *tag = UNKNOWN;
        }
    }
}

/// Was the instruction at `pc` never executed, as far as feedback tells, and is it to be left to the interpreter then?
pub(crate) fn is_cold(snapshot: &Snapshot, pc: usize, i: Instr) -> bool {
    use Op::*;
    if !snapshot.prunes {
        return false;
    }
    let cell = snapshot.cells[pc];
    match i.op() {
        Call => snapshot.callees[cell as usize] == CalleeSeen::Nothing,
        GetField | SelfK | SetField | SetFieldK => {
            let field = &snapshot.fields[cell as usize];
            !field.seen && field.paths.is_empty()
        }
        GetTable | GetI | SetTable | SetTableK | SetI | SetIK => cell & access::ALL == 0,
        AddI | SubI | AddK | SubK | MulK | KAdd | KSub | KMul | Add | Sub | Mul | ModK | Mod
        | IDivK | IDiv | Unm | Lt | Le | LtI | LeI | GtI | GeI | ForPrep | DivK | KDiv | Div
        | PowK | Pow | BAndK | BOrK | BXorK | ShrI | ShlI | BAnd | BOr | BXor | Shl | Shr
        | BNot => cell & seen::ALL == 0,
        _ => false,
    }
}

/// What the operator at `pc` takes its operands for.
pub(crate) fn guess(snapshot: &Snapshot, pc: usize, i: Instr) -> Guess {
    if snapshot.general { Guess::Any } else { Guess::of(i.op(), snapshot.cells[pc]) }
}

/// The register of the table that an access is to.
fn object_of(i: Instr) -> Option<usize> {
    use Op::*;
    match i.op() {
        GetTable | GetI | GetField | SelfK => Some(i.b()),
        SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => Some(i.a()),
        _ => None,
    }
}

/// Does the access at `pc` take its object for a table?
pub(crate) fn is_table(snapshot: &Snapshot, pc: usize, i: Instr) -> bool {
    if snapshot.general {
        return false;
    }
    match i.op().feedback() {
        Feedback::Field => {
            let paths = &snapshot.fields[snapshot.cells[pc] as usize].paths;
            !paths.is_empty() && paths.iter().all(|p| p.shape().is_some())
        }
        Feedback::Access => {
            let seen = snapshot.cells[pc] & access::ALL;
            seen != 0 && seen & access::NO_TABLE == 0
        }
        _ => false,
    }
}

/// Does the access at `pc` take its key for an integer?
pub(crate) fn keys_are_integers(snapshot: &Snapshot, pc: usize) -> bool {
    let seen = snapshot.cells[pc];
    !snapshot.general
        && seen & access::ARRAY != 0
        && seen & (access::STRING | access::OTHER | access::NO_TABLE) == 0
}

/// The tag of the elements that the load at `pc` takes for granted, from arrays of numbers.
pub(crate) fn element_tag(snapshot: &Snapshot, pc: usize) -> Option<Tag> {
    match snapshot.cells[pc] & access::ALL {
        _ if snapshot.general => None,
        s if s == access::ARRAY | access::INTS => Some(Tag::INTEGER),
        s if s == access::ARRAY | access::FLOATS => Some(Tag::FLOAT),
        _ => None,
    }
}

fn constant_tag(k: &Constant) -> u8 {
    match k {
        Constant::Nil => Tag::NIL,
        Constant::Bool(b) => {
            if *b {
                Tag::TRUE
            } else {
                Tag::FALSE
            }
        }
        Constant::Integer(_) => Tag::INTEGER,
        Constant::Float(_) => Tag::FLOAT,
        Constant::Str(_) => Tag::STRING,
    }
    .0
}
