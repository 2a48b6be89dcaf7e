//! Golden listings: each `listings/*.lua` compiles to the `.txt` beside it.
//!
//! To bless: `PERILUNE_BLESS=1 cargo test -p perilune-bytecode --test listings`, then read the
//! difference.

mod support;

use std::path::Path;

#[test]
fn listings() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings");
    let bless = std::env::var_os("PERILUNE_BLESS").is_some();
    let mut failed = Vec::new();
    let files = support::files(&dir, "lua");
    assert!(!files.is_empty());
    for path in files {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let source = std::fs::read(&path).expect("readable");
        let proto = support::compile(&source, &name);
        support::check_round_trip(&proto);
        let listing = perilune_bytecode::disassemble(&proto, true);
        let golden = path.with_extension("txt");
        if bless {
            std::fs::write(&golden, &listing).expect("writable");
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != listing {
            println!("{name} compiles to\n{listing}");
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "not as expected: {failed:?}");
}
