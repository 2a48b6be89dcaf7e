//! The output of the command reaches a pipe line by line, as under PUC, whose `print` flushes.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

#[test]
fn a_printed_line_is_seen_before_the_program_ends() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["-e", "print('seen') io.read() print('end')"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The program waits for input until this line has arrived.
    let first = lines.next().expect("a line").expect("text");
    assert_eq!(first, "seen");
    drop(child.stdin.take());
    assert_eq!(lines.next().expect("a line").expect("text"), "end");
    assert!(child.wait().expect("it ends").success());
}
