//! The compiler from the syntax tree to a [`Proto`].
//!
//! It makes one pass per function over the tree, in source order. Expressions are represented by
//! descriptors ([`desc`]), and their code is completed only when it is known where the value is
//! needed, so that an operand is used in the register that already holds it. Local variables take
//! registers in order of declaration; temporaries form a stack above them.

mod assign;
mod call;
mod constants;
mod desc;
mod discharge;
mod error;
mod expr;
mod fold;
mod func_state;
mod jump;
mod jump_list;
mod list;
mod loops;
mod operators;
mod room;
mod scope;
mod scopes;
mod stmt;
mod table;

use std::sync::Arc;

use perilune_syntax::Watch;
use perilune_syntax::ast::{Chunk, ExprId, FuncId, LocalId, Name, UpvalueSource};
use smallvec::SmallVec;

use desc::{Place, UpvalPlace};
pub use error::CompileError;
use error::{Limit, Result};
use func_state::FuncState;
use list::{List, Own};
pub use room::MAX_ROOM;

use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::{Proto, UpvalDesc};

/// Compiles a chunk. `source` is its name as given to `load`: `@file`, `=name` or the text.
///
/// # Errors
/// Returns an error when a function exceeds a limit of the instruction format (registers,
/// constants, length of a loop).
pub fn compile(chunk: &Chunk<'_>, source: Arc<[u8]>) -> Result<Arc<Proto>, CompileError> {
    compile_tree(chunk, &source, &|_| false)
}

/// Number of statements and expressions between two calls of a [`Watch`].
const NODES_BETWEEN_LOOKS: u32 = 4096;

/// Like [`compile`], but gives up when `watch` returns true.
pub(crate) fn compile_tree(
    chunk: &Chunk<'_>,
    source: &Arc<[u8]>,
    watch: Watch<'_>,
) -> Result<Arc<Proto>, CompileError> {
    let main = FuncId(0);
    let mut compiler = Compiler {
        chunk,
        watch,
        unwatched: NODES_BETWEEN_LOOKS,
        source,
        fs: FuncState::new(chunk, main),
        spare: List::new_in(chunk.arena),
        parents: List::new_in(chunk.arena),
        spine: List::with_capacity_in(SPINE, chunk.arena),
    };
    let proto = compiler.main().map_err(|e| e.in_chunk(source))?;
    #[cfg(debug_assertions)]
    if let Err(e) = crate::verify(&proto) {
        panic!("compiled code does not verify: {e}\n{}", crate::disassemble(&proto, true));
    }
    Ok(proto)
}

/// The largest number of upvalues of one function, constants excluded.
const MAX_UPVALUES: usize = 255;

/// The depth that most left spines do not exceed.
const SPINE: usize = 16;

struct Compiler<'c> {
    chunk: &'c Chunk<'c>,
    watch: Watch<'c>,
    /// Number of statements and expressions until the watch is called again.
    unwatched: u32,
    source: &'c Arc<[u8]>,
    /// The function being compiled.
    fs: Own<'c, FuncState<'c>>,
    /// The functions around it, outermost first.
    parents: List<'c, Own<'c, FuncState<'c>>>,
    /// States that no function uses at present.
    spare: List<'c, Own<'c, FuncState<'c>>>,
    /// Nodes of left spines that are being compiled, innermost expression last.
    spine: List<'c, ExprId>,
}

