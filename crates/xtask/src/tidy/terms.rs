//! Words that the project does not use, each with the standard term that replaces it.
//!
//! `docs/glossary.md` has the terms themselves. The rule looks at Rust sources, Markdown and
//! manifests: names, comments and messages alike.

use super::tree::{Complaint, Tree};

/// Words or phrases to avoid, in lower case, each with what to write instead. Underscores and
/// changes of case separate the words of an identifier, so `TypeGuess` contains "guess".
const TERMS: &[(&str, &str)] = &[
    ("anew", "again"),
    ("come together", "say what happens: merge, meet"),
    ("dear to change", "expensive to change"),
    ("figures", "metrics, measurements or numbers"),
    ("for ever", "forever"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("guess", "speculation"),
    ("guesses", "speculations"),
    ("has come together", "say what happened"),
    ("is to be had", "is available"),
    ("leave after", "side exit (exit after the instruction)"),
    ("leave before", "side exit (exit before the instruction)"),
    ("leave cold", "side exit (from code that was never executed)"),
    ("makes anew", "makes again, rebuilds"),
    ("nobody", "no thread, no caller, nothing"),
    ("no one", "no thread, no caller, nothing"),
    ("somebody", "a thread, a caller, a user"),
    ("someone", "a thread, a caller, a user"),
    ("taken for granted", "assumed, speculated on"),
    ("takes for granted", "assumes, speculates on"),
    ("that there is", "leave it out"),
    ("what there is", "say what: all records, everything"),
    ("where the ways meet", "at the merge point"),
    ("whoever", "the thread, the caller, the code that"),
];

/// Phrases with a word that is wrong in only one of its meanings; the rule recognizes that meaning
/// by the adjacent words.
const BEHIND: [&str; 6] = [
    "behind it",
    "behind the call",
    "behind the instruction",
    "behind them",
    "from behind",
    "just behind",
];

/// Returns the text with each change from lower to upper case and each underscore as a space, in
/// lower case, so that identifiers read as phrases.
fn phrases(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 16);
    let mut before = ' ';
    for c in line.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            text.push(' ');
        }
        text.push(if c == '_' { ' ' } else { c.to_ascii_lowercase() });
        before = c;
    }
    text
}

/// Returns whether `phrase` occurs in `text` as whole words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + phrase.len()..].starts_with(char::is_alphanumeric)
    })
}

/// No file uses a word of [`TERMS`].
pub(super) fn terms(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let files = tree.files.iter().filter(|f| !f.has_extension("lua"));
    for file in files.filter(|f| f.path != "crates/xtask/src/tidy/terms.rs") {
        for (number, line) in file.text.lines().enumerate() {
            let text = phrases(line);
            for (term, instead) in TERMS.iter().filter(|(term, _)| has_phrase(&text, term)) {
                let what = format!("\"{term}\": {instead}");
                complaints.push(Complaint::line(&file.path, number + 1, what));
            }
            for term in BEHIND.iter().filter(|term| has_phrase(&text, term)) {
                let what = format!("\"{term}\": after, or the place in the code");
                complaints.push(Complaint::line(&file.path, number + 1, what));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::{has_phrase, phrases};

    #[test]
    fn identifiers_read_as_phrases() {
        let found = |line: &str, phrase: &str| has_phrase(&phrases(line), phrase);
        assert!(found("fn leave_after(&self)", "leave after"));
        assert!(found("enum TypeGuess {", "guess"));
        assert!(found("It is made Anew.", "anew"));
        assert!(!found("manewton", "anew"));
        assert!(!found("configures", "figures"));
    }
}
