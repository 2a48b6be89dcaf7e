//! The order in which the blocks of a function are built.

use cranelift_codegen::entity::SecondaryMap;
use perilune_bytecode::Proto;

use crate::analysis::flow::Flow;
use crate::entity::Pc;

/// The blocks of a function in reverse postorder: each after those that dominate it, and after all
/// that lead to it but the ends of loops.
///
/// This is not the order of their instructions: the body of a generic `for` comes before the
/// TFORCALL that leads to it.
pub(super) struct Order {
    /// Where the blocks begin.
    pub(super) blocks: Vec<Pc>,
    /// Blocks to which a later one leads back.
    pub(super) is_loop: SecondaryMap<Pc, bool>,
}

impl Order {
    pub(super) fn new(proto: &Proto, flow: &Flow, entry: Pc) -> Order {
        let mut visited: SecondaryMap<Pc, bool> = SecondaryMap::new();
        let mut finished: SecondaryMap<Pc, bool> = SecondaryMap::new();
        let mut order = Order { blocks: Vec::new(), is_loop: SecondaryMap::new() };
        // each with the successors that are still to be visited
        let mut path = Vec::new();
        visited[entry] = true;
        path.push((entry, flow.successors(proto, entry)));
        while let Some((pc, left)) = path.last_mut() {
            let next = left.1.take().or_else(|| left.0.take());
            match next {
                Some(to) if !visited[to] => {
                    visited[to] = true;
                    path.push((to, flow.successors(proto, to)));
                }
                Some(to) => order.is_loop[to] |= !finished[to],
                None => {
                    finished[*pc] = true;
                    if flow.leader[*pc] {
                        order.blocks.push(*pc);
                    }
                    path.pop();
                }
            }
        }
        order.blocks.reverse();
        order
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;
    use crate::analysis::listing;
    use crate::feedback::snapshot::Snapshot;

    #[track_caller]
    fn check(source: &str, blocks: &[usize], loops: &[usize]) {
        let proto = listing::compile(source);
        let entry = Pc::new(0);
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), entry);
        let order = Order::new(&proto, &flow, entry);
        let found: Vec<usize> = order.blocks.iter().map(|pc| pc.index()).collect();
        assert_eq!(found, blocks);
        let found = order.blocks.iter().filter(|&&pc| order.is_loop[pc]);
        assert_eq!(found.map(|pc| pc.index()).collect::<Vec<_>>(), loops);
    }

    #[test]
    fn the_body_of_a_generic_loop_follows_the_call_of_its_iterator() {
        // 0 VARARGPREP, 1 to 3 the iterator, 4 TFORPREP, 5 the body, 6 TFORCALL, 7 TFORLOOP
        check("for k in next, {} do local a = k end", &[0, 6, 5], &[6]);
    }

    #[test]
    fn a_loop_comes_before_what_follows_it() {
        check("local n = 0 while n < 9 do n = n + 1 end return n", &[0, 2, 6], &[2]);
    }
}
