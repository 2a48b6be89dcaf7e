//! Finds the stores that exits have in common.
//!
//! The exits of a function store mostly the same registers. If the stores of each exit are sorted
//! by the number of exits that contain them, the stores of all exits form a tree: an exit executes
//! the stores on the path from a node to the root. Nodes on the paths of several exits are emitted
//! once.

use std::hash::Hash;

use crate::hash::HashMap;

/// The tree of the stores of exits.
pub(crate) struct Tree<S> {
    nodes: Vec<Node<S>>,
    /// The node that each exit begins at, if it makes a store.
    exits: Vec<Option<usize>>,
}

/// A store, and the next store on the path to the root.
struct Node<S> {
    store: S,
    parent: Option<usize>,
    /// The number of exits that begin here plus that of the nodes whose parent this is.
    incoming: usize,
}

impl<S: Copy + Eq + Hash> Tree<S> {
    /// Returns the tree of these exits. No exit contains a store twice or depends on the order of
    /// its stores.
    pub(crate) fn new(exits: &[Vec<S>]) -> Tree<S> {
        // the number of exits that make a store, and the order in which stores first occur
        let mut met: HashMap<S, (usize, usize)> = HashMap::default();
        for &store in exits.iter().flatten() {
            let order = met.len();
            met.entry(store).or_insert((0, order)).0 += 1;
        }
        let mut tree = Tree { nodes: Vec::new(), exits: Vec::new() };
        let mut places: HashMap<(Option<usize>, S), usize> = HashMap::default();
        for exit in exits {
            let mut stores = exit.clone();
            stores.sort_by_key(|store| {
                let (count, order) = met[store];
                (usize::MAX - count, order)
            });
            let mut at = None;
            for store in stores {
                let node = *places.entry((at, store)).or_insert_with(|| {
                    tree.nodes.push(Node { store, parent: at, incoming: 0 });
                    if let Some(parent) = at {
                        tree.nodes[parent].incoming += 1;
                    }
                    tree.nodes.len() - 1
                });
                at = Some(node);
            }
            if let Some(node) = at {
                tree.nodes[node].incoming += 1;
            }
            tree.exits.push(at);
        }
        tree
    }

    /// Returns the node that exit `n` begins at, if it makes a store.
    pub(crate) fn exit(&self, n: usize) -> Option<usize> {
        self.exits[n]
    }

    /// Returns the shared nodes: those with several predecessors. Each comes after the nodes that
    /// lead to it.
    pub(crate) fn shared(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).rev().filter(|&n| self.is_shared(n))
    }

    fn is_shared(&self, n: usize) -> bool {
        self.nodes[n].incoming > 1
    }

    /// Returns the stores from a node up to the next shared node, and that node.
    pub(crate) fn stores(&self, node: usize) -> (Vec<S>, Option<usize>) {
        let mut stores = vec![self.nodes[node].store];
        let mut next = self.nodes[node].parent;
        while let Some(n) = next.filter(|&n| !self.is_shared(n)) {
            stores.push(self.nodes[n].store);
            next = self.nodes[n].parent;
        }
        (stores, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all stores of exit `n`, including shared ones.
    fn all(tree: &Tree<char>, n: usize) -> Vec<char> {
        let (mut found, mut at) = (Vec::new(), tree.exit(n));
        while let Some(node) = at {
            let (stores, next) = tree.stores(node);
            found.extend(stores);
            at = next;
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn every_exit_makes_its_stores() {
        let exits = ["ab", "abc", "", "dab", "bc", "e"].map(|s| s.chars().collect::<Vec<char>>());
        let tree = Tree::new(&exits);
        for (n, exit) in exits.iter().enumerate() {
            let mut wanted = exit.clone();
            wanted.sort_unstable();
            assert_eq!(all(&tree, n), wanted);
        }
    }

    #[test]
    fn common_stores_are_there_once() {
        let exits = ["ab", "abc", "abcd"].map(|s| s.chars().collect::<Vec<char>>());
        let tree = Tree::new(&exits);
        assert_eq!(tree.nodes.len(), 4);
        assert_eq!(tree.shared().count(), 2, "b, to which c and an exit lead, and c");
        // later nodes are emitted later
        for node in tree.shared() {
            assert!(tree.stores(node).1.is_none_or(|next| next < node));
        }
    }

    #[test]
    fn exits_with_the_same_stores_share_all() {
        let exits = ["ab", "ab"].map(|s| s.chars().collect::<Vec<char>>());
        let tree = Tree::new(&exits);
        assert_eq!(tree.exit(0), tree.exit(1));
        assert_eq!(tree.shared().collect::<Vec<_>>(), [tree.exit(0).unwrap()]);
    }
}
