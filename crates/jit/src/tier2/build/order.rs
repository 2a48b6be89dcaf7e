//! Finds the order in which the blocks of a function are built, and its loops.

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Op, Proto};

use crate::analysis::flow::{Flow, loop_members};
use crate::entity::{Pc, Reg};
use crate::tier2::passes::homes::loop_registers;

/// The blocks of a function in reverse postorder: each block comes after those that dominate it,
/// and after all its predecessors except those of back edges.
///
/// This is not the order of their instructions: the body of a generic `for` precedes the TFORCALL
/// that jumps to it.
pub(super) struct Order {
    /// The first instructions of the blocks.
    pub(super) blocks: Vec<Pc>,
    /// Whether a block is the target of a back edge.
    pub(super) is_loop: SecondaryMap<Pc, bool>,
    /// The natural loops, by their heads. A loop that can be entered elsewhere than at its head is
    /// not included.
    pub(super) loops: HashMap<Pc, Rc<Loop>>,
}

/// The blocks of an OSR entry at a loop inside another loop.
///
/// The inner loop is built twice, once for the entry and once as part of the outer loop. In a
/// single graph the loops would form one loop with two entries, and no facts would be known in the
/// inner one.
pub(super) struct Entered {
    /// The loop at the OSR entry.
    pub(super) first: Order,
    /// All code that is reachable from the loop, including another copy of the loop.
    pub(super) rest: Order,
}

impl Entered {
    /// Returns the blocks for an OSR entry at `entry`; `None` if the loop is not inside another
    /// loop.
    pub(super) fn new(proto: &Proto, flow: &Flow, entry: Pc) -> Option<Entered> {
        let predecessors = flow.predecessors(proto);
        let members = loop_members(proto, &predecessors, entry);
        let inside = || Pc::all(proto).filter(|&pc| members.contains(pc));
        let is_natural = inside().all(|pc| pc >= entry);
        // the back edges to the entry may be in code that was never executed
        let is_loop = predecessors[entry].iter().any(|&pc| members.contains(pc));
        // a generic `for` is entered at the call of its iterator
        let mut ways = inside().flat_map(|pc| &predecessors[pc]);
        if !is_natural || !is_loop || ways.all(|&pc| members.contains(pc)) {
            return None;
        }
        let first = Order::within(proto, flow, &[entry], &|pc| members.contains(pc));
        let edges = |pc| {
            let (next, jump) = flow.successors(proto, pc);
            next.into_iter().chain(jump)
        };
        let exits: Vec<Pc> = inside().flat_map(edges).filter(|&to| !members.contains(to)).collect();
        let rest = Order::within(proto, flow, &exits, &|_| true);
        Some(Entered { first, rest })
    }
}

/// A natural loop: its head dominates its blocks, and all of them reach the head.
pub(super) struct Loop {
    /// Its blocks, in order.
    pub(super) blocks: Vec<Pc>,
    /// Its instructions.
    pub(super) instructions: Vec<Pc>,
    /// The registers that its instructions write.
    written: EntitySet<Reg>,
    /// The registers with the positions of traversals by `next`.
    positions: EntitySet<Reg>,
    /// If set, all registers from this one on are written.
    written_from: Option<Reg>,
    /// Whether it contains no other loop.
    pub(super) is_innermost: bool,
}

impl Loop {
    /// Returns whether an instruction of the loop writes a register.
    pub(super) fn writes(&self, r: Reg) -> bool {
        self.positions.contains(r) || self.writes_value(r)
    }

    /// Returns whether instructions of the loop write a register only as the position of a
    /// traversal. A register that is nil before the loop does not hold a position.
    pub(super) fn writes_position(&self, r: Reg) -> bool {
        self.positions.contains(r) && !self.writes_value(r)
    }

    fn writes_value(&self, r: Reg) -> bool {
        self.written.contains(r) || self.written_from.is_some_and(|from| from <= r)
    }

    fn add(&mut self, proto: &Proto, pc: Pc) {
        let i = pc.instr(proto);
        let effects = effects(i);
        let (from, count) = loop_registers(i);
        let of_loop = match i.op() {
            Op::TForCall => &mut self.positions,
            _ => &mut self.written,
        };
        Reg::new(from).range(count).for_each(|r| {
            of_loop.insert(r);
        });
        for (from, count) in effects.writes {
            Reg::new(from).range(count).for_each(|r| {
                self.written.insert(r);
            });
        }
        if let Some(from) = effects.releases {
            let from = Reg::new(from);
            self.written_from = Some(self.written_from.map_or(from, |known| known.min(from)));
        }
        self.instructions.push(pc);
    }
}

