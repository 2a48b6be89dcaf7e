//! Import cycles among the files of a crate.

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use super::modules::Imports;
use super::tree::{Complaint, Tree};

/// The number of files that may import each other: a pair can be read as a unit, a larger cycle
/// cannot.
const MAX_FILES: usize = 2;

/// No import cycle spans more than [`MAX_FILES`] files.
pub(super) fn circles(tree: &Tree) -> Vec<Complaint> {
    let crates = tree.crates();
    crates.iter().flat_map(|name| circles_of(&Imports::of_crate(tree, name))).collect()
}

fn circles_of(imports: &Imports) -> Vec<Complaint> {
    let edges = imports.edges.keys().map(|&(from, to)| (from as u32, to as u32));
    let graph = DiGraph::<(), ()>::from_edges(edges);
    let mut complaints = Vec::new();
    for circle in tarjan_scc(&graph).into_iter().filter(|c| c.len() > MAX_FILES) {
        let mut files: Vec<usize> = circle.iter().map(|n| n.index()).collect();
        files.sort_unstable();
        let mut what = format!("a circle of imports spans {} files:", files.len());
        for ((from, to), names) in &imports.edges {
            if files.contains(from) && files.contains(to) {
                let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
                let (from, to) = (&imports.files[*from], &imports.files[*to]);
                what.push_str(&format!("\n    {from} -> {to}: {names}"));
            }
        }
        complaints.push(Complaint::file(&imports.files[files[0]], what));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::modules::Imports;
    use super::super::tree::{File, Tree};
    use super::circles_of;

    /// Returns the complaints about a crate that consists of these files.
    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File {
            path: format!("crates/x/src/{path}"),
            text: text.to_string(),
        };
        let tree = Tree { root: PathBuf::new(), files: files.iter().map(file).collect() };
        circles_of(&Imports::of_crate(&tree, "x")).iter().map(ToString::to_string).collect()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod a; mod b; mod c;");

    #[test]
    fn three_files_are_too_many() {
        let circle = [
            ROOT,
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B(crate::c::C);"),
            ("c.rs", "pub struct C; macro_rules! m { () => { $crate::a::A } }"),
        ];
        let complaints = check(&circle);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].contains("spans 3 files"), "{complaints:?}");
        let pair = [circle[0], circle[1], ("b.rs", "use crate::a::A; pub struct B;"), circle[3]];
        assert!(check(&pair).is_empty());
    }

    #[test]
    fn paths_lead_through_reexports_to_definitions() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod face;"),
            ("face.rs", "pub use crate::a::A; pub use crate::c::*;"),
            ("a.rs", "use crate::face::f; pub struct A;"),
            ("b.rs", "use crate::face::A; pub fn g() {}"),
            ("c.rs", "use crate::b; pub fn f() { b::g() }"),
        ];
        let complaints = check(&files);
        assert!(complaints.len() == 1 && !complaints[0].contains("face.rs"), "{complaints:?}");
    }

    #[test]
    fn a_module_is_part_of_the_one_that_contains_it() {
        let files = [
            ("lib.rs", "mod a; pub struct Root(a::A);"),
            ("a/mod.rs", "mod b; mod c; use crate::Root; pub struct A; fn f() { b::g(); c::h() }"),
            ("a/b.rs", "use super::A; use crate::Root; pub fn g() {}"),
            ("a/c.rs", "use super::{A, b::g}; pub fn h() {}"),
        ];
        assert!(check(&files).is_empty());
    }

    #[test]
    fn tests_are_left_out() {
        let files = [
            ROOT,
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "pub struct C; #[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(check(&files).is_empty());
    }
}
