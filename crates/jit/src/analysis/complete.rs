//! Decides whether functions that make tail calls can be inlined, and how many arguments and
//! results inlined functions have.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::flow::{Successors, returns_class, successors};
use perilune_bytecode::{Op, Proto};
use perilune_runtime::frame::Frame;
use perilune_runtime::native::Builtin;

use crate::analysis::facts::is_cold;
use crate::analysis::selector::Selector;
use crate::entity::Pc;
use crate::feedback::inlinee::{InlineeSeen, has_one_result, tail_calls};
use crate::feedback::snapshot::{CalleeSeen, Snapshot};

/// Returns the number of arguments of the metamethod, or of the iterator, that an instruction of
/// this kind calls.
fn handler_arguments(op: Op) -> usize {
    use Op::*;
    match op {
        SetField | SetFieldK | SetTable | SetTableK | SetI | SetIK => 3,
        _ => 2,
    }
}

/// A call of a function, with the function's feedback.
#[derive(Clone, Copy)]
pub(crate) struct Invocation<'a> {
    pub(crate) proto: &'a Proto,
    pub(crate) snapshot: &'a Snapshot,
    /// The number of arguments, if it is known.
    pub(crate) passed: Option<usize>,
}

/// Returns whether a function that is called with this number of arguments can be inlined. The
/// callees of each tail call that was executed must be inlinable too, and the numbers of arguments
/// that vararg functions pass on must be known.
pub(crate) fn is_complete(inlinee: &InlineeSeen, passed: Option<usize>) -> bool {
    let Some(proto) = inlinee.proto.upgrade() else { return false };
    let called = Invocation { proto: &proto, snapshot: &inlinee.snapshot, passed };
    let is_counted = passed.is_some() || !proto.is_vararg;
    is_counted && tail_calls(&proto).into_iter().all(|pc| called.leads_on(Pc::new(pc as usize)))
}

/// Returns the number of results of a function, if it is the same whatever the function calls. If
/// only a part of a function is inlined, no guards ensure that the rest calls what feedback has
/// recorded.
pub(crate) fn fixed_results(proto: &Proto) -> Option<usize> {
    common_results(proto, |_| None)
}

/// Returns the number of results of a function, if it is always the same. `of_open` returns the
/// number for an instruction that returns all results of a call, or all extra arguments.
fn common_results(proto: &Proto, of_open: impl Fn(Pc) -> Option<usize>) -> Option<usize> {
    let code = &proto.code;
    let mut reached = vec![false; code.len()];
    let mut waiting = vec![0];
    let mut results = None;
    while let Some(pc) = waiting.pop() {
        if std::mem::replace(&mut reached[pc], true) {
            continue;
        }
        let i = code[pc];
        let returned = match i.op() {
            Op::Return0 => 0,
            Op::Return1 => 1,
            Op::Return if i.b() != 0 => i.b() - 1,
            Op::Return | Op::TailCall => of_open(Pc::new(pc))?,
            Op::CallMeta if returns_class(code, pc) => of_open(Pc::new(pc))?,
            _ => {
                let Successors { sequence, jump } = successors(code, pc);
                waiting.extend(sequence.into_iter().chain(jump));
                continue;
            }
        };
        if *results.get_or_insert(returned) != returned {
            return None;
        }
    }
    results
}

impl Invocation<'_> {
    /// Returns whether TAILCALL at `pc` is not executed, or its callees can be inlined.
    fn leads_on(&self, pc: Pc) -> bool {
        let Invocation { proto, snapshot, .. } = *self;
        let at = pc.as_u32();
        let inlined = snapshot.inlinees.get(&at).filter(|_| !snapshot.failed.contains(&at));
        let passed = self.arguments(pc);
        let leads_on = passed.is_some()
            && inlined.is_some_and(|all| all.iter().all(|seen| is_complete(seen, passed)));
        leads_on || is_cold(snapshot, pc, pc.instr(proto)) || self.library_tail_call(pc).is_some()
    }

    /// Like [`Invocation::arguments`], for the instruction with this number.
    pub(crate) fn arguments_at(&self, pc: u32) -> Option<usize> {
        self.arguments(Pc::new(pc as usize))
    }

    /// Returns the number of arguments that the instruction at `pc` passes, if it is always the
    /// same: that of CALL and TAILCALL, with the object whose `__call` is called, or else that of
    /// the metamethod or iterator that it calls. If all results of the call before it are
    /// arguments, that call must be inlined, or call a library function.
    fn arguments(&self, pc: Pc) -> Option<usize> {
        let i = pc.instr(self.proto);
        if !matches!(i.op(), Op::Call | Op::TailCall) {
            return Some(handler_arguments(i.op()));
        }
        let passed = match i.b() {
            0 => self.open_end(pc)?.checked_sub(i.a() + Frame::RESERVED)?,
            b => b - 1,
        };
        Some(passed + usize::from(self.snapshot.calls_object(pc.as_u32())))
    }

    /// Returns the register after the results of the instruction before `pc`, which the one at `pc`
    /// uses all of.
    fn open_end(&self, pc: Pc) -> Option<usize> {
        let before = Pc::new(pc.index().checked_sub(1)?);
        let i = before.instr(self.proto);
        if i.c() != 0 {
            return None;
        }
        let results = match i.op() {
            Op::VarArg => self.passed?.saturating_sub(self.proto.num_params.into()),
            Op::Call => {
                let passed = self.arguments(before)?;
                match self.snapshot.inlinees.get(&before.as_u32()) {
                    Some(all) => match &all[..] {
                        [only] => {
                            let (proto, snapshot) = (only.proto.upgrade()?, &only.snapshot);
                            Invocation { proto: &proto, snapshot, passed: Some(passed) }
                                .results()?
                        }
                        _ => return None,
                    },
                    None => self.library_results(before)?,
                }
            }
            _ => return None,
        };
        Some(i.a() + results)
    }

    /// Returns the number of results of CALL or TAILCALL at `pc`, if it calls a library function
    /// without a frame and that number is always the same.
    fn library_results(&self, pc: Pc) -> Option<usize> {
        let CalleeSeen::Builtin(number) = self.snapshot.callee(pc) else { return None };
        let passed = self.arguments(pc)?;
        if number == Builtin::Select as u32 {
            return Selector::of(self.proto, pc)?.results(passed.checked_sub(1)?);
        }
        // where code has exited, there may have been no result
        let is_known = Builtin::returns_one(number)
            || !self.snapshot.general && !self.snapshot.failed.contains(&pc.as_u32());
        (is_known && has_one_result(number, passed)).then_some(1)
    }

    /// Returns the number of results of TAILCALL at `pc`, if it calls a library function that code
    /// of an inlined function can call, and whose results it can return.
    fn library_tail_call(&self, pc: Pc) -> Option<usize> {
        let snapshot = self.snapshot;
        let is_plain = pc.instr(self.proto).c() == 0
            && !snapshot.general
            && !snapshot.failed.contains(&pc.as_u32());
        self.library_results(pc).filter(|_| is_plain)
    }

    /// Returns the number of results of a function that can be inlined, if it is always the same.
    pub(crate) fn results(&self) -> Option<usize> {
        common_results(self.proto, |pc| {
            let i = pc.instr(self.proto);
            match i.op() {
                Op::CallMeta => Some(1),
                Op::TailCall => self.library_tail_call(pc),
                _ => self.open_end(pc)?.checked_sub(i.a()),
            }
        })
    }
}
