//! One file of the corpus and the contents of its header.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::Outcome;

/// A test program with its parsed header.
#[derive(Debug)]
pub(crate) struct Case {
    /// The path below the corpus, with `/` between folders.
    pub(crate) name: String,
    /// The path of the file.
    pub(crate) path: PathBuf,
    /// The arguments of the script.
    pub(crate) args: Vec<String>,
    /// The outcome that a run must have.
    pub(crate) expected: Outcome,
    /// Whether standard error is not compared, because its text is not the program's own.
    pub(crate) ignores_stderr: bool,
    skips: Vec<String>,
}

impl Case {
    /// Reads the file and its header.
    ///
    /// # Errors
    /// Returns a message when the header has no `-- expect:` line or a malformed one.
    pub(crate) fn read(corpus: &Path, path: &Path) -> Result<Case, String> {
        let source = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut case = Case::without_header(corpus, path);
        let mut kind = None;
        let mut message: Vec<Vec<u8>> = Vec::new();
        for line in header(&source) {
            if let Some(text) = line.strip_prefix(b"--|") {
                case.expected.stdout.extend(text.strip_prefix(b" ").unwrap_or(text));
                case.expected.stdout.push(b'\n');
            } else if let Some(text) = line.strip_prefix(b"--&") {
                case.expected.stderr.extend(text.strip_prefix(b" ").unwrap_or(text));
                case.expected.stderr.push(b'\n');
            } else if let Some(text) = line.strip_prefix(b"--!") {
                message.push(text.strip_prefix(b" ").unwrap_or(text).to_vec());
            } else if let Some(text) = line.strip_prefix(b"-- expect:") {
                kind = Some(text_of(text));
            } else if let Some(text) = line.strip_prefix(b"-- args:") {
                case.args = text_of(text).split_whitespace().map(str::to_owned).collect();
            } else if let Some(text) = line.strip_prefix(b"-- ignore-stderr:") {
                if text_of(text).is_empty() {
                    return Err("'-- ignore-stderr:' gives no reason".to_owned());
                }
                case.ignores_stderr = true;
            } else if let Some(text) = line.strip_prefix(b"-- skip(") {
                let text = text_of(text);
                let Some((mode, reason)) = text.split_once("):") else {
                    return Err(format!("'-- skip({text}' needs '-- skip(MODE): reason'"));
                };
                if reason.trim().is_empty() {
                    return Err(format!("the skip of mode '{mode}' gives no reason"));
                }
                case.skips.push(mode.to_owned());
            }
        }
        match kind.as_deref() {
            Some("ok") if message.is_empty() => {}
            Some("error") if !message.is_empty() => {
                case.expected.error = Some(message.join(&b'\n'));
            }
            Some("ok") => return Err("'-- expect: ok' with '--!' lines".to_owned()),
            Some("error") => return Err("'-- expect: error' without '--!' lines".to_owned()),
            _ => return Err("no '-- expect: ok' or '-- expect: error' in the header".to_owned()),
        }
        Ok(case)
    }

    /// Returns a case without expectations, for a file that is about to be blessed.
    pub(crate) fn without_header(corpus: &Path, path: &Path) -> Case {
        Case {
            name: name(corpus, path),
            path: path.to_owned(),
            args: Vec::new(),
            expected: Outcome::default(),
            ignores_stderr: false,
            skips: Vec::new(),
        }
    }

    /// Returns whether the header says to skip `mode`.
    pub(crate) fn skips(&self, mode: &str) -> bool {
        self.skips.iter().any(|skip| skip == mode)
    }

    /// Returns the name of the program's chunk.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns the folder in which the program runs.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().expect("a file of the corpus is in a folder")
    }
}

/// Returns the leading comment lines of a source, after a `#` line if there is one.
pub(crate) fn header(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    let source = source.strip_prefix(b"\xef\xbb\xbf").unwrap_or(source);
    source
        .split(|&byte| byte == b'\n')
        .enumerate()
        .skip_while(|(number, line)| *number == 0 && line.starts_with(b"#"))
        .map(|(_, line)| line)
        .take_while(|line| line.starts_with(b"--"))
}

/// Returns all `.lua` files below the folder, sorted; folders named `modules` hold
/// files that tests load, not tests.
///
/// # Errors
/// Returns an error that names a folder that cannot be read, since tests that are not found would
/// pass unnoticed.
pub(crate) fn find(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let unreadable = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "modules") {
                found.extend(find(&path)?);
            }
        } else if path.extension().is_some_and(|extension| extension == "lua") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the path of a file below the corpus, with `/` between folders.
pub(crate) fn name(corpus: &Path, path: &Path) -> String {
    let path = path.strip_prefix(corpus).unwrap_or(path);
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}
