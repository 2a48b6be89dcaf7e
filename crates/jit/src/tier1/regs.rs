//! What is known of registers, and reading and writing them.

use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Type, Value};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::types::UNKNOWN;
use crate::codegen::value::{Join, Known};

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

    /// The merge point that has the value, where there is one.
    pub(super) fn join(self) -> Option<Join> {
        self.0.join
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
            Some(join) => self.emit.joined_tag(join),
            None => self.emit.load_tag(r),
        };
        let tag = Known::Value(tag);
        if !self.regs.captured[r] {
            self.regs.regs[r].tag = Some(tag);
        }
        tag
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
            (None, Some(f), _) => self.emit.float_bits(f),
            (None, None, Some(join)) => self.emit.joined_bits(join),
            (None, None, None) => self.emit.load_payload(r, I64),
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

    /// As [`Translator::float`], for one way out of the block: it is not remembered.
    pub(super) fn peek_float(&mut self, r: usize) -> Value {
        let reg = self.regs.regs[r];
        match (reg.float, reg.bits, reg.join) {
            (Some(v), ..) => v,
            (None, Some(b), _) => self.emit.bits_float(b),
            (None, None, Some(join)) => self.emit.joined_float(join),
            (None, None, None) => self.emit.load_payload(r, F64),
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
        self.emit.store_payload(r, bits);
        match tag {
            Known::Tag(t) if self.regs.has_tag(r, t) || self.tags[r] == t.0 => {}
            tag => {
                let v = self.emit.tag_value(tag);
                self.emit.store_tag(r, v);
            }
        }
    }

    /// Continues at a merge point, whose value is in register `r` already.
    pub(super) fn take_value(&mut self, join: Join, r: usize) {
        self.emit.switch_to(join.block);
        self.regs.note_join(r, join);
    }

    /// In a cold block: runs the instruction at `pc` in the runtime and goes to `to` with the
    /// result in register `r` as a value of type `ty`, and its tag.
    pub(super) fn generic_result(&mut self, pc: usize, r: usize, ty: Type, to: Join) {
        self.emit.generic(pc);
        let (bits, tag) = self.emit.load_register(r, ty);
        self.emit.join(to, bits, tag);
    }

    /// Goes to `to` with a value that is found, which is written to register `r`.
    pub(super) fn found(&mut self, r: usize, (bits, tag): (Value, Value), to: Join) {
        self.store_home(r, bits, Known::Value(tag));
        self.emit.join(to, bits, tag);
    }
}
