//! Handles the requests of the line editor while a line is typed: completion, hints, validation and
//! highlighting.

use std::borrow::Cow;

use perilune::Lua;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Context, Helper};

use super::hint::{Suggestion, suggest};
use super::{complete, dot_command, highlight, validate};
use crate::native::with_cx;
use crate::style::{Role, paint};

/// Answers the line editor's questions about a state in which nothing runs.
pub(super) struct Assistant {
    pub(super) lua: Lua,
    /// Whether the editor shows all lines of an entry; otherwise they are read one by one.
    pub(super) multi_line: bool,
    pub(super) files: FilenameCompleter,
}

fn pair(text: String) -> Pair {
    Pair { display: text.clone(), replacement: text }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let text = &line[..pos];
        if let Some((command, rest)) = dot_command::split(text) {
            if command.len() == text.trim_start().len() {
                let start = text.len() - command.len();
                let names = dot_command::NAMES.iter().filter(|n| n.starts_with(command));
                return Ok((start, names.map(|n| pair((*n).to_owned())).collect()));
            }
            if command == dot_command::LOAD {
                let start = text.len() - rest.len();
                let (at, files) = self.files.complete(rest, rest.len(), context)?;
                return Ok((start + at, files));
            }
        }
        let before = text.rfind('\n').map_or(text, |i| &text[i + 1..]);
        if before.trim().is_empty() {
            // there is nothing to complete, so indent
            return Ok((pos, vec![pair("  ".to_owned())]));
        }
        // An argument of a command is completed as code.
        let code = dot_command::split(text).map_or(text, |(_, rest)| rest);
        let offset = text.len() - code.len();
        let Some(place) = complete::place(code) else { return Ok((pos, Vec::new())) };
        let mut names = with_cx(&self.lua, |cx| complete::candidates(cx, &place));
        if place.path.is_empty() {
            let locals = complete::locals(&code[..place.start]);
            names.extend(locals.into_iter().filter(|n| n.starts_with(&place.name)));
            names.sort();
            names.dedup();
        }
        Ok((offset + place.start, names.into_iter().map(pair).collect()))
    }
}

impl Hinter for Assistant {
    type Hint = Suggestion;

    fn hint(&self, line: &str, pos: usize, context: &Context<'_>) -> Option<Suggestion> {
        if pos < line.len() {
            return None;
        }
        with_cx(&self.lua, |cx| suggest(cx, line))
            .or_else(|| super::hint::from_history(line, context))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        Cow::Owned(highlight::highlight(line, Some(pos)))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        paint(hint, Role::Faint)
    }

    fn highlight_candidate<'c>(&self, candidate: &'c str, _: CompletionType) -> Cow<'c, str> {
        let keyword = complete::KEYWORDS.contains(&candidate);
        paint(candidate, if keyword { Role::Keyword } else { Role::Plain })
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let more = self.multi_line && validate::is_incomplete(context.input());
        Ok(if more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Assistant {}
