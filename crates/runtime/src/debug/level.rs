//! Levels of the call stack (manual 4.7).

use std::sync::Arc;

use perilune_bytecode::flow::successors;
use perilune_bytecode::{Instr, NameKind, Op, Proto, call_name};
use perilune_syntax::chunkid;

use crate::frame::{Frame, FrameWord, flags};
use crate::frames::Frames;
use crate::header::GcHeader;
use crate::state::State;
use crate::thread::{Status, Thread};
use crate::value::{SlotExt, Tag, Value};

/// The register, counted from that of the iterator, in which a generic loop that runs inline keeps
/// its position.
const LOOP_POSITION: usize = 3;

/// One active function of a coroutine.
#[derive(Clone, Copy)]
pub struct Level {
    frame: Frame,
    /// End of the values of this frame: the callee slot of the next frame, or the coroutine's top.
    end: *mut Value,
    /// Whether the function has called a hook, which is running.
    in_hook: bool,
}

/// Information about a function, active or not.
pub struct FunctionInfo {
    /// Chunk name as given to `load`; `=[C]` for functions of the host, `=?` when stripped.
    pub source: Arc<[u8]>,
    /// `source` as messages show it.
    pub short_source: Vec<u8>,
    /// `Lua`, `C` or `main`.
    pub what: &'static str,
    /// First line; -1 for functions of the host.
    pub line_defined: i64,
    /// Last line; -1 for functions of the host.
    pub last_line: i64,
    /// Number of upvalues.
    pub upvalues: u8,
    /// Number of parameters.
    pub params: u8,
    /// Whether the function is variadic.
    pub is_vararg: bool,
}

/// Returns the proto of a Lua function.
///
/// # Safety
/// `f` is a live value.
pub(crate) unsafe fn proto_of<'a>(f: Value) -> Option<&'a Arc<Proto>> {
    if f.tag() != Tag::FUNCTION {
        return None;
    }
    let instance = (*f.as_function()).instance;
    Some(&(*instance).proto)
}

/// Returns the number of upvalues of a native function that debuggers see: none if they are hidden.
unsafe fn visible_upvalues(f: Value) -> u8 {
    if f.tag() != Tag::NATIVE || (*f.as_header()).flags & GcHeader::HIDDEN != 0 {
        return 0;
    }
    (*f.as_header()).aux
}

impl FunctionInfo {
    /// Returns information about the function `f`.
    ///
    /// # Safety
    /// `f` is a live function.
    pub unsafe fn of(f: Value) -> FunctionInfo {
        match proto_of(f) {
            Some(p) => {
                let source = p.source.clone().unwrap_or_else(|| Arc::from(&b"=?"[..]));
                FunctionInfo {
                    short_source: chunkid(&source),
                    source,
                    what: if p.line_defined == 0 { "main" } else { "Lua" },
                    line_defined: p.line_defined as i64,
                    last_line: p.last_line as i64,
                    upvalues: p.upvalues.len() as u8,
                    params: p.num_params,
                    is_vararg: p.is_vararg,
                }
            }
            None => FunctionInfo {
                source: Arc::from(&b"=[C]"[..]),
                short_source: b"[C]".to_vec(),
                what: "C",
                line_defined: -1,
                last_line: -1,
                upvalues: visible_upvalues(f),
                params: 0,
                is_vararg: true,
            },
        }
    }
}

impl Level {
    /// Returns the innermost active function of `th`; `None` when nothing is active.
    ///
    /// # Safety
    /// `th` is a live coroutine of `st`.
    pub unsafe fn innermost(st: *mut State, th: *mut Thread) -> Option<Level> {
        let (base, top) =
            if (*st).thread == th { ((*st).base, (*st).top) } else { ((*th).base, (*th).top) };
        let idle = base == (*th).stack || ((*th).status == Status::Dead && !(*th).failed);
        if idle || Frame(base).link().flags() & flags::BOTTOM != 0 {
            return None;
        }
        let mut end = top;
        let f = Frame(base).callee();
        if f.tag() == Tag::FUNCTION {
            end = base.add((*(*f.as_function()).instance).max_stack as usize);
        }
        Level { frame: Frame(base), end, in_hook: false }.visible()
    }

    /// Returns level `n` of `th`; 0 is the innermost.
    ///
    /// # Safety
    /// As for [`Level::innermost`].
    pub unsafe fn at(st: *mut State, th: *mut Thread, n: usize) -> Option<Level> {
        let mut l = Level::innermost(st, th)?;
        for _ in 0..n {
            l = l.caller()?;
        }
        Some(l)
    }

