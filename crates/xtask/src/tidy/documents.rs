//! Checks that the things that the documents name exist: paths, items of the sources, constants and
//! variables.

use std::collections::BTreeMap;

use super::items::{defines, find_word, is_capitals, is_item, is_snake};
use super::markdown::{code, quoted};
use super::tree::{Complaint, File, Tree};

/// Beginnings of words that are paths.
const PATHS: [&str; 5] = ["crates/", "docs/", "lang-tests/", ".ci/", ".cargo/"];

/// Documents in which names of types and functions must exist in the sources.
const ABOUT_THE_SOURCES: [&str; 2] = ["docs/architecture.md", "docs/unsafe.md"];

/// Abbreviations and names in capitals that are not items of the project.
const FOREIGN_CAPITALS: &str = "\
    ABI API APIS ASAN ASCII AST BFS CFG CLIF CONTRIBUTING CPU CPUS DWARF EINTR ELF EOF GDB \
    GNU HOME HTML HTTP JIT JSON LLVM LTO MIR MIRIFLAGS MIT NUL NULL OSR PATH PIC PID \
    PRIVATE_EXPEDITED PRIVATE_EXPEDITED_SYNC_CORE PUC RAII README REPL RFC RSS \
    RUSTFLAGS SAFETY SIGABRT SIGINT SIGKILL SIGSEGV SIGTERM SSA TERM TOML TSAN URL UTF XML";

/// Headings are on their own lines, with an empty line on both sides.
pub(super) fn headings(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for document in tree.documents() {
        for (line, what) in misplaced_headings(&document.text) {
            complaints.push(Complaint::line(&document.path, line, what.to_owned()));
        }
    }
    complaints
}

/// Returns the lines with a heading that Markdown does not show as one, or that runs into the
/// adjacent text; code blocks are skipped.
fn misplaced_headings(text: &str) -> Vec<(usize, &'static str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_empty = |n: Option<usize>| n.and_then(|n| lines.get(n)).is_none_or(|l| l.is_empty());
    let mut in_block = false;
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block || line.starts_with("    ") {
            continue;
        }
        if line.trim_start_matches('#').starts_with(' ') && line.starts_with('#') {
            if !is_empty(n.checked_sub(1)) || !is_empty(Some(n + 1)) {
                found.push((n + 1, "no empty line on both sides of a heading"));
            }
        } else if line.contains("## ") {
            found.push((n + 1, "a heading inside a line"));
        }
    }
    found
}

/// Paths that the documents name exist.
pub(super) fn paths(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for document in tree.documents() {
        for (line, word) in quoted(&document.text) {
            let is_path = PATHS.iter().any(|p| word.starts_with(p));
            let is_pattern = word.contains(['*', '<', ' ', '\n']) || word.ends_with("NAME");
            if is_path && !is_pattern && !tree.root.join(&word).exists() {
                complaints.push(Complaint::line(
                    &document.path,
                    line,
                    format!("{word} does not exist"),
                ));
            }
        }
    }
    complaints
}

/// Names of types and functions in [`ABOUT_THE_SOURCES`] exist in the sources.
pub(super) fn items(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for document in ABOUT_THE_SOURCES {
        let words: BTreeMap<String, usize> =
            quoted(tree.text(document)).into_iter().map(|(line, word)| (word, line)).collect();
        for (word, line) in words.iter().filter(|(w, _)| is_item(w)) {
            let segments: Vec<&str> = word.split("::").collect();
            let last = segments.len() - 1;
            for (i, name) in segments.iter().enumerate() {
                let member = i == last && i > 0 || is_snake(name);
                if !tree.rust().any(|file| defines(&file.text, name, member)) {
                    let what = format!("`{word}`: the sources define no {name}");
                    complaints.push(Complaint::line(document, *line, what));
                }
            }
        }
    }
    complaints
}

/// Names in capitals are constants, flags, variants, or text of the sources, such as opcodes and
/// environment variables.
pub(super) fn capitals(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut known = BTreeMap::new();
    for document in tree.documents() {
        for (line, word) in capitals_in(&document.text) {
            let exists =
                known.entry(word.clone()).or_insert_with(|| tree.rust().any(|f| has(f, &word)));
            if !*exists {
                let what = format!("{word}: the sources have no item of this name");
                complaints.push(Complaint::line(&document.path, line, what));
            }
        }
    }
    complaints
}

/// Returns the words in capitals of a text with their lines; code blocks are skipped.
fn capitals_in(text: &str) -> Vec<(usize, String)> {
    let mut in_block = false;
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block || line.starts_with("    ") {
            continue;
        }
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // In `--option VALUE`, the value is not a name.
        let pieces = line.split('`').filter(|p| !p.starts_with('-') && !p.starts_with("cargo"));
        let capitals =
            pieces.flat_map(|piece| piece.split(|c| !part(c))).filter(|w| is_capitals(w));
        let own = capitals.filter(|w| !FOREIGN_CAPITALS.split(' ').any(|f| f == *w));
        words.extend(own.map(|w| (number + 1, w.to_owned())));
    }
    words
}

/// Returns whether a file defines the name or has it in a string.
fn has(file: &File, name: &str) -> bool {
    !file.path.starts_with("crates/xtask/src/tidy/")
        && (defines(&file.text, name, true)
            || file.text.lines().map(code).any(|l| l.contains('"') && find_word(l, name).is_some()))
}

#[cfg(test)]
mod tests {
    use super::misplaced_headings;

    #[test]
    fn headings_stand_apart() {
        let lines = |text| misplaced_headings(text).into_iter().map(|f| f.0).collect::<Vec<_>>();
        assert!(lines("# A\n\ntext #1\n\n## B\n\n    # code\n\n```\n# shell\n```\n").is_empty());
        assert_eq!(lines("# A\ntext\n## B\n\nend. ### C\n"), [1, 3, 5]);
    }
}
