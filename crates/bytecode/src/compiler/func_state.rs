//! The function being compiled: its code, registers and scopes.

use std::sync::Arc;

use super::constants::{Constants, Key};
use super::desc::{Desc, Kind, Place, UpvalPlace};
use super::error::{Exceeded, Limit, Reached, Result};
use super::list::{FEW, List, Own};
use super::scopes::Scopes;
use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::{Constant, LocalDesc, Proto, Text, UpvalDesc};
use perilune_syntax::ast::{Chunk, FuncId, Function};

/// The largest number of registers of a function, as in PUC. One more than a number of values must
/// fit in an operand of 8 bits, and the number 255 is reserved as a mark.
const MAX_REGISTERS: usize = 254;

/// The state of one function, which successive functions reuse.
pub(super) struct FuncState<'c> {
    pub(super) chunk: &'c Chunk<'c>,
    pub(super) id: FuncId,
    pub(super) code: List<'c, Instr>,
    pub(super) lines: List<'c, u32>,
    pub(super) constants: Constants<'c>,
    pub(super) protos: List<'c, Arc<Proto>>,
    pub(super) upvalues: List<'c, UpvalDesc>,
    pub(super) upval_places: List<'c, UpvalPlace<'c>>,
    /// The places of variables, by `LocalId`.
    pub(super) places: List<'c, Place<'c>>,
    pub(super) local_descs: List<'c, LocalDesc>,
    /// The bytes of strings and names.
    pub(super) text: List<'c, u8>,
    pub(super) scopes: Scopes<'c>,
    /// The first and the last instruction of each constructor with positional items that is in no
    /// other one.
    pub(super) lists: List<'c, (usize, usize)>,
    /// The first register that is not in use.
    pub(super) free: u8,
    pub(super) max_stack: u8,
    /// Line of the last token that was consumed, to which the next instruction is attributed.
    pub(super) line: u32,
    /// How far PUC has read the source when the next instruction is emitted.
    pub(super) reached: Reached,
    /// Last pc marked as a jump target.
    pub(super) last_target: u32,
}

impl<'c> FuncState<'c> {
    /// Returns the state at the start of function `id`.
    pub(super) fn new(chunk: &'c Chunk<'c>, id: FuncId) -> Own<'c, FuncState<'c>> {
        let arena = chunk.arena;
        // About one instruction per expression. Lists that grow leave their former copies in the
        // arena.
        let instructions = (chunk.exprs.len() / chunk.functions.len().max(1)).max(4 * FEW);
        let mut fs = FuncState {
            chunk,
            id,
            code: List::with_capacity_in(instructions, arena),
            lines: List::with_capacity_in(instructions, arena),
            constants: Constants::new(arena),
            protos: List::new_in(arena),
            upvalues: List::with_capacity_in(FEW, arena),
            upval_places: List::with_capacity_in(FEW, arena),
            places: List::with_capacity_in(FEW, arena),
            local_descs: List::with_capacity_in(FEW, arena),
            text: List::with_capacity_in(16 * FEW, arena),
            scopes: Scopes::new(arena),
            lists: List::new_in(arena),
            free: 0,
            max_stack: 0,
            line: 0,
            reached: Reached::default(),
            last_target: 0,
        };
        fs.begin(id);
        Own::new_in(fs, arena)
    }

    /// Resets the state to that at the start of function `id`.
    pub(super) fn begin(&mut self, id: FuncId) {
        self.id = id;
        let function = self.function();
        self.code.clear();
        self.lines.clear();
        self.constants.clear();
        self.protos.clear();
        self.upvalues.clear();
        self.upval_places.clear();
        self.places.clear();
        self.places.resize(function.locals.len(), Place::None);
        self.local_descs.clear();
        self.text.clear();
        self.scopes.reset(function.labels.len());
        self.lists.clear();
        self.free = 0;
        // There are always at least two registers, so that a frame is never empty.
        self.max_stack = 2;
        self.line = function.params_line;
        self.reached = Reached::default();
        self.last_target = 0;
    }

