//! Functions that may be inlined at calls, with their feedback.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Weak};

use perilune_bytecode::flow::returns_class;
use perilune_bytecode::{Op, Proto};
use perilune_code::Method;
use perilune_runtime::native::Builtin;

use super::snapshot::Snapshot;

/// The longest function that is inlined, in instructions.
const MAX_LENGTH: usize = 32;
/// The same limit for a call in a loop, where longer compiles pay off.
const MAX_LENGTH_IN_LOOPS: usize = 64;

/// The maximum number of arguments of a library function that code calls without a frame.
pub(crate) const MAX_LIBRARY_ARGUMENTS: usize = 3;

/// Returns whether code calls the library function with this number, which has a leaf, without a
/// frame if it passes this number of arguments. The leaves of `table.insert` and `table.remove`
/// only work at the end of a table, and the one of `math.log` only for the natural logarithm.
pub(crate) fn is_leaf_for(number: u32, arguments: usize) -> bool {
    let most = match number {
        _ if number == Builtin::Insert as u32 => 2,
        _ if number == Builtin::Remove as u32 || number == Builtin::Log as u32 => 1,
        _ => MAX_LIBRARY_ARGUMENTS,
    };
    arguments <= most
}

/// Returns whether library function `number` has exactly one result for this number of arguments
/// where code computes it. `string.byte` has none for a position outside of the string: code that
/// needs all results exits there.
pub(crate) fn has_one_result(number: u32, arguments: usize) -> bool {
    let is_byte = number == Builtin::Byte as u32 && (1..=2).contains(&arguments);
    (is_byte || Builtin::returns_one(number)) && is_leaf_for(number, arguments)
}

/// The maximum number of receiver shapes whose methods are inlined at one call.
pub(crate) const MAX_SHAPES: usize = 4;

/// A callee that may be inlined at a call: the only callee that the call has had, or the method of
/// receivers of some shapes.
#[derive(Clone)]
pub struct InlineeSeen {
    /// Its method, whose slot the code compares. The reference is weak, as methods that are inlined
    /// in each other would otherwise keep each other alive.
    pub(crate) method: Weak<Method>,
    /// The proto, weakly, as code does not keep programs alive.
    pub(crate) proto: Weak<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The ids of the shapes of the receivers that have it as their method, if the call has had
    /// several callees; empty if it is the only one.
    pub(crate) shapes: BTreeSet<u32>,
    /// Whether only its early returns are inlined (see [`EarlyPart`]).
    ///
    /// [`EarlyPart`]: crate::analysis::early::EarlyPart
    pub(crate) is_early: bool,
}

/// The position of a frame: an instruction of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    /// The function. It is only compared, and is alive while the frame exists.
    pub(crate) proto: *const Proto,
    pub(crate) pc: u32,
}

impl InlineeSeen {
    /// Returns whether both are the same function.
    pub(crate) fn is_same(&self, other: &InlineeSeen) -> bool {
        Weak::ptr_eq(&self.method, &other.method)
    }

    /// Returns the pcs of its tail calls.
    fn tail_calls(&self) -> impl Iterator<Item = u32> + use<> {
        let code = self.proto.upgrade().map_or(Box::default(), |proto| tail_calls(&proto));
        code.into_iter()
    }

    /// Returns whether the function is the one with this proto.
    fn is_of(&self, proto: *const Proto) -> bool {
        self.proto.as_ptr() == proto
    }
}

impl PartialEq for InlineeSeen {
    fn eq(&self, other: &InlineeSeen) -> bool {
        self.is_same(other)
            && self.shapes == other.shapes
            && self.is_early == other.is_early
            && self.snapshot == other.snapshot
    }
}

impl Eq for InlineeSeen {}

impl fmt::Debug for InlineeSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InlineeSeen").field(&self.snapshot).finish()
    }
}

impl Snapshot {
    /// Returns the pc of the last position of `path`, and the failed instructions of its function.
    /// The other positions are the inlined calls that lead there. If one of them is not inlined any
    /// more, the path ends with it.
    pub(crate) fn failed_at(&self, path: &[Position]) -> Option<(&BTreeSet<u32>, u32)> {
        let (at, rest) = path.split_first()?;
        let inlined = rest.first().and_then(|next| self.inlined(at.pc, next.proto));
        match inlined {
            Some(snapshot) => snapshot.failed_at(rest),
            None => Some((&self.failed, at.pc)),
        }
    }

    /// Returns the feedback of the function with this proto that is inlined at `pc`, or in a tail
    /// call of a function inlined there.
    fn inlined(&self, pc: u32, proto: *const Proto) -> Option<&Snapshot> {
        let all = self.inlinees.get(&pc)?;
        let direct = all.iter().find(|inlinee| inlinee.is_of(proto));
        direct.map(|inlinee| &*inlinee.snapshot).or_else(|| {
            let mut replaced = all.iter().flat_map(|inlinee| {
                inlinee.tail_calls().filter_map(|pc| inlinee.snapshot.inlined(pc, proto))
            });
            replaced.next()
        })
    }

