//! Debug hooks: events of calls, returns, lines and counts (manual 6.10).

use perilune_bytecode::Op;
use perilune_runtime::frame::{Frame, FrameWord, flags};
use perilune_runtime::hook::{Hook, HookEvent, Quiet};
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::step::{Exit, Step, raised};

/// Calls the hook function of the running coroutine for an event. The event concerns the top frame.
unsafe fn fire(st: *mut State, event: HookEvent, line: Option<u32>, top: *mut Value) -> Step {
    let mut s = StateRef::new(st);
    let th = s.thread;
    let Some(hook) = (*th).hook.as_ref().filter(|_| !(*th).is_quiet) else { return Ok(()) };
    let function = hook.function;
    let _quiet = Quiet::begin(th);
    let base = s.base.offset_from((*th).stack);
    let kept_top = s.top.offset_from((*th).stack);
    s.top = top;
    let r = match State::reserve(st, 10) {
        Err(_) => Err(Exit::Error),
        Ok(()) => {
            let name = Value::string(s.intern(event.name().as_bytes()));
            let callee = s.top;
            callee.put(function);
            callee.add(1).put(Value::NIL);
            callee.add(2).put(name);
            callee.add(3).put(line.map_or(Value::NIL, |l| Value::int(l as i64)));
            s.top = callee.add(4);
            let kept = callee.offset_from((*th).stack);
            raised((s.vm.hook)(st, callee, 2)).map(|_| ()).inspect_err(|_| {
                // upvalues of the hook's frames
                s.close_upvalues((*th).stack.offset(kept));
            })
        }
    };
    s.base = (*th).stack.offset(base);
    if r.is_ok() {
        // after an error, values of the hook's frames are still needed
        s.top = (*th).stack.offset(kept_top);
    }
    r
}

/// Records the values that a hook can see for the event that follows: `count` of them from local
/// variable `first` on.
unsafe fn note_transfer(st: *mut State, first: u32, count: u32) {
    let th = (*st).thread;
    if !(*th).is_quiet {
        (*th).hook_transfer = if count == 0 { (0, 0) } else { (first, count) };
    }
}

unsafe fn live_top(st: *mut State) -> *mut Value {
    let s = StateRef::new(st);
    let base = s.base;
    let f = Frame(base).callee();
    if f.tag() == Tag::FUNCTION {
        s.top.max(base.add((*(*f.as_function()).instance).max_stack as usize))
    } else {
        s.top
    }
}

/// Raises the call event of a native function that was entered.
///
/// # Safety
/// I2.
#[cold]
pub(crate) unsafe fn native_call(st: *mut State) -> Step {
    let frame = Frame((*st).base);
    if frame.word().pc() != 0 || frame.link().flags() & flags::HIDDEN != 0 {
        return Ok(());
    }
    enter_event(st)
}

/// Raises the call event of the top frame's function, which was entered.
///
/// # Safety
/// I2.
#[cold]
pub(crate) unsafe fn enter_event(st: *mut State) -> Step {
    let Some(hook) = (*(*st).thread).hook.as_mut() else { return Ok(()) };
    hook.old_pc = 0;
    if !hook.call {
        return Ok(());
    }
    let frame = Frame((*st).base);
    let word = frame.word();
    let event = match frame.link().flags() & flags::TAIL {
        0 => HookEvent::Call,
        _ => HookEvent::TailCall,
    };
    let params = match frame.callee() {
        f if f.tag() == Tag::FUNCTION => {
            let inst = (*f.as_function()).instance;
            if (*inst).is_vararg {
                // PUC raises the event after VARARGPREP, at the line of the next instruction
                frame.set_word(word.at(2));
            }
            (*inst).num_params.into()
        }
        _ => (*st).top.offset_from((*st).base) as u32,
    };
    note_transfer(st, 1, params);
    fire(st, event, None, live_top(st))?;
    Frame((*st).base).set_word(word);
    Ok(())
}

