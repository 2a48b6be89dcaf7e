//! The cached contents of registers, and reads and writes of registers.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, Type, Value};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::flow::Flow;
use crate::analysis::tags::Tags;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg};

/// The known parts of a register's content.
#[derive(Clone, Copy, Default)]
struct Cached {
    bits: Option<Value>,
    float: Option<Value>,
    tag: Option<Known>,
    /// The merge point that has the other parts.
    join: Option<Join>,
}

/// The known contents of all registers. Home slots have all contents too.
#[derive(Clone)]
pub(super) struct Regs {
    regs: Vec<Cached>,
    captured: Box<[bool]>,
}

/// A copy of the known content of one register.
#[derive(Clone, Copy)]
pub(super) struct Peeked(Cached);

impl Peeked {
    /// Returns whether the payload is known.
    pub(super) fn has_payload(self) -> bool {
        self.0.bits.is_some() || self.0.float.is_some() || self.0.join.is_some()
    }

    /// Returns whether the payload is known both as an integer and as a float.
    pub(super) fn has_payload_twice(self) -> bool {
        self.0.bits.is_some() && self.0.float.is_some()
    }

    /// Returns the tag, if it is known.
    pub(super) fn tag(self) -> Option<Known> {
        self.0.tag
    }

    /// Returns the merge point that has the value, if there is one.
    pub(super) fn join(self) -> Option<Join> {
        self.0.join
    }
}

impl Regs {
    /// Returns the state in which nothing is known about the registers that `tags` has.
    pub(super) fn new(tags: &Tags, flow: &Flow) -> Regs {
        let captured: Box<[bool]> = tags.registers().map(|r| flow.captured[r]).collect();
        Regs { regs: vec![Cached::default(); captured.len()], captured }
    }

    /// Returns the known content of register `r`.
    pub(super) fn peek(&self, r: Reg) -> Peeked {
        Peeked(self.regs[r.index()])
    }

    pub(super) fn forget(&mut self, r: Reg) {
        self.regs[r.index()] = Cached::default();
    }

    /// Forgets the registers from `r` on, which are released: a collection clears their home slots.
    pub(super) fn forget_from(&mut self, r: Reg) {
        self.regs[r.index()..].fill(Cached::default());
    }

    pub(super) fn forget_all(&mut self) {
        self.forget_from(Reg::new(0));
    }

    /// Begins a block that the known values do not dominate.
    pub(super) fn begin(&mut self) {
        self.regs.fill(Cached::default());
    }

    /// Records that the home slot of `r` holds this value.
    pub(super) fn note(&mut self, r: Reg, bits: Value, tag: Known) {
        self.put(r, Cached { bits: Some(bits), tag: Some(tag), ..Cached::default() });
    }

    pub(super) fn note_float(&mut self, r: Reg, float: Value, tag: Known) {
        self.put(r, Cached { float: Some(float), tag: Some(tag), ..Cached::default() });
    }

    /// Records that the home slot of `r` holds the value of a merge point.
    pub(super) fn note_join(&mut self, r: Reg, join: Join) {
        self.put(r, Cached { join: Some(join), ..Cached::default() });
    }

    fn put(&mut self, r: Reg, cached: Cached) {
        if !self.captured[r.index()] {
            self.regs[r.index()] = cached;
        }
    }

    /// Changes the known content of `r`, unless closures share the register.
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
    /// Returns the tag of register `r`.
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

    /// Returns the payload of register `r`.
    pub(super) fn bits(&mut self, r: Reg) -> Value {
        let v = self.peek_bits(r);
        self.regs.keep(r, |cached| cached.bits = Some(v));
        v
    }

    /// Like [`Translator::bits`], for one path out of the block: the payload is not cached.
    pub(super) fn peek_bits(&mut self, r: Reg) -> Value {
        let Peeked(reg) = self.regs.peek(r);
        match (reg.bits, reg.float, reg.join) {
            (Some(v), ..) => v,
            (None, Some(f), _) => self.emit.float_bits(f),
            (None, None, Some(join)) => self.emit.joined_bits(join),
            (None, None, None) => self.emit.load_payload(r, I64),
        }
    }

    /// Returns the payload of register `r` as a float.
    pub(super) fn float(&mut self, r: Reg) -> Value {
        let v = self.peek_float(r);
        self.regs.keep(r, |cached| cached.float = Some(v));
        v
    }

    /// Like [`Translator::float`], for one path out of the block: the payload is not cached.
    pub(super) fn peek_float(&mut self, r: Reg) -> Value {
        let Peeked(reg) = self.regs.peek(r);
        match (reg.float, reg.bits, reg.join) {
            (Some(v), ..) => v,
            (None, Some(b), _) => self.emit.bits_float(b),
            (None, None, Some(join)) => self.emit.joined_float(join),
            (None, None, None) => self.emit.load_payload(r, F64),
        }
    }

    /// Returns payload and tag of register `r`.
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

    /// Writes the home slot of `r`; the caller updates the known content. That is also in the home
    /// slot, except on a fast path of tier 2.
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

    /// Continues at a merge point, whose value is already in register `r`.
    pub(super) fn take_value(&mut self, join: Join, r: Reg) {
        self.emit.switch_to(join.block);
        self.regs.note_join(r, join);
    }

    /// Runs the instruction at `pc` in the runtime, in a cold block, and goes to `to` with its
    /// result in register `r`: the payload as a value of type `ty`, and the tag.
    pub(super) fn generic_result(&mut self, pc: Pc, r: Reg, ty: Type, to: Join) {
        if let Some(exit) = self.slow_exit {
            return self.emit.jump(exit);
        }
        self.emit.generic(pc);
        let (bits, tag) = self.emit.load_register(r, ty);
        self.emit.join(to, bits, tag);
    }

    /// Ends an instruction without a result: in `slow`, runs the instruction in the runtime.
    /// Control continues at `done`.
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

    /// Writes a value that was found to register `r` and goes to `to` with it.
    pub(super) fn found(&mut self, r: Reg, (bits, tag): (Value, Value), to: Join) {
        self.store_home(r, bits, Known::Value(tag));
        self.emit.join(to, bits, tag);
    }
}
