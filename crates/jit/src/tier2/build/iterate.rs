//! Builds generic loops over `next` and `ipairs`.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::Op as Bytecode;
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::codegen::number::Operator;
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::snapshot::CalleeSeen;
use crate::tier2::ir::{Op, Type, Value};

/// The register, counted from the first register of a generic loop, that holds the closing value or
/// the position of a traversal with `next`.
const CLOSING: usize = 3;
/// The register of the first variable, counted in the same way.
pub(super) const VARIABLES: usize = 4;

impl Builder<'_> {
    /// Builds CALL of `pairs` or `ipairs` at the beginning of a loop, if feedback has seen no other
    /// callee; returns whether it was built.
    pub(super) fn begin_traversal(&mut self) -> bool {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let (function, iterator) = match snapshot.callee(self.pc) {
            CalleeSeen::Ipairs => (Builtin::Ipairs, Builtin::IpairsStep),
            CalleeSeen::Pairs => (Builtin::Pairs, Builtin::Next),
            _ => return false,
        };
        let by_next = iterator == Builtin::Next;
        let is_of_loop = i.op() == Bytecode::Call && i.c() == VARIABLES + 1;
        if snapshot.general || !is_of_loop || self.argument_count().is_none_or(|n| n == 0) {
            return false;
        }
        let (callee, mut object) = (self.read(i.ra()), self.arguments()[0]);
        if self.is_never(callee, Tag::NATIVE) || by_next && self.is_never(object, Tag::TABLE) {
            return false;
        }
        let callee = self.guard(callee, Tag::NATIVE);
        self.guard_library(callee, function as u32);
        if by_next {
            object = self.guard(object, Tag::TABLE);
            let state = self.state();
            self.push(Op::GuardNoMetatable(object, state));
        }
        self.share(object);
        let bound = self.value(Type::Is(Tag::NATIVE), Op::Bound(callee));
        self.known.note_method(bound, iterator as usize);
        let control = match by_next {
            true => self.nil(),
            false => self.integer(0),
        };
        self.registers[i.a()..].fill(None);
        self.write_wanted(i.ra(), vec![bound, object, control], i.c());
        true
    }

    /// Builds TFORPREP; returns whether control continues after it, which it never does.
    pub(super) fn for_each_prep(&mut self) -> bool {
        let (pc, a) = (self.pc, self.instr(self.pc).ra());
        let (_, call) = self.source.flow.successors(self.source.proto, pc);
        let call = call.expect("TFORPREP jumps");
        let [mut function, object, control, mut closing] =
            [0, 1, 2, CLOSING].map(|n| self.read(a + n));
        let may_guard = self.source.calls.contains_key(&call.as_u32())
            && !self.source.snapshot.failed.contains(&pc.as_u32())
            && !self.is_never(function, Tag::FUNCTION)
            && !self.is_never(closing, Tag::NIL);
        if may_guard {
            function = self.guard(function, Tag::FUNCTION);
            closing = self.guard(closing, Tag::NIL);
            self.write(a, function);
            self.write(a + CLOSING, closing);
        }
        let is = |v: Value, tag: Tag| self.f.consult(v) == Type::Is(tag);
        if is(closing, Tag::NIL) {
            if is(function, Tag::FUNCTION) || self.is_library(function, Builtin::IpairsStep) {
                self.fall(call);
                return false;
            }
            let is_whole = is(object, Tag::TABLE) && is(control, Tag::NIL);
            if is_whole && self.is_library(function, Builtin::Next) {
                let state = self.state();
                let position = self.value(Type::Is(Tag::ITER), Op::Traversal(object, state));
                self.write(a + CLOSING, position);
                self.fall(call);
                return false;
            }
        }
        self.generic_end()
    }

    /// Returns whether a value is known to be this library function.
    fn is_library(&self, v: Value, function: Builtin) -> bool {
        self.known.has_method(self.f.origin(v), function as usize)
    }

    /// Returns whether a TFORCALL has called nothing although it was executed: all loops so far
    /// have been over `next` or `ipairs`.
    pub(super) fn is_traversal(&self, pc: Pc) -> bool {
        let snapshot = self.source.snapshot;
        !snapshot.general && snapshot.callee(pc) == CalleeSeen::Nothing
    }

    /// Returns whether the code shows that a TFORCALL belongs to a loop over `ipairs`.
    fn is_over_ipairs(&self) -> bool {
        let body = self.instr(self.pc + 1).bx();
        let prepared = (self.pc + 2).index().checked_sub(body + 2);
        let Some(call) = prepared.map(Pc::new) else { return false };
        let i = self.instr(call);
        i.op() == Bytecode::Call
            && i.a() == self.instr(self.pc).a()
            && self.source.snapshot.callee(call) == CalleeSeen::Ipairs
    }

    /// Builds TFORCALL of a loop over `next` or `ipairs`.
    pub(super) fn traverse(&mut self) {
        let a = self.instr(self.pc).ra();
        if self.is_over_ipairs() && self.next_of_ipairs() {
            return;
        }
        let all = [0, 1, 2, CLOSING].map(|n| self.read(a + n));
        let by_next = self.f.consult(all[CLOSING]) == Type::Is(Tag::ITER);
        let state = self.state();
        self.push(Op::FastPath(state));
        self.forget();
        if by_next {
            let position = Op::Register(a + CLOSING + self.offset);
            self.set(a + CLOSING, Type::Is(Tag::ITER), position);
        }
    }

    /// Builds TFORCALL of a loop over `ipairs` as the load of an element, if possible; returns
    /// whether it was built. If there is an element, control continues with it, otherwise at the
    /// end of the loop.
    fn next_of_ipairs(&mut self) -> bool {
        let i = self.instr(self.pc);
        let [function, object, control] = [0, 1, 2].map(|n| self.read(i.ra() + n));
        let tags = [(function, Tag::NATIVE), (object, Tag::TABLE), (control, Tag::INTEGER)];
        if tags.iter().any(|&(v, tag)| self.is_never(v, tag)) {
            return false;
        }
        let [function, table, control] = tags.map(|(v, tag)| self.guard(v, tag));
        self.guard_library(function, Builtin::IpairsStep as u32);
        let (one, state) = (self.integer(1), self.state());
        let add = Op::IntArith(Operator::Add, control, one, state);
        let key = self.value(Type::Is(Tag::INTEGER), add);
        let v = self.value(Type::Any, Op::ElementOrNil(table, key, state));
        let ended = self.value(Type::Condition, Op::HasTag(v, Tag::NIL));
        let (end, on) = self.branch(ended);
        let first = i.ra() + VARIABLES;
        self.registers[first.index()..].fill(None);
        let before = (self.registers.clone(), self.known.clone());
        self.switch_to(end);
        self.write_wanted(first, Vec::new(), i.c() + 1);
        self.fall(self.pc + 2);
        (self.registers, self.known) = before;
        self.switch_to(on);
        self.write_wanted(first, vec![key, v], i.c() + 1);
        true
    }

    /// Builds TFORLOOP; returns whether control may continue after it, at the end of the loop.
    pub(super) fn for_each_loop(&mut self) -> bool {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let key = self.read(i.ra() + VARIABLES);
        match self.f.consult(key) {
            Type::Is(Tag::NIL) => return true,
            Type::Is(_) => {
                self.write(i.ra() + 2, key);
                self.goto(pc + 1 - i.bx());
                return false;
            }
            _ => {}
        }
        let ended = self.value(Type::Condition, Op::HasTag(key, Tag::NIL));
        let (end, on) = self.branch(ended);
        let before = (self.registers.clone(), self.known.clone());
        self.switch_to(on);
        self.write(i.ra() + 2, key);
        self.goto(pc + 1 - i.bx());
        (self.registers, self.known) = before;
        self.switch_to(end);
        true
    }

    /// Builds CLOSE. At the end of a generic loop without a closing value whose variables are not
    /// shared with closures, it does nothing.
    pub(super) fn close(&mut self) {
        let (pc, a) = (self.pc, self.instr(self.pc).ra());
        let proto = self.source.proto;
        let is_end = pc.index() > 0 && {
            let before = self.instr(Pc::new(pc.index() - 1));
            before.op() == Bytecode::TForLoop && before.ra() == a
        };
        let is_shared = || self.all().skip(a.index()).any(|r| self.is_captured(r));
        let marks = || proto.code.iter().any(|i| i.op() == Bytecode::Tbc);
        let closing = self.registers.get(a.index() + CLOSING).copied().flatten();
        let closing = closing.and_then(|v| self.f.consult(v).tag());
        let is_nothing = matches!(closing, Some(Tag::NIL | Tag::ITER));
        if !is_end || !is_nothing || is_shared() || marks() {
            self.generic();
        }
    }
}
