//! Moves values to where they are needed: into registers, constants and variables.

use super::constants::Key;
use super::desc::{Desc, Kind};
use super::error::Result;
use super::fold;
use super::func_state::FuncState;
use super::jump_list::JumpList;
use crate::instr::Instr;
use crate::opcode::Op;

impl<'c> FuncState<'c> {
    /// Truncates multiple values to one.
    pub(super) fn one_result(&mut self, e: &mut Desc<'c>) {
        match e.kind {
            // Calls are emitted with one result.
            Kind::Call(pc) => e.kind = Kind::Register(self.at(pc).a() as u8),
            Kind::Vararg(pc) => {
                self.set(pc, self.at(pc).with_c(2));
                e.kind = Kind::Relocatable(pc);
            }
            _ => {}
        }
    }

    /// Makes `e`, which has multiple values, produce `results` of them (`None`: all) from the first
    /// free register on.
    pub(super) fn set_results(&mut self, e: &Desc<'c>, results: Option<usize>) -> Result<()> {
        let c = results.map_or(0, |n| n + 1) as u8;
        match e.kind {
            Kind::Call(pc) => self.set(pc, self.at(pc).with_c(c)),
            Kind::Vararg(pc) => {
                let register = self.reserve(1)?;
                self.set(pc, self.at(pc).with_c(c).with_a(register));
            }
            _ => unreachable!("only calls and varargs have many results"),
        }
        Ok(())
    }

    /// Turns a variable into its value; it may still have jumps.
    pub(super) fn discharge_variable(&mut self, e: &mut Desc<'c>) -> Result<()> {
        let pc = match e.kind {
            Kind::Local(register) => {
                e.kind = Kind::Register(register);
                return Ok(());
            }
            Kind::Upvalue(index) => self.emit_abc(Op::GetUpval, 0, index, 0)?,
            Kind::IndexedUp { table, key } if self.is_environment(table) => {
                self.emit_abc(Op::GetTabUp, 0, table, key)?
            }
            Kind::IndexedUp { table, key } => {
                let register = self.load_upvalue(table)?;
                self.emit_abc(Op::GetField, 0, register, key)?
            }
            Kind::IndexedInt { table, key } => {
                self.release_register(table);
                self.emit_abc(Op::GetI, 0, table, key)?
            }
            Kind::IndexedStr { table, key } => {
                self.release_register(table);
                self.emit_abc(Op::GetField, 0, table, key)?
            }
            Kind::Indexed { table, key } => {
                self.release_two(table, key);
                self.emit_abc(Op::GetTable, 0, table, key)?
            }
            Kind::Call(_) | Kind::Vararg(_) => {
                self.one_result(e);
                return Ok(());
            }
            _ => return Ok(()),
        };
        e.kind = Kind::Relocatable(pc);
        Ok(())
    }

    /// Puts the value into `register`, ignoring the values that its jumps produce.
    fn discharge_to(&mut self, e: &mut Desc<'c>, register: u8) -> Result<()> {
        self.discharge_variable(e)?;
        match e.kind {
            Kind::Nil => self.load_nil(register, 1)?,
            Kind::False => _ = self.emit_abc(Op::LoadFalse, register, 0, 0)?,
            Kind::True => _ = self.emit_abc(Op::LoadTrue, register, 0, 0)?,
            Kind::Str(text) => {
                let index = self.constant(Key::Str(text))?;
                self.load_constant(register, index)?;
            }
            Kind::K(index) => self.load_constant(register, index)?,
            Kind::Integer(i) => self.load_integer(register, i)?,
            Kind::Float(f) => self.load_float(register, f)?,
            Kind::Relocatable(pc) => self.set(pc, self.at(pc).with_a(register)),
            Kind::Register(from) => {
                if from != register {
                    self.emit_abc(Op::Move, register, from, 0)?;
                }
            }
            Kind::Jump(_) => return Ok(()),
            _ => unreachable!("discharged variables are values"),
        }
        e.kind = Kind::Register(register);
        Ok(())
    }

    /// Emits `R[register] := i`.
    pub(super) fn load_integer(&mut self, register: u8, i: i64) -> Result<()> {
        if let Ok(small) = i16::try_from(i) {
            self.emit(Instr::asbx(Op::LoadI, register, small))?;
            return Ok(());
        }
        let index = self.constant(Key::Integer(i))?;
        self.load_constant(register, index)
    }

