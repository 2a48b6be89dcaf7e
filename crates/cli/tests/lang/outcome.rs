//! The outcome of a run of a program: its output, and the error with which it ended.

use libtest_mimic::Failed;

/// The observable result of one run, or the one that a header expects.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Everything written to standard output.
    pub(crate) stdout: Vec<u8>,
    /// Everything that a successful program writes to standard error, warnings included.
    pub(crate) stderr: Vec<u8>,
    /// The message of the uncaught error, without the program's name before it
    /// and the traceback after it.
    pub(crate) error: Option<Vec<u8>>,
}

impl Outcome {
    /// Fails with a line-by-line difference unless both are equal.
    pub(crate) fn compare(&self, expected: &Outcome) -> Result<(), Failed> {
        if self == expected {
            return Ok(());
        }
        let mut report = String::new();
        if self.stdout != expected.stdout {
            report.push_str("standard output (- expected, + actual):\n");
            report.push_str(&difference(&expected.stdout, &self.stdout));
        }
        if self.stderr != expected.stderr {
            report.push_str("standard error (- expected, + actual):\n");
            report.push_str(&difference(&expected.stderr, &self.stderr));
        }
        if self.error != expected.error {
            report.push_str(&format!(
                "error:\n- {}\n+ {}\n",
                shown(&expected.error),
                shown(&self.error)
            ));
        }
        Err(Failed::from(report))
    }
}

fn shown(error: &Option<Vec<u8>>) -> String {
    match error {
        Some(message) => String::from_utf8_lossy(message).into_owned(),
        None => "(none)".to_owned(),
    }
}

/// Returns a comparison of the lines of `actual` and `expected`: of the common head only the last
/// lines are shown, the rest is shown in full.
fn difference(expected: &[u8], actual: &[u8]) -> String {
    const CONTEXT: usize = 2;
    const LIMIT: usize = 20;
    let expected: Vec<_> = expected.split_inclusive(|&byte| byte == b'\n').collect();
    let actual: Vec<_> = actual.split_inclusive(|&byte| byte == b'\n').collect();
    let same = expected.iter().zip(&actual).take_while(|(a, b)| a == b).count();
    let tail = expected[same..]
        .iter()
        .rev()
        .zip(actual[same..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();

    let mut text = String::new();
    let mut push = |mark: char, lines: &[&[u8]]| {
        for line in lines.iter().take(LIMIT) {
            text.push(mark);
            text.push(' ');
            text.push_str(&String::from_utf8_lossy(line));
            if !line.ends_with(b"\n") {
                text.push_str(" (no newline)\n");
            }
        }
        if lines.len() > LIMIT {
            text.push_str(&format!("{mark} ... {} more lines\n", lines.len() - LIMIT));
        }
    };
    push(' ', &expected[same.saturating_sub(CONTEXT)..same]);
    push('-', &expected[same..expected.len() - tail]);
    push('+', &actual[same..actual.len() - tail]);
    text
}
