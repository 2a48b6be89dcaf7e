//! The output of `print` reaches pipes and files line by line, as under PUC.

use std::fs::{File, read_to_string, remove_file};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

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

#[test]
fn a_printed_line_is_in_the_file_when_the_program_is_killed() {
    let out = std::env::temp_dir().join(format!("perilune-killed-{}", std::process::id()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["-e", "print('seen') while true do end"])
        .stdout(File::create(&out).expect("a file"))
        .spawn()
        .expect("the command runs");
    // Without the flush, the file stays empty.
    let mut rounds = 0;
    while read_to_string(&out).expect("text") != "seen\n" && rounds < 1000 {
        sleep(Duration::from_millis(10));
        rounds += 1;
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    assert_eq!(read_to_string(&out).expect("text"), "seen\n");
    remove_file(out).expect("it is there");
}

#[test]
fn what_was_printed_comes_before_the_output_of_a_command() {
    let program = "print('a') os.execute('echo b') print('c')";
    let out = std::env::temp_dir().join(format!("perilune-order-{}", std::process::id()));
    let status = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["-e", program])
        .stdout(File::create(&out).expect("a file"))
        .stderr(Stdio::null())
        .status()
        .expect("the command runs");
    assert!(status.success());
    assert_eq!(read_to_string(&out).expect("text"), "a\nb\nc\n");
    remove_file(out).expect("it is there");
}
