//! Rules about headers, lengths and widths of files, and about the top level of the repository.

use std::fs;

use super::tree::{Complaint, Tree};

/// The names that may exist at the top level, besides those that git does not track.
const TOP_LEVEL: [&str; 16] = [
    ".cargo",
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "crates",
    "docs",
    "lang-tests",
    "rustfmt.toml",
    "target",
];

/// The maximum number of lines of a file.
const MAX_LINES: usize = 1000;

/// The maximum width of a line, in characters.
const MAX_WIDTH: usize = 100;

/// Beginnings of lines that hold the expected output of a Lua program, which cannot be broken.
const EXPECTED_OUTPUT: [&str; 2] = ["--|", "--!"];

/// Every Rust file begins with a comment that describes its contents.
pub(super) fn headers(tree: &Tree) -> Vec<Complaint> {
    tree.rust()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| Complaint::file(&file.path, "the first line is not a `//!` comment"))
        .collect()
}

/// No file is longer than [`MAX_LINES`].
pub(super) fn long_files(tree: &Tree) -> Vec<Complaint> {
    let long = tree.files.iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > MAX_LINES).then(|| {
            Complaint::file(&file.path, format!("{lines} lines, more than {MAX_LINES}: divide it"))
        })
    });
    long.collect()
}

/// No line is wider than [`MAX_WIDTH`], except for the expected output of Lua programs.
pub(super) fn wide_lines(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in &tree.files {
        let is_lua = file.has_extension("lua");
        for (number, line) in file.text.lines().enumerate() {
            let expected = is_lua && EXPECTED_OUTPUT.iter().any(|p| line.starts_with(p));
            let width = line.chars().count();
            if width > MAX_WIDTH && !expected {
                let what = format!("{width} columns, more than {MAX_WIDTH}");
                complaints.push(Complaint::line(&file.path, number + 1, what));
            }
        }
    }
    complaints
}

/// The top level contains only what [`TOP_LEVEL`] lists.
pub(super) fn top_level(tree: &Tree) -> Vec<Complaint> {
    fs::read_dir(&tree.root)
        .expect("the repository is there")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a UTF-8 name"))
        .filter(|name| !TOP_LEVEL.contains(&name.as_str()))
        .map(|name| Complaint::file(&name, "does not belong to the top level"))
        .collect()
}
