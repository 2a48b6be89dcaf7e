//! Functions being parsed, and their bodies.

use super::{Parser, Result};
use crate::ast::{
    Attrib, Block, ExprId, ExprKind, FuncId, Function, LocalId, Name, Upvalue, UpvalueSource,
};
use crate::lexer::Token;

use super::scope::BlockScope;

/// A function whose `end` has not come yet.
pub(super) struct FunctionState {
    pub(super) id: FuncId,
    pub(super) function: Function,
    /// Declared variables whose scope has not ended, of which the first `active_count` are visible.
    pub(super) declared: Vec<LocalId>,
    pub(super) active_count: usize,
    /// Its open blocks, outermost first.
    pub(super) blocks: Vec<BlockScope>,
    /// Where its labels start in [`Parser::labels`].
    pub(super) first_label: usize,
    /// What else is known of each of its upvalues.
    pub(super) upvalue_origins: Vec<UpvalueOrigin>,
}

/// Lists that one function after the other uses.
#[derive(Default)]
pub(super) struct Lists {
    declared: Vec<LocalId>,
    blocks: Vec<BlockScope>,
    upvalue_origins: Vec<UpvalueOrigin>,
}

/// The variable behind an upvalue.
#[derive(Clone, Copy)]
pub(super) struct UpvalueOrigin {
    pub(super) attrib: Attrib,
    /// Index in [`Parser::open`] and local variable; `None` for the main function's `_ENV`.
    pub(super) variable: Option<(usize, LocalId)>,
}

impl FunctionState {
    /// The innermost visible local variable of that name.
    pub(super) fn find_local(&self, name: Name) -> Option<LocalId> {
        let visible = &self.declared[..self.active_count];
        visible
            .iter()
            .rev()
            .copied()
            .find(|local| self.function.locals[local.0 as usize].name == name)
    }

    pub(super) fn find_upvalue(&self, name: Name) -> Option<u8> {
        self.function
            .upvalues
            .iter()
            .position(|upvalue| upvalue.name == name)
            .map(|index| index as u8)
    }
}

impl Parser<'_> {
    /// The innermost open function.
    pub(super) fn current(&mut self) -> &mut FunctionState {
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
        let function = Function {
            parent: self.open.last().map(|state| state.id),
            params: Vec::new(),
            is_vararg: false,
            locals: Vec::new(),
            upvalues: Vec::new(),
            labels: Vec::new(),
            gotos: Vec::new(),
            body: Block::default(),
            line_defined,
            params_line: self.last_line,
            last_line: 0,
            end_line: 0,
        };
        let lists = self.spare.pop().unwrap_or_default();
        self.open.push(FunctionState {
            id,
            function,
            declared: lists.declared,
            active_count: 0,
            blocks: lists.blocks,
            first_label: self.labels.len(),
            upvalue_origins: lists.upvalue_origins,
        });
        self.enter_block(false);
    }

    pub(super) fn close_function(&mut self, body: Block, last_line: u32) -> Result<FuncId> {
        let end_line = self.last_line;
        self.leave_block()?;
        let mut state = self.open.pop().expect("closes what was opened");
        state.function.body = body;
        state.function.last_line = last_line;
        state.function.end_line = end_line;
        self.functions[state.id.0 as usize] = Some(state.function);
        if !self.open.is_empty() {
            let mut lists = Lists {
                declared: state.declared,
                blocks: state.blocks,
                upvalue_origins: state.upvalue_origins,
            };
            lists.declared.clear();
            lists.blocks.clear();
            lists.upvalue_origins.clear();
            self.spare.push(lists);
        }
        Ok(state.id)
    }

    /// `'(' parlist ')' block end`
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

    /// The expression of a function whose body was just read, from byte `start` on.
    pub(super) fn function_expr(&mut self, function: FuncId, start: u32) -> ExprId {
        self.add(ExprKind::Function(function), self.last_line, start)
    }
}
