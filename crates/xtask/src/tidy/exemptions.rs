//! Rules that do not hold everywhere yet: which rule, in which part of the tree.
//!
//! The lists only shrink. A part that breaks no rule any more is named by `cargo xtask tidy`, and
//! is then taken off its list.

use super::tree::Complaint;

/// Parts of the tree that a rule does not hold for yet: beginnings of paths.
const EXEMPT: &[(&str, &[&str])] = &[];

/// What one rule found.
pub struct Report {
    /// Violations that fail the check.
    pub errors: Vec<Complaint>,
    /// Each part that is exempt, with the violations that remain in it.
    pub exempt: Vec<(&'static str, Vec<Complaint>)>,
}

impl Report {
    /// Sorts the complaints of a rule.
    pub(super) fn new(rule: &str, complaints: Vec<Complaint>) -> Report {
        let parts = EXEMPT.iter().find(|(name, _)| *name == rule).map_or(&[][..], |(_, p)| *p);
        let mut exempt: Vec<_> = parts.iter().map(|part| (*part, Vec::new())).collect();
        let mut errors = Vec::new();
        for complaint in complaints {
            match exempt.iter_mut().find(|(part, _)| complaint.path.starts_with(part)) {
                Some((_, remaining)) => remaining.push(complaint),
                None => errors.push(complaint),
            }
        }
        Report { errors, exempt }
    }
}
