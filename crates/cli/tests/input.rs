//! The standard input: what a program reads of it, and what it leaves to other processes, as under
//! PUC.

use std::fs::{File, remove_file, write};
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

const LINES: &str = "one\ntwo\nthree\n";

fn command(program: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perilune"));
    command.args(["-e", program]);
    command
}

/// Runs a program with a file of lines as its standard input. Returns the output of the program,
/// and the part of the file that the next process would read.
fn with_file(name: &str, program: &str) -> (String, String) {
    let path = std::env::temp_dir().join(format!("perilune-{name}-{}", std::process::id()));
    write(&path, LINES).expect("a file");
    let mut file = File::open(&path).expect("a file");
    let output = command(program).stdin(file.try_clone().expect("a file")).output();
    let output = output.expect("the command runs");
    let mut rest = String::new();
    file.read_to_string(&mut rest).expect("text");
    remove_file(&path).expect("it is there");
    (String::from_utf8(output.stdout).expect("text"), rest)
}

/// Runs a program with a pipe of lines as its standard input. Returns the output of the program.
fn with_pipe(program: &str) -> String {
    let mut child = command(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(LINES.as_bytes()).expect("the pipe has room");
    drop(pipe);
    let output = child.wait_with_output().expect("the command ends");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn what_a_program_did_not_read_is_left_to_the_next_one() {
    let rest = ("one\n".to_owned(), "two\nthree\n".to_owned());
    assert_eq!(with_file("main", "print(io.read())"), rest);
    assert_eq!(with_file("exit", "print(io.read()) os.exit()"), rest);
    assert_eq!(with_file("close", "print(io.read()) os.exit(true, true)"), rest);
    assert_eq!(with_file("nothing", ""), (String::new(), LINES.to_owned()));
}

#[test]
fn flushing_input_moves_the_position_of_the_file() {
    let program = "print(io.read(), io.stdin:flush()) os.execute('cat')";
    assert_eq!(with_file("flush", program).0, "one\ttrue\ntwo\nthree\n");
    let program = "print(io.read(), io.stdin:flush()) print(io.read())";
    assert_eq!(with_pipe(program), "one\ttrue\ntwo\n");
}

#[test]
fn input_without_a_buffer_is_not_read_ahead() {
    let program = "io.stdin:setvbuf('no') print(io.read(), io.read(2)) os.execute('cat')";
    assert_eq!(with_pipe(program), "one\ttw\no\nthree\n");
    assert_eq!(with_file("unbuffered", program).0, "one\ttw\no\nthree\n");
}
