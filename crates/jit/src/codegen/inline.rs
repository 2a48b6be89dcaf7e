//! Frames of inlined functions.
//!
//! One body contains the code of several frames: that of the function itself, and those of the
//! functions inlined into it. The registers of an inlined function have the same home slots as if
//! it had been called, at a constant distance from the base of the outermost frame. The frame of an
//! inlined function is materialized only where the runtime may inspect it: there,
//! [`Emitter::materialize`] stores what calls would have stored. All frames of the body have its
//! code id.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_bytecode::Proto;
use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::instance::Places;
use perilune_runtime::layout::{closure, frame, state};

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::entity::{Pc, Reg};
use crate::exits::state::Home;

/// The caller of an inlined function.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// The number of its frame.
    pub(crate) frame: usize,
    /// Where it continues after the call.
    pub(crate) pc: Pc,
    /// Whether the function called there has replaced its frame by a tail call of this function.
    pub(crate) is_tail: bool,
}

/// The frame of an inlined function.
#[derive(Clone, Copy)]
pub(crate) struct InlinedFrame {
    pub(crate) caller: Caller,
    /// Slots from the base of the outermost frame to its base.
    pub(crate) offset: usize,
    /// The number of its registers.
    pub(crate) size: usize,
    /// The number of extra arguments, if the function is a vararg function.
    pub(crate) extra: usize,
}

/// A frame that code is emitted for.
pub(super) struct FrameCode<'a> {
    pub(super) proto: &'a Proto,
    /// Where the arrays of its instance are.
    pub(super) places: Places,
    /// The instance of its closure.
    pub(super) instance: Value,
    /// Slots from the base of the outermost frame to its base.
    pub(super) offset: usize,
    /// Its caller and the number of extra arguments, unless it is the outermost one.
    pub(super) inlined: Option<(Caller, usize)>,
    /// The block that exits with a status and the base that the runtime has stored, if there is
    /// such an exit.
    pub(super) exit: Option<Block>,
}

impl FrameCode<'_> {
    /// Returns the number of slots from the base of the outermost frame to the base that the frame
    /// had before extra arguments moved it.
    pub(super) fn passed_base(&self) -> usize {
        match self.inlined {
            Some((_, extra)) if self.proto.is_vararg => {
                self.offset - (usize::from(self.proto.num_params) + extra + Frame::RESERVED)
            }
            _ => self.offset,
        }
    }
}

impl<'a> Emitter<'a> {
    /// Adds a frame of an inlined function; frames are numbered in this order, from 1 on.
    pub(crate) fn add_frame(&mut self, proto: &'a Proto, frame: InlinedFrame) {
        let InlinedFrame { caller, offset, size, extra } = frame;
        self.reserve(offset + size);
        self.frames.push(FrameCode {
            proto,
            places: Places::in_instances_of(proto),
            instance: self.frames[0].instance,
            offset,
            inlined: Some((caller, extra)),
            exit: None,
        });
    }

