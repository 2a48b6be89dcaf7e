//! Decides which methods are compiled together, by cutting a call graph into parts of bounded size
//! along its coldest edges.
//!
//! The result depends only on the graph and the limits, never on threads or addresses, so that it
//! is the same on all machines.

use petgraph::unionfind::UnionFind;

/// A call from one method to another, and how hot it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// The number of the caller.
    pub(crate) from: usize,
    /// The number of the callee.
    pub(crate) to: usize,
    /// How hot it is.
    pub(crate) weight: u64,
}

/// Limits for the size of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// The maximum number of methods.
    pub(crate) functions: usize,
    /// The maximum size, in the units of the given sizes.
    pub(crate) bytes: usize,
}

/// Groups of methods, with the sizes of each group at its representative.
struct Groups {
    sets: UnionFind<usize>,
    functions: Vec<usize>,
    bytes: Vec<usize>,
}

impl Groups {
    /// Joins the groups of two methods, unless the result would be too large.
    fn join(&mut self, a: usize, b: usize, limits: Limits) {
        let (a, b) = (self.sets.find_mut(a), self.sets.find_mut(b));
        let functions = self.functions[a] + self.functions[b];
        let bytes = self.bytes[a].saturating_add(self.bytes[b]);
        if a == b || functions > limits.functions || bytes > limits.bytes {
            return;
        }
        self.sets.union(a, b);
        let root = self.sets.find_mut(a);
        self.functions[root] = functions;
        self.bytes[root] = bytes;
    }
}

/// Cuts a graph of `sizes.len()` methods into parts.
///
/// Edges are considered in descending order of weight (those between smaller numbers first among
/// equal ones), and the two methods of an edge are put into one part unless that part would be too
/// large. Parts are in the order of their first methods, and list their methods in order. A method
/// that is too large by itself forms a separate part.
///
/// # Panics
/// Panics if an edge names a method that does not exist.
pub(crate) fn cut(sizes: &[usize], edges: &[Edge], limits: Limits) -> Vec<Vec<usize>> {
    let mut groups = Groups {
        sets: UnionFind::new(sizes.len()),
        functions: vec![1; sizes.len()],
        bytes: sizes.to_vec(),
    };
    for edge in in_order(edges) {
        groups.join(edge.from, edge.to, limits);
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut part_of = vec![None; sizes.len()];
    for (method, root) in groups.sets.into_labeling().into_iter().enumerate() {
        let part = *part_of[root].get_or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[part].push(method);
    }
    parts
}

/// Returns the edges without direction, each once with the weights of both directions added,
/// hottest first.
fn in_order(edges: &[Edge]) -> Vec<Edge> {
    let mut sorted: Vec<Edge> = edges
        .iter()
        .filter(|e| e.from != e.to)
        .map(|e| Edge { from: e.from.min(e.to), to: e.from.max(e.to), weight: e.weight })
        .collect();
    sorted.sort_unstable_by_key(|e| (e.from, e.to));
    sorted.dedup_by(|again, kept| {
        let same = (again.from, again.to) == (kept.from, kept.to);
        if same {
            kept.weight = kept.weight.saturating_add(again.weight);
        }
        same
    });
    sorted.sort_by_key(|e| std::cmp::Reverse(e.weight));
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Limits = Limits { functions: 100, bytes: 1 << 20 };

    fn edge(from: usize, to: usize, weight: u64) -> Edge {
        Edge { from, to, weight }
    }

    #[test]
    fn what_calls_each_other_is_together() {
        let parts = cut(&[10; 6], &[edge(0, 3, 1), edge(4, 3, 1), edge(5, 2, 9)], WIDE);
        assert_eq!(parts, [vec![0, 3, 4], vec![1], vec![2, 5]]);
        assert!(cut(&[], &[], WIDE).is_empty());
    }

    #[test]
    fn the_hottest_edges_win() {
        let limits = Limits { functions: 2, bytes: 1 << 20 };
        let chain = [edge(0, 1, 1), edge(1, 2, 5), edge(2, 3, 1)];
        assert_eq!(cut(&[1; 4], &chain, limits), [vec![0], vec![1, 2], vec![3]]);
        // calls in both directions count together
        let both = [edge(0, 1, 3), edge(1, 0, 3), edge(1, 2, 5)];
        assert_eq!(cut(&[1; 3], &both, limits), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn sizes_are_bounded() {
        let limits = Limits { functions: 100, bytes: 100 };
        let edges = [edge(0, 1, 9), edge(1, 2, 8), edge(2, 3, 7)];
        assert_eq!(cut(&[60, 30, 20, 80], &edges, limits), [vec![0, 1], vec![2, 3]]);
        assert_eq!(cut(&[500, 1], &[edge(0, 1, 1)], limits), [vec![0], vec![1]]);
        let many: Vec<Edge> = (0..999).map(|n| edge(n, n + 1, 1)).collect();
        let parts = cut(&[1; 1000], &many, Limits { functions: 100, bytes: usize::MAX });
        assert_eq!(parts.len(), 10);
        assert!(parts.iter().all(|p| p.len() == 100));
    }

    #[test]
    fn the_order_of_edges_does_not_matter() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut next = move |below: u64| random.u64(..below);
        for _ in 0..50 {
            let sizes: Vec<usize> = (0..40).map(|_| next(90) as usize + 10).collect();
            let mut edges: Vec<Edge> =
                (0..120).map(|_| edge(next(40) as usize, next(40) as usize, next(4))).collect();
            let limits = Limits { functions: 7, bytes: 400 };
            let parts = cut(&sizes, &edges, limits);
            for _ in 0..5 {
                for n in (1..edges.len()).rev() {
                    edges.swap(n, next(n as u64 + 1) as usize);
                }
                assert_eq!(cut(&sizes, &edges, limits), parts);
            }
            let mut all: Vec<usize> = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (0..40).collect::<Vec<_>>(), "each is in one part");
            for part in parts.iter().filter(|p| p.len() > 1) {
                assert!(part.len() <= 7 && part.iter().map(|&m| sizes[m]).sum::<usize>() <= 400);
            }
        }
    }
}
