//! The callees that calls of a function have had.

use perilune_bytecode::Op;
use perilune_runtime::instance::Instance;

/// The callee that a call has always had.
#[derive(Clone, Copy)]
pub(crate) struct Callee {
    pub(crate) pc: u32,
    /// A number that identifies the callee among the functions that are compiled. It is compared
    /// and means nothing else.
    pub(crate) key: usize,
    pub(crate) weight: u64,
}

/// Returns the callees of calls that have always had the same one; only the function itself if it
/// is to be compiled `alone`.
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

/// Returns the Lua functions that calls with known numbers of arguments and results have always
/// had, with the pcs of the calls.
///
/// # Safety
/// As for [`callees`].
pub(crate) unsafe fn callees_of(inst: *mut Instance) -> Vec<(u32, *mut Instance)> {
    let calls = (&(*inst).proto).code.iter().enumerate();
    let calls = calls.filter(|(_, i)| i.op() == Op::Call && i.b() != 0 && i.c() != 0);
    calls
        .filter_map(|(pc, _)| {
            let cache = &*(*inst).callees.add(*(*inst).cells.add(pc) as usize);
            let callee = cache.instance().filter(|_| cache.others == 0)?;
            Some((pc as u32, callee))
        })
        .collect()
}