/// Raises the return event of the top frame's function, which returns the `n` results at `src`.
///
/// # Safety
/// I2.
#[cold]
pub(crate) unsafe fn return_event(st: *mut State, src: *mut Value, n: usize) -> Step {
    let Some(hook) = (*(*st).thread).hook.as_mut() else { return Ok(()) };
    if hook.ret && Frame((*st).base).link().flags() & flags::HIDDEN == 0 {
        let frame = Frame((*st).base);
        // the protected call no longer catches errors
        frame.clear_flags(flags::ALL_PROTECTED);
        let (f, word) = (frame.callee(), frame.word());
        if f.tag() == Tag::FUNCTION && word.pc() > 1 {
            // In PUC, the tail call of a native function returns its results itself.
            let tail_call = (*(*f.as_function()).instance).code.add(word.pc() as usize - 2);
            if (*tail_call).op() == Op::TailCall {
                frame.set_word(word.at(word.pc() - 1));
            }
        }
        let top = live_top(st).max(src.add(n));
        note_transfer(st, src.offset_from((*st).base) as u32 + 1, n as u32);
        fire(st, HookEvent::Return, None, top)?;
    }
    // the caller continues in the middle of a line
    if let Some(hook) = (*(*st).thread).hook.as_mut()
        && let Some(caller) = Frame((*st).base).caller()
        && caller.word().code() != FrameWord::NATIVE
    {
        hook.old_pc = caller.word().pc().saturating_sub(1);
        // An instruction that closes variables runs again after each of them. The tail call of a
        // native function returns its results without an instruction, in PUC.
        let inst = (*caller.callee().as_function()).instance;
        let i = *(*inst).code.add(hook.old_pc as usize);
        let continues =
            matches!(i.op(), Op::Close | Op::Return | Op::Return0 | Op::Return1 | Op::TailCall);
        hook.resumed |= continues && !(*(*st).thread).is_quiet;
    }
    Ok(())
}

/// Raises the count and line events of the instruction number `pc`, which is about to run. If a
/// hook makes the coroutine yield, it does so before the instruction.
///
/// # Safety
/// I2; the frame word holds `pc + 1`.
#[cold]
pub(crate) unsafe fn instruction_event(st: *mut State, pc: u32) -> Step {
    let Some(hook) = (*(*st).thread).hook.as_mut() else { return Ok(()) };
    let th = (*st).thread;
    if (*th).is_quiet {
        // PUC counts what a hook executes as well, though that raises no events
        count_down(st, hook, pc);
        return Ok(());
    }
    if std::mem::take(&mut hook.resumed) {
        return Ok(());
    }
    // only call and return events transfer values
    note_transfer(st, 0, 0);
    (*th).hook_yields = false;
    events(st, pc)?;
    if !(*th).hook_yields || (*th).non_yieldable > 0 {
        return Ok(());
    }
    (*th).hook_yielded = Some((*st).top.offset_from((*th).stack) as u32);
    // all registers are live here, independently of the recorded end of the values
    (*st).top = live_top(st);
    Err(Exit::Yield)
}

/// Counts the instruction number `pc` of the function on top; returns whether a count event is due.
unsafe fn count_down(st: *mut State, hook: &mut Hook, pc: u32) -> bool {
    let inst = (*Frame((*st).base).callee().as_function()).instance;
    // PUC continues from TFORPREP to TFORCALL, and from TFORCALL to TFORLOOP, without counting the
    // next instruction
    let is_part = matches!((*(*inst).code.add(pc as usize)).op(), Op::TForPrep | Op::TForLoop);
    if hook.count == 0 || is_part {
        return false;
    }
    hook.left -= 1;
    let is_due = hook.left == 0;
    if is_due {
        hook.left = hook.count;
    }
    is_due
}

unsafe fn events(st: *mut State, pc: u32) -> Step {
    let Some(hook) = (*(*st).thread).hook.as_mut() else { return Ok(()) };
    let wants_line = hook.line;
    if count_down(st, hook, pc) {
        fire(st, HookEvent::Count, None, live_top(st))?;
    }
    // if the count hook has set another hook, that hook takes effect at the next instruction
    let Some(hook) = (*(*st).thread).hook.as_mut() else { return Ok(()) };
    if wants_line && hook.line {
        let inst = (*Frame((*st).base).callee().as_function()).instance;
        let proto = &(*inst).proto;
        let old = hook.old_pc;
        hook.old_pc = pc;
        if (*inst).is_vararg && pc == 0 {
            return Ok(());
        }
        // Without line information, only entries and loops cause events, without a line number.
        let line = proto.lines.get(pc as usize);
        let changed = line.is_some() && proto.lines.get(old as usize) != line;
        // PUC continues from TFORPREP to the first TFORCALL without a line event.
        let op_at = |pc: u32| proto.code.get(pc as usize).map(|i| i.op());
        let is_part = op_at(old) == Some(Op::TForPrep) && op_at(pc) == Some(Op::TForCall);
        if pc <= old || (changed && !is_part) || ((*inst).is_vararg && pc == 1) {
            return fire(st, HookEvent::Line, line.copied(), live_top(st));
        }
    }
    Ok(())
}