    fn load_float(&mut self, register: u8, f: f64) -> Result<()> {
        // LOADF converts an integer, so -0.0 cannot be its operand.
        let small = fold::exact_integer(f).and_then(|i| i16::try_from(i).ok());
        if let Some(small) = small
            && !(f == 0.0 && f.is_sign_negative())
        {
            self.emit(Instr::asbx(Op::LoadF, register, small))?;
            return Ok(());
        }
        let index = self.constant(Key::Float(f.to_bits()))?;
        self.load_constant(register, index)
    }

    /// Puts the value into some register and leaves its jumps pending.
    pub(super) fn discharge_to_any(&mut self, e: &mut Desc<'c>) -> Result<u8> {
        if let Kind::Register(register) = e.kind {
            return Ok(register);
        }
        let register = self.reserve(1)?;
        self.discharge_to(e, register)?;
        Ok(register)
    }

    /// Puts the final value into `register`, whichever jump produces it.
    pub(super) fn put_in(&mut self, e: &mut Desc<'c>, register: u8) -> Result<()> {
        self.discharge_to(e, register)?;
        if let Kind::Jump(pc) = e.kind {
            self.join(&mut e.t, JumpList::one(pc))?;
        }
        if e.has_jumps() {
            let (mut load_false, mut load_true) = (0, 0);
            if self.needs_value(e.t) || self.needs_value(e.f) {
                let over = match e.kind {
                    Kind::Jump(_) => JumpList::EMPTY,
                    _ => JumpList::one(self.jump()?),
                };
                load_false = self.label_here();
                self.emit_abc(Op::LFalseSkip, register, 0, 0)?;
                load_true = self.label_here();
                self.emit_abc(Op::LoadTrue, register, 0, 0)?;
                self.patch_to_here(over)?;
            }
            let end = self.label_here();
            self.patch_values(e.f, end, register, load_false)?;
            self.patch_values(e.t, end, register, load_true)?;
        }
        *e = Desc::new(Kind::Register(register));
        Ok(())
    }

    /// Puts the final value into the first free register.
    pub(super) fn put_in_next(&mut self, e: &mut Desc<'c>) -> Result<u8> {
        self.discharge_variable(e)?;
        self.release_desc(e);
        let register = self.reserve(1)?;
        self.put_in(e, register)?;
        Ok(register)
    }

    /// Puts the final value into any register.
    pub(super) fn put_in_any(&mut self, e: &mut Desc<'c>) -> Result<u8> {
        self.discharge_variable(e)?;
        if let Kind::Register(register) = e.kind {
            if !e.has_jumps() {
                return Ok(register);
            }
            // A variable must keep its value when a jump produces another one.
            if register >= self.variable_registers() {
                self.put_in(e, register)?;
                return Ok(register);
            }
        }
        self.put_in_next(e)
    }

    /// Leaves an upvalue where it is, and puts anything else into a register.
    pub(super) fn put_in_any_or_upvalue(&mut self, e: &mut Desc<'c>) -> Result<()> {
        if !matches!(e.kind, Kind::Upvalue(_)) || e.has_jumps() {
            self.put_in_any(e)?;
        }
        Ok(())
    }

    /// Turns `e` into a register or a constant.
    pub(super) fn make_value(&mut self, e: &mut Desc<'c>) -> Result<()> {
        if matches!(e.kind, Kind::Jump(_)) || e.has_jumps() {
            self.put_in_any(e)?;
            Ok(())
        } else {
            self.discharge_variable(e)
        }
    }

    /// Turns a constant into a constant operand, if its index fits one.
    pub(super) fn constant_operand(&mut self, e: &mut Desc<'c>) -> Result<Option<u8>> {
        if e.has_jumps() {
            return Ok(None);
        }
        let index = match e.kind {
            Kind::Nil => self.constant(Key::Nil)?,
            Kind::True => self.constant(Key::Bool(true))?,
            Kind::False => self.constant(Key::Bool(false))?,
            Kind::Integer(i) => self.constant(Key::Integer(i))?,
            Kind::Float(f) => self.constant(Key::Float(f.to_bits()))?,
            Kind::Str(text) => self.constant(Key::Str(text))?,
            Kind::K(index) => index,
            _ => return Ok(None),
        };
        match u8::try_from(index) {
            Ok(operand) => {
                e.kind = Kind::K(index);
                Ok(Some(operand))
            }
            Err(_) => Ok(None),
        }
    }