impl Order {
    pub(super) fn new(proto: &Proto, flow: &Flow, entry: Pc) -> Order {
        Order::within(proto, flow, &[entry], &|_| true)
    }

    /// Returns the order of the blocks that are reachable from `entries` through instructions for
    /// which `is_inside` holds.
    fn within(proto: &Proto, flow: &Flow, entries: &[Pc], is_inside: &dyn Fn(Pc) -> bool) -> Order {
        let mut visited: SecondaryMap<Pc, bool> = SecondaryMap::new();
        let mut finished: SecondaryMap<Pc, bool> = SecondaryMap::new();
        let mut order =
            Order { blocks: Vec::new(), is_loop: SecondaryMap::new(), loops: HashMap::new() };
        // the instructions being visited, with the successors that are still to be visited
        let mut path = Vec::new();
        for &entry in entries {
            if !visited[entry] {
                visited[entry] = true;
                path.push((entry, flow.successors(proto, entry)));
            }
            while let Some((pc, left)) = path.last_mut() {
                // code after a loop is visited before the loop, so it comes later in the reversed
                // order
                let is_end = left.1.is_some_and(|to| to <= *pc);
                let next = if is_end { left.0.take() } else { None };
                let next = next.or_else(|| left.1.take()).or_else(|| left.0.take());
                match next {
                    Some(to) if !is_inside(to) => {}
                    Some(to) if !visited[to] => {
                        visited[to] = true;
                        path.push((to, flow.successors(proto, to)));
                    }
                    Some(to) => order.is_loop[to] |= !finished[to],
                    None => {
                        finished[*pc] = true;
                        if flow.leader[*pc] || entries.contains(pc) {
                            order.blocks.push(*pc);
                        }
                        path.pop();
                    }
                }
            }
        }
        order.blocks.reverse();
        if order.blocks.iter().any(|&pc| order.is_loop[pc]) {
            order.find_loops(proto, flow, entries, is_inside);
        }
        order
    }

