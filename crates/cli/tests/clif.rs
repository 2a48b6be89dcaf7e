//! Golden IR and exits of small functions: the output of `--dump=ssa,exits,clif` for the programs
//! in `crates/cli/tests/clif`. Each program defines the function after which it is named, and makes
//! it hot.
//!
//! To bless: `PERILUNE_BLESS=1 cargo test -p perilune-cli --test clif`, then read the difference.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a program and returns the dump.
fn run(program: &Path, request: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["--jit=on", "--jit-sync", "--jit-verify", "--jit-threshold=3", request])
        .arg(program)
        .env_clear()
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// Returns the intermediate representation of a function, in which ids of shapes are replaced by
/// numbers.
fn ssa(program: &Path, function: &str) -> String {
    let request = format!("--dump=feedback:{function},ssa:{function}");
    let text = run(program, &request);
    let (feedback, ssa) = text.split_once("-- ssa of ").expect("a dump");
    let mut ssa = body(ssa);
    for (n, shape) in shapes(feedback).iter().enumerate() {
        ssa = ssa.replace(&format!(", {shape} ["), &format!(", shape{n} ["));
    }
    ssa
}

/// Returns the dumps of a function's exits and its IR, in which ids of shapes and addresses are
/// replaced by numbers.
fn dumps(program: &Path, function: &str) -> (String, String) {
    let request = format!("--dump=feedback:{function},exits:{function},clif:{function}");
    let text = run(program, &request);
    let (feedback, exits) = text.split_once("-- exits of ").expect("a dump of exits");
    let (exits, clif) = exits.split_once("-- clif of ").expect("a dump of the IR");
    let exits = body(exits);
    let mut clif = body(clif);
    for (n, shape) in shapes(feedback).iter().enumerate() {
        clif = replace_constant(&clif, shape, &format!("shape{n}"));
    }
    for (n, slot) in addresses(&clif).iter().enumerate() {
        clif = clif.replace(slot, &format!("slot{n}"));
    }
    (exits, clif)
}

/// Returns the constants that are addresses. They are the addresses of the entry slots of methods.
fn addresses(clif: &str) -> Vec<String> {
    let constants = clif.split("iconst.i64 0x").skip(1);
    let mut found = Vec::new();
    for constant in constants.filter_map(|text| text.split_whitespace().next()) {
        let value = u64::from_str_radix(&constant.replace('_', ""), 16).expect("a number");
        let constant = format!("0x{constant}");
        if (0x5000_0000_0000..0x8000_0000_0000).contains(&value) && !found.contains(&constant) {
            found.push(constant);
        }
    }
    found
}

/// Returns a dump without its first line and the text after the dump.
fn body(dump: &str) -> String {
    let body = dump.split_once('\n').expect("a line").1;
    let body = body.split("\n-- ").next().expect("a part").trim_end();
    format!("{body}\n")
}

/// Returns the ids of the shapes that feedback names, in order of appearance. Small ids, which
/// belong to the engine itself and do not change, are left out.
fn shapes(feedback: &str) -> Vec<&str> {
    let mut ids = Vec::new();
    for part in feedback.split("shape ").skip(1) {
        let id = part.split(|c: char| !c.is_ascii_digit()).next().expect("a part");
        if id.len() > 1 && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Replaces the 32-bit constants that have this value with a name, in definitions and in remarks.
fn replace_constant(text: &str, number: &str, name: &str) -> String {
    let definition = format!(" = iconst.i32 {number}\n");
    let values: Vec<String> = text
        .split_inclusive('\n')
        .filter_map(|line| line.strip_suffix(&definition))
        .map(|before| before.rsplit(' ').next().expect("a value").to_owned())
        .collect();
    let mut text = text.replace(&definition, &format!(" = iconst.i32 {name}\n"));
    for value in values {
        for end in ["\n", ","] {
            let remark = format!(" {value} = {number}{end}");
            text = text.replace(&remark, &format!(" {value} = {name}{end}"));
        }
    }
    text
}

#[test]
fn emitted_ir_is_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clif");
    let bless = std::env::var_os("PERILUNE_BLESS").is_some();
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "lua"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 22, "{programs:?}");
    let mut wrong = Vec::new();
    for program in programs {
        let name = program.file_stem().and_then(|n| n.to_str()).expect("a name");
        let function = name.split('_').next_back().expect("a part");
        let (exits, clif) = dumps(&program, function);
        for (extension, actual) in
            [("exits", exits), ("clif", clif), ("ssa", ssa(&program, function))]
        {
            let golden = program.with_extension(extension);
            if bless {
                std::fs::write(&golden, &actual).expect("the file is written");
            } else if std::fs::read_to_string(&golden).ok().as_deref() != Some(&*actual) {
                wrong.push(format!("{}:\n{actual}", golden.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "see the head of this file for how to bless\n{}", wrong.join("\n"));
}
