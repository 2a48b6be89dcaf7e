//! Frames on the VM stack.
//!
//! A frame is `[callee][header][R0 ..]`; its *base* is the address of `R0`. The header is one slot.
//! Its first word is the **frame word** (code id, whether the frame is announced, and pc). Its
//! second word packs, from the low byte up, the tag [`Tag::FRAME`] (so that a stale header is never
//! mistaken for a value), 16 flags, the number of extra arguments (20 bits) and the distance to the
//! caller's base in slots (20 bits; 0 for the bottom frame of a stack).

use crate::thread::{ERROR_ROOM, MAX_STACK, MIN_FREE};
use crate::value::{Tag, Value};

/// The frame word: the code that runs the frame, and its position.
///
/// One bit indicates that the frame is *announced*: the state has reported it, with its current
/// code, to the reclaimer of code (`docs/code-life.md`). The constructors do not set the bit. It is
/// part of the word so that a store of another code id clears it: a frame with the bit runs the
/// code with which it was announced.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct FrameWord(pub u64);

impl FrameWord {
    /// Code id of frames that the interpreter runs. The pc is that of the *next* instruction.
    pub const INTERPRETER: u32 = 0;
    /// Code id of frames of native functions. The pc is the step at which the function continues.
    pub const NATIVE: u32 = 1;
    /// Number of bits of a code id.
    pub const CODE_BITS: u32 = 31;
    /// Number of bits of a position. All other bits in the word of an interpreter frame are 0,
    /// unless the frame is announced.
    pub const PC_BITS: u32 = u32::BITS;

    const ANNOUNCED: u64 = 1 << FrameWord::PC_BITS;
    const CODE_SHIFT: u32 = u64::BITS - FrameWord::CODE_BITS;

    /// Returns whether a code id refers to machine code.
    #[inline(always)]
    pub const fn is_machine(self) -> bool {
        self.code() > FrameWord::NATIVE
    }
    /// Returns the word for the same code at another position, not announced.
    #[inline(always)]
    pub const fn at(self, pc: u32) -> FrameWord {
        FrameWord::new(self.code(), pc)
    }
    /// Makes a frame word from its parts, not announced.
    #[inline(always)]
    pub const fn new(code: u32, pc: u32) -> FrameWord {
        FrameWord((code as u64) << FrameWord::CODE_SHIFT | pc as u64)
    }
    /// Makes the word of a native function that is waiting for a call: it continues at `step`,
    /// which is below 256, and keeps `kept` values, fewer than 2^24, below the results.
    #[inline(always)]
    pub const fn waiting(step: u32, kept: u32) -> FrameWord {
        FrameWord::new(FrameWord::NATIVE, step | kept << 8)
    }
    /// Returns the code id.
    #[inline(always)]
    pub const fn code(self) -> u32 {
        (self.0 >> FrameWord::CODE_SHIFT) as u32
    }
    /// Returns the position.
    #[inline(always)]
    pub const fn pc(self) -> u32 {
        self.0 as u32
    }
    /// Returns whether the frame is announced.
    #[inline(always)]
    pub const fn is_announced(self) -> bool {
        self.0 & FrameWord::ANNOUNCED != 0
    }
    /// Returns the word of the same frame once it is announced.
    #[inline(always)]
    pub const fn announced(self) -> FrameWord {
        FrameWord(self.0 | FrameWord::ANNOUNCED)
    }
}

const _: () = assert!(FrameWord::ANNOUNCED >> FrameWord::CODE_SHIFT == 0, "the id is above");

/// Flags of a frame.
pub mod flags {
    /// Entered from the host: its return ends the interpreter loop that runs it.
    pub const BOUNDARY: u16 = 1;
    /// Called by a native function that continues at its next step with the results.
    pub const CONTINUED: u16 = 2;
    /// A native frame that catches errors of its callee (`pcall`).
    pub const PROTECTED: u16 = 4;
    /// Like PROTECTED, and register 0 is a message handler (`xpcall`).
    pub const HANDLER: u16 = 8;
    /// A protected frame that has received an error: the to-be-closed variables above it are being
    /// closed, or the error is being reported.
    pub const CLOSING: u16 = 16;
    /// The frame was entered by a tail call, so its caller is unknown.
    pub const TAIL: u16 = 32;
    /// The call is a finalizer (`__gc`), called by the collector.
    pub const FINALIZER: u16 = 64;
    /// The call is a hook.
    pub const HOOK: u16 = 128;
    /// The caller of the frame is waiting for it on the native stack: it is machine code that
    /// called the interpreter, or an interpreter loop that entered machine code. The return of the
    /// frame ends the loop that runs it.
    pub const NATIVE_CALLER: u16 = 256;
    /// For a frame of machine code: it must be deoptimized, since other code has written to one of
    /// its registers.
    pub const LEAVE: u16 = 512;
    /// An error has propagated out of the machine code of the frame. Only the frame's header
    /// remains, at the position that it had before extra arguments moved it.
    pub const FAILED: u16 = 1024;
    /// Entered from the host, which requests a traceback of an error that propagates out of the
    /// frame ([`crate::state::State::traceback`]).
    pub const TRACED: u16 = 2048;
    /// The frame at the bottom of a coroutine's stack in which the host keeps values. It has no
    /// function, and is not a level of the call stack.
    pub const BOTTOM: u16 = 4096;
    /// Like PROTECTED, and the last of the values that the frame keeps is a message handler.
    pub const HANDLER_KEPT: u16 = 8192;
    /// The coroutine was suspended while the callee of the frame was on top (or the frame itself,
    /// if it has no caller). The frames below have not changed since: the interpreter continues
    /// them, and they are not announced. An announcement clears the flag.
    pub const SUSPENDED: u16 = 16384;
    /// The frame of a native function that is not a level of the call stack and that hooks do not
    /// notice: one that runs a hook for the host, as the host's hook runs in the function that has
    /// called it, or one that is a part of an instruction.
    pub const HIDDEN: u16 = 32768;
    /// The flags that mark a protected call.
    pub const ALL_PROTECTED: u16 = PROTECTED | HANDLER | HANDLER_KEPT;
    /// Flags for which a return needs more work than a return to a Lua caller.
    pub const RETURN_SLOW: u16 = BOUNDARY | CONTINUED | NATIVE_CALLER;
    /// Flags that a tail call passes on to the new frame: how the caller waits, how an error that
    /// reaches the frame is handled, and whether a hook called the frame.
    pub const TAIL_KEEPS: u16 = RETURN_SLOW | TRACED | FINALIZER | HOOK;
}

