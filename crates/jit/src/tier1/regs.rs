//! What is known of registers, and reading and writing them.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::Variable;
use perilune_runtime::layout::frame;
use perilune_runtime::value::Tag;

use super::{Join, MEM, Translator};
use crate::analysis::types::UNKNOWN;

/// A tag.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// It is this one.
    Tag(Tag),
    /// It is in a register of the machine.
    Value(Value),
}

#[derive(Clone, Copy, Default)]
struct Reg {
    bits: Option<Value>,
    float: Option<Value>,
    tag: Option<Known>,
    /// The merge point that has the rest.
    join: Option<Join>,
}

/// What is known of each register. Everything is in the home slots too.
#[derive(Clone)]
pub(super) struct Regs {
    regs: Vec<Reg>,
    captured: Box<[bool]>,
    /// Nothing is forgotten: a fault for tests.
    stale: bool,
}

/// A copy of what is known of one register.
#[derive(Clone, Copy)]
pub(super) struct Peeked(Reg);

impl Peeked {
    /// Is the payload known?
    pub(super) fn has_payload(self) -> bool {
        self.0.bits.is_some() || self.0.float.is_some() || self.0.join.is_some()
    }

    /// Is it known in both kinds of machine registers?
    pub(super) fn has_payload_twice(self) -> bool {
        self.0.bits.is_some() && self.0.float.is_some()
    }

    /// The tag, where it is known.
    pub(super) fn tag(self) -> Option<Known> {
        self.0.tag
    }

    /// The tag of a merged value, where that is known.
    pub(super) fn join(self) -> Option<Variable> {
        self.0.join.map(|join| join.tag)
    }
}

impl Regs {
    /// Of `size` registers.
    pub(super) fn new(size: usize, captured: &[bool; 256], stale: bool) -> Regs {
        Regs { regs: vec![Reg::default(); size], captured: captured[..size].into(), stale }
    }

    /// What is known of register `r`.
    pub(super) fn peek(&self, r: usize) -> Peeked {
        Peeked(self.regs[r])
    }

    pub(super) fn forget(&mut self, r: usize) {
        if !self.stale {
            self.regs[r] = Reg::default();
        }
    }

    /// Registers from `r` on are released: a collection clears their home slots.
    pub(super) fn forget_from(&mut self, r: usize) {
        if !self.stale {
            self.regs[r..].fill(Reg::default());
        }
    }

    pub(super) fn forget_all(&mut self) {
        self.forget_from(0);
    }

    /// A block begins that what is known does not dominate.
    pub(super) fn begin(&mut self) {
        self.regs.fill(Reg::default());
    }

    /// The home slot of `r` holds this.
    pub(super) fn note(&mut self, r: usize, bits: Value, tag: Known) {
        self.put(r, Reg { bits: Some(bits), tag: Some(tag), ..Reg::default() });
    }

    pub(super) fn note_float(&mut self, r: usize, float: Value, tag: Known) {
        self.put(r, Reg { float: Some(float), tag: Some(tag), ..Reg::default() });
    }

    /// The home slot of `r` holds the result of a merge point.
    pub(super) fn note_join(&mut self, r: usize, join: Join) {
        self.put(r, Reg { join: Some(join), ..Reg::default() });
    }

    fn put(&mut self, r: usize, reg: Reg) {
        if !self.captured[r] {
            self.regs[r] = reg;
        }
    }

    fn has_tag(&self, r: usize, tag: Tag) -> bool {
        matches!(self.regs[r].tag, Some(Known::Tag(t)) if t == tag)
    }
}

