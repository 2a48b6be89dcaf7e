//! Golden tests of passes: functions before and after a pass, in the files of `tests/passes`.
//!
//! A file contains cases for one pass, separated by lines of `=`. A case begins with comment lines
//! and a line `source:` with the Lua code of the frame, in which `\n` stands for a line break; a
//! line `captured:` may list registers that closures share, and a line `verified:` says that the
//! code checks itself. A line of `-` precedes the function before the pass, and another one the
//! function after it.
//!
//! To bless: `PERILUNE_BLESS=1 cargo test -p perilune-jit golden`, then review the difference.

use std::fmt::Write as _;
use std::path::Path;

use cranelift_codegen::entity::EntityRef;

use super::{captured, closures, dce, escape, fields, params, ranges, sink};
use crate::analysis::listing;
use crate::entity::Reg;
use crate::tier2::ir::Function;
use crate::tier2::parse::parse;
use crate::tier2::verify::verify;

const BETWEEN_CASES: &str = "====\n";
const BETWEEN_PARTS: &str = "----\n";

/// Runs the pass with this name.
fn run(pass: &str, f: &mut Function, verify_values: bool) {
    match pass {
        "params" => params::run(f),
        "closures" => drop(closures::run(f)),
        "captured" => captured::run(f, verify_values, None),
        "escape" => drop(escape::run(f)),
        "fields" => fields::run(f),
        "ranges" => ranges::run(f),
        "dce" => dce::run(f),
        "sink" => sink::run(f),
        _ => panic!("there is no pass `{pass}`"),
    }
}

/// Returns the text that follows a key at the beginning of a line.
fn setting<'a>(head: &'a str, key: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// Returns the text of a case with the result of applying the pass to its first function.
fn case(place: &str, pass: &str, text: &str) -> String {
    let mut parts = text.split(BETWEEN_PARTS);
    let mut part = || parts.next().unwrap_or_else(|| panic!("{place}: a part is missing"));
    let (head, before) = (part(), part());
    let source = setting(head, "source:").unwrap_or_else(|| panic!("{place}: there is no source"));
    let read = |text: &str| {
        let proto = listing::compile(&source.replace("\\n", "\n"));
        let f = parse(text, proto).unwrap_or_else(|e| panic!("{place}: {e}"));
        assert_eq!(f.to_string(), text, "{place}: what is read is printed again");
        f
    };
    let mut f = read(before);
    for name in setting(head, "captured:").into_iter().flat_map(str::split_whitespace) {
        let number = name.strip_prefix('r').and_then(|number| number.parse().ok());
        let number = number.unwrap_or_else(|| panic!("{place}: `{name}` is no register"));
        f.captured.insert(Reg::new(number));
    }
    assert_eq!(verify(&f), Ok(()), "{place}");
    run(pass, &mut f, setting(head, "verified:").is_some());
    assert_eq!(verify(&f), Ok(()), "{place}: {f}");
    let mut out = String::new();
    write!(out, "{head}{BETWEEN_PARTS}{before}{BETWEEN_PARTS}{f}").expect("strings take it");
    out
}

#[test]
fn golden() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let bless = std::env::var_os("PERILUNE_BLESS").is_some();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("there is a folder")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let pass = file.file_stem().and_then(|name| name.to_str()).expect("it has a name");
        let expected = std::fs::read_to_string(&file).expect("it is text");
        let cases = expected.split(BETWEEN_CASES).enumerate();
        let found: Vec<String> =
            cases.map(|(n, text)| case(&format!("{pass}, case {}", n + 1), pass, text)).collect();
        let found = found.join(BETWEEN_CASES);
        if bless {
            std::fs::write(&file, &found).expect("it can be written");
        } else {
            assert!(found == expected, "{pass}: PERILUNE_BLESS=1 rewrites it; found:\n{found}");
        }
    }
}