impl<'c> Compiler<'c> {
    fn name(&self, name: Name) -> &'c [u8] {
        self.chunk.names.text(name).as_bytes()
    }

    /// Counts a statement or an expression, and gives up if the watch returns true.
    #[inline]
    fn look(&mut self) -> Result<()> {
        self.unwatched -= 1;
        if self.unwatched == 0 { self.look_now() } else { Ok(()) }
    }

    #[cold]
    fn look_now(&mut self) -> Result<()> {
        self.unwatched = NODES_BETWEEN_LOOKS;
        if (self.watch)(self.chunk.arena.allocated_bytes()) {
            return self.fs.exceeded(Limit::Watch);
        }
        Ok(())
    }

    fn main(&mut self) -> Result<Arc<Proto>> {
        let name = Some(self.fs.keep(b"_ENV")?);
        let (constant, itself) = (!self.chunk.assigns_env, false);
        self.fs.upvalues.push(UpvalDesc { name, in_stack: true, index: 0, constant, itself });
        self.fs.upval_places.push(UpvalPlace::Index(0));
        self.body()?;
        Ok(Arc::new(self.finish()))
    }

    /// Compiles an inner function, and returns its index in the current one. `of` is the variable
    /// that the function is the value of, if it is declared by `local function`.
    fn function(&mut self, id: FuncId, of: Option<LocalId>) -> Result<u16> {
        let index = self.fs.protos.len();
        if index > Instr::MAX_BX as usize {
            return self.fs.exceeded(Limit::Functions);
        }
        let mut inner = match self.spare.pop() {
            Some(mut spare) => {
                spare.begin(id);
                spare
            }
            None => FuncState::new(self.chunk, id),
        };
        self.resolve_upvalues(&mut inner, of)?;
        self.parents.push(std::mem::replace(&mut self.fs, inner));
        self.body()?;
        let proto = self.finish();
        let parent = self.parents.pop().expect("an inner function has a parent");
        self.spare.push(std::mem::replace(&mut self.fs, parent));
        self.fs.protos.push(Arc::new(proto));
        Ok(index as u16)
    }

    /// Numbers the upvalues of an inner function of the current one, except for constants.
    fn resolve_upvalues(&self, inner: &mut FuncState<'c>, of: Option<LocalId>) -> Result<()> {
        for upvalue in inner.function().upvalues {
            let (in_stack, index, constant) = match upvalue.source {
                UpvalueSource::ParentLocal(local) => match self.fs.places[local.0 as usize] {
                    Place::Register(register) => {
                        let var = &self.fs.function().locals[local.0 as usize];
                        (true, register, !var.reassigned)
                    }
                    Place::Constant(value) => {
                        inner.upval_places.push(UpvalPlace::Constant(value));
                        continue;
                    }
                    Place::None => unreachable!("a captured variable is in scope"),
                },
                UpvalueSource::ParentUpvalue(outer) => match self.fs.upval_places[outer as usize] {
                    UpvalPlace::Index(index) => {
                        (false, index, self.fs.upvalues[index as usize].constant)
                    }
                    UpvalPlace::Constant(value) => {
                        inner.upval_places.push(UpvalPlace::Constant(value));
                        continue;
                    }
                },
            };
            if inner.upvalues.len() == MAX_UPVALUES {
                return self.fs.exceeded(Limit::Upvalues);
            }
            inner.upval_places.push(UpvalPlace::Index(inner.upvalues.len() as u8));
            let name = Some(inner.keep(self.name(upvalue.name))?);
            let itself = constant && of.map(UpvalueSource::ParentLocal) == Some(upvalue.source);
            inner.upvalues.push(UpvalDesc { name, in_stack, index, constant, itself });
        }
        Ok(())
    }

    /// Compiles the body of the current function.
    fn body(&mut self) -> Result<()> {
        let function = self.fs.function();
        self.fs.enter_block(None);
        self.fs.activate(function.params)?;
        self.fs.line = function.params_line;
        if function.is_vararg {
            self.fs.emit_abc(Op::VarArgPrep, function.params.len() as u8, 0, 0)?;
        }
        self.fs.reserve(function.params.len())?;
        self.statements(&function.body)?;
        self.fs.line = function.end_line;
        let first = self.fs.variable_registers();
        self.emit_return(first, Some(0))?;
        self.fs.leave_block()?;
        self.fs.thread_jumps()
    }

    /// Returns the proto of the current function, and takes the contents of its state.
    fn finish(&mut self) -> Proto {
        let fs = &mut *self.fs;
        let function = fs.function();
        room::make(&mut fs.code, &fs.lists);
        // Allocates exactly the room needed: `collect` would estimate it, and then allocate again.
        let mut protos = Vec::with_capacity(fs.protos.len());
        protos.extend(fs.protos.drain(..));
        Proto {
            code: SmallVec::from_slice(&fs.code),
            constants: fs.constants.list().into(),
            protos: protos.into(),
            upvalues: SmallVec::from_slice(&fs.upvalues),
            lines: SmallVec::from_slice(&fs.lines),
            locals: fs.local_descs[..].into(),
            text: SmallVec::from_slice(&fs.text),
            source: Some(Arc::clone(self.source)),
            line_defined: function.line_defined,
            last_line: function.last_line,
            num_params: function.params.len() as u8,
            is_vararg: function.is_vararg,
            max_stack: fs.max_stack,
            method: Default::default(),
        }
    }
}
