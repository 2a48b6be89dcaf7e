//! The known tags of registers before each instruction, from constants, from feedback that the code
//! speculates on ([`facts`]), and from control flow.

use std::ops::Index;

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Op, Proto};
use perilune_runtime::value::Tag;

use crate::analysis::facts::{facts, speculation};
use crate::analysis::flow::Flow;
use crate::analysis::live::Live;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::Snapshot;

/// The number of registers above those of the frame, which calls use.
const ABOVE: usize = 8;

/// The tag of each register, if it is known.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tags(Box<[Option<Tag>]>);

impl Tags {
    /// Returns a set of tags in which none is known.
    pub(crate) fn unknown(proto: &Proto) -> Tags {
        Tags(vec![None; (usize::from(proto.max_stack) + ABOVE).min(256)].into())
    }

    /// Returns the analysed registers: those of the frame and those that calls use above.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Reg> + use<> {
        (0..self.0.len()).map(Reg::new)
    }

    /// Returns the registers whose tags are known.
    pub(crate) fn known(&self) -> impl Iterator<Item = (Reg, Tag)> + '_ {
        self.registers().filter_map(|r| Some((r, self[r]?)))
    }

    /// Forgets the tags of all registers from `r` on.
    pub(crate) fn forget_from(&mut self, r: Reg) {
        self.0[r.index()..].fill(None);
    }

    /// Sets the tags of `count` registers; ignores those that are not analysed.
    fn fill(&mut self, from: Reg, count: usize, tag: Option<Tag>) {
        let size = self.0.len();
        let end = (from.index() + count).min(size);
        self.0[from.index().min(end)..end].fill(tag);
    }

    /// Sets the tag of a register.
    pub(crate) fn set(&mut self, r: Reg, tag: Option<Tag>) {
        self.0[r.index()] = tag;
    }

    /// Keeps the tags that are known in both sets; returns whether any tag was lost.
    fn meet(&mut self, other: &Tags) -> bool {
        let mut changed = false;
        for (known, &tag) in self.0.iter_mut().zip(&other.0) {
            if known.is_some() && *known != tag {
                *known = None;
                changed = true;
            }
        }
        changed
    }
}

impl Index<Reg> for Tags {
    type Output = Option<Tag>;

    fn index(&self, r: Reg) -> &Option<Tag> {
        &self.0[r.index()]
    }
}

/// The tags known at merge points.
#[derive(Clone)]
pub(crate) struct TagFlow(SecondaryMap<Pc, Option<Tags>>);

impl TagFlow {
    /// Analyses a function that is entered at `entry`.
    pub(crate) fn new(
        proto: &Proto,
        snapshot: &Snapshot,
        flow: &Flow,
        live: &Live,
        entry: Pc,
    ) -> TagFlow {
        let mut found = TagFlow(SecondaryMap::with_capacity(proto.code.len()));
        found.0[entry] = Some(at_entry(proto, snapshot, flow, live, entry));
        let mut todo = vec![entry];
        while let Some(leader) = todo.pop() {
            let mut tags = found.at(leader).clone();
            let mut pc = leader;
            loop {
                let (next, jump) = flow.successors(proto, pc);
                if let Some(to) = jump {
                    let mut tags = tags.clone();
                    step(proto, snapshot, flow, pc, true, &mut tags);
                    found.merge(to, &tags, &mut todo);
                }
                let Some(to) = next else { break };
                step(proto, snapshot, flow, pc, false, &mut tags);
                if flow.leader[to] {
                    found.merge(to, &tags, &mut todo);
                    break;
                }
                pc = to;
            }
        }
        found
    }

    /// Returns the tags at a merge point.
    pub(crate) fn at(&self, pc: Pc) -> &Tags {
        self.0[pc].as_ref().expect("control flow gets there")
    }

    fn merge(&mut self, to: Pc, tags: &Tags, todo: &mut Vec<Pc>) {
        let changed = match &mut self.0[to] {
            Some(known) => known.meet(tags),
            none => none.replace(tags.clone()).is_none(),
        };
        if changed {
            todo.push(to);
        }
    }
}

