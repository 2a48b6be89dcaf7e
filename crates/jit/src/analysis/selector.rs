//! Calls of `select` by vararg functions.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::flow::successors;
use perilune_bytecode::{Constant, Op, Proto};
use perilune_runtime::frame::Frame;

use crate::entity::Pc;

/// The first argument of a call of `select` whose other arguments are the extra arguments of the
/// function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Selector {
    /// `"#"`: the number of the others.
    Count,
    /// A constant, at least 1: the others from this one on.
    From(usize),
    /// Not a constant, or one of several.
    Variable,
}

impl Selector {
    /// Returns the first argument of the CALL or TAILCALL at `pc`, if the other arguments are the
    /// extra arguments. Does not check the callee.
    pub(crate) fn of(proto: &Proto, pc: Pc) -> Option<Selector> {
        let at = pc.index();
        let [.., before, extra, call] = *proto.code.get(..=at)? else { return None };
        let first = call.a() + Frame::RESERVED;
        let passes_extra = extra.op() == Op::VarArg && extra.c() == 0 && extra.a() == first + 1;
        if call.b() != 0 || !passes_extra {
            return None;
        }
        // the operators `and` and `or` may jump past the load that stands before the VARARG
        let is_target = |from| successors(&proto.code, from).jump == Some(at - 1);
        if (0..proto.code.len()).any(is_target) {
            return Some(Selector::Variable);
        }
        let is_loaded = |op| before.op() == op && before.a() == first;
        if is_loaded(Op::LoadI) {
            return usize::try_from(before.sbx()).ok().filter(|&n| n > 0).map(Selector::From);
        }
        match is_loaded(Op::LoadK).then(|| &proto.constants[before.bx()]) {
            Some(Constant::Str(s)) if proto.str(*s) == b"#" => Some(Selector::Count),
            _ => Some(Selector::Variable),
        }
    }

    /// Returns the number of results of `select` for this number of extra arguments.
    pub(crate) fn results(self, extra: usize) -> Option<usize> {
        match self {
            Selector::Count => Some(1),
            Selector::From(n) => Some(extra.saturating_sub(n - 1)),
            Selector::Variable => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;

    #[track_caller]
    fn check(function: &str, expected: Option<Selector>) {
        let proto = listing::compile(&format!("local f, i = nil, nil; f = {function}"));
        let proto = &proto.protos[0];
        let is_call = |pc: &Pc| matches!(pc.instr(proto).op(), Op::Call | Op::TailCall);
        let call = Pc::all(proto).find(is_call).expect("there is a call");
        assert_eq!(Selector::of(proto, call), expected, "{function}");
    }

    #[test]
    fn selectors_are_found() {
        check("function(...) return select('#', ...) end", Some(Selector::Count));
        check("function(...) local n = select('#', ...) return n end", Some(Selector::Count));
        check("function(...) return (select(2, ...)) end", Some(Selector::From(2)));
        check("function(...) return (select(-1, ...)) end", None);
        check("function(...) return (select('x', ...)) end", Some(Selector::Variable));
        check("function(...) return (select(i, ...)) end", Some(Selector::Variable));
        check("function(...) return (select(i and 1 or 2, ...)) end", Some(Selector::Variable));
        check("function(...) return select(i or '#', ...) end", Some(Selector::Variable));
        check("function(...) return select(2, i, ...) end", None);
        check("function(...) return (select(2, i)) end", None);
    }
}
