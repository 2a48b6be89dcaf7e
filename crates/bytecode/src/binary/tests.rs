//! Round trips and damaged chunks.

use super::{dump, undump};
use crate::Proto;
use std::sync::Arc;

fn compile(source: &str) -> Arc<Proto> {
    crate::compile_source(source.as_bytes(), b"=test", 0).ok().expect("source compiles")
}

const PROGRAM: &str = r#"
    local a, b <const> = 1, "x"
    local t = { 1, 2.5, -1 << 62, n = a, [b] = nil, ... }
    for i = 1, #t do local function f(...) return i, a, ... end t[i] = f end
    for k, v in pairs(t) do if k == "n" then goto done end print(v .. k, k > 3, -2 < v) end
    ::done::
    local c <close> = setmetatable({}, {__index = t})
    while a do a = a and t:m(1 // 0, 0x7fffffffffffffff, 1e300) or false end
    return function() return function() a = nil end end
"#;

#[test]
fn round_trip_keeps_everything() {
    let proto = compile(PROGRAM);
    let bytes = dump(&proto, false);
    let again = undump(&bytes, b"=test").expect("loads");
    // the debug information about variables in a chunk is not trusted
    let listing = crate::disassemble(&proto, true);
    let listing = listing.replace(" constant\n", "\n").replace(" itself\n", "\n");
    assert_eq!(listing, crate::disassemble(&again, true));
    assert_eq!(bytes, dump(&again, false));
}

#[test]
fn stripping_drops_names_lines_and_source() {
    let bytes = dump(&compile(PROGRAM), true);
    let proto = undump(&bytes, b"=test").expect("loads");
    assert!(proto.lines.is_empty() && proto.locals.is_empty() && proto.source.is_none());
    assert!(proto.upvalues.iter().all(|u| u.name.is_none()));
    assert!(proto.protos[0].lines.is_empty() && proto.protos[0].source.is_none());
    assert!(bytes.len() < dump(&compile(PROGRAM), false).len());
    assert_eq!(bytes, dump(&proto, false));
}

fn message(chunk: &[u8], name: &[u8]) -> String {
    undump(chunk, name).err().expect("does not load").to_string()
}

#[test]
fn header_errors_are_worded_as_in_puc() {
    let bytes = dump(&compile("return 1"), false);
    let with = |at: usize| {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        message(&bytes, b"=x")
    };
    assert_eq!(with(2), "x: bad binary format (not a binary chunk)");
    assert_eq!(with(4), "x: bad binary format (version mismatch)");
    assert_eq!(with(5), "x: bad binary format (format mismatch)");
    assert_eq!(with(8), "x: bad binary format (corrupted chunk)");
    assert_eq!(with(12), "x: bad binary format (Instruction size mismatch)");
    assert_eq!(with(13), "x: bad binary format (lua_Integer size mismatch)");
    assert_eq!(with(14), "x: bad binary format (lua_Number size mismatch)");
    assert_eq!(with(16), "x: bad binary format (integer format mismatch)");
    assert_eq!(with(24), "x: bad binary format (float format mismatch)");
}

#[test]
fn every_prefix_is_truncated() {
    let bytes = dump(&compile(PROGRAM), false);
    for n in 0..bytes.len() {
        assert_eq!(
            message(&bytes[..n], b"\x1bLua"),
            "binary string: bad binary format (truncated chunk)"
        );
    }
}

#[test]
fn lying_lengths_allocate_nothing() {
    let bytes = dump(&compile("return 1"), true);
    for at in 31..bytes.len() {
        let mut bytes = bytes.clone();
        bytes.truncate(at);
        bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0]);
        assert!(undump(&bytes, b"=x").is_err());
    }
}

/// Bit flips, insertions and deletions result in an error or a verified function, never a panic.
/// `PERILUNE_FUZZ` sets the number of cases.
#[test]
fn damaged_chunks_fail_or_verify() {
    let cases: u64 =
        std::env::var("PERILUNE_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let originals = [dump(&compile(PROGRAM), false), dump(&compile(PROGRAM), true)];
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) as usize % below
    };
    let mut loaded = 0u64;
    for case in 0..cases {
        let mut bytes = originals[case as usize % 2].clone();
        for _ in 0..=random(3) {
            let at = 31 + random(bytes.len() - 31);
            match random(8) {
                0 => bytes[at] = random(256) as u8,
                1 => _ = bytes.remove(at),
                2 => bytes.insert(at, random(256) as u8),
                _ => bytes[at] ^= 1 << random(8),
            }
        }
        if let Ok(proto) = undump(&bytes, b"=fuzz") {
            loaded += 1;
            // Code that analyses a loaded function must accept it.
            let _ = crate::disassemble(&proto, true);
            let _ = crate::FeedbackLayout::of(&proto);
            for pc in 0..proto.code.len() {
                let _ = crate::call_name(&proto, pc);
                let _ = crate::register_name(&proto, pc, 3);
            }
            assert_eq!(
                dump(&proto, false),
                dump(&undump(&dump(&proto, false), b"").unwrap(), false)
            );
        }
    }
    assert!(loaded > 0, "some damage is harmless");
}
