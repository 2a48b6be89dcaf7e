//! Every available Lua file compiles, verifies and survives a round trip: those of the project, and
//! those in the directories listed in `PERILUNE_LUA_FILES` (separated by `:`).

mod support;

use std::path::{Path, PathBuf};

use perilune_syntax::{parse, with_arena};

#[test]
fn corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dirs = vec![root.join("lang-tests"), root.join("crates/bench")];
    if let Some(more) = std::env::var_os("PERILUNE_LUA_FILES") {
        dirs.extend(std::env::split_paths(&more).collect::<Vec<PathBuf>>());
    }
    for path in dirs.iter().flat_map(|dir| support::files(dir, "lua")) {
        let source = std::fs::read(&path).expect("readable");
        let text = perilune_syntax::skip_preamble(&source);
        // Some files of the corpus are wrong on purpose.
        if with_arena(|arena| parse(arena, text, b"=corpus").is_ok()) {
            support::check_round_trip(&support::compile(&source, &path.to_string_lossy()));
        }
    }
}
