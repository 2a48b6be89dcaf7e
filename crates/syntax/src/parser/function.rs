//! Functions being parsed, and their bodies.

use super::{FEW, List, Parser, Result};
use crate::ast::{
    Attrib, Block, ExprId, ExprKind, FuncId, Function, Goto, Label, LocalId, LocalVar, Name,
    Upvalue, UpvalueSource,
};
use crate::lexer::Token;

use super::scope::BlockScope;

/// A function whose `end` has not been reached.
pub(super) struct FunctionState<'a> {
    pub(super) id: FuncId,
    pub(super) function: Draft<'a>,
    /// Declared variables whose scope has not ended, of which the first `active_count` are visible.
    pub(super) declared: List<'a, LocalId>,
    pub(super) active_count: usize,
    /// Its open blocks, outermost first.
    pub(super) blocks: List<'a, BlockScope>,
    /// Where its labels start in [`Parser::labels`].
    pub(super) first_label: usize,
    /// Additional information on each of its upvalues.
    pub(super) upvalue_origins: List<'a, UpvalueOrigin>,
    /// Number of its upvalues that the compiler may fold into their uses.
    pub(super) constant_upvalues: usize,
}

/// The parts of a [`Function`] that are known before its end.
pub(super) struct Draft<'a> {
    parent: Option<FuncId>,
    params: List<'a, LocalId>,
    pub(super) is_vararg: bool,
    pub(super) locals: List<'a, LocalVar>,
    pub(super) upvalues: List<'a, Upvalue>,
    pub(super) labels: List<'a, Label>,
    pub(super) gotos: List<'a, Goto>,
    pub(super) line_defined: u32,
    params_line: u32,
}

/// Lists that successive functions reuse.
pub(super) struct Lists<'a> {
    declared: List<'a, LocalId>,
    blocks: List<'a, BlockScope>,
    upvalue_origins: List<'a, UpvalueOrigin>,
}

/// The variable that an upvalue refers to.
#[derive(Clone, Copy)]
pub(super) struct UpvalueOrigin {
    pub(super) attrib: Attrib,
    /// Index in [`Parser::open`] and local variable; `None` for the main function's `_ENV`.
    pub(super) variable: Option<(usize, LocalId)>,
}

impl FunctionState<'_> {
    /// Returns the innermost visible local variable of that name.
    pub(super) fn find_local(&self, name: Name) -> Option<LocalId> {
        let visible = &self.declared[..self.active_count];
        visible
            .iter()
            .rev()
            .copied()
            .find(|local| self.function.locals[local.0 as usize].name == name)
    }

    pub(super) fn find_upvalue(&self, name: Name) -> Option<u16> {
        self.function
            .upvalues
            .iter()
            .position(|upvalue| upvalue.name == name)
            .map(|index| index as u16)
    }
}

impl<'a> Parser<'_, 'a> {
    /// Returns the innermost open function.
    pub(super) fn current(&mut self) -> &mut FunctionState<'a> {
        self.open.last_mut().expect("the main function is open until the end")
    }

    pub(super) fn open_main(&mut self) {
        self.open_function(0);
        let name = self.known.env;
        let state = self.current();
        state.function.is_vararg = true;
        state.function.upvalues.push(Upvalue { name, source: UpvalueSource::ParentUpvalue(0) });
        state.upvalue_origins.push(UpvalueOrigin { attrib: Attrib::Regular, variable: None });
    }

    fn open_function(&mut self, line_defined: u32) {
        let id = FuncId(self.functions.len() as u32);
        self.functions.push(None);
        let function = Draft {
            parent: self.open.last().map(|state| state.id),
            params: self.list(FEW),
            is_vararg: false,
            locals: self.list(2 * FEW),
            upvalues: self.list(FEW),
            labels: self.list(0),
            gotos: self.list(0),
            line_defined,
            params_line: self.last_line,
        };
        let lists = self.spare.pop().unwrap_or_else(|| Lists {
            declared: self.list(2 * FEW),
            blocks: self.list(2 * FEW),
            upvalue_origins: self.list(FEW),
        });
        self.open.push(self.arena.alloc(FunctionState {
            id,
            function,
            declared: lists.declared,
            active_count: 0,
            blocks: lists.blocks,
            first_label: self.labels.len(),
            upvalue_origins: lists.upvalue_origins,
            constant_upvalues: 0,
        }));
        self.enter_block(false);
    }

    pub(super) fn close_function(&mut self, body: Block<'a>, last_line: u32) -> Result<FuncId> {
        let end_line = self.last_line;
        self.leave_block()?;
        let state = self.open.pop().expect("closes what was opened");
        let draft = &mut state.function;
        self.functions[state.id.0 as usize] = Some(Function {
            parent: draft.parent,
            params: finished(&mut draft.params),
            is_vararg: draft.is_vararg,
            locals: finished(&mut draft.locals),
            upvalues: finished(&mut draft.upvalues),
            labels: finished(&mut draft.labels),
            gotos: finished(&mut draft.gotos),
            body,
            line_defined: draft.line_defined,
            params_line: draft.params_line,
            last_line,
            end_line,
        });
        if !self.open.is_empty() {
            let mut lists = Lists {
                declared: taken(&mut state.declared),
                blocks: taken(&mut state.blocks),
                upvalue_origins: taken(&mut state.upvalue_origins),
            };
            lists.declared.clear();
            lists.blocks.clear();
            lists.upvalue_origins.clear();
            self.spare.push(lists);
        }
        Ok(state.id)
    }

    /// Parses `'(' parlist ')' block end`.
    pub(super) fn function_body(&mut self, is_method: bool, line: u32) -> Result<FuncId> {
        self.open_function(line);
        self.expect(&Token::LeftParen)?;
        if is_method {
            let receiver = self.known.receiver;
            let param = self.declare(receiver)?;
            self.current().function.params.push(param);
            self.activate(1);
        }
        self.parameters()?;
        self.current().function.params_line = self.last_line;
        self.expect(&Token::RightParen)?;
        let stmts = self.statements()?;
        let last_line = self.line();
        self.expect_match(&Token::End, &Token::Function, line)?;
        self.close_function(Block { stmts }, last_line)
    }

    fn parameters(&mut self) -> Result<()> {
        if self.token == Token::RightParen {
            return Ok(());
        }
        let mut count = 0;
        loop {
            match self.token {
                Token::Name => {
                    let name = self.name()?;
                    let param = self.declare(name)?;
                    self.current().function.params.push(param);
                    count += 1;
                }
                Token::Dots => {
                    self.advance()?;
                    self.current().function.is_vararg = true;
                    break;
                }
                _ => return Err(self.error("<name> or '...' expected")),
            }
            if !self.accept(&Token::Comma)? {
                break;
            }
        }
        self.activate(count);
        Ok(())
    }

    /// Adds the expression of a function whose body was just parsed, and which starts at byte
    /// `start`.
    pub(super) fn function_expr(&mut self, function: FuncId, start: u32) -> ExprId {
        self.add(ExprKind::Function(function), self.last_line, start)
    }
}

/// Takes the list, leaving an empty one in its place.
fn taken<'a, T>(list: &mut List<'a, T>) -> List<'a, T> {
    let arena = list.bump();
    std::mem::replace(list, List::new_in(arena))
}

/// Returns the items of a complete list.
fn finished<'a, T>(list: &mut List<'a, T>) -> &'a [T] {
    taken(list).into_bump_slice()
}