    /// Stores a string or name for the proto.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<Text> {
        let len = self.text.len();
        match Text::place(len, bytes.len()) {
            Some(text) => {
                self.text.extend_from_slice_copy(bytes);
                Ok(text)
            }
            None => self.exceeded(Limit::Text),
        }
    }

    /// Returns the index of a constant, after adding it if it is new.
    pub(super) fn constant(&mut self, key: Key<'c>) -> Result<u32> {
        if let Some(index) = self.constants.find(key) {
            return Ok(index);
        }
        let index = self.constants.list().len() as u32;
        if index > Instr::MAX_AX {
            return self.exceeded(Limit::Constants);
        }
        let constant = match key {
            Key::Nil => Constant::Nil,
            Key::Bool(b) => Constant::Bool(b),
            Key::Integer(i) => Constant::Integer(i),
            Key::Float(bits) => Constant::Float(f64::from_bits(bits)),
            Key::Str(text) => Constant::Str(self.keep(text)?),
        };
        self.constants.add(key, constant, index);
        Ok(index)
    }

    /// Returns whether constant `index` is a string short enough for a field instruction.
    pub(super) fn is_field_name(&self, index: u32) -> bool {
        index <= 0xFF
            && matches!(self.constants.list()[index as usize],
                Constant::Str(s) if s.len() <= crate::MAX_FIELD_NAME)
    }

    /// Returns the function's syntax.
    pub(super) fn function(&self) -> &'c Function<'c> {
        &self.chunk.functions[self.id.0 as usize]
    }

    pub(super) fn exceeded<T>(&self, limit: Limit) -> Result<T> {
        Err(Exceeded { limit, line: self.line, reached: self.reached })
    }

    pub(super) fn pc(&self) -> u32 {
        self.code.len() as u32
    }

    /// Appends an instruction, attributed to the current line.
    pub(super) fn emit(&mut self, instr: Instr) -> Result<u32> {
        let pc = self.pc();
        if pc >= i32::MAX as u32 {
            return self.exceeded(Limit::Instructions);
        }
        self.code.push(instr);
        self.lines.push(self.line);
        Ok(pc)
    }

    pub(super) fn emit_abc(&mut self, op: Op, a: u8, b: u8, c: u8) -> Result<u32> {
        self.emit(Instr::abc(op, a, b, c))
    }

    /// Attributes the last instruction to another line.
    pub(super) fn fix_line(&mut self, line: u32) {
        if let Some(last) = self.lines.last_mut() {
            *last = line;
        }
    }

    /// Removes the last instruction.
    pub(super) fn remove_last(&mut self) {
        self.code.pop();
        self.lines.pop();
    }

    pub(super) fn at(&self, pc: u32) -> Instr {
        self.code[pc as usize]
    }

    pub(super) fn set(&mut self, pc: u32, instr: Instr) {
        self.code[pc as usize] = instr;
    }

    /// Makes sure that the frame has `n` registers above the used ones.
    pub(super) fn check_stack(&mut self, n: usize) -> Result<()> {
        let needed = self.free as usize + n;
        if needed > MAX_REGISTERS {
            return self.exceeded(Limit::Registers);
        }
        self.max_stack = self.max_stack.max(needed as u8);
        Ok(())
    }

    /// Reserves `n` registers and returns the first of them.
    pub(super) fn reserve(&mut self, n: usize) -> Result<u8> {
        self.check_stack(n)?;
        let first = self.free;
        self.free += n as u8;
        Ok(first)
    }

    /// Returns the number of registers held by active variables.
    pub(super) fn variable_registers(&self) -> u8 {
        self.scopes.registers(self.scopes.active.len())
    }

    fn release(&mut self, register: u8) {
        if register >= self.variable_registers() {
            self.free -= 1;
            debug_assert_eq!(register, self.free, "registers are released in stack order");
        }
    }

    pub(super) fn release_two(&mut self, one: u8, two: u8) {
        self.release(one.max(two));
        self.release(one.min(two));
    }

    /// Releases the register of a value, if it is a temporary.
    pub(super) fn release_desc(&mut self, e: &Desc<'c>) {
        if let Kind::Register(register) = e.kind {
            self.release(register);
        }
    }

    /// Releases the registers of two values, the higher first.
    pub(super) fn release_descs(&mut self, one: &Desc<'c>, two: &Desc<'c>) {
        match (one.kind, two.kind) {
            (Kind::Register(a), Kind::Register(b)) => self.release_two(a, b),
            _ => {
                self.release_desc(one);
                self.release_desc(two);
            }
        }
    }

    /// Releases the table of an indexed value that is being read.
    pub(super) fn release_register(&mut self, register: u8) {
        self.release(register);
    }

    /// Emits `R[from] .. R[from + n - 1] := nil`, merged with a LOADNIL directly before it.
    pub(super) fn load_nil(&mut self, from: u8, n: usize) -> Result<()> {
        debug_assert!(n >= 1);
        let (mut first, mut last) = (from as usize, from as usize + n - 1);
        if self.pc() > self.last_target
            && let Some(&previous) = self.code.last()
            && previous.op() == Op::LoadNil
        {
            let (p_first, p_last) = (previous.a(), previous.a() + previous.b());
            if first <= p_last + 1 && p_first <= last + 1 {
                first = first.min(p_first);
                last = last.max(p_last);
                let pc = self.pc() - 1;
                self.set(pc, Instr::abc(Op::LoadNil, first as u8, (last - first) as u8, 0));
                return Ok(());
            }
        }
        self.emit_abc(Op::LoadNil, first as u8, (last - first) as u8, 0)?;
        Ok(())
    }

    /// Emits `R[register] := K[index]`.
    pub(super) fn load_constant(&mut self, register: u8, index: u32) -> Result<()> {
        if index <= Instr::MAX_BX {
            self.emit(Instr::abx(Op::LoadK, register, index as u16))?;
        } else {
            self.emit(Instr::abx(Op::LoadKX, register, 0))?;
            self.emit(Instr::ax(Op::ExtraArg, index))?;
        }
        Ok(())
    }
}
