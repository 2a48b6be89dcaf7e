//! Decides whether functions that make tail calls can be inlined, and how many results inlined
//! functions have.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::flow::{Successors, returns_class, successors};
use perilune_bytecode::{Op, Proto};
use perilune_runtime::frame::Frame;
use perilune_runtime::native::Builtin;

use crate::analysis::facts::is_cold;
use crate::entity::Pc;
use crate::feedback::inlinee::{InlineeSeen, MAX_LIBRARY_ARGUMENTS, tail_calls};
use crate::feedback::snapshot::{CalleeSeen, Snapshot};

/// Returns whether a function can be inlined: the callees of each tail call that was executed have
/// to be inlinable, too.
pub(crate) fn is_complete(inlinee: &InlineeSeen) -> bool {
    let Some(proto) = inlinee.proto.upgrade() else { return false };
    let snapshot = &inlinee.snapshot;
    tail_calls(&proto).into_iter().all(|pc| {
        let at = Pc::new(pc as usize);
        let inlined = snapshot.inlinees.get(&pc).filter(|_| !snapshot.failed.contains(&pc));
        let leads_on = inlined.is_some_and(|all| all.iter().all(is_complete));
        let i = at.instr(&proto);
        let leads_on = leads_on && arguments_of(&proto, snapshot, at).is_some();
        leads_on || is_cold(snapshot, at, i) || is_library_tail_call(&proto, snapshot, at)
    })
}

/// Returns the number of arguments of CALL or TAILCALL at `pc`, if it is always the same. If all
/// results of the call before it are arguments, that call must be inlined, or call a library
/// function.
fn arguments_of(proto: &Proto, snapshot: &Snapshot, pc: Pc) -> Option<usize> {
    let i = pc.instr(proto);
    if let Some(arguments) = i.b().checked_sub(1) {
        return Some(arguments);
    }
    let before = Pc::new(pc.index().checked_sub(1)?);
    let call = before.instr(proto);
    if call.op() != Op::Call || call.c() != 0 {
        return None;
    }
    let arguments = arguments_of(proto, snapshot, before)?;
    let results = match (snapshot.inlinees.get(&before.as_u32()), snapshot.callee(before)) {
        (Some(all), _) => match &all[..] {
            [only] => results_of(&*only.proto.upgrade()?, &only.snapshot)?,
            _ => return None,
        },
        (None, CalleeSeen::Builtin(number))
            if Builtin::returns_one(number) && arguments <= MAX_LIBRARY_ARGUMENTS =>
        {
            1
        }
        _ => return None,
    };
    (call.a() + results).checked_sub(i.a() + Frame::RESERVED)
}

/// Returns whether TAILCALL at `pc` calls a library function with one result, which code of an
/// inlined function can call and return.
fn is_library_tail_call(proto: &Proto, snapshot: &Snapshot, pc: Pc) -> bool {
    let CalleeSeen::Builtin(number) = snapshot.callee(pc) else { return false };
    let arguments = arguments_of(proto, snapshot, pc);
    Builtin::returns_one(number)
        && arguments.is_some_and(|arguments| arguments <= MAX_LIBRARY_ARGUMENTS)
        && pc.instr(proto).c() == 0
        && !snapshot.general
        && !snapshot.failed.contains(&pc.as_u32())
}

/// Returns the number of results of a function that can be inlined, if it is always the same.
pub(crate) fn results_of(proto: &Proto, snapshot: &Snapshot) -> Option<usize> {
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
            Op::CallMeta if returns_class(code, pc) => 1,
            Op::TailCall if is_library_tail_call(proto, snapshot, Pc::new(pc)) => 1,
            Op::TailCall => return None,
            Op::Return => i.b().checked_sub(1)?,
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
