//! Functions that may be inlined where they are called, with their feedback.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Weak};

use perilune_bytecode::flow::returns_class;
use perilune_bytecode::{Op, Proto};
use perilune_code::Method;

use super::snapshot::Snapshot;

/// The longest function that is inlined, in instructions.
const MAX_LENGTH: usize = 32;
/// The same where the call is in a loop, which pays for longer compiles.
const MAX_LENGTH_IN_LOOPS: usize = 64;

/// The callee that a call has always had, if that may be inlined.
#[derive(Clone)]
pub struct InlineeSeen {
    /// Its method, whose slot the code compares. Weak, as methods that are inlined in each other
    /// would keep each other alive.
    pub(crate) method: Weak<Method>,
    /// Weak, as code does not keep programs alive.
    pub(crate) proto: Weak<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl InlineeSeen {
    /// Returns whether the function is that of another one.
    pub(crate) fn is_same(&self, other: &InlineeSeen) -> bool {
        Weak::ptr_eq(&self.method, &other.method)
    }
}

impl PartialEq for InlineeSeen {
    fn eq(&self, other: &InlineeSeen) -> bool {
        self.is_same(other) && self.snapshot == other.snapshot
    }
}

impl Eq for InlineeSeen {}

impl fmt::Debug for InlineeSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InlineeSeen").field(&self.snapshot).finish()
    }
}

impl Snapshot {
    /// Returns the instructions that have failed among those of the function that the last of some
    /// instructions belongs to, and that instruction: the others are the calls that lead there. If
    /// one of these is not inlined any more, it is taken as the last.
    pub(crate) fn failed_at(&self, path: &[u32]) -> Option<(&BTreeSet<u32>, u32)> {
        let (&pc, rest) = path.split_first()?;
        match self.inlinees.get(&pc) {
            Some(inlinee) if !rest.is_empty() => inlinee.snapshot.failed_at(rest),
            _ => Some((&self.failed, pc)),
        }
    }

    /// Notes that an instruction has failed, as [`Snapshot::failed_at`] finds it.
    pub(crate) fn fail(&mut self, path: &[u32]) {
        let Some((&pc, rest)) = path.split_first() else { return };
        match self.inlinees.get_mut(&pc) {
            Some(inlinee) if !rest.is_empty() => Arc::make_mut(&mut inlinee.snapshot).fail(rest),
            _ => {
                self.failed.insert(pc);
            }
        }
    }
}

/// Returns why code of a function cannot be inlined, if it cannot. It has to be short, take no
/// extra arguments, and neither share registers with closures nor close variables. What it returns
/// is a known number of values: one where it is all that CALLMETA returns. `in_loop`: the call is
/// in a loop.
pub(crate) fn refusal(proto: &Proto, in_loop: bool) -> Option<&'static str> {
    let code = &proto.code;
    let refusal_of = |pc: usize| match code[pc].op() {
        Op::Close | Op::Tbc => Some("the function closes variables"),
        Op::TailCall => Some("the function ends with a tail call"),
        Op::VarArg => Some("the function takes extra arguments"),
        Op::Return if code[pc].b() == 0 && pc > 0 && returns_class(code, pc - 1) => None,
        Op::Return if code[pc].b() == 0 => Some("the number of results varies"),
        Op::Return if code[pc].c() != 0 => Some("the function closes variables"),
        Op::CallMeta if code[pc].c() == 0 && !returns_class(code, pc) => {
            Some("the number of results varies")
        }
        _ => None,
    };
    if code.len() > if in_loop { MAX_LENGTH_IN_LOOPS } else { MAX_LENGTH } {
        return Some("the function is too long");
    }
    if proto.is_vararg {
        return Some("the function takes extra arguments");
    }
    if proto.protos.iter().flat_map(|p| &p.upvalues).any(|u| u.in_stack) {
        return Some("closures share variables of the function");
    }
    (0..code.len()).find_map(refusal_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;

    #[track_caller]
    fn check(function: &str, expected: bool) {
        let proto = listing::compile(&format!("local f, g = nil, nil; f = {function}"));
        assert_eq!(refusal(&proto.protos[0], false).is_none(), expected, "{function}");
    }

    #[test]
    fn simple_functions_are_inlined() {
        check("function(a, b) return a + b, a end", true);
        check("function(a) for i = 1, a do g(i) end end", true);
        check("function(...) return 1 end", false);
        check("function(a) return function() return a end end", false);
        check("function(a) return f(a) end", false);
        check("function(a) return setmetatable({a}, {__index = g}) end", true);
        check("function(a) return setmetatable({a}, g) end", false);
        check("function(a) return a, setmetatable({a}, {__index = g}) end", false);
        check("function(a) local b <close> = a end", false);
        check(&format!("function(a) {} end", "a = a * a ".repeat(100)), false);
        let proto = listing::compile(&format!("return function(a) {} end", "a = -a ".repeat(48)));
        let inner = &proto.protos[0];
        assert!(refusal(inner, false).is_some() && refusal(inner, true).is_none());
    }

    #[test]
    fn failures_are_noted_where_the_instruction_is() {
        let proto = listing::compile("local f = ... return f");
        let inner = Snapshot::before_run(&proto);
        let seen =
            InlineeSeen { method: Weak::new(), proto: Weak::new(), snapshot: Arc::new(inner) };
        let mut snapshot = Snapshot::before_run(&proto);
        snapshot.inlinees.insert(3, seen);
        snapshot.fail(&[3, 7]);
        assert!(snapshot.failed.is_empty());
        assert_eq!(snapshot.failed_at(&[3, 7]), Some((&BTreeSet::from([7]), 7)));
        // a call that is not inlined any more stands for what it led to
        snapshot.fail(&[5, 7]);
        assert_eq!(snapshot.failed, BTreeSet::from([5]));
        // the call itself
        snapshot.fail(&[3]);
        assert_eq!(snapshot.failed_at(&[3]), Some((&BTreeSet::from([3, 5]), 3)));
    }
}
