//! The command in a pseudo-terminal whose screen contents the tests can read.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

const ROWS: NonZero<u16> = NonZero::new(40).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(80).unwrap();

/// How long the screen may take to show the expected text.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running command, its keyboard and its screen.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Keeps the terminal open.
    _master: Box<dyn MasterPty + Send>,
}

/// Returns an empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("console").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

impl Terminal {
    /// Starts the command in its own folder, named after the test.
    pub(crate) fn new(name: &str) -> Terminal {
        Terminal::start(&folder(name), &[], &[])
    }

    /// Starts the command with `home` as home and working folder.
    pub(crate) fn start(home: &Path, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let size =
            PtySize { rows: ROWS.get(), cols: COLUMNS.get(), pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_perilune"));
        command.args(args);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("HOME", home);
        command.cwd(home);
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("the command starts");
        let keyboard = pair.master.take_writer().expect("a keyboard");
        let mut output = pair.master.try_clone_reader().expect("output");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)));
        let shown = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                shown.lock().expect("the screen").process(&bytes[..n]);
            }
        });
        Terminal { child, keyboard, screen, _master: pair.master }
    }

    /// Types keys. `\r` is the Enter key, `\t` the Tab key, `\x03` and `\x04` are ^C and ^D.
    pub(crate) fn keys(&mut self, keys: impl AsRef<[u8]>) {
        self.keyboard.write_all(keys.as_ref()).expect("the keyboard works");
        self.keyboard.flush().expect("the keyboard works");
    }

    /// Returns the text on the screen, without blanks at the ends of lines and empty lines at its
    /// end.
    pub(crate) fn text(&self) -> String {
        let screen = self.screen.lock().expect("the screen");
        let rows = screen.screen().rows(0, COLUMNS.get());
        let lines: Vec<String> = rows.map(|r| r.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Waits until the screen's text ends with `end` (blanks at the end of lines do not count).
    pub(crate) fn ends(&self, end: &str) {
        self.wait(&format!("…{end}"), |t| t.text().ends_with(end.trim_end()));
    }

    /// Waits until the screen shows `part`.
    pub(crate) fn shows(&self, part: &str) {
        self.wait(part, |t| t.text().contains(part));
    }

    fn wait(&self, what: &str, holds: impl Fn(&Terminal) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            let text = self.text();
            assert!(start.elapsed() < PATIENCE, "expected:\n{what}\non the screen:\n{text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until `word`, in the last line that has it, is in a colour (a number of the terminal's
    /// palette) or in none.
    pub(crate) fn colour(&self, word: &str, colour: Option<u8>) {
        let expected = colour.map_or(vt100::Color::Default, vt100::Color::Idx);
        self.wait(&format!("{word} in {expected:?}"), |t| {
            let screen = t.screen.lock().expect("the screen");
            let rows: Vec<String> = screen.screen().rows(0, COLUMNS.get()).collect();
            let found = rows.iter().enumerate().rev().find_map(|(i, r)| Some((i, r.find(word)?)));
            let cell = found.and_then(|(r, c)| screen.screen().cell(r as u16, c as u16));
            cell.is_some_and(|c| c.fgcolor() == expected)
        });
    }

    /// Waits for the end of the command.
    pub(crate) fn exit(mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "still runs; on the screen:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