    /// Returns the level of the caller.
    ///
    /// # Safety
    /// The stack has not changed since this level was found.
    pub unsafe fn caller(self) -> Option<Level> {
        let frame = self.frame.caller()?;
        if frame.link().flags() & flags::BOTTOM != 0 {
            return None;
        }
        let in_hook = self.frame.link().flags() & flags::HOOK != 0;
        let mut level = Level { frame, end: self.first_slot(), in_hook };
        if let (Some(p), Some(pc)) = (level.proto(), level.pc())
            && p.code[pc].op() == Op::Concat
        {
            // between the registers and the callee is the number of values that are to be joined
            level.end = frame.0.add(p.max_stack.into());
        }
        level.visible()
    }

    /// Returns this level, or that of the caller if the frame belongs to no function of the
    /// program.
    unsafe fn visible(self) -> Option<Level> {
        if self.frame.link().flags() & flags::HIDDEN == 0 { Some(self) } else { self.caller() }
    }

    /// Returns whether the function has called a hook, which is running.
    pub fn is_in_hook(self) -> bool {
        self.in_hook
    }

    /// Returns the frame.
    pub fn frame(self) -> Frame {
        self.frame
    }

    /// Returns the end of the caller's part of the stack: this frame's callee as the caller placed
    /// it.
    unsafe fn first_slot(self) -> *mut Value {
        let base = self.frame.0;
        match proto_of(self.function()) {
            Some(p) if p.is_vararg => base.sub(2 + self.extra() + p.num_params as usize + 2),
            _ => base.sub(2),
        }
    }

