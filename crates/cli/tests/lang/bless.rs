//! Rewriting the expectations of a file from the output of PUC Lua.

use std::fs;
use std::path::Path;

use libtest_mimic::Failed;

use crate::case::{self, Case};
use crate::oracle;
use crate::outcome::Outcome;

/// Runs the file under PUC Lua and writes the result into its header, until the
/// file is stable: a header that grows moves the lines that messages name.
///
/// # Errors
/// Returns an error when the run fails, its output has no final newline, or the output changes from
/// run to run.
pub(crate) fn bless(path: &Path) -> Result<(), Failed> {
    const ROUNDS: usize = 4;
    let corpus = path.parent().expect("a file of the corpus is in a folder");
    for _ in 0..ROUNDS {
        let source = fs::read(path)?;
        let case = Case::read(corpus, path).unwrap_or_else(|_| Case::without_header(corpus, path));
        let outcome = oracle::run(&case)?;
        for text in [&outcome.stdout, &outcome.stderr] {
            if !text.is_empty() && !text.ends_with(b"\n") {
                return Err(Failed::from("the output does not end with a newline"));
            }
        }
        let blessed = rewrite(&source, &outcome);
        if blessed == source {
            return Ok(());
        }
        fs::write(path, blessed)?;
    }
    Err(Failed::from("the output changes from run to run"))
}

/// Returns the source with the expectation lines of its header replaced. They take the place of `--
/// expect:`, or follow the other lines of the header.
fn rewrite(source: &[u8], outcome: &Outcome) -> Vec<u8> {
    let lines: Vec<&[u8]> = source.split(|&byte| byte == b'\n').collect();
    let first = usize::from(lines[0].starts_with(b"#"));
    let last = first + case::header(source).count();
    let (head, rest) = (&lines[first..last], &lines[last..]);

    let is_expectation = |line: &[u8]| {
        [b"-- expect:".as_slice(), b"--|", b"--&", b"--!"]
            .iter()
            .any(|prefix| line.starts_with(prefix))
    };
    let position = head.iter().position(|line| is_expectation(line)).unwrap_or(head.len());
    let mut text: Vec<Vec<u8>> = lines[..first].iter().map(|line| line.to_vec()).collect();
    text.extend(head[..position].iter().map(|line| line.to_vec()));
    text.extend(expectation(outcome));
    let after = head[position..].iter().filter(|line| !is_expectation(line));
    text.extend(after.map(|line| line.to_vec()));
    text.extend(rest.iter().map(|line| line.to_vec()));
    text.join(&b'\n')
}

/// Returns the header lines that expect `outcome`.
fn expectation(outcome: &Outcome) -> Vec<Vec<u8>> {
    let comment = |mark: &str, text: &[u8]| {
        let space: &[u8] = if text.is_empty() { b"" } else { b" " };
        [mark.as_bytes(), space, text].concat()
    };
    let mut lines = Vec::new();
    match &outcome.error {
        None => lines.push(b"-- expect: ok".to_vec()),
        Some(message) => {
            lines.push(b"-- expect: error".to_vec());
            lines.extend(message.split(|&byte| byte == b'\n').map(|text| comment("--!", text)));
        }
    }
    for (mark, text) in [("--|", &outcome.stdout), ("--&", &outcome.stderr)] {
        if let Some(text) = text.strip_suffix(b"\n") {
            lines.extend(text.split(|&byte| byte == b'\n').map(|text| comment(mark, text)));
        }
    }
    lines
}