/// Returns the tags known at the entry. At an OSR entry they are those that registers had when the
/// loop became hot; the code guards them first.
fn at_entry(proto: &Proto, snapshot: &Snapshot, flow: &Flow, live: &Live, entry: Pc) -> Tags {
    let mut tags = Tags::unknown(proto);
    for (n, &tag) in snapshot.entry_tags.iter().enumerate() {
        let r = Reg::new(n);
        if tag != Snapshot::UNKNOWN && live.is_live(entry, r) && !flow.captured[r] {
            tags.set(r, Some(Tag(tag)));
        }
    }
    tags
}

/// Computes the tags after the instruction at `pc`, in sequence or (`jumps`) where it jumps to.
pub(crate) fn step(
    proto: &Proto,
    snapshot: &Snapshot,
    flow: &Flow,
    pc: Pc,
    jumps: bool,
    tags: &mut Tags,
) {
    use Op::*;
    let i = pc.instr(proto);
    let op = i.op();
    let a = i.ra();
    let facts = facts(snapshot, pc, i);
    let e = effects(i);
    for &(r, tag) in &facts.guards {
        tags.set(r, Some(tag));
    }
    let copied = if matches!(op, Move | SelfK | TestSet) { tags[i.rb()] } else { None };
    if let Some(from) = e.releases {
        tags.forget_from(Reg::new(from));
    }
    for (from, count) in e.writes {
        tags.fill(Reg::new(from), count, None);
    }
    match op {
        Move => tags.set(a, copied),
        SelfK => tags.set(a + 2, copied),
        TestSet if jumps => tags.set(a, copied),
        LoadI => tags.set(a, Some(Tag::INTEGER)),
        LoadF => tags.set(a, Some(Tag::FLOAT)),
        LoadK => tags.set(a, Some(constant_tag(&proto.constants[i.bx()]))),
        LoadKX => {
            let n = (pc + 1).instr(proto).ax_value();
            tags.set(a, Some(constant_tag(&proto.constants[n])));
        }
        LoadFalse | LFalseSkip => tags.set(a, Some(Tag::FALSE)),
        LoadTrue => tags.set(a, Some(Tag::TRUE)),
        LoadNil => tags.fill(a, i.b() + 1, Some(Tag::NIL)),
        NewTable => tags.set(a, Some(Tag::TABLE)),
        Closure => tags.set(a, Some(Tag::FUNCTION)),
        ForPrep => tags.fill(a, 4, speculation(snapshot, pc, i).result().filter(|_| !jumps)),
        ForLoop if jumps => {
            let tag = tags[a].filter(|&t| t == Tag::INTEGER || t == Tag::FLOAT);
            tags.set(a, tag);
            tags.set(a + 3, tag);
            if tag != tags[a + 1] {
                tags.set(a + 1, None);
            }
        }
        TForPrep | TForCall | TForLoop => tags.fill(a + 2, 2, None),
        _ => {
            if facts.result.is_some() {
                tags.set(a, facts.result);
            }
        }
    }
    for r in tags.registers().filter(|&r| flow.captured[r]) {
        tags.set(r, None);
    }
}

/// Returns the tag of a constant.
fn constant_tag(k: &Constant) -> Tag {
    match k {
        Constant::Nil => Tag::NIL,
        Constant::Bool(true) => Tag::TRUE,
        Constant::Bool(false) => Tag::FALSE,
        Constant::Integer(_) => Tag::INTEGER,
        Constant::Float(_) => Tag::FLOAT,
        Constant::Str(_) => Tag::STRING,
    }
}

