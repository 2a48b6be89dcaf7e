//! The console: entries are typed in a line editor and run one by one.

use std::io::ErrorKind;

use perilune::Lua;
use perilune::native::Cx;
use perilune::syntax;
use rustyline::completion::FilenameCompleter;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};

use super::assist::Assistant;
use super::evaluate::{CHUNK, push_chunk, without_equals};
use super::{commands, dot_command, history, own_prompt, prompt, validate, with_handler};
use crate::call::Caller;
use crate::native::with_cx;
use crate::{explain, style, text};

type LineEditor = Editor<Assistant, FileHistory>;

/// The context for commands and for showing results.
pub(super) struct Console<'a> {
    pub(super) caller: &'a Caller,
    /// The number of columns of the terminal.
    pub(super) width: usize,
    pub(super) colours: bool,
}

/// Reads and runs entries until the input ends.
///
/// # Errors
/// Returns an error when the terminal cannot be used; no input was read in that case.
pub(super) fn run(lua: &Lua, caller: &Caller) -> rustyline::Result<()> {
    let colours = style::wanted(true);
    let config = Config::builder()
        .max_history_size(history::LENGTH)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .color_mode(if colours { ColorMode::Forced } else { ColorMode::Disabled })
        .build();
    let mut editor = LineEditor::with_config(config)?;
    let files = FilenameCompleter::new();
    editor.set_helper(Some(Assistant { lua: lua.clone(), multi_line: true, files }));
    let file = history::file();
    if let Some(file) = &file {
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        // A history that cannot be read or written is ignored.
        let _ = editor.load_history(file);
    }
    let mut console = Console { caller, width: 80, colours };
    text::write(b".help for help, ^D to leave\n");
    loop {
        console.width = editor.dimensions().map_or(80, |(columns, _)| usize::from(columns));
        let entry = match read_entry(lua, &mut editor) {
            Ok(entry) => entry,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Io(e)) if e.kind() == ErrorKind::InvalidData => {
                text::write_error(b"the line was discarded: it is not valid UTF-8\n");
                continue;
            }
            // the end of the input, or of the terminal
            Err(_) => return Ok(()),
        };
        if entry.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(&entry);
        if let Some(file) = &file {
            let _ = editor.append_history(file);
        }
        with_handler(lua, |cx| console.run_entry(cx, &entry));
        console.end_line();
    }
}

/// Reads an entry. If the user has set `_PROMPT2`, each line of the entry has a prompt and is
/// edited on its own.
fn read_entry(lua: &Lua, editor: &mut LineEditor) -> rustyline::Result<String> {
    let (first, by_line) = with_cx(lua, |cx| (prompt(cx, true), own_prompt(cx, false).is_some()));
    if let Some(assistant) = editor.helper_mut() {
        assistant.multi_line = !by_line;
    }
    let mut entry = read_line(editor, &first)?;
    while by_line && validate::is_incomplete(&entry) {
        let next = with_cx(lua, |cx| prompt(cx, false));
        entry.push('\n');
        entry.push_str(&read_line(editor, &next)?);
    }
    Ok(entry)
}

fn read_line(editor: &mut LineEditor, prompt: &[u8]) -> rustyline::Result<String> {
    let prompt = String::from_utf8_lossy(prompt).into_owned();
    perilune::stdlib::io::flush_all();
    editor.readline(&(style::strip(&prompt), prompt))
}

impl Console<'_> {
    fn run_entry(&self, cx: &mut Cx, entry: &str) {
        if let Some((command, argument)) = dot_command::split(entry) {
            commands::run(cx, self, command, argument);
            return;
        }
        let mut source = entry.as_bytes().to_vec();
        without_equals(&mut source);
        // the same text as in the validator: a string that lacks its quote ends with the line
        source.push(b'\n');
        match push_chunk(cx, &source) {
            Ok(()) => {
                let result = self.caller.call(cx, 0);
                self.finish(cx, result);
            }
            Err(message) => self.syntax_error(&message, &source),
        }
    }

    /// Shows the results of a call, or its error.
    pub(super) fn finish(&self, cx: &mut Cx, result: Result<usize, ()>) {
        match result {
            Ok(0) => {}
            Ok(n) => {
                self.end_line();
                commands::show_values(cx, self, n);
            }
            Err(()) => self.caller.report(cx),
        }
    }

    /// Reports an entry that does not compile, and shows the place of the error.
    pub(super) fn syntax_error(&self, message: &[u8], source: &[u8]) {
        text::message(None, message);
        let Err(error) = syntax::check(source, CHUNK) else { return };
        let plain = error.to_string();
        let what = plain.split_once(": ").map_or(&plain[..], |(_, what)| what);
        if let Some(shown) = explain::explain(b"stdin", source, error.line as usize, what) {
            text::write_error(shown.as_bytes());
        }
    }

    /// Moves the cursor to the start of a line, since otherwise the prompt would overwrite output
    /// that does not end with a newline.
    ///
    /// A mark and blanks up to the right margin wrap to the next line unless the cursor was in the
    /// first column, where the prompt then replaces the mark.
    fn end_line(&self) {
        let blanks = " ".repeat(self.width.saturating_sub(1));
        let mark = if self.colours { "\x1b[7m%\x1b[0m" } else { "%" };
        text::write(format!("{mark}{blanks}\r\x1b[K").as_bytes());
    }
}
