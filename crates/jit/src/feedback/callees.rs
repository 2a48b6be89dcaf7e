//! The callees of the calls in a function, according to feedback.

use std::collections::BTreeSet;

use perilune_bytecode::feedback::operands as seen;
use perilune_bytecode::{Feedback, Instr, Op};
use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::{CalleeCache, EntryKind, FieldEntry, Instance};
use perilune_runtime::value::Tag;

use super::inlinee::MAX_SHAPES;
use super::snapshot::HandlerSeen;

/// The callee that a call has always had.
#[derive(Clone, Copy)]
pub(crate) struct Callee {
    pub(crate) pc: u32,
    /// A number that identifies the callee among the functions that are compiled. It is only
    /// compared.
    pub(crate) key: usize,
    pub(crate) weight: u64,
}

/// Returns the callees of calls that have always had the same callee. With `alone`, for a function
/// that is compiled alone, returns only the function itself.
///
/// # Safety
/// `inst` is a live instance of the state that runs on this thread.
pub(crate) unsafe fn callees(inst: *mut Instance, alone: bool) -> Vec<Callee> {
    let proto = &(*inst).proto;
    let weight = (*inst).entries.into();
    let calls = proto.code.iter().enumerate().filter(|(_, i)| i.op() == Op::Call);
    calls
        .filter_map(|(pc, _)| {
            let cache = &*(*inst).callees.add(*(*inst).cells.add(pc) as usize);
            let wanted = cache.others == 0 && (!alone || cache.callee == inst.addr());
            wanted.then_some(Callee { pc: pc as u32, key: cache.callee, weight })
        })
        .filter(|callee| callee.key != 0)
        .collect()
}

/// A call, with the Lua functions that it has called.
pub(crate) struct Called {
    pub(crate) pc: u32,
    /// The functions; if there are several, each with the ids of the shapes of the receivers that
    /// have it as their method.
    pub(crate) callees: Vec<(*mut Instance, BTreeSet<u32>)>,
}

/// Returns the calls that have always called the same Lua function, calls of iterators among them,
/// or methods of receivers of a few shapes, and whose numbers of arguments and results are known,
/// or may become known when the code is built.
///
/// # Safety
/// As for [`callees`].
pub(crate) unsafe fn callees_of(inst: *mut Instance) -> Vec<Called> {
    let code = &(&(*inst).proto).code;
    let calls = code.iter().enumerate();
    let calls = calls.filter(|&(pc, i)| match i.op() {
        Op::TForCall => true,
        Op::Call | Op::TailCall if i.b() != 0 => true,
        Op::Call | Op::TailCall => pc > 0 && matches!(code[pc - 1].op(), Op::Call | Op::VarArg),
        _ => false,
    });
    calls
        .filter_map(|(pc, i)| {
            let cache = &*(*inst).callees.add(*(*inst).cells.add(pc) as usize);
            let is_open = i.op() == Op::Call && i.c() == 0;
            let callees = match cache.others {
                0 => vec![(cache.instance()?, BTreeSet::new())],
                _ if is_open => return None,
                _ if i.op() == Op::TForCall => return None,
                _ => methods(inst, method_lookup(code, pc)?)?,
            };
            Some(Called { pc: pc as u32, callees })
        })
        .collect()
}

/// Returns the metamethods that instructions have called, for each instruction that has only ever
/// called one Lua function and has met no other operands; these include the `__call` of called
/// objects.
///
/// # Safety
/// As for [`callees`].
pub(crate) unsafe fn handlers_of(inst: *mut Instance) -> Vec<(u32, HandlerSeen, *mut Instance)> {
    if (*inst).handlers.is_null() {
        return Vec::new();
    }
    let code = &(&(*inst).proto).code;
    let handler = |(pc, i): (usize, &Instr)| {
        let record = (*inst).handler(pc)?;
        let function = record.only()?;
        let cell = *(*inst).cells.add(pc);
        let shape = match i.op().feedback() {
            // a CONCAT that calls a metamethod leaves some of its operands where they are
            Feedback::Operands if i.op() == Op::Concat => return None,
            Feedback::Operands if i.op() != Op::Len && cell & seen::ALL != seen::OTHER => {
                return None;
            }
            Feedback::Operands => None,
            Feedback::Field => {
                let cache = &(&(*inst).field_caches())[cell as usize];
                if cache.entries().any(|e| e.kind() != EntryKind::Unused) {
                    return None;
                }
                Some(record.entry.chain_shape).filter(|&shape| shape != FieldEntry::NO_SHAPE)
            }
            // called for keys that the table does not have
            Feedback::Access => None,
            Feedback::Callee => {
                let cache = &*(*inst).callees.add(cell as usize);
                let is_object = cache.callee == CalleeCache::OTHER && cache.others == 0;
                let is_call = matches!(i.op(), Op::Call | Op::TailCall);
                if !is_object || !is_call || record.first != Tag::TABLE {
                    return None;
                }
                None
            }
            _ => return None,
        };
        Some((pc as u32, HandlerSeen { first: record.first, shape }, (*function).instance))
    };
    code.iter().enumerate().filter_map(handler).collect()
}

/// Returns the pc of the lookup of the method that is called at `pc`, if the instructions from
/// there to the call run in order and call nothing else.
pub(crate) fn method_lookup(code: &[Instr], pc: usize) -> Option<usize> {
    /// The maximum number of instructions that compute the arguments.
    const MAX_BETWEEN: usize = 8;
    let a = code[pc].a();
    let before = (pc.saturating_sub(MAX_BETWEEN + 1)..pc).rev();
    for at in before {
        let i = code[at];
        match i.op() {
            Op::SelfK if i.a() == a => return Some(at),
            Op::Move
            | Op::LoadI
            | Op::LoadF
            | Op::LoadK
            | Op::LoadFalse
            | Op::LoadTrue
            | Op::LoadNil
            | Op::GetUpval
            | Op::GetField
            | Op::GetTabUp
            | Op::GetI
            | Op::GetTable
            | Op::Add
            | Op::AddI
            | Op::AddK
            | Op::Sub
            | Op::SubK
            | Op::Mul
            | Op::MulK
                if i.a() > a + Frame::RESERVED => {}
            _ => return None,
        }
    }
    None
}

/// Returns the methods that a SELF at `pc` has found, with the shapes of their receivers, if all of
/// them are Lua functions found in metatables.
///
/// # Safety
/// As for [`callees`].
unsafe fn methods(inst: *mut Instance, pc: usize) -> Option<Vec<(*mut Instance, BTreeSet<u32>)>> {
    let cache = &(&(*inst).field_caches())[*(*inst).cells.add(pc) as usize];
    let mut found: Vec<(*mut Instance, BTreeSet<u32>)> = Vec::new();
    let mut count = 0;
    for entry in cache.entries().filter(|e| e.kind() != EntryKind::Unused) {
        let EntryKind::Chain(shape) = entry.kind() else { return None };
        let method = entry.outcome.cast::<LuaClosure>();
        count += 1;
        if method.is_null() || count > MAX_SHAPES {
            return None;
        }
        // the method is alive: the collector clears entries of dead objects
        let callee = (*method).instance;
        match found.iter_mut().find(|(known, _)| *known == callee) {
            Some((_, shapes)) => {
                shapes.insert(shape);
            }
            None => found.push((callee, BTreeSet::from([shape]))),
        }
    }
    Some(found)
}
