//! Checks that the output shown in the documents matches what the commands print.
//!
//! An indented block that begins with `$ perilune` shows a command, which the shell runs, and its
//! whole output. An indented block after the comment `<!-- NAME.lua -->` is the program NAME.lua.
//! Times differ from run to run, so lines of metrics in nanoseconds or microseconds are compared
//! without their numbers.
//!
//! To bless: `PERILUNE_BLESS=1 cargo test -p perilune-cli --test documents`, then check whether the
//! text around the blocks still matches them.
#![cfg(all(unix, target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The documents that show commands.
const DOCUMENTS: &[&str] = &["call-path.md", "jit-debugging.md", "optimizing.md"];

const INDENT: &str = "    ";

/// Returns a folder for the programs of a document.
fn folder(document: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(document);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Returns the output of a shell command.
fn run(folder: &Path, line: &str) -> String {
    let perilune = Path::new(env!("CARGO_BIN_EXE_perilune"));
    let path = format!("{}:/usr/bin:/bin", perilune.parent().expect("a folder").display());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}; }} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("there is a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the lines of the block that starts at `at`, which may contain empty lines, and the line
/// after it.
fn block(lines: &[&str], at: usize) -> (Vec<String>, usize) {
    let in_block = |line: &&&str| line.is_empty() || line.starts_with(INDENT);
    let mut end = at + lines[at..].iter().take_while(in_block).count();
    while end > at && lines[end - 1].is_empty() {
        end -= 1;
    }
    let inner = |line: &&str| line.strip_prefix(INDENT).unwrap_or_default().to_owned();
    (lines[at..end].iter().map(inner).collect(), end)
}

/// Returns a line in the form in which it is compared.
fn comparable(line: &str) -> String {
    match line.trim_start().split_once("  ") {
        Some((_, name)) if name.contains(" ns") || name.contains(" us ") => name.to_owned(),
        _ => line.to_owned(),
    }
}

/// Returns the document with the output of the commands inserted, and the number of commands that
/// it shows.
fn update(document: &str, text: &str) -> (String, usize) {
    let folder = folder(document);
    let lines: Vec<&str> = text.lines().collect();
    let (mut made, mut commands, mut at) = (Vec::new(), 0, 0);
    while at < lines.len() {
        let line = lines[at];
        let file = line.strip_prefix("<!-- ").and_then(|l| l.strip_suffix(" -->"));
        if let Some(name) = file.filter(|name| name.ends_with(".lua")) {
            assert!(lines[at + 1].is_empty(), "{document}: {name} needs an empty line before it");
            let program = block(&lines, at + 2).0.join("\n") + "\n";
            std::fs::write(folder.join(name), program).expect("a file");
        }
        made.push(line.to_owned());
        at += 1;
        let Some(command) = line.strip_prefix("    $ perilune ") else { continue };
        commands += 1;
        let mut command = command.to_owned();
        while command.ends_with('\\') {
            command.pop();
            command += lines[at].trim_start();
            made.push(lines[at].to_owned());
            at += 1;
        }
        let (shown, end) = block(&lines, at);
        let printed = run(&folder, &format!("perilune {command}"));
        let printed: Vec<&str> = printed.trim_end().lines().collect();
        let same = shown.iter().map(|l| comparable(l)).eq(printed.iter().map(|l| comparable(l)));
        // Output that is the same apart from times keeps the times of the document.
        let kept = if same { shown } else { printed.iter().map(|&l| l.to_owned()).collect() };
        made.extend(kept.iter().map(|l| format!("{INDENT}{l}").trim_end().to_owned()));
        at = end;
    }
    (made.join("\n") + "\n", commands)
}

#[test]
#[cfg_attr(miri, ignore = "runs other programs")]
fn listings_are_what_commands_print() {
    // The listings of machine code are from a machine with these extensions.
    if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2")) {
        return;
    }
    for document in DOCUMENTS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
        let text = std::fs::read_to_string(&path).expect("the document");
        let (made, commands) = update(document, &text);
        assert!(commands > 0, "{document} shows no command");
        if std::env::var_os("PERILUNE_BLESS").is_some() {
            std::fs::write(&path, &made).expect("the document can be written");
            continue;
        }
        for (n, (shown, printed)) in (1..).zip(text.lines().zip(made.lines())) {
            assert_eq!(shown, printed, "docs/{document}:{n}; PERILUNE_BLESS=1 rewrites it");
        }
        assert_eq!(text, made, "docs/{document}; PERILUNE_BLESS=1 rewrites it");
    }
}
