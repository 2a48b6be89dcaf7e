//! Rules about unsafe code: where it may be, and the comments that it needs.

use std::collections::BTreeSet;

use super::markdown::{code, quoted, section};
use super::tree::{Complaint, File, Tree};

/// Crates without unsafe code.
const SAFE_CRATES: [&str; 8] =
    ["bench", "bytecode", "derive", "semantics", "stdlib", "stencil-gen", "syntax", "xtask"];

/// The document with the invariants and the inventory.
const DOCUMENT: &str = "docs/unsafe.md";

/// The texts that begin unsafe code.
const OPENINGS: [&str; 4] = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait"];

/// Returns whether this is the file of a rule or of its tests, which contain the words that they
/// look for.
fn is_rule(file: &File) -> bool {
    file.path.starts_with("crates/xtask/src/tidy/")
}

/// The roots of the safe crates forbid unsafe code.
pub(super) fn forbidden(tree: &Tree) -> Vec<Complaint> {
    let roots = tree.rust().filter(|file| {
        SAFE_CRATES.iter().any(|name| {
            ["lib.rs", "main.rs"].iter().any(|f| file.path == format!("crates/{name}/src/{f}"))
        })
    });
    roots
        .filter(|file| !file.text.contains("#![forbid(unsafe_code)]"))
        .map(|file| Complaint::file(&file.path, "no #![forbid(unsafe_code)]"))
        .collect()
}

/// Every `unsafe` block and impl has a `SAFETY` comment on its line, on one of the three lines
/// above, or in the comment that ends above it.
pub(super) fn reasons(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| !file.is_test() && !is_rule(file)) {
        let lines: Vec<&str> = file.text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = code(line);
            let opens = code.contains("unsafe {") || code.contains("unsafe impl");
            let near = &lines[i.saturating_sub(3)..=i];
            let mut above =
                lines[..i].iter().rev().take_while(|l| l.trim_start().starts_with("//"));
            let reason = |l: &&str| l.contains("SAFETY:");
            if opens && !near.iter().any(reason) && !above.any(reason) {
                complaints.push(Complaint::line(&file.path, i + 1, "unsafe without SAFETY"));
            }
        }
    }
    complaints
}

/// Every public unsafe function states its contract, or the document states the contract of its
/// module.
pub(super) fn contracts(tree: &Tree) -> Vec<Complaint> {
    let modules = section(tree.text(DOCUMENT), "## Modules with one contract");
    let modules: Vec<String> =
        quoted(&modules).into_iter().map(|(_, w)| w).filter(|w| w.contains('/')).collect();
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| !file.is_test()) {
        if modules.iter().any(|m| file.path.starts_with(m.as_str())) {
            continue;
        }
        let lines: Vec<&str> = file.text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = code(line);
            if !code.contains("unsafe fn ") || !code.trim_start().starts_with("pub") {
                continue;
            }
            let documented = lines[..i]
                .iter()
                .rev()
                .map(|l| l.trim_start())
                .take_while(|l| l.starts_with("//") || l.starts_with("#["))
                .any(|l| l.contains("# Safety"));
            if !documented {
                complaints.push(Complaint::line(&file.path, i + 1, "no # Safety"));
            }
        }
    }
    complaints
}

/// Unsafe code exists in the places that the inventory lists, and only there.
pub(super) fn inventory(tree: &Tree) -> Vec<Complaint> {
    let listed: BTreeSet<String> = quoted(&section(tree.text(DOCUMENT), "## Inventory"))
        .into_iter()
        .map(|(_, word)| word)
        .filter(|w| w.starts_with("crates/"))
        .collect();
    let mut used = BTreeSet::new();
    let mut complaints = Vec::new();
    for file in tree.rust().filter(|file| !file.is_test() && !is_rule(file)) {
        if !file.text.lines().map(code).any(|l| OPENINGS.iter().any(|w| l.contains(w))) {
            continue;
        }
        match listed.iter().find(|place| file.path.starts_with(place.as_str())) {
            Some(place) => {
                used.insert(place.clone());
            }
            None => {
                let what = format!("unsafe code that {DOCUMENT} does not list");
                complaints.push(Complaint::file(&file.path, what));
            }
        }
    }
    complaints.extend(
        listed
            .difference(&used)
            .map(|p| Complaint::file(DOCUMENT, format!("{p} has no unsafe code"))),
    );
    complaints
}
