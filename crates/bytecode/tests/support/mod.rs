//! Helpers shared by the tests of this crate; each test uses some of them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use perilune_bytecode::{Proto, compile_source};

/// Compiles source text that is correct.
pub(crate) fn compile(source: &[u8], name: &str) -> Arc<Proto> {
    let source = perilune_syntax::skip_preamble(source);
    compile_source(source, format!("={name}").as_bytes(), 0)
        .unwrap_or_else(|e| panic!("{}", String::from_utf8_lossy(&e.message)))
}

/// All files under `dir` whose names end so, in order.
pub(crate) fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return found };
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Checks that a binary chunk keeps everything, and a stripped one the code.
pub(crate) fn check_round_trip(proto: &Proto) {
    use perilune_bytecode::{disassemble, dump, undump};
    let again = undump(&dump(proto, false), b"=test").unwrap_or_else(|e| panic!("{e}"));
    // what a chunk says of variables is not believed
    let listing = disassemble(proto, true);
    let listing = listing.replace(" constant\n", "\n").replace(" itself\n", "\n");
    assert_eq!(listing, disassemble(&again, true));
    let stripped = dump(proto, true);
    let again = undump(&stripped, b"=test").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(stripped, dump(&again, false));
    assert!(proto.code == again.code);
}