/// The second word of a header.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Link(pub u64);

impl Link {
    /// Position of the number of extra arguments.
    pub const EXTRA_SHIFT: u32 = 24;
    /// Mask of the number of extra arguments, once it is shifted down.
    pub const EXTRA_MASK: u64 = 0xF_FFFF;

    /// Position of the distance to the caller's frame.
    pub const DISTANCE_SHIFT: u32 = 44;

    /// Makes a link from its parts; `extra` and `distance` are below 2^20.
    #[inline(always)]
    pub const fn new(flags: u16, extra: usize, distance: usize) -> Link {
        Link(
            Tag::FRAME.0 as u64
                | (flags as u64) << 8
                | (extra as u64) << Link::EXTRA_SHIFT
                | (distance as u64) << Link::DISTANCE_SHIFT,
        )
    }
    /// Returns the flags.
    #[inline(always)]
    pub const fn flags(self) -> u16 {
        (self.0 >> 8) as u16
    }
    /// Returns the number of extra arguments, which are below the callee slot. In a native frame
    /// that is waiting for a call, it is the native depth of the frame, relative to that of its
    /// coroutine.
    #[inline(always)]
    pub const fn extra(self) -> usize {
        (self.0 >> Link::EXTRA_SHIFT & Link::EXTRA_MASK) as usize
    }
    /// Returns the link with another `extra`.
    #[inline(always)]
    pub const fn with_extra(self, extra: usize) -> Link {
        let others = self.0 & !(Link::EXTRA_MASK << Link::EXTRA_SHIFT);
        Link(others | (extra as u64) << Link::EXTRA_SHIFT)
    }
    /// Returns the number of slots from the caller's base to this base.
    #[inline(always)]
    pub const fn distance(self) -> usize {
        (self.0 >> Link::DISTANCE_SHIFT) as usize
    }
    /// Returns the link with other flags.
    #[inline(always)]
    pub const fn with_flags(self, flags: u16) -> Link {
        Link(self.0 & !0xFF_FF00 | (flags as u64) << 8)
    }
}

// Distances and numbers of extra arguments are less than the slots of any stack.
const _: () = assert!(MAX_STACK + ERROR_ROOM + MIN_FREE < 1 << 20);

/// A frame, identified by its base. Valid until the stack moves or the frame is popped.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Frame(pub *mut Value);

impl Frame {
    /// Number of slots of a frame below its base: the callee and the header.
    pub const RESERVED: usize = 2;
    /// Number of values that the frame of `pcall` keeps below its callee: `true`, its first result.
    pub const PROTECTED_KEEPS: usize = 1;
    /// The distance from the base of a frame of `pcall` to that of its callee.
    pub const PROTECTED_CALLEE: usize = Frame::PROTECTED_KEEPS + Frame::RESERVED;

    /// Returns the callee.
    ///
    /// # Safety
    /// The base is that of a frame of a live stack.
    #[inline(always)]
    pub unsafe fn callee(self) -> Value {
        use crate::value::SlotExt;
        self.0.sub(Frame::RESERVED).get()
    }
    /// Returns the frame word.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn word(self) -> FrameWord {
        *self.0.sub(1).cast::<FrameWord>()
    }
    /// Stores the frame word.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn set_word(self, w: FrameWord) {
        *self.0.sub(1).cast::<FrameWord>() = w;
    }
    /// Returns the link.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn link(self) -> Link {
        *self.0.sub(1).cast::<Link>().add(1)
    }
    /// Stores the link.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn set_link(self, l: Link) {
        *self.0.sub(1).cast::<Link>().add(1) = l;
    }
    /// Sets flags.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn add_flags(self, bits: u16) {
        let l = self.link();
        self.set_link(l.with_flags(l.flags() | bits));
    }
    /// Clears flags.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn clear_flags(self, bits: u16) {
        let l = self.link();
        self.set_link(l.with_flags(l.flags() & !bits));
    }
    /// Returns the caller's frame, or `None` at the bottom.
    ///
    /// # Safety
    /// As for [`Frame::callee`].
    #[inline(always)]
    pub unsafe fn caller(self) -> Option<Frame> {
        match self.link().distance() {
            0 => None,
            d => Some(Frame(self.0.sub(d))),
        }
    }
}
