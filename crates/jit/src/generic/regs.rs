//! What is known of registers, and reading and writing them.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, Type, Value};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::flow::Flow;
use crate::analysis::tags::Tags;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg};

/// What is known of a register.
#[derive(Clone, Copy, Default)]
struct Cached {
    bits: Option<Value>,
    float: Option<Value>,
    tag: Option<Known>,
    /// The merge point that has the rest.
    join: Option<Join>,
}

/// What is known of each register. Everything is in the home slots too.
#[derive(Clone)]
pub(super) struct Regs {
    regs: Vec<Cached>,
    captured: Box<[bool]>,
}

/// A copy of what is known of one register.
#[derive(Clone, Copy)]
pub(super) struct Peeked(Cached);

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
    /// Nothing is known of the registers that `tags` has.
    pub(super) fn new(tags: &Tags, flow: &Flow) -> Regs {
        let captured: Box<[bool]> = tags.registers().map(|r| flow.captured[r]).collect();
        Regs { regs: vec![Cached::default(); captured.len()], captured }
    }

    /// What is known of register `r`.
    pub(super) fn peek(&self, r: Reg) -> Peeked {
        Peeked(self.regs[r.index()])
    }

    pub(super) fn forget(&mut self, r: Reg) {
        self.regs[r.index()] = Cached::default();
    }

    /// Registers from `r` on are released: a collection clears their home slots.
    pub(super) fn forget_from(&mut self, r: Reg) {
        self.regs[r.index()..].fill(Cached::default());
    }

    pub(super) fn forget_all(&mut self) {
        self.forget_from(Reg::new(0));
    }

    /// A block begins that what is known does not dominate.
    pub(super) fn begin(&mut self) {
        self.regs.fill(Cached::default());
    }

    /// The home slot of `r` holds this.
    pub(super) fn note(&mut self, r: Reg, bits: Value, tag: Known) {
        self.put(r, Cached { bits: Some(bits), tag: Some(tag), ..Cached::default() });
    }

    pub(super) fn note_float(&mut self, r: Reg, float: Value, tag: Known) {
        self.put(r, Cached { float: Some(float), tag: Some(tag), ..Cached::default() });
    }

    /// The home slot of `r` holds the result of a merge point.
    pub(super) fn note_join(&mut self, r: Reg, join: Join) {
        self.put(r, Cached { join: Some(join), ..Cached::default() });
    }

    fn put(&mut self, r: Reg, cached: Cached) {
        if !self.captured[r.index()] {
            self.regs[r.index()] = cached;
        }
    }

    /// Adds to what is known of `r`, unless closures share it.
    fn keep(&mut self, r: Reg, change: impl FnOnce(&mut Cached)) {
        if !self.captured[r.index()] {
            change(&mut self.regs[r.index()]);
        }
    }

    fn has_tag(&self, r: Reg, tag: Tag) -> bool {
        matches!(self.regs[r.index()].tag, Some(Known::Tag(t)) if t == tag)
    }
}

