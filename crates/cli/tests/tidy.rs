//! Keeps the repository tidy and its documents true: file headers, sizes, unsafe code, the top level, and what
//! `docs/architecture.md` and `docs/unsafe.md` say of the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What may lie at the top level, besides what git does not track.
const TOP_LEVEL: [&str; 14] = [
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
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

/// Crates that have no unsafe code.
const SAFE_CRATES: [&str; 6] = ["bench", "bytecode", "cli", "derive", "stdlib", "syntax"];

/// Names in the documents that are not the project's own.
const FOREIGN: [&str; 6] =
    ["LuaJIT", "Send", "Sync", "parking_lot", "serde_json", "unsafe_op_in_unsafe_fn"];

/// Longest file that needs no reason for its length.
const MAX_LINES: usize = 1000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository is there")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All Rust files under a folder, with their paths from the root of the repository.
fn rust_files() -> Vec<(String, String)> {
    fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).expect("a folder").map(|e| e.expect("an entry").path()) {
            if entry.is_dir() {
                walk(&entry, files);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                files.push(entry);
            }
        }
    }
    let root = root();
    let mut files = Vec::new();
    walk(&root.join("crates"), &mut files);
    files.sort();
    let name = |p: &Path| p.strip_prefix(&root).expect("inside").display().to_string();
    files.iter().map(|p| (name(p), read(p))).collect()
}

/// Files of tests, where a test's own comment may speak for the unsafe blocks in it.
fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("/tests.rs")
}

/// Fails with all complaints at once.
fn report(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// A line without its comment; strings are not looked into.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

/// The pieces of a text between backticks, code blocks left out.
fn quoted(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !line.starts_with("    ") {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The lines of a Markdown section, from its heading to the next of the same or a higher level.
fn section<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let level = heading.bytes().take_while(|b| *b == b'#').count();
    let mut lines = text.lines().skip_while(|l| *l != heading);
    assert!(lines.next().is_some(), "no section '{heading}'");
    let ends = |l: &&str| {
        let n = l.bytes().take_while(|b| *b == b'#').count();
        n == 0 || n > level
    };
    lines.take_while(ends).collect()
}

#[test]
fn files_say_what_they_are() {
    let complaints = rust_files()
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(name, _)| format!("{name}: the first line is no `//!`"));
    report(complaints.collect());
}

#[test]
fn long_files_say_why() {
    let long = |(name, text): (String, String)| {
        let lines = text.lines().count();
        let header = text.lines().take_while(|l| l.starts_with("//!")).collect::<String>();
        (lines > MAX_LINES && !header.contains("longer than others because"))
            .then(|| format!("{name}: {lines} lines, and no reason in its header"))
    };
    report(rust_files().into_iter().filter_map(long).collect());
}

#[test]
fn top_level_is_small() {
    let complaints = fs::read_dir(root())
        .expect("the repository is there")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| !TOP_LEVEL.contains(&name.as_str()))
        .map(|name| format!("{name} does not belong to the top level"));
    report(complaints.collect());
}

#[test]
fn safe_crates_forbid_unsafe_code() {
    let mut complaints = Vec::new();
    for name in SAFE_CRATES {
        for file in ["lib.rs", "main.rs"] {
            let path = root().join("crates").join(name).join("src").join(file);
            if path.exists() && !read(&path).contains("#![forbid(unsafe_code)]") {
                complaints.push(format!("{}: no #![forbid(unsafe_code)]", path.display()));
            }
        }
    }
    report(complaints);
}

/// Every `unsafe` block and impl has a `SAFETY` comment on its line or in the three above.
#[test]
fn unsafe_blocks_have_reasons() {
    let mut complaints = Vec::new();
    for (name, text) in rust_files() {
        if is_test(&name) {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = code(line);
            let opens = code.contains("unsafe {") || code.contains("unsafe impl");
            let near = &lines[i.saturating_sub(3)..=i];
            if opens && !name.ends_with("tidy.rs") && !near.iter().any(|l| l.contains("SAFETY:")) {
                complaints.push(format!("{name}:{}: unsafe without SAFETY", i + 1));
            }
        }
    }
    report(complaints);
}

/// A public unsafe function states its contract, or its module's contract is stated in `docs/unsafe.md`.
#[test]
fn unsafe_functions_have_contracts() {
    let document = read(&root().join("docs/unsafe.md"));
    let modules = section(&document, "## Modules with one contract").join("\n");
    let modules: Vec<String> = quoted(&modules).into_iter().filter(|w| w.contains('/')).collect();
    let mut complaints = Vec::new();
    for (name, text) in rust_files() {
        if is_test(&name) || modules.iter().any(|m| name.starts_with(m.as_str())) {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
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
                complaints.push(format!("{name}:{}: no # Safety", i + 1));
            }
        }
    }
    report(complaints);
}