    /// Returns the frame that code is emitted for.
    pub(super) fn frame(&self) -> &FrameCode<'a> {
        &self.frames[self.current]
    }

    /// Returns the instance of the closure of the frame.
    pub(super) fn instance(&self) -> Value {
        self.frame().instance
    }

    /// Returns the instance of the closure of frame `n`, whose code has begun.
    pub(crate) fn instance_of(&self, n: usize) -> Value {
        self.frames[n].instance
    }

    /// Returns constant `n`, a string, of the function of a frame whose code has begun.
    pub(crate) fn name_in(&mut self, frame: usize, n: usize) -> Value {
        let current = std::mem::replace(&mut self.current, frame);
        let (name, _) = self.constant(n);
        self.current = current;
        name
    }

    /// Reserves this number of slots from the base of the outermost frame on.
    pub(crate) fn reserve(&mut self, slots: usize) {
        let above = slots.saturating_sub(usize::from(self.body.proto.max_stack));
        self.inlined_slots = self.inlined_slots.max(above);
    }

    /// Reserves slots, from a register on, for descriptions of virtual tables.
    pub(crate) fn reserve_virtuals(&mut self, at: Reg, size: usize) {
        self.reserve(at.index() + size);
        self.virtuals_at = at;
    }

    /// Tells the runtime where the description of virtual tables is.
    pub(super) fn pass_virtuals(&mut self) {
        let base = self.outermost_base();
        let at = i64::from(frame::slot(self.virtuals_at.index()));
        let at = self.b.ins().iadd_imm_s(base, at);
        let st = self.state();
        self.store(Region::State, at, st, state::RETURNED_BITS);
    }

    /// Emits code for frame `n` from here on.
    pub(crate) fn in_frame(&mut self, n: usize) {
        self.current = n;
    }

    /// Begins the code of an inlined function: frame `n` belongs to `closure`.
    pub(crate) fn begin_inlined(&mut self, n: usize, closure: Value) {
        self.frames[n].instance = self.load_constant(I64, closure, closure::INSTANCE);
    }

    /// Begins the code of an inlined function: frame `n` belongs to an unallocated closure of this
    /// inner function of the outermost function. The state must have an instance of the inner
    /// function.
    pub(crate) fn begin_inlined_inner(&mut self, n: usize, inner: usize) {
        let at = self.frames[0].places.children + inner * size_of::<usize>();
        let outermost = self.frames[0].instance;
        self.frames[n].instance = self.load64(Region::Instances, outermost, at);
    }

    /// Loads upvalue `n` of the closure of the outermost function.
    pub(crate) fn outermost_upvalue(&mut self, n: usize) -> Value {
        let current = std::mem::replace(&mut self.current, 0);
        let upvalue = self.upvalue(n);
        self.current = current;
        upvalue
    }

    /// Returns the address of register 0 of the outermost frame, as one value: two calls return the
    /// same unless the base was set between them.
    pub(crate) fn current_base(&mut self) -> Value {
        let base = self.outermost_base();
        self.b.func.dfg.resolve_aliases(base)
    }

    /// Returns the address of register 0 of the outermost frame.
    pub(super) fn outermost_base(&mut self) -> Value {
        match self.loop_base {
            Some(base) => base,
            None => self.b.use_var(self.base),
        }
    }

    /// Stores registers to their home slots, numbered from the base of the outermost frame.
    pub(crate) fn store_homes(&mut self, stores: &[Home]) {
        let base = self.outermost_base();
        for &Home { register, payload, tag } in stores {
            self.store(Region::Slots, payload, base, frame::slot(register.index()));
            if let Some(tag) = tag {
                self.store_known_tag(register, tag);
            }
        }
    }

    /// Stores payload and tag to a home slot, numbered from the base of the outermost frame.
    pub(crate) fn store_home(&mut self, r: Reg, bits: Value, tag: Value) {
        let base = self.outermost_base();
        self.store_register_at(base, r, bits, tag);
    }

    /// Loads payload, as a value of type `ty`, and tag from a home slot, numbered from the base of
    /// the outermost frame. `tag`: the tag, if it is known.
    pub(crate) fn load_home(
        &mut self,
        r: Reg,
        ty: cranelift_codegen::ir::Type,
        tag: Option<Known>,
    ) -> (Value, Known) {
        let base = self.outermost_base();
        let payload = self.load(Region::Slots, ty, base, frame::slot(r.index()));
        let tag = match tag {
            Some(tag) => tag,
            None => Known::Value(self.load8(Region::Slots, base, frame::tag(r.index()))),
        };
        (payload, tag)
    }

    /// Stores the headers that calls would have stored from the outermost frame to this one, except
    /// for the frame word of this one. The closures are in their slots as registers of the callers.
    pub(crate) fn materialize(&mut self) {
        self.frames_are_stored = true;
        let mut callee = self.current;
        while let Some((caller, extra)) = self.frames[callee].inlined {
            let Caller { frame: caller, pc, is_tail } = caller;
            let base = self.outermost_base();
            let (at, from) = (self.frames[callee].offset, self.frames[caller].offset);
            let flags = if is_tail { flags::TAIL } else { 0 };
            let link = self.int(Link::new(flags, extra, at - from).0 as i64);
            self.store(Region::Slots, link, base, frame::slot(at) + frame::LINK);
            let word = self.frame_word(pc);
            self.store(Region::Slots, word, base, frame::slot(from) + frame::WORD);
            callee = caller;
        }
    }

    /// Begins code that does not store frames.
    pub(crate) fn begin_unstored(&mut self) {
        self.frames_are_stored = false;
    }

    /// Returns the instruction of the outermost function that an instruction of this frame belongs
    /// to: the instruction itself, or the call of an inlined function.
    pub(super) fn outermost_pc(&self, mut pc: Pc) -> Pc {
        let mut n = self.current;
        while let Some((caller, _)) = self.frames[n].inlined {
            (n, pc) = (caller.frame, caller.pc - 1);
        }
        pc
    }

    /// Returns the number of frames above the outermost one, up to and including this one.
    pub(super) fn depth(&self) -> usize {
        let callers = std::iter::successors(Some(self.current), |&n| {
            self.frames[n].inlined.map(|(caller, _)| caller.frame)
        });
        callers.count() - 1
    }
}
