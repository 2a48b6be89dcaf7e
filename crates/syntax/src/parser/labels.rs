//! Labels, `goto`, `break`, and the end of blocks, where they are matched (manual 3.3.4).
//!
//! A goto to a label that has been seen is resolved immediately. Any other goto is kept in
//! [`Parser::gotos`] until a label with its name appears in an enclosing block; leaving a block
//! lowers the goto's level to that of the block.

use super::{Parser, Result};
use crate::ast::{Goto, GotoId, Label, LabelId, Name};
use crate::lexer::Token;

/// The largest number of visible labels, and of waiting gotos, of all open functions together.
const MAX_ENTRIES: usize = i16::MAX as usize;

/// A label that is visible to a `goto`.
pub(super) struct VisibleLabel {
    name: Name,
    line: u32,
    id: LabelId,
}

/// A goto or break whose label has not been reached.
pub(super) struct PendingGoto {
    name: Name,
    line: u32,
    id: GotoId,
    /// Number of local variables that are visible at it, except those of blocks left since.
    active_count: usize,
}

impl<'a> Parser<'_, 'a> {
    /// Parses a `goto name` after its keyword.
    pub(super) fn goto_target(&mut self) -> Result<GotoId> {
        let line = self.line();
        let name = self.name()?;
        match self.find_label(name).map(|label| label.id) {
            None => self.pending_goto(name, line),
            Some(label) => {
                let function = &mut self.current().function;
                function.labels[label.0 as usize].used = true;
                function.gotos.push(Goto { label, line });
                Ok(GotoId(function.gotos.len() as u32 - 1))
            }
        }
    }

    /// Parses a `break` on line `line` after its keyword.
    pub(super) fn break_target(&mut self, line: u32) -> Result<GotoId> {
        self.pending_goto(self.known.end_of_loop, line)
    }

    fn pending_goto(&mut self, name: Name, line: u32) -> Result<GotoId> {
        self.check_entries(self.gotos.len())?;
        let state = self.current();
        let id = GotoId(state.function.gotos.len() as u32);
        // The label is overwritten when it is reached; if it never is, parsing fails.
        state.function.gotos.push(Goto { label: LabelId(u32::MAX), line });
        let active_count = state.active_count;
        self.gotos.push(PendingGoto { name, line, id, active_count });
        Ok(id)
    }

    /// Parses a label `name` of a statement on line `line`; `at_block_end` says that only void
    /// statements follow it.
    pub(super) fn new_label(
        &mut self,
        name: Name,
        line: u32,
        at_block_end: bool,
    ) -> Result<LabelId> {
        if let Some(previous) = self.find_label(name) {
            let (name, line) = (self.names.text(name), previous.line);
            return Err(
                self.semantic_error(&format!("label '{name}' already defined on line {line}"))
            );
        }
        let state = self.current();
        let block = state.blocks.last().expect("a label is in a block");
        let (first_goto, outside) = (block.first_goto, block.active_count);
        let active_count = if at_block_end { outside } else { state.active_count };
        self.add_label(name, line, active_count, first_goto)
    }

    /// Adds a label and resolves the gotos from number `first_goto` on that wait for it.
    fn add_label(
        &mut self,
        name: Name,
        line: u32,
        active_count: usize,
        first_goto: usize,
    ) -> Result<LabelId> {
        self.check_entries(self.labels.len())?;
        let id = LabelId(self.current().function.labels.len() as u32);
        let waiting = self.gotos.split_off(first_goto);
        let mut used = false;
        for goto in waiting {
            if goto.name != name {
                self.gotos.push(goto);
                continue;
            }
            if goto.active_count < active_count {
                return Err(self.jump_into_scope(&goto));
            }
            used = true;
            self.current().function.gotos[goto.id.0 as usize].label = id;
        }
        self.current().function.labels.push(Label { name, line, used });
        self.labels.push(VisibleLabel { name, line, id });
        Ok(id)
    }

    /// Ends the current block. For a loop, returns the label at its end.
    pub(super) fn leave_block(&mut self) -> Result<Option<LabelId>> {
        let state = self.current();
        let block = state.blocks.pop().expect("leaves what was entered");
        let is_outermost = state.blocks.is_empty();
        state.declared.truncate(block.active_count);
        state.active_count = block.active_count;
        let mut end = None;
        if block.is_loop {
            end = Some(self.add_label(
                self.known.end_of_loop,
                0,
                block.active_count,
                block.first_goto,
            )?);
        }
        self.labels.truncate(block.first_label);
        if !is_outermost {
            for goto in &mut self.gotos[block.first_goto..] {
                goto.active_count = block.active_count;
            }
        } else if let Some(goto) = self.gotos.get(block.first_goto) {
            return Err(self.undefined_label(goto));
        }
        Ok(end)
    }

    fn find_label(&self, name: Name) -> Option<&VisibleLabel> {
        let first = self.open.last().map_or(0, |state| state.first_label);
        self.labels[first..].iter().find(|label| label.name == name)
    }

    /// Returns whether the current token ends a block. `until` counts only if `with_until` is set,
    /// since it does not end the scope of the block's variables.
    pub(super) fn follows_block(&self, with_until: bool) -> bool {
        match self.token {
            Token::Else | Token::ElseIf | Token::End | Token::Eof => true,
            Token::Until => with_until,
            _ => false,
        }
    }

    fn check_entries(&self, count: usize) -> Result<()> {
        if count < MAX_ENTRIES {
            return Ok(());
        }
        Err(self.bare_error(format!("too many labels/gotos (limit is {MAX_ENTRIES})")))
    }

    fn jump_into_scope(&self, goto: &PendingGoto) -> Box<crate::SyntaxError> {
        let state = self.open.last().expect("a goto is in a function");
        let local = state.declared[goto.active_count];
        let variable = self.names.text(state.function.locals[local.0 as usize].name);
        let (name, line) = (self.names.text(goto.name), goto.line);
        self.semantic_error(&format!(
            "<goto {name}> at line {line} jumps into the scope of local '{variable}'"
        ))
    }

    fn undefined_label(&self, goto: &PendingGoto) -> Box<crate::SyntaxError> {
        let line = goto.line;
        if goto.name == self.known.end_of_loop {
            return self.semantic_error(&format!("break outside loop at line {line}"));
        }
        let name = self.names.text(goto.name);
        self.semantic_error(&format!("no visible label '{name}' for <goto> at line {line}"))
    }
}
