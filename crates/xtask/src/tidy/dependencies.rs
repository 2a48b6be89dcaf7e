//! The table of crates in `docs/architecture.md` against the manifests.

use std::collections::BTreeSet;

use super::markdown::{quoted, section};
use super::tree::{Complaint, Tree};

/// The document with the table.
const DOCUMENT: &str = "docs/architecture.md";

/// The table lists every crate, and each with the dependencies of its manifest.
pub(super) fn documented(tree: &Tree) -> Vec<Complaint> {
    let mut documented = BTreeSet::new();
    let mut complaints = Vec::new();
    for line in section(tree.text(DOCUMENT), "## Crates and dependencies").lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(name) = cells.get(1).and_then(|c| c.strip_prefix("`crates/")?.strip_suffix('`'))
        else {
            continue;
        };
        documented.insert(name.to_owned());
        let expected: BTreeSet<String> =
            cells[2..].iter().take(2).flat_map(|c| quoted(c)).map(|(_, word)| word).collect();
        let actual = names(tree.text(&format!("crates/{name}/Cargo.toml")));
        if expected != actual {
            let what = format!("{name}: {expected:?} here, {actual:?} in its Cargo.toml");
            complaints.push(Complaint::file(DOCUMENT, what));
        }
    }
    let crates: BTreeSet<String> = tree.crates().into_iter().collect();
    complaints.extend(
        crates
            .symmetric_difference(&documented)
            .map(|c| Complaint::file(DOCUMENT, format!("{c}: only in the table or only a folder"))),
    );
    complaints
}

/// Returns the names in the section `[dependencies]` of a manifest.
fn names(manifest: &str) -> BTreeSet<String> {
    manifest
        .lines()
        .skip_while(|l| l.trim() != "[dependencies]")
        .skip(1)
        .take_while(|l| !l.starts_with('['))
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with(['#', '}', ']']))
        .map(str::to_owned)
        .collect()
}
