//! The order of the functions of the `perilune` command in memory.
//!
//! When a page of a binary is touched, the system maps the surrounding 64 KB, all of which count as
//! resident, so functions that run should be placed together. Functions that run in the interpreter
//! come first, then those that run only with the compiler. Each group is sorted by how many of the
//! large benchmark programs execute a function.

mod executed;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

/// The length of the longest pattern for a symbol; longer names are cut.
const WIDEST: usize = 86;

/// Writes the linker script `crates/cli/layout/order.ld` from the functions that the large
/// benchmark programs execute in a release build; Linux on x86-64 only.
///
/// # Errors
/// Returns an error if a file cannot be read or written, if the binary has no symbols, or if
/// processes cannot be traced.
pub fn write(root: &Path, binary: &Path) -> io::Result<()> {
    let symbols = symbols(&fs::read(binary)?)?;
    let mut programs: Vec<_> =
        fs::read_dir(root.join("crates/bench/real"))?.collect::<io::Result<Vec<_>>>()?;
    programs.retain(|entry| entry.path().extension().is_some_and(|e| e == "lua"));
    let mut order = Vec::new();
    for jit in ["--jit=off", "--jit=on"] {
        let mut runs: BTreeMap<String, usize> = BTreeMap::new();
        for program in &programs {
            let hits = executed::functions(binary, &[jit.as_ref(), &program.path()], &symbols)?;
            for name in hits {
                *runs.entry(pattern(name)).or_default() += 1;
            }
        }
        let mut patterns: Vec<(String, usize)> = runs.into_iter().collect();
        // The sort is stable, so functions that the same number of programs execute keep their
        // order.
        patterns.sort_by_key(|&(_, runs)| std::cmp::Reverse(runs));
        order.extend(patterns.into_iter().map(|(pattern, _)| pattern));
    }
    fs::write(root.join("crates/cli/layout/order.ld"), script(&order))
}

/// The functions of Rust code, by their distance from the first address of the binary.
type Symbols = BTreeMap<u64, String>;

fn symbols(binary: &[u8]) -> io::Result<Symbols> {
    let file = object::File::parse(binary).map_err(io::Error::other)?;
    // the base is not 0 if the binary is linked for fixed addresses
    let base = file.segments().map(|segment| segment.address()).min().unwrap_or_default();
    let functions = file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.address() != 0);
    let symbols: Symbols = functions
        .filter_map(|s| Some((s.address() - base, s.name().ok()?.to_owned())))
        .filter(|(_, name)| name.starts_with("_ZN") || name.starts_with("_R"))
        .collect();
    if symbols.is_empty() {
        return Err(io::Error::other("the binary has no symbols"));
    }
    Ok(symbols)
}

/// Returns the linker's pattern for the section of a function. It matches any hashes, since those
/// depend on the version of Rust and of the crate.
fn pattern(symbol: &str) -> String {
    let mut name = symbol;
    if let Some((start, end)) = name.rsplit_once('.')
        && end.bytes().all(|b| b.is_ascii_digit())
    {
        name = start;
    }
    let mut pattern = match name.rfind("17h") {
        Some(at) if name.ends_with('E') && name.len() - at == 20 => format!("{}*", &name[..at + 3]),
        _ => without_crate_hashes(name),
    };
    pattern.insert_str(0, ".text*.");
    if pattern.len() > WIDEST {
        pattern.truncate(WIDEST - 2);
        pattern = format!("{}*", pattern.trim_end_matches('*'));
    }
    pattern
}

/// Replaces the hash of each crate, `Cs` and a number in base 62, in a symbol of mangling v0.
fn without_crate_hashes(name: &str) -> String {
    let mut parts = name.split("Cs");
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hash = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        let is_hash = part[hash..].starts_with('_');
        made += if is_hash { "Cs*" } else { "Cs" };
        made += if is_hash { &part[hash..] } else { part };
    }
    made
}

/// Returns the linker script for the handlers of the interpreter, which are in one section, and for
/// the sections with these patterns. Duplicate patterns are skipped.
fn script(order: &[String]) -> String {
    let mut script = String::from(
        "/* The order of the command's functions in memory; written by `cargo xtask order`. */\n\
         SECTIONS\n{\n  .text.ordered : SUBALIGN(64)\n  {\n    *(.text.perilune_handlers)\n",
    );
    let mut seen = HashMap::new();
    for pattern in order {
        if seen.insert(pattern, ()).is_none() {
            let _ = writeln!(script, "    *({pattern})");
        }
    }
    script += "  }\n}\nINSERT BEFORE .text;\n";
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_anything() {
        assert_eq!(
            pattern("_ZN4core3fmt5write17h0123456789abcdefE"),
            ".text*._ZN4core3fmt5write17h*"
        );
        assert_eq!(
            pattern("_ZN4core3fmt5write17h0123456789abcdefE.12"),
            pattern("_ZN4core3fmt5write17hE.1").replace("17hE", "17h*")
        );
        assert_eq!(pattern("_RNvNtCs1x9Zz_8perilune3runs_0"), ".text*._RNvNtCs*_8perilune3runs_0");
        assert_eq!(pattern("_RNvCsX_4CsabB9_0"), ".text*._RNvCs*_4Cs*_0");
        let long = pattern(&format!("_RNv{}", "x".repeat(200)));
        assert_eq!((long.len(), long.ends_with("x*")), (WIDEST - 1, true));
    }

    #[test]
    fn the_first_of_equal_patterns_counts() {
        let order = ["b", "a", "b"].map(str::to_owned);
        let script = script(&order);
        let lines: Vec<&str> = script.lines().map(str::trim).collect();
        let expected = ["{", "*(.text.perilune_handlers)", "*(b)", "*(a)", "}"];
        assert_eq!(lines[4..9], expected);
    }
}
