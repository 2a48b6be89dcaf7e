//! Frames on the VM stack: registers in their home slots, the callee, the header.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use perilune_runtime::frame::{Frame, FrameWord};
use perilune_runtime::layout::{closure, frame, state, value};

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::entity::{Pc, Reg};

impl Emitter<'_> {
    /// Returns the address of register 0.
    pub(crate) fn base(&mut self) -> Value {
        let base = self.outermost_base();
        match self.frame().offset {
            0 => base,
            offset => self.b.ins().iadd_imm_s(base, i64::from(frame::slot(offset))),
        }
    }

    /// Sets the base after a call, which may have moved the stack.
    pub(crate) fn set_base(&mut self, base: Value) {
        let base = match self.frame().offset {
            0 => base,
            offset => self.b.ins().iadd_imm_s(base, -i64::from(frame::slot(offset))),
        };
        self.b.def_var(self.base, base);
        self.loop_base = None;
        self.nothing_called = false;
    }

    /// Begins a loop: control may reach this place again after a call.
    pub(crate) fn begin_loop(&mut self) {
        self.nothing_called = false;
    }

    /// Makes the following code use `base` as the base of the outermost frame until the base is
    /// set, or read the variable again if it is `None`. In a loop that is not completely emitted,
    /// Cranelift's builder does not know that the variable has one value.
    pub(crate) fn fix_base(&mut self, base: Option<Value>) {
        self.loop_base = base;
    }

    /// Returns the closure. It is reloaded from the frame after calls, so that it occupies no
    /// callee-saved register.
    pub(crate) fn closure(&mut self) -> Value {
        if self.nothing_called && self.current == 0 {
            return self.passed_closure;
        }
        assert!(
            self.current == 0 || self.frames_are_stored,
            "the closure of an inlined function is read from a frame that is not stored"
        );
        if self.current != 0 {
            let base = self.base();
            // functions inlined one after the other have their closures in the same slot
            return self.load_callee(base);
        }
        self.own_closure()
    }

    /// Loads the closure of the outermost frame from that frame.
    pub(crate) fn own_closure(&mut self) -> Value {
        let base = self.outermost_base();
        self.load_constant(I64, base, frame::CALLEE)
    }

    /// Returns the closure that was passed as an argument, if [`Emitter::closure`] still returns
    /// it.
    pub(crate) fn closure_as_passed(&self) -> Option<Value> {
        (self.nothing_called && self.current == 0).then_some(self.passed_closure)
    }

    /// Loads the closure from the frame at `base`.
    pub(super) fn load_callee(&mut self, base: Value) -> Value {
        self.load(Region::Slots, I64, base, frame::CALLEE)
    }

    /// Loads upvalue `n` of the closure.
    pub(crate) fn upvalue(&mut self, n: usize) -> Value {
        let closure = self.closure();
        self.upvalue_of(closure, n)
    }

    /// Loads upvalue `n` of a closure.
    pub(crate) fn upvalue_of(&mut self, closure: Value, n: usize) -> Value {
        self.load64(Region::Objects, closure, closure::UPVALUES + n * size_of::<usize>())
    }

    /// Loads the payload of the first bound value of a native function, which programs cannot
    /// change.
    pub(crate) fn bound(&mut self, function: Value) -> Value {
        self.load_constant(I64, function, closure::BOUND as i32)
    }

    /// Loads the address of the value of an upvalue.
    pub(crate) fn upvalue_place(&mut self, upvalue: Value) -> Value {
        self.load64(Region::Objects, upvalue, closure::PLACE)
    }

    /// Returns the base of the outermost frame, and the offset from there of the place at `offset`
    /// from the base of the current frame.
    fn place_of(&mut self, offset: i32) -> (Value, i32) {
        (self.outermost_base(), frame::slot(self.frame().offset) + offset)
    }

    /// Returns the address of register `r`.
    pub(crate) fn address(&mut self, r: Reg) -> Value {
        let (base, offset) = self.place_of(frame::slot(r.index()));
        self.b.ins().iadd_imm_s(base, i64::from(offset))
    }

    /// Sets the top of the stack to the address of a register.
    pub(crate) fn set_top(&mut self, r: Reg) {
        let (st, top) = (self.state(), self.address(r));
        self.store(Region::State, top, st, state::TOP);
    }

    /// Returns the address of the first argument of a call with the callee in register `a`: the
    /// base of the callee's frame.
    pub(crate) fn callee_base(&mut self, a: Reg) -> Value {
        self.address(a + Frame::RESERVED)
    }

    /// Returns the address after the last register.
    pub(crate) fn frame_end(&mut self) -> Value {
        self.address(Reg::new(self.frame().proto.max_stack.into()))
    }

    /// Loads payload, as a value of type `ty`, and tag of register `r`.
    pub(crate) fn load_register(&mut self, r: Reg, ty: Type) -> (Value, Value) {
        (self.load_payload(r, ty), self.load_tag(r))
    }

    /// Loads the payload of register `r` as a value of type `ty`.
    pub(crate) fn load_payload(&mut self, r: Reg, ty: Type) -> Value {
        let (base, offset) = self.place_of(frame::slot(r.index()));
        self.load(Region::Slots, ty, base, offset)
    }

    /// Loads the tag of register `r`.
    pub(crate) fn load_tag(&mut self, r: Reg) -> Value {
        let (base, offset) = self.place_of(frame::tag(r.index()));
        self.load8(Region::Slots, base, offset)
    }

    /// Loads the tag of register `r` of the frame at `base`.
    pub(super) fn load_tag_at(&mut self, base: Value, r: Reg) -> Value {
        self.load8(Region::Slots, base, frame::tag(r.index()))
    }

    /// Stores payload and tag of register `r`.
    pub(crate) fn store_register(&mut self, r: Reg, bits: Value, tag: Value) {
        self.store_payload(r, bits);
        self.store_tag(r, tag);
    }

    /// Stores payload and tag of register `r` of the frame at `base`.
    pub(super) fn store_register_at(&mut self, base: Value, r: Reg, bits: Value, tag: Value) {
        self.store(Region::Slots, bits, base, frame::slot(r.index()));
        self.store8(Region::Slots, tag, base, frame::tag(r.index()));
    }

    /// Stores the payload of register `r`.
    pub(crate) fn store_payload(&mut self, r: Reg, bits: Value) {
        let (base, offset) = self.place_of(frame::slot(r.index()));
        self.store(Region::Slots, bits, base, offset);
    }

    /// Stores the tag of register `r`.
    pub(crate) fn store_tag(&mut self, r: Reg, tag: Value) {
        let (base, offset) = self.place_of(frame::tag(r.index()));
        self.store8(Region::Slots, tag, base, offset);
    }

    /// Stores the tag of register `r`, numbered from the base of the outermost frame.
    pub(super) fn store_known_tag(&mut self, r: Reg, tag: Known) {
        let (base, offset) = (self.outermost_base(), frame::tag(r.index()));
        match tag {
            Known::Tag(tag) => self.store_byte(Region::Slots, tag.0, base, offset),
            Known::Value(tag) => self.store8(Region::Slots, tag, base, offset),
        }
    }

    /// Returns the frame word that says that this code runs the frame and continues at `pc`.
    pub(crate) fn frame_word(&mut self, pc: Pc) -> Value {
        self.int(FrameWord::new(self.body.id, pc.as_u32()).0 as i64)
    }

    /// Stores frame word and base, before a call that may look at the frame.
    pub(crate) fn save_frame(&mut self, pc: Pc) {
        let word = self.frame_word(pc);
        self.save_frame_word(word);
    }

    /// Like [`Emitter::save_frame`], with this frame word.
    pub(super) fn save_frame_word(&mut self, word: Value) {
        let base = self.base();
        self.store(Region::Slots, word, base, frame::WORD);
        let st = self.state();
        self.store(Region::State, base, st, state::BASE);
    }

    /// Returns whether the runtime, which has run an instruction, has left the frame at `pc`.
    pub(crate) fn has_continued_at(&mut self, pc: Pc) -> Value {
        let (base, offset) = self.place_of(frame::PC);
        let at = self.load(Region::Slots, I32, base, offset);
        self.b.ins().icmp_imm_u(IntCC::Equal, at, pc.index() as i64)
    }

    /// Returns the base that the frame had before extra arguments moved it, which the code returns.
    pub(super) fn return_base(&mut self) -> Value {
        let base = self.outermost_base();
        self.return_base_of(base)
    }

    /// Like [`Emitter::return_base`], for an outermost frame at `base`.
    pub(super) fn return_base_of(&mut self, base: Value) -> Value {
        if !self.body.proto.is_vararg {
            return base;
        }
        let extra = self.extra_count_of(base);
        let slots = usize::from(self.body.proto.num_params) + Frame::RESERVED;
        let shift = self.b.ins().iadd_imm_s(extra, slots as i64);
        let bytes = self.b.ins().ishl_imm_u(shift, i64::from(value::LOG_SIZE));
        self.b.ins().isub(base, bytes)
    }

    /// Loads the end of the values of a frame that ends with a variable number of values.
    pub(super) fn load_top(&mut self) -> Value {
        let st = self.state();
        self.load64(Region::State, st, state::TOP)
    }

    /// Returns the number of values from `first` to the end of the frame's values.
    pub(super) fn count_to(&mut self, top: Value, first: Value) -> Value {
        let bytes = self.b.ins().isub(top, first);
        self.b.ins().ushr_imm_u(bytes, i64::from(value::LOG_SIZE))
    }

    /// Returns the number of values from register `r` on, which are the frame's last.
    pub(crate) fn count_from(&mut self, r: Reg) -> Value {
        let top = self.load_top();
        let first = self.address(r);
        self.count_to(top, first)
    }
}
