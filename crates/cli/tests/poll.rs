//! Checks in the optimized intermediate code that compiled loops read the poll word in every
//! iteration, or in every 256th one, even if they contain no stores: the optimizer must not move
//! the load out of the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Functions named `spin` with one loop.
const LOOPS: &[&str] = &[
    "local function spin(c) while c do end end",
    "local function spin(c) repeat until not c end",
    "local function spin(c) ::top:: if c then goto top end end",
    "local function spin(c) for i = 1, c and 1 << 62 or 0 do end end",
    "local function spin(c) for i = 1.0, c and 1e300 or 0.0 do end end",
    "local function spin(c) local x = 0 while c do x = x + 1 end end",
    "local function spin(c) while c do local x = c if x then c = x end end end",
    "local function spin(c) while c do while c do end end end",
];

/// Returns the optimized code of `spin`, which is compiled after it has looped for a while in the
/// interpreter, under a hook that stopped it.
fn code_of(function: &str) -> String {
    let program = format!(
        "{function} debug.sethook(function() error('stop') end, '', 10000) pcall(spin, true) \
         debug.sethook()
        for i = 1, 9 do spin(false) end"
    );
    let output = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["--jit=on", "--jit-sync", "--jit-threshold=4", "--dump=clif-opt:spin", "-e"])
        .arg(&program)
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{function}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stderr).expect("text");
    // the last version
    let start = text.rfind("\nfunction ").expect("it is compiled");
    text[start..].to_owned()
}

/// A block of the code.
#[derive(Default)]
struct Block {
    successors: BTreeSet<String>,
    /// Whether it tests the poll word with a new load through the register of the state, or, by a
    /// counter, whether the next block has to.
    polls: bool,
    /// Whether it tests the low bits of a counter.
    counts: bool,
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn blocks_of(code: &str) -> BTreeMap<String, Block> {
    let mut blocks: BTreeMap<String, Block> = BTreeMap::new();
    let (mut name, mut state, mut loaded) = (String::new(), String::new(), String::new());
    let mut low_bits = BTreeSet::new();
    for line in code.lines() {
        let text = line.trim_start_matches(|c: char| c == '@' || c.is_ascii_hexdigit()).trim();
        let first = words(line.trim()).next().unwrap_or_default().to_owned();
        if line.trim().starts_with("block") && line.trim().ends_with(':') {
            (name, state, loaded) = (first, String::new(), String::new());
            blocks.entry(name.clone()).or_default();
            continue;
        }
        let defined = words(text).next().unwrap_or_default().to_owned();
        if text.contains("= get_pinned_reg") {
            state = defined;
        } else if text.contains("= band") && text.ends_with("= 255")
            || text.contains("= icmp") && words(text).any(|word| low_bits.contains(word))
        {
            low_bits.insert(defined);
        } else if text.contains("= load.i32")
            && !state.is_empty()
            && text.contains(&format!("{state}+"))
        {
            loaded = defined;
        } else if text.starts_with("jump")
            || text.starts_with("brif")
            || text.starts_with("br_table")
        {
            let block = blocks.entry(name.clone()).or_default();
            block.polls |= !loaded.is_empty() && words(text).any(|word| word == loaded);
            block.counts |= words(text).nth(1).is_some_and(|word| low_bits.contains(word));
            block.successors.extend(
                words(text)
                    .filter(|w| w.strip_prefix("block").is_some_and(|n| n.parse::<u32>().is_ok()))
                    .map(str::to_owned),
            );
        }
    }
    let polling: BTreeSet<String> =
        blocks.iter().filter(|(_, b)| b.polls).map(|(name, _)| name.clone()).collect();
    for block in blocks.values_mut() {
        block.polls |= block.counts && !block.successors.is_disjoint(&polling);
    }
    blocks
}

/// Returns whether there is a cycle of blocks for which `passes` returns true.
fn has_cycle(blocks: &BTreeMap<String, Block>, passes: fn(&Block) -> bool) -> bool {
    let mut left: BTreeMap<&str, &Block> =
        blocks.iter().filter(|(_, b)| passes(b)).map(|(name, b)| (name.as_str(), b)).collect();
    loop {
        let ends: Vec<&str> = left
            .iter()
            .filter(|(_, b)| !b.successors.iter().any(|to| left.contains_key(to.as_str())))
            .map(|(name, _)| *name)
            .collect();
        if ends.is_empty() {
            return !left.is_empty();
        }
        for name in ends {
            left.remove(name);
        }
    }
}

#[test]
fn loops_poll() {
    for function in LOOPS {
        let code = code_of(function);
        let blocks = blocks_of(&code);
        assert!(has_cycle(&blocks, |_| true), "{function} has no loop: {code}");
        assert!(!has_cycle(&blocks, |b| !b.polls), "{function} goes round without a poll: {code}");
    }
}

#[test]
fn a_poll_in_front_of_a_loop_is_not_enough() {
    let code = "
block0(v0: i64):
    v1 = get_pinned_reg.i64
    v2 = load.i32 notrap aligned v1+920
    brif v2, block2, block1

block1:
    brif v2, block2, block1

block2 cold:
    return
";
    let blocks = blocks_of(code);
    assert!(has_cycle(&blocks, |b| !b.polls));
}

#[test]
fn a_counter_without_a_poll_is_not_enough() {
    let code = "
block0(v0: i64, v1: i64):
    jump block1

block1:
    v2 = iconst.i64 255
    v3 = band v1, v2  ; v2 = 255
    brif v3, block1, block2

block2:
    jump block1
";
    let blocks = blocks_of(code);
    assert!(has_cycle(&blocks, |b| !b.polls));
}