/// Returns the name of a tag, for listings.
pub(crate) fn tag_name(tag: Tag) -> &'static str {
    match tag {
        Tag::NIL => "nil",
        Tag::FALSE => "false",
        Tag::TRUE => "true",
        Tag::INTEGER => "integer",
        Tag::FLOAT => "float",
        Tag::STRING => "string",
        Tag::TABLE => "table",
        Tag::FUNCTION => "function",
        Tag::NATIVE => "native",
        Tag::USERDATA => "userdata",
        Tag::THREAD => "thread",
        Tag::LIGHT => "light",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use perilune_bytecode::feedback::operands as seen;

    use super::*;
    use crate::analysis::listing;

    /// Checks the tags known at merge points of a chunk whose operators have seen `seen`. Tags are
    /// named by letters.
    #[track_caller]
    fn check(source: &str, seen: u32, expected: &str) {
        let proto = listing::compile(source);
        let mut snapshot = Snapshot::before_run(&proto);
        for pc in Pc::all(&proto) {
            if matches!(pc.instr(&proto).op(), Op::Add | Op::AddI | Op::ForPrep) {
                snapshot.cells[pc.index()] = seen;
            }
        }
        let flow = Flow::new(&proto, &snapshot, Pc::new(0));
        let live = Live::new(&proto, &flow);
        let found = TagFlow::new(&proto, &snapshot, &flow, &live, Pc::new(0));
        let describe = |pc: Pc| {
            let Some(tags) = &found.0[pc] else { return String::new() };
            let known: Vec<String> =
                tags.known().map(|(r, t)| format!("{r} {}", tag_name(t))).collect();
            if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
        };
        listing::check(&proto, &flow, describe, expected);
    }

    #[test]
    fn what_both_ways_know_is_known_at_a_merge_point() {
        let source = "local n = 0 for i = 1, 10 do n = n + i end return n";
        check(
            source,
            seen::INT,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 0
            2 LOADI 1 1
            3 LOADI 2 10
            4 LOADI 3 1
            5 FORPREP 1 1
            6 ADD 0 0 4: r0 integer, r1 integer, r2 integer, r3 integer, r4 integer
            7 FORLOOP 1 2
            8 RETURN1 0: r0 integer
        ",
        );
        check(
            source,
            0,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 0
            2 LOADI 1 1
            3 LOADI 2 10
            4 LOADI 3 1
            5 FORPREP 1 1
            6 ADD 0 0 4: nothing
            7 FORLOOP 1 2
            8 RETURN1 0: nothing
        ",
        );
    }

    #[test]
    fn a_loop_loses_what_its_rounds_change() {
        let source = "local n, f = 0, 0.5 while n do f = f + n n = n + 1 end return f";
        check(
            source,
            seen::INT,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 0
            2 LOADK 1 0
            3 TEST 0 0: r0 integer
            5 ADD 1 1 0
            6 ADDI 0 0 1
            7 JMP -5
            8 RETURN1 1: r0 integer
        ",
        );
        check(
            source,
            seen::FLOAT,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 0
            2 LOADK 1 0
            3 TEST 0 0: r1 float
            5 ADD 1 1 0
            6 ADDI 0 0 1
            7 JMP -5
            8 RETURN1 1: r1 float
        ",
        );
    }

    #[test]
    fn a_closure_may_change_what_it_captures() {
        let source = "local n = 0 for i = 1, 10 do n = n + 1 local f = function() return n end end";
        check(
            source,
            seen::INT,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 0
            2 LOADI 1 1
            3 LOADI 2 10
            4 LOADI 3 1
            5 FORPREP 1 2
            6 ADDI 0 0 1: r1 integer, r2 integer, r3 integer, r4 integer
            7 CLOSURE 5 0
            8 FORLOOP 1 3
            9 RETURN 1 1 1: nothing
        ",
        );
    }

    #[test]
    fn a_test_that_copies_does_so_where_it_jumps() {
        check(
            "local a, b = 1, 2 local c = a and b return c",
            0,
            r"
            0 VARARGPREP 0: nothing
            1 LOADI 0 1
            2 LOADI 1 2
            3 TESTSET 2 0 0
            5 MOVE 2 1
            6 RETURN1 2: r0 integer, r1 integer, r2 integer
        ",
        );
    }

    #[test]
    fn a_loop_is_entered_with_the_tags_of_its_frame() {
        let proto = listing::compile("local n = 0 while n < 9 do n = n + 1 end return n");
        let mut snapshot = Snapshot::before_run(&proto);
        let flow = Flow::new(&proto, &snapshot, Pc::new(2));
        let live = Live::new(&proto, &flow);
        snapshot.entry_tags = [Tag::INTEGER.0, Tag::STRING.0].into();
        let tags = at_entry(&proto, &snapshot, &flow, &live, Pc::new(2));
        let known: Vec<(Reg, Tag)> = tags.known().collect();
        assert_eq!(known, [(Reg::new(0), Tag::INTEGER)], "the second register is not live");
    }
}
