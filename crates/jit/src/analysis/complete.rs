//! Decides whether functions that make tail calls can be inlined.

use cranelift_codegen::entity::EntityRef;

use crate::analysis::facts::is_cold;
use crate::entity::Pc;
use crate::feedback::inlinee::{InlineeSeen, library_tail_call, tail_calls};

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
        leads_on || is_cold(snapshot, at, i) || library_tail_call(snapshot, at.index(), i).is_some()
    })
}