impl Translator<'_> {
    /// The tag of register `r`.
    pub(super) fn tag(&mut self, r: usize) -> Known {
        if let Some(&(_, tag)) = self.guarded.iter().find(|(guarded, _)| *guarded == r) {
            return Known::Tag(tag);
        }
        if self.tags[r] != UNKNOWN {
            return Known::Tag(Tag(self.tags[r]));
        }
        if let Some(t) = self.regs.regs[r].tag {
            return t;
        }
        let tag = match self.regs.regs[r].join {
            Some(join) => self.b.use_var(join.tag),
            None => {
                let base = self.load_base();
                self.b.ins().uload8(I64, MEM, base, frame::tag(r))
            }
        };
        let tag = Known::Value(tag);
        if !self.regs.captured[r] {
            self.regs.regs[r].tag = Some(tag);
        }
        tag
    }

    /// A tag as a value.
    pub(super) fn tag_value(&mut self, tag: Known) -> Value {
        match tag {
            Known::Tag(t) => self.int(t.0.into()),
            Known::Value(v) => v,
        }
    }

    /// Is it this tag? `Err` says what is known already.
    pub(super) fn tag_is(&mut self, tag: Known, wanted: Tag) -> Result<Value, bool> {
        match tag {
            Known::Tag(t) => Err(t == wanted),
            Known::Value(v) => Ok(self.b.ins().icmp_imm_u(IntCC::Equal, v, wanted.0 as i64)),
        }
    }

    /// The payload of register `r`.
    pub(super) fn bits(&mut self, r: usize) -> Value {
        let v = self.peek_bits(r);
        if !self.regs.captured[r] {
            self.regs.regs[r].bits = Some(v);
        }
        v
    }

    /// As [`Translator::bits`], for one way out of the block: it is not remembered.
    pub(super) fn peek_bits(&mut self, r: usize) -> Value {
        let reg = self.regs.regs[r];
        match (reg.bits, reg.float, reg.join) {
            (Some(v), ..) => v,
            (None, Some(f), _) => self.b.ins().bitcast(I64, MemFlagsData::new(), f),
            (None, None, Some(join)) => {
                let v = self.b.use_var(join.bits);
                if join.is_float { self.b.ins().bitcast(I64, MemFlagsData::new(), v) } else { v }
            }
            (None, None, None) => {
                let base = self.load_base();
                self.b.ins().load(I64, MEM, base, frame::slot(r))
            }
        }
    }

    /// The payload of register `r` as a float.
    pub(super) fn float(&mut self, r: usize) -> Value {
        let v = self.peek_float(r);
        if !self.regs.captured[r] {
            self.regs.regs[r].float = Some(v);
        }
        v
    }

    /// The bits of a float.
    pub(super) fn float_bits(&mut self, float: Value) -> Value {
        self.b.ins().bitcast(I64, MemFlagsData::new(), float)
    }

    /// As [`Translator::float`], for one way out of the block: it is not remembered.
    pub(super) fn peek_float(&mut self, r: usize) -> Value {
        let reg = self.regs.regs[r];
        match (reg.float, reg.bits, reg.join) {
            (Some(v), ..) => v,
            (None, Some(b), _) => self.b.ins().bitcast(F64, MemFlagsData::new(), b),
            (None, None, Some(join)) => {
                let v = self.b.use_var(join.bits);
                if join.is_float { v } else { self.b.ins().bitcast(F64, MemFlagsData::new(), v) }
            }
            (None, None, None) => {
                let base = self.load_base();
                self.b.ins().load(F64, MEM, base, frame::slot(r))
            }
        }
    }

    /// Payload and tag of register `r`.
    pub(super) fn any(&mut self, r: usize) -> (Value, Known) {
        let tag = self.tag(r);
        (self.bits(r), tag)
    }

    /// Writes register `r`.
    pub(super) fn set(&mut self, r: usize, bits: Value, tag: Known) {
        self.store_home(r, bits, tag);
        self.regs.note(r, bits, tag);
    }

    /// Writes a float to register `r`.
    pub(super) fn set_float(&mut self, r: usize, v: Value) {
        self.store_home(r, v, Known::Tag(Tag::FLOAT));
        self.regs.note_float(r, v, Known::Tag(Tag::FLOAT));
    }

    /// Writes the home slot of `r`, leaving what is known of it to the caller.
    pub(super) fn store_home(&mut self, r: usize, bits: Value, tag: Known) {
        let base = self.load_base();
        self.b.ins().store(MEM, bits, base, frame::slot(r));
        match tag {
            Known::Tag(t) => {
                if !self.regs.has_tag(r, t) && self.tags[r] != t.0 {
                    let v = self.int(t.0.into());
                    self.b.ins().istore8(MEM, v, base, frame::tag(r));
                }
            }
            Known::Value(v) => {
                self.b.ins().istore8(MEM, v, base, frame::tag(r));
            }
        }
    }
}
