//! Checks of the repository itself: the rules that the compiler cannot check, and the facts that
//! the documents state about the sources.
//!
//! A rule is a function from the [`Tree`] to its [`Complaint`]s. To add one, write the function and
//! list it in [`RULES`]; it then runs in `cargo xtask tidy` and as a separate test.

mod circles;
mod dependencies;
mod documents;
mod exemptions;
mod items;
mod markdown;
mod modules;
mod size;
mod terms;
mod tree;
mod unsafe_code;

pub use exemptions::Report;
pub use tree::{Complaint, Tree};

/// A rule of the repository.
pub struct Rule {
    /// Name, as in `cargo test -p xtask -- NAME`.
    pub name: &'static str,
    /// Returns every violation.
    pub check: fn(&Tree) -> Vec<Complaint>,
}

/// All rules.
pub const RULES: &[Rule] = &[
    Rule { name: "headers", check: size::headers },
    Rule { name: "long-files", check: size::long_files },
    Rule { name: "wide-lines", check: size::wide_lines },
    Rule { name: "top-level", check: size::top_level },
    Rule { name: "import-circles", check: circles::circles },
    Rule { name: "terms", check: terms::terms },
    Rule { name: "forbid-unsafe", check: unsafe_code::forbidden },
    Rule { name: "unsafe-reasons", check: unsafe_code::reasons },
    Rule { name: "unsafe-contracts", check: unsafe_code::contracts },
    Rule { name: "unsafe-inventory", check: unsafe_code::inventory },
    Rule { name: "headings", check: documents::headings },
    Rule { name: "documented-paths", check: documents::paths },
    Rule { name: "documented-items", check: documents::items },
    Rule { name: "documented-capitals", check: documents::capitals },
    Rule { name: "dependencies", check: dependencies::documented },
];

/// Checks one rule and sorts its complaints into errors and exempt ones.
pub fn run(rule: &Rule, tree: &Tree) -> Report {
    Report::new(rule.name, (rule.check)(tree))
}