/// Unsafe code lies where the inventory of `docs/unsafe.md` says, and everywhere that it says.
#[test]
fn inventory_of_unsafe_code() {
    let document = read(&root().join("docs/unsafe.md"));
    let inventory = section(&document, "## Inventory").join("\n");
    let listed: BTreeSet<String> =
        quoted(&inventory).into_iter().filter(|w| w.starts_with("crates/")).collect();
    let mut used = BTreeSet::new();
    let mut complaints = Vec::new();
    for (name, text) in rust_files() {
        let has = text.lines().map(code).any(|l| {
            ["unsafe {", "unsafe fn", "unsafe impl", "unsafe trait"].iter().any(|w| l.contains(w))
        });
        if !has || is_test(&name) {
            continue;
        }
        match listed.iter().find(|place| name.starts_with(place.as_str())) {
            Some(place) => {
                used.insert(place.clone());
            }
            None => complaints.push(format!("{name}: unsafe code, not in docs/unsafe.md")),
        }
    }
    complaints.extend(listed.difference(&used).map(|p| format!("{p}: listed, has no unsafe code")));
    report(complaints);
}

/// Paths that the documents name exist.
#[test]
fn documents_name_existing_paths() {
    let mut complaints = Vec::new();
    let root = root();
    let mut documents = vec![root.join("README.md")];
    documents.extend(
        fs::read_dir(root.join("docs")).expect("docs").map(|e| e.expect("an entry").path()),
    );
    for document in documents {
        for word in quoted(&read(&document)) {
            let is_path =
                ["crates/", "docs/", "lang-tests/", ".ci/"].iter().any(|p| word.starts_with(p));
            if is_path && !word.contains(['*', '<', ' ']) && !root.join(&word).exists() {
                complaints.push(format!("{}: {word} does not exist", document.display()));
            }
        }
    }
    report(complaints);
}

/// Names of types, functions and constants in `docs/architecture.md` and `docs/unsafe.md` are those of the sources.
#[test]
fn documents_name_existing_items() {
    let sources: Vec<String> = rust_files().into_iter().map(|(_, text)| text).collect();
    let mut complaints = Vec::new();
    for document in ["docs/architecture.md", "docs/unsafe.md"] {
        let words: BTreeSet<String> = quoted(&read(&root().join(document))).into_iter().collect();
        for word in words.iter().filter(|w| is_item(w)) {
            let segments: Vec<&str> = word.split("::").collect();
            let last = segments.len() - 1;
            for (i, name) in segments.iter().enumerate() {
                let as_member = i == last && i > 0;
                if !sources.iter().any(|text| defines(text, name, as_member || is_snake(name))) {
                    complaints.push(format!("{document}: `{word}`: no {name} in the sources"));
                }
            }
        }
    }
    report(complaints);
}

fn is_snake(word: &str) -> bool {
    word.contains('_')
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
}

/// Is the word one that names an item: `CamelCase`, `a::b`, or `snake_case` with an underscore?
fn is_item(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if word.is_empty()
        || !word.chars().all(plain)
        || word.starts_with("__")
        || word.starts_with("perilune")
    {
        return false;
    }
    let camel = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.contains(|c: char| c.is_ascii_lowercase());
    (camel || word.contains("::") || is_snake(word)) && !FOREIGN.contains(&word)
}

/// Does the text define an item of this name, or with `member` also a field, variant or method?
fn defines(text: &str, name: &str, member: bool) -> bool {
    const KEYWORDS: [&str; 10] = [
        "struct",
        "enum",
        "trait",
        "fn",
        "type",
        "const",
        "static",
        "mod",
        "union",
        "macro_rules!",
    ];
    text.lines().map(|l| code(l).trim_start()).any(|line| {
        let Some(at) = find_word(line, name) else { return false };
        let (before, after) = (line[..at].trim_end(), &line[at + name.len()..]);
        let item = KEYWORDS.iter().any(|k| before.ends_with(k));
        let declared = before.is_empty() || before.starts_with("pub");
        item || member && declared && after.starts_with([':', ',', '(', ' ', ';'])
            // the types that a macro makes from a list
            || before.is_empty() && after == ";"
    })
}

fn find_word(line: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(name)
        .map(|(i, _)| i)
        .find(|&i| !line[..i].ends_with(part) && !line[i + name.len()..].starts_with(part))
}

/// The table of crates in `docs/architecture.md` gives each crate's dependencies.
#[test]
fn dependencies_are_as_documented() {
    let document = read(&root().join("docs/architecture.md"));
    let mut documented = BTreeSet::new();
    let mut complaints = Vec::new();
    for line in section(&document, "## Crates and dependencies") {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(path) = cells.get(1).and_then(|c| c.strip_prefix("`crates/")?.strip_suffix('`'))
        else {
            continue;
        };
        documented.insert(path.to_owned());
        let expected: BTreeSet<String> =
            cells[2..].iter().take(2).flat_map(|c| quoted(c)).collect();
        let actual = dependencies(&read(&root().join("crates").join(path).join("Cargo.toml")));
        if expected != actual {
            complaints.push(format!("{path}: documented {expected:?}, in Cargo.toml {actual:?}"));
        }
    }
    let crates: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .expect("crates")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    complaints.extend(
        crates.symmetric_difference(&documented).map(|c| format!("{c}: in one of both only")),
    );
    report(complaints);
}

/// Names in the section `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    manifest
        .lines()
        .skip_while(|l| l.trim() != "[dependencies]")
        .skip(1)
        .take_while(|l| !l.starts_with('['))
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}