    /// Stores a value into a variable.
    pub(super) fn store(&mut self, target: &Desc<'c>, e: &mut Desc<'c>) -> Result<()> {
        match target.kind {
            Kind::Local(register) => {
                self.release_desc(e);
                return self.put_in(e, register);
            }
            Kind::Upvalue(index) => {
                let register = self.put_in_any(e)?;
                self.emit_abc(Op::SetUpval, register, index, 0)?;
            }
            Kind::IndexedUp { table, key } if self.is_environment(table) => {
                self.store_indexed(Op::SetTabUp, Op::SetTabUpK, table, key, e)?;
            }
            Kind::IndexedUp { table, key } => {
                // The upvalue is read after the value, as by instructions that access it in place.
                let constant = self.constant_operand(e)?;
                let value = match constant {
                    Some(k) => k,
                    None => self.put_in_any(e)?,
                };
                let table = self.load_upvalue(table)?;
                let op = if constant.is_some() { Op::SetFieldK } else { Op::SetField };
                self.emit_abc(op, table, key, value)?;
            }
            Kind::IndexedInt { table, key } => {
                self.store_indexed(Op::SetI, Op::SetIK, table, key, e)?;
            }
            Kind::IndexedStr { table, key } => {
                self.store_indexed(Op::SetField, Op::SetFieldK, table, key, e)?;
            }
            Kind::Indexed { table, key } => {
                self.store_indexed(Op::SetTable, Op::SetTableK, table, key, e)?;
            }
            _ => unreachable!("the parser lets only variables be assigned"),
        }
        self.release_desc(e);
        Ok(())
    }

    /// Returns whether upvalue `index` is `_ENV`. Only its fields have cells, and instructions that
    /// access them in place.
    fn is_environment(&self, index: u8) -> bool {
        self.upvalues[index as usize].name.is_some_and(|name| name.of(&self.text) == b"_ENV")
    }

    /// Loads an upvalue into the first free register, for the next instruction only.
    fn load_upvalue(&mut self, index: u8) -> Result<u8> {
        self.check_stack(1)?;
        let register = self.free;
        self.emit_abc(Op::GetUpval, register, index, 0)?;
        Ok(register)
    }

    fn store_indexed(
        &mut self,
        op: Op,
        op_k: Op,
        table: u8,
        key: u8,
        e: &mut Desc<'c>,
    ) -> Result<()> {
        if let Some(k) = self.constant_operand(e)? {
            self.emit_abc(op_k, table, key, k)?;
        } else {
            let register = self.put_in_any(e)?;
            self.emit_abc(op, table, key, register)?;
        }
        Ok(())
    }

    /// Turns `table` into the variable `table[key]`. `table` is a register, a local variable or an
    /// upvalue.
    pub(super) fn index(&mut self, table: &mut Desc<'c>, key: &mut Desc<'c>) -> Result<()> {
        if let Kind::Str(text) = key.kind {
            key.kind = Kind::K(self.constant(Key::Str(text))?);
        }
        let name = match key.kind {
            Kind::K(index) if !key.has_jumps() && self.is_field_name(index) => Some(index as u8),
            _ => None,
        };
        if matches!(table.kind, Kind::Upvalue(_)) && name.is_none() {
            self.put_in_any(table)?;
        }
        table.kind = match (table.kind, name) {
            (Kind::Upvalue(table), Some(key)) => Kind::IndexedUp { table, key },
            (Kind::Local(table) | Kind::Register(table), Some(key)) => {
                Kind::IndexedStr { table, key }
            }
            (Kind::Local(table) | Kind::Register(table), None) => match key.small_integer() {
                Some(key) => Kind::IndexedInt { table, key },
                None => Kind::Indexed { table, key: self.put_in_any(key)? },
            },
            _ => unreachable!("an indexed value is in a register or an upvalue"),
        };
        Ok(())
    }

    /// Emits `object:name`: the function is in the returned register, the receiver two registers
    /// above.
    pub(super) fn method(&mut self, object: &mut Desc<'c>, name: &'c [u8]) -> Result<u8> {
        let receiver = self.put_in_any(object)?;
        self.release_desc(object);
        let base = self.reserve(3)?;
        let index = self.constant(Key::Str(name))?;
        if self.is_field_name(index) {
            self.emit_abc(Op::SelfK, base, receiver, index as u8)?;
        } else {
            let mut key = Desc::new(Kind::K(index));
            let register = self.put_in_any(&mut key)?;
            self.emit_abc(Op::SelfR, base, receiver, register)?;
            self.release_desc(&key);
        }
        *object = Desc::new(Kind::Register(base));
        Ok(base)
    }
}