    fn find_loops(
        &mut self,
        proto: &Proto,
        flow: &Flow,
        entries: &[Pc],
        is_inside: &dyn Fn(Pc) -> bool,
    ) {
        // the place in the order of the block that begins at an instruction, and its predecessors
        let mut place: SecondaryMap<Pc, usize> = SecondaryMap::new();
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        let mut members: Vec<Vec<Pc>> = vec![Vec::new(); self.blocks.len()];
        for (n, &head) in self.blocks.iter().enumerate() {
            place[head] = n;
        }
        for (n, &head) in self.blocks.iter().enumerate() {
            let mut pc = head;
            loop {
                members[n].push(pc);
                let (next, jump) = flow.successors(proto, pc);
                let next = next.filter(|&to| is_inside(to));
                let next_is_leader = next.is_some_and(|next| flow.leader[next]);
                if let Some(to) = jump.filter(|&to| is_inside(to)) {
                    predecessors[place[to]].push(n);
                }
                match next {
                    Some(to) if next_is_leader => predecessors[place[to]].push(n),
                    Some(to) => {
                        pc = to;
                        continue;
                    }
                    None => {}
                }
                break;
            }
        }
        let heads: Vec<usize> =
            (0..self.blocks.len()).filter(|&n| self.is_loop[self.blocks[n]]).collect();
        for &head in &heads {
            let mut is_in = vec![false; self.blocks.len()];
            is_in[head] = true;
            let mut todo: Vec<usize> =
                predecessors[head].iter().copied().filter(|&n| n >= head).collect();
            while let Some(n) = todo.pop() {
                if !std::mem::replace(&mut is_in[n], true) {
                    todo.extend(&predecessors[n]);
                }
            }
            let is_entered = |pc: &Pc| is_in[place[*pc]] && place[*pc] != head;
            if is_in[..head].contains(&true) || entries.iter().any(is_entered) {
                continue;
            }
            let inside = || (head..is_in.len()).filter(|&n| is_in[n]);
            let mut found = Loop {
                blocks: inside().map(|n| self.blocks[n]).collect(),
                instructions: Vec::new(),
                written: EntitySet::new(),
                positions: EntitySet::new(),
                written_from: None,
                is_innermost: !heads.iter().any(|&other| other != head && is_in[other]),
            };
            for pc in inside().flat_map(|n| &members[n]) {
                found.add(proto, *pc);
            }
            self.loops.insert(self.blocks[head], Rc::new(found));
        }
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;
    use crate::analysis::listing;
    use crate::feedback::snapshot::Snapshot;

    fn order_of(source: &str) -> Order {
        let proto = listing::compile(source);
        let entry = Pc::new(0);
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), entry);
        Order::new(&proto, &flow, entry)
    }

    #[track_caller]
    fn check(source: &str, blocks: &[usize], loops: &[usize]) {
        let order = order_of(source);
        let found: Vec<usize> = order.blocks.iter().map(|pc| pc.index()).collect();
        assert_eq!(found, blocks);
        let found = order.blocks.iter().filter(|&&pc| order.is_loop[pc]);
        assert_eq!(found.map(|pc| pc.index()).collect::<Vec<_>>(), loops);
    }

    #[test]
    fn the_body_of_a_generic_loop_follows_the_call_of_its_iterator() {
        // 0 VARARGPREP, 1 to 3 the iterator, 4 TFORPREP, 5 the body, 6 TFORCALL, 7 TFORLOOP
        check("for k in next, {} do local a = k end", &[0, 6, 5, 8], &[6]);
    }

    #[test]
    fn loops_know_what_they_write_and_contain() {
        let source = "local a, b = 1, 2 for i = 1, a do b = i while b do b = a end end return b";
        let order = order_of(source);
        let [outer, inner] = [true, false].map(|has_more| {
            let mut all = order.loops.values();
            all.find(|l| l.is_innermost != has_more).expect("it is a loop")
        });
        let [a, b] = [0, 1].map(Reg::new);
        for l in [outer, inner] {
            assert!(!l.writes(a) && l.writes(b));
        }
        assert!(inner.blocks.iter().all(|pc| outer.blocks.contains(pc)));
        assert!(inner.instructions.len() < outer.instructions.len());
        // a control variable
        assert!(outer.writes(Reg::new(5)) && !inner.writes(Reg::new(5)));
    }

    /// Checks the two orders of code with an OSR entry at a loop inside another loop.
    #[track_caller]
    fn check_entered(source: &str, entry: usize, first: &[usize], rest: &[usize]) {
        let (proto, entry) = (listing::compile(source), Pc::new(entry));
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), entry);
        let entered = Entered::new(&proto, &flow, entry).expect("there is a loop around it");
        let blocks = |order: &Order| order.blocks.iter().map(|pc| pc.index()).collect::<Vec<_>>();
        assert_eq!((blocks(&entered.first), blocks(&entered.rest)), (first.into(), rest.into()));
        let natural = [&entered.first, &entered.rest].map(|order| {
            let heads = order.blocks.iter().filter(|&&pc| order.is_loop[pc]);
            heads.filter(|pc| order.loops[pc].is_innermost).count()
        });
        assert_eq!(natural, [1, 1], "the inner loop is a natural loop in both");
    }

    #[test]
    fn a_loop_that_code_is_entered_at_is_built_twice() {
        // the inner body is ADD, followed by both FORLOOPs and RETURN
        let source = "local n = 0 for i = 1, 9 do for j = 1, 9 do n = n + j end end return n";
        let proto = listing::compile(source);
        let heads: Vec<usize> = (0..proto.code.len())
            .filter(|&pc| proto.code[pc].op() == perilune_bytecode::Op::ForLoop)
            .filter_map(|pc| Some(Pc::new(pc).successors(&proto).1?.index()))
            .collect();
        let [inner, outer] = heads[..] else { panic!("there are two loops: {heads:?}") };
        let (body, end) = (inner, inner + 2);
        check_entered(source, body, &[body], &[end, outer, body, end + 1]);
        let proto = listing::compile("for i = 1, 9 do print(i) end");
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), Pc::new(5));
        assert!(Entered::new(&proto, &flow, Pc::new(5)).is_none(), "no loop is around it");
    }

    #[test]
    fn a_loop_comes_before_what_follows_it() {
        check("local n = 0 while n < 9 do n = n + 1 end return n", &[0, 2, 6], &[2]);
    }
}