impl Translator<'_> {
    /// The tag of register `r`.
    pub(super) fn tag(&mut self, r: Reg) -> Known {
        if let Some(&(_, tag)) = self.guarded.iter().find(|(guarded, _)| *guarded == r) {
            return Known::Tag(tag);
        }
        if let Some(tag) = self.tags[r] {
            return Known::Tag(tag);
        }
        let cached = self.regs.peek(r);
        if let Some(t) = cached.tag() {
            return t;
        }
        let tag = match cached.join() {
            Some(join) => self.emit.joined_tag(join),
            None => self.emit.load_tag(r),
        };
        let tag = Known::Value(tag);
        self.regs.keep(r, |cached| cached.tag = Some(tag));
        tag
    }

    /// The payload of register `r`.
    pub(super) fn bits(&mut self, r: Reg) -> Value {
        let v = self.peek_bits(r);
        self.regs.keep(r, |cached| cached.bits = Some(v));
        v
    }

    /// As [`Translator::bits`], for one way out of the block: it is not remembered.
    pub(super) fn peek_bits(&mut self, r: Reg) -> Value {
        let Peeked(reg) = self.regs.peek(r);
        match (reg.bits, reg.float, reg.join) {
            (Some(v), ..) => v,
            (None, Some(f), _) => self.emit.float_bits(f),
            (None, None, Some(join)) => self.emit.joined_bits(join),
            (None, None, None) => self.emit.load_payload(r, I64),
        }
    }

    /// The payload of register `r` as a float.
    pub(super) fn float(&mut self, r: Reg) -> Value {
        let v = self.peek_float(r);
        self.regs.keep(r, |cached| cached.float = Some(v));
        v
    }

    /// As [`Translator::float`], for one way out of the block: it is not remembered.
    pub(super) fn peek_float(&mut self, r: Reg) -> Value {
        let Peeked(reg) = self.regs.peek(r);
        match (reg.float, reg.bits, reg.join) {
            (Some(v), ..) => v,
            (None, Some(b), _) => self.emit.bits_float(b),
            (None, None, Some(join)) => self.emit.joined_float(join),
            (None, None, None) => self.emit.load_payload(r, F64),
        }
    }

    /// Payload and tag of register `r`.
    pub(super) fn any(&mut self, r: Reg) -> (Value, Known) {
        let tag = self.tag(r);
        (self.bits(r), tag)
    }

    /// Writes register `r`.
    pub(super) fn set(&mut self, r: Reg, bits: Value, tag: Known) {
        self.store_home(r, bits, tag);
        self.regs.note(r, bits, tag);
    }

    /// Writes a float to register `r`.
    pub(super) fn set_float(&mut self, r: Reg, v: Value) {
        self.store_home(r, v, Known::Tag(Tag::FLOAT));
        self.regs.note_float(r, v, Known::Tag(Tag::FLOAT));
    }

    /// Writes the home slot of `r`, leaving what is known of it to the caller. What is known of a
    /// register is in its home slot, except on a fast path of tier 2.
    pub(super) fn store_home(&mut self, r: Reg, bits: Value, tag: Known) {
        self.emit.store_payload(r, bits);
        let is_home = self.slow_exit.is_none();
        match tag {
            Known::Tag(t) if is_home && (self.regs.has_tag(r, t) || self.tags[r] == Some(t)) => {}
            tag => {
                let v = self.emit.tag_value(tag);
                self.emit.store_tag(r, v);
            }
        }
    }

    /// Continues at a merge point, whose value is in register `r` already.
    pub(super) fn take_value(&mut self, join: Join, r: Reg) {
        self.emit.switch_to(join.block);
        self.regs.note_join(r, join);
    }

    /// In a cold block: runs the instruction at `pc` in the runtime and goes to `to` with the
    /// result in register `r` as a value of type `ty`, and its tag.
    pub(super) fn generic_result(&mut self, pc: Pc, r: Reg, ty: Type, to: Join) {
        if let Some(exit) = self.slow_exit {
            return self.emit.jump(exit);
        }
        self.emit.generic(pc);
        let (bits, tag) = self.emit.load_register(r, ty);
        self.emit.join(to, bits, tag);
    }

    /// Ends an instruction without a result: what went to `slow` runs it in the runtime, and
    /// control continues at `done`.
    pub(super) fn end_slowly(&mut self, slow: Block, pc: Pc, done: Block) {
        match self.slow_exit {
            Some(exit) => {
                self.emit.switch_to(slow);
                self.emit.jump(exit);
                self.emit.switch_to(done);
            }
            None => self.emit.end_slowly(slow, pc, done),
        }
    }

    /// Goes to `to` with a value that is found, which is written to register `r`.
    pub(super) fn found(&mut self, r: Reg, (bits, tag): (Value, Value), to: Join) {
        self.store_home(r, bits, Known::Value(tag));
        self.emit.join(to, bits, tag);
    }
}