    /// Returns the function.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn function(self) -> Value {
        self.frame.callee()
    }

    /// Returns the function's proto, if it is a Lua function.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn proto<'a>(self) -> Option<&'a Arc<Proto>> {
        proto_of(self.function())
    }

    /// Returns the number of extra arguments.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn extra(self) -> usize {
        if self.function().tag() == Tag::NATIVE { 0 } else { self.frame.link().extra() }
    }

    /// Returns the pc of the current instruction of a Lua function.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn pc(self) -> Option<usize> {
        let w = self.frame.word();
        (w.code() != FrameWord::NATIVE && self.function().tag() == Tag::FUNCTION)
            .then(|| (w.pc() as usize).saturating_sub(1))
    }

    /// Returns the current line.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn line(self) -> Option<u32> {
        self.proto()?.lines.get(self.pc()?).copied()
    }

    /// Returns whether the function was called by a tail call.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn is_tail_call(self) -> bool {
        self.frame.link().flags() & flags::TAIL != 0
    }

    /// Returns the kind (`namewhat`) and the name by which the function was called.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn name<'a>(self) -> Option<(&'static str, &'a [u8])> {
        let fl = self.frame.link().flags();
        if fl & flags::TAIL != 0 {
            return None;
        }
        let called_by = self.frame.caller().map_or(0, |frame| frame.link().flags());
        let hidden_hook = flags::HIDDEN | flags::HOOK;
        if fl & flags::HOOK != 0 || called_by & hidden_hook == hidden_hook {
            return Some(("hook", b"?"));
        }
        if fl & flags::FINALIZER != 0 {
            return Some(("metamethod", b"__gc"));
        }
        let caller = self.caller()?;
        caller.call_name().map(|(kind, name)| (kind.text(), name))
    }

    /// Returns the name of the callee of the current instruction.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub(crate) unsafe fn call_name<'a>(self) -> Option<(NameKind, &'a [u8])> {
        let (proto, pc) = (self.proto()?, self.pc()?);
        if self.divides_integers(proto.code[pc]) {
            return None;
        }
        let (kind, name) = call_name(proto, pc)?;
        Some((kind, crate::cfmt::c_str(name)))
    }

    /// Returns whether `i`, the current instruction, divides integers. Such an instruction calls no
    /// metamethod: its apparent callee is the handler of a division by zero, which PUC raises
    /// before the instruction that would call a metamethod.
    unsafe fn divides_integers(self, i: Instr) -> bool {
        let integer = |r| self.register(r).is_int();
        match i.op() {
            Op::Mod | Op::IDiv => integer(i.b()) && integer(i.c()),
            // A float divided by a constant zero raises no error.
            Op::ModK | Op::IDivK => integer(i.b()),
            _ => false,
        }
    }

    /// Returns `chunk:line:` and a space, if the function is a Lua function whose lines are known.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn position(self) -> Option<Vec<u8>> {
        let line = self.line()?;
        let mut text = FunctionInfo::of(self.function()).short_source;
        text.extend_from_slice(format!(":{line}: ").as_bytes());
        Some(text)
    }

    /// Returns register `i` of the frame. While a frame is not executing, the registers are in
    /// their home slots, in machine code as in the interpreter.
    ///
    /// # Safety
    /// As for [`Level::caller`]; `i` is below [`Level::registers`].
    pub unsafe fn register(self, i: usize) -> Value {
        self.frame.0.add(i).get()
    }

    /// Overwrites register `i`.
    ///
    /// # Safety
    /// As for [`Level::register`].
    pub unsafe fn set_register(self, i: usize, v: Value) {
        self.frame.0.add(i).put(v);
    }

    /// Returns the number of registers in use, temporaries included.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn registers(self) -> usize {
        self.end.offset_from(self.frame.0).max(0) as usize
    }

    /// Returns the place of extra argument `i`.
    ///
    /// # Safety
    /// As for [`Level::caller`]; `i` is below [`Level::extra`].
    pub unsafe fn vararg(self, i: usize) -> *mut Value {
        self.frame.0.sub(2 + self.extra()).add(i)
    }

    /// Returns the name and the place of local variable `n` as `debug.getlocal` numbers them: from
    /// 1, or negative for extra arguments. A temporary may hold something that is not a Lua value:
    /// a stale header, or the position of a loop that runs inline.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    pub unsafe fn local(self, n: i64) -> Option<(Vec<u8>, *mut Value)> {
        if n < 0 {
            let i = n.unsigned_abs() as usize - 1;
            return (self.proto().is_some() && i < self.extra())
                .then(|| (b"(vararg)".to_vec(), self.vararg(i)));
        }
        let i = usize::try_from(n).ok()?.checked_sub(1)?;
        // A binary chunk may claim any register for a variable, even one of the function that this
        // one has called.
        if let (Some(p), Some(pc)) = (self.proto(), self.pc())
            && let Some(l) = perilune_bytecode::active_locals(p, pc).nth(i)
            && usize::from(l.register) < self.registers()
        {
            return Some((p.str(l.name).to_vec(), self.frame.0.add(l.register as usize)));
        }
        if i < self.registers() {
            let name: &[u8] =
                if self.proto().is_some() { b"(temporary)" } else { b"(C temporary)" };
            return Some((name.to_vec(), self.frame.0.add(i)));
        }
        None
    }

    /// Sets local variable `n`, numbered as in [`Level::local`], and returns its name. The values
    /// of native functions keep theirs: they rely on what they have checked. If the variable is
    /// part of the state of a generic loop that runs inline, the loop calls its iterator from now
    /// on. If it is part of the state of a numeric loop, which stores only the payloads of its
    /// numbers, the variable keeps its value unless `v` has the same type.
    ///
    /// # Safety
    /// As for [`Level::caller`]; `v` is a live value.
    pub unsafe fn set_local(self, n: i64, v: Value) -> Option<Vec<u8>> {
        let (name, place) = self.local(n)?;
        let tag = place.get().tag();
        let is_kept = self.proto().is_none() || tag == Tag::FRAME;
        if is_kept || tag != v.tag() && self.is_numeric_state(place) {
            return Some(name);
        }
        // The last register of a loop's state holds the position of a traversal. Nil there ends the
        // inline traversal safely, since the control variable has the key.
        for i in 0..=LOOP_POSITION {
            let register = place.wrapping_add(i);
            if place >= self.frame.0 && register < self.end && register.get().tag() == Tag::ITER {
                register.put(Value::NIL);
            }
        }
        place.put(v);
        Some(name)
    }

    /// Returns whether a register belongs to the state of a numeric loop that is running.
    ///
    /// # Safety
    /// As for [`Level::caller`].
    unsafe fn is_numeric_state(self, place: *mut Value) -> bool {
        let (Some(proto), Some(pc)) = (self.proto(), self.pc()) else { return false };
        let register = place.addr().wrapping_sub(self.frame.0.addr()) / size_of::<Value>();
        (0..pc).any(|at| {
            let first = proto.code[at].a();
            proto.code[at].op() == Op::ForPrep
                && (first..first + 3).contains(&register)
                && successors(&proto.code, at).jump.is_some_and(|after| pc < after)
        })
    }

    /// Returns whether local variable `n`, numbered as in [`Level::local`], is one that the program
    /// never assigns and that closures may share.
    ///
    /// # Safety
    /// As for [`Level::at`].
    pub(crate) unsafe fn is_constant(self, n: i64) -> bool {
        let Some(proto) = self.proto() else { return false };
        let Some((_, place)) = self.local(n) else { return false };
        let mut inner = proto.protos.iter().flat_map(|inner| &inner.upvalues);
        inner.any(|desc| {
            desc.in_stack && desc.constant && self.frame.0.wrapping_add(desc.index.into()) == place
        })
    }

    /// Requests that the frame, in which a local variable was set, be deoptimized if it runs
    /// machine code, which may have cached the old value. The frames above it, up to the top frame
    /// of the coroutine `th`, are deoptimized too, since they may belong to functions that are
    /// inlined in the same code.
    ///
    /// # Safety
    /// As for [`Level::at`]; no frame was pushed or popped since the level was found in `th`.
    pub(crate) unsafe fn deoptimize(self, st: *mut State, th: *mut Thread) {
        let top = if th == (*st).thread { (*st).base } else { (*th).base };
        let above = Frames::from(Frame(top)).take_while(|frame| *frame != self.frame);
        for frame in above.chain([self.frame]).filter(|frame| frame.word().is_machine()) {
            frame.add_flags(flags::LEAVE);
        }
    }
}