    /// Like [`Snapshot::inlined`], but returns a mutable reference.
    fn inlined_mut(&mut self, pc: u32, proto: *const Proto) -> Option<&mut Snapshot> {
        let all = self.inlinees.get_mut(&pc)?;
        match all.iter().position(|inlinee| inlinee.is_of(proto)) {
            Some(n) => Some(Arc::make_mut(&mut all[n].snapshot)),
            None => all.iter_mut().find_map(|inlinee| {
                let mut calls = inlinee.tail_calls();
                let pc = calls.find(|&pc| inlinee.snapshot.inlined(pc, proto).is_some())?;
                Arc::make_mut(&mut inlinee.snapshot).inlined_mut(pc, proto)
            }),
        }
    }

    /// Records that an instruction has failed, in the place where [`Snapshot::failed_at`] finds it.
    pub(crate) fn fail(&mut self, path: &[Position]) {
        let Some((at, rest)) = path.split_first() else { return };
        let inlined = rest.first().and_then(|next| self.inlined_mut(at.pc, next.proto));
        match inlined {
            Some(snapshot) => snapshot.fail(rest),
            None => {
                self.failed.insert(at.pc);
            }
        }
    }
}

/// Returns the pcs of the tail calls of a function.
pub(crate) fn tail_calls(proto: &Proto) -> Box<[u32]> {
    let code = proto.code.iter().enumerate();
    code.filter(|(_, i)| i.op() == Op::TailCall).map(|(pc, _)| pc as u32).collect()
}

/// Returns the reason why a function cannot be inlined, if there is one. The function must be
/// short, must not share registers with closures, and must not close variables. The number of its
/// results must be known: it is one if all results of CALLMETA are returned, and the number of
/// extra arguments is known at the call. `in_loop` specifies whether the call is in a loop.
pub(crate) fn refusal(proto: &Proto, in_loop: bool) -> Option<&'static str> {
    let code = &proto.code;
    let refusal_of = |pc: usize| match code[pc].op() {
        Op::Close | Op::Tbc => Some("the function closes variables"),
        Op::Return if code[pc].b() == 0 && pc > 0 && code[pc - 1].op() == Op::TailCall => None,
        Op::Return if code[pc].b() == 0 && pc > 0 && returns_class(code, pc - 1) => None,
        Op::Return if code[pc].b() == 0 && pc > 0 && code[pc - 1].op() == Op::VarArg => None,
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
    if proto.shares_registers() {
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
        check("function(...) return f(a, ...), ... end", true);
        check("function(a) return function() return a end end", false);
        // tail calls, if their callees are inlined, too, and the numbers of arguments are known
        check("function(a) return f(a) end", true);
        check("function(a) return setmetatable({a}, g) end", true);
        check("function(a) return f(g(a)) end", true);
        check("function(a) return setmetatable({a}, {__index = g}) end", true);
        check("function(a) return a, setmetatable({a}, {__index = g}) end", false);
        check("function(a) local b <close> = a end", false);
        check(&format!("function(a) {} end", "a = a * a ".repeat(100)), false);
        let proto = listing::compile(&format!("return function(a) {} end", "a = -a ".repeat(48)));
        let inner = &proto.protos[0];
        assert!(refusal(inner, false).is_some() && refusal(inner, true).is_none());
    }

    #[test]
    fn failures_are_noted_where_the_instruction_is() {
        let [outer, one, other] =
            ["local f = ... return f", "return 1", "return 2"].map(listing::compile);
        let seen = |proto: &Arc<Proto>| InlineeSeen {
            method: Weak::new(),
            proto: Arc::downgrade(proto),
            snapshot: Arc::new(Snapshot::before_run(proto)),
            shapes: BTreeSet::new(),
            is_early: false,
        };
        let at = |proto: &Arc<Proto>, pc| Position { proto: Arc::as_ptr(proto), pc };
        let mut snapshot = Snapshot::before_run(&outer);
        snapshot.inlinees.insert(3, vec![seen(&one), seen(&other)]);
        let path = [at(&outer, 3), at(&other, 7)];
        snapshot.fail(&path);
        assert!(snapshot.failed.is_empty());
        assert_eq!(snapshot.failed_at(&path), Some((&BTreeSet::from([7]), 7)));
        let in_the_first = [at(&outer, 3), at(&one, 7)];
        assert_eq!(snapshot.failed_at(&in_the_first), Some((&BTreeSet::new(), 7)));
        // a call that is not inlined any more, or has another callee, represents the instructions
        // of the inlined callee
        snapshot.fail(&[at(&outer, 5), at(&one, 7)]);
        snapshot.fail(&[at(&outer, 3), at(&outer, 7)]);
        assert_eq!(snapshot.failed, BTreeSet::from([3, 5]));
        // the call itself
        assert_eq!(snapshot.failed_at(&path[..1]), Some((&BTreeSet::from([3, 5]), 3)));
    }
}
