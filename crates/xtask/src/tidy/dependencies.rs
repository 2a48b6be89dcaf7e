//! Compares the list of crates in `docs/architecture.md` with the manifests.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::markdown::{quoted, section};
use super::tree::{Complaint, Tree};

/// The document with the list.
const DOCUMENT: &str = "docs/architecture.md";

/// The section lists every crate with the dependencies of its manifest.
pub(super) fn documented(tree: &Tree) -> Vec<Complaint> {
    let mut documented = BTreeSet::new();
    let mut complaints = Vec::new();
    let listed = section(tree.text(DOCUMENT), "## Crates and dependencies");
    for item in listed.split("\n- ").skip(1) {
        let mut words = quoted(item).into_iter().map(|(_, word)| word);
        let Some(name) = words.next().and_then(|w| w.strip_prefix("crates/").map(str::to_owned))
        else {
            continue;
        };
        let expected: BTreeSet<String> = words.collect();
        let actual = names(tree.text(&format!("crates/{name}/Cargo.toml")));
        if expected != actual {
            let what = format!("{name}: {expected:?} here, {actual:?} in its Cargo.toml");
            complaints.push(Complaint::file(DOCUMENT, what));
        }
        documented.insert(name);
    }
    let crates: BTreeSet<String> = tree.crates().into_iter().collect();
    complaints.extend(
        crates
            .symmetric_difference(&documented)
            .map(|c| Complaint::file(DOCUMENT, format!("{c}: only in the list or only a folder"))),
    );
    complaints
}

/// Returns the names of the dependencies of a manifest, including those for single targets.
///
/// # Panics
/// Panics if the text is not a manifest.
fn names(manifest: &str) -> BTreeSet<String> {
    let manifest: Table = manifest.parse().expect("a manifest is TOML");
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flat_map(|all| all.values().filter_map(Value::as_table));
    let sections = targets.chain([&manifest]).filter_map(|of| of.get("dependencies")?.as_table());
    sections.flat_map(|section| section.keys().cloned()).collect()
}
