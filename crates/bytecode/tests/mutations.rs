//! Programs made by shuffling the words of real programs: whatever parses must compile to code that
//! verifies.
//!
//! `PERILUNE_FUZZ` sets the number of programs.

mod support;

use std::path::Path;
use std::sync::Arc;

use perilune_bytecode::{compile, verify};
use perilune_syntax::{parse, with_arena};

/// Cuts source text into words, numbers, blanks and single other characters.
fn words(source: &str) -> Vec<&str> {
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else if c.is_whitespace() {
            2
        } else {
            0
        }
    };
    let mut words = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let end = match class(first) {
            0 => first.len_utf8(),
            kind => rest.find(|c| class(c) != kind).unwrap_or(rest.len()),
        };
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

#[test]
fn whatever_parses_compiles_and_verifies() {
    let cases: u64 =
        std::env::var("PERILUNE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for dir in [here.join("tests/listings"), here.join("../../lang-tests")] {
        for path in support::files(&dir, "lua") {
            sources.extend(std::fs::read_to_string(path).ok().filter(|s| s.len() < 8_000));
        }
    }
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % below
    };
    let mut parsed = 0;
    for _ in 0..cases {
        let mut text = words(&sources[random(sources.len())]);
        for _ in 0..=random(4) {
            let (from, to) = (random(text.len()), random(text.len()));
            match random(4) {
                0 => text[from] = text[to],
                1 => text.swap(from, to),
                2 => _ = text.remove(from),
                _ => {
                    // Copy a whole line or so.
                    let piece: Vec<&str> =
                        text[from..(from + random(30) + 1).min(text.len())].to_vec();
                    text.splice(to..to, piece);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let source = text.concat();
        with_arena(|arena| {
            let Ok(chunk) = parse(arena, source.as_bytes(), b"=mutation") else { return };
            parsed += 1;
            if let Ok(proto) = compile(&chunk, Arc::from(&b"=mutation"[..])) {
                verify(&proto).unwrap_or_else(|e| panic!("{e}: {source}"));
                support::check_round_trip(&proto);
            }
        });
    }
    assert!(parsed > cases / 20, "only {parsed} programs parsed");
}
