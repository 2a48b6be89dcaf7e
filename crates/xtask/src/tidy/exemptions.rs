//! Exemptions from rules that do not hold everywhere yet: the rules, and the parts of the tree that
//! are exempt.
//!
//! The lists may only shrink. `cargo xtask tidy` reports a part that no longer breaks a rule, which
//! must then be removed from the list.

use super::tree::Complaint;

/// The parts of the tree in which a rule does not hold yet, as beginnings of paths.
const EXEMPT: &[(&str, &[&str])] = &[];

/// The findings of one rule.
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
