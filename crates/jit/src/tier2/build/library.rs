//! Builds calls of library functions that machine code knows.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::flow::returns_class;
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::selector::Selector;
use crate::codegen::builtin::{Inlined, changes_tables};
use crate::codegen::element::ArrayChanges;
use crate::codegen::number::Operator;
use crate::entity::RegisterOperands;
use crate::feedback::inlinee::{MAX_LIBRARY_ARGUMENTS, has_one_result, is_leaf_for};
use crate::feedback::snapshot::CalleeSeen;
use crate::tier2::ir::{End, Library, Op, Type, Value};

/// The results that a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Nothing,
    One,
    All,
}

impl Builder<'_> {
    /// Builds CALL or TAILCALL of a library function, if feedback has recorded no other callee and
    /// the call needs at most one result, or all results of a function that has one
    /// ([`has_one_result`]); returns whether it was built. The result is in the first register of
    /// the call.
    pub(super) fn library_call(&mut self) -> bool {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let CalleeSeen::Builtin(number) = snapshot.callee(self.pc) else { return false };
        let Some(count) = self.argument_count().filter(|&n| is_leaf_for(number, n)) else {
            return false;
        };
        let wants = match (i.op(), i.c()) {
            (_, 0) if has_one_result(number, count) => Wants::All,
            (Bytecode::Call, 1) => Wants::Nothing,
            (Bytecode::Call, 2) => Wants::One,
            _ => return false,
        };
        if snapshot.general {
            return false;
        }
        let callee = self.read(i.ra());
        let is_assertion = number == Builtin::Assert as u32;
        if self.is_never(callee, Tag::NATIVE) || is_assertion && count == 0 {
            return false;
        }
        let callee = self.guard(callee, Tag::NATIVE);
        self.guard_library(callee, number);
        let state = self.state();
        let mut args = [None; MAX_LIBRARY_ARGUMENTS];
        for (n, arg) in args.iter_mut().enumerate().take(count) {
            *arg = Some(self.read(i.ra() + Layout::RESERVED + n));
        }
        let result = match args[0] {
            Some(table) if self.sets_metatable(number, args) => {
                let meta = args[1].expect("there are two arguments");
                let (table, meta) = (self.guard(table, Tag::TABLE), self.guard(meta, Tag::TABLE));
                let state = self.state();
                self.push(Op::SetMetatable(table, meta, state));
                self.share(meta);
                self.change_metatable(table);
                table
            }
            Some(table)
                if number == Builtin::Insert as u32
                    && count == 2
                    && wants == Wants::Nothing
                    && !self.is_never(table, Tag::TABLE) =>
            {
                self.append(table, args[1].expect("there are two arguments"));
                table
            }
            Some(asserted) if is_assertion => {
                let truth = self.value(Type::Condition, Op::IsTrue(asserted));
                let (yes, no) = self.branch(truth);
                self.switch_to(no);
                self.end(End::Exit(state));
                self.switch_to(yes);
                asserted
            }
            Some(v)
                if number == Builtin::Floor as u32
                    && count == 1
                    && wants != Wants::Nothing
                    && let Some(&(v, divisor)) =
                        self.constants.quotients.get(&self.f.origin(v)) =>
            {
                self.value(Type::Is(Tag::INTEGER), Op::FloorQuotient(v, divisor))
            }
            _ => {
                let inlined = Inlined::of(number, count).filter(|_| wants != Wants::Nothing);
                let tag = match inlined {
                    Some(Inlined::Byte) if wants == Wants::All => Some(Tag::INTEGER),
                    _ => inlined.and_then(Inlined::result),
                };
                let library = Library { number, inlined, tag, at: i.ra() + self.offset };
                let ty = tag.map_or(Type::Any, Type::Is);
                let result = self.value(ty, Op::Library(library, args, state));
                args.into_iter().flatten().for_each(|v| self.share(v));
                if inlined.is_none() && changes_tables(number) {
                    self.noise.calls += 1;
                    self.known.forget();
                }
                result
            }
        };
        self.registers[i.a()..].fill(None);
        match wants {
            Wants::Nothing => {}
            Wants::All if i.op() == Bytecode::Call => self.write_open(i.ra(), vec![result]),
            Wants::One | Wants::All => self.write(i.ra(), result),
        }
        true
    }

    /// Builds CALL of `string.byte(text, first, last)` for several results, if feedback has
    /// recorded no other callee; returns whether it was built. The code exits unless the call
    /// returns exactly as many bytes as it needs.
    pub(super) fn several_bytes(&mut self) -> bool {
        /// The maximum number of bytes that are loaded one by one.
        const MAX_BYTES: usize = 8;
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let wanted = i.c().saturating_sub(1);
        if snapshot.callee(self.pc) != CalleeSeen::Builtin(Builtin::Byte as u32)
            || snapshot.general
            || !(2..=MAX_BYTES).contains(&wanted)
            || self.argument_count() != Some(3)
        {
            return false;
        }
        let arguments = i.ra() + Layout::RESERVED;
        let operands = [i.ra(), arguments, arguments + 1, arguments + 2].map(|r| self.read(r));
        let tags = [Tag::NATIVE, Tag::STRING, Tag::INTEGER, Tag::INTEGER];
        if operands.iter().zip(tags).any(|(&v, tag)| self.is_never(v, tag)) {
            return false;
        }
        let [callee, text, first, last] = [0, 1, 2, 3].map(|n| self.guard(operands[n], tags[n]));
        self.guard_library(callee, Builtin::Byte as u32);
        let state = self.state();
        let after = |this: &mut Self, distance: usize| {
            let distance = this.integer(distance as i64);
            let add = Op::IntArith(Operator::Add, first, distance, state);
            this.value(Type::Is(Tag::INTEGER), add)
        };
        let end = after(self, wanted - 1);
        let is_all = self.value(Type::Condition, Op::CompareInt(IntCC::Equal, last, end));
        let (yes, no) = self.branch(is_all);
        self.switch_to(no);
        self.end(End::Exit(state));
        self.switch_to(yes);
        let bytes = (0..wanted).map(|n| {
            let at = if n == 0 { first } else { after(self, n) };
            let library = Library {
                number: Builtin::Byte as u32,
                inlined: Some(Inlined::Byte),
                tag: Some(Tag::INTEGER),
                at: i.ra() + self.offset,
            };
            let args = [Some(text), Some(at), None];
            self.value(Type::Is(Tag::INTEGER), Op::Library(library, args, state))
        });
        let bytes = bytes.collect();
        self.registers[i.a()..].fill(None);
        self.write_results(bytes);
        true
    }

    /// Builds `table.insert(table, v)`.
    fn append(&mut self, table: Value, v: Value) {
        let table = self.guard(table, Tag::TABLE);
        let state = self.state();
        let length = self.value(Type::Is(Tag::INTEGER), Op::Length(table, state));
        let one = self.integer(1);
        let add = Op::IntArith(Operator::Add, length, one, state);
        let key = self.value(Type::Is(Tag::INTEGER), add);
        self.note_element_store(table, key);
        let changes = ArrayChanges { converts: false, grows: true };
        self.push(Op::SetElement(table, key, v, changes, state));
        self.share(v);
    }

    /// Builds CALL or TAILCALL of `select` among the extra arguments of an inlined function, if
    /// feedback has seen no other callee; returns the results.
    pub(super) fn select(&mut self) -> Option<Vec<Value>> {
        /// The maximum number of extra arguments among which one is selected by a variable.
        const MAX_SELECTED_FROM: usize = 16;
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        match snapshot.callee(self.pc) {
            CalleeSeen::Builtin(number) if number == Builtin::Select as u32 => {}
            _ => return None,
        }
        let selector = Selector::of(self.source.proto, self.pc)?;
        let callee = self.read(i.ra());
        let extra = self.argument_count()?.checked_sub(1)?;
        if snapshot.general || self.is_never(callee, Tag::NATIVE) {
            return None;
        }
        let is_single = i.op() == Bytecode::Call && (1..=2).contains(&i.c());
        let index = self.read(i.ra() + Layout::RESERVED);
        let is_selected = is_single && extra <= MAX_SELECTED_FROM;
        if selector == Selector::Variable && (!is_selected || self.is_never(index, Tag::INTEGER)) {
            return None;
        }
        let callee = self.guard(callee, Tag::NATIVE);
        self.guard_library(callee, Builtin::Select as u32);
        let mut arguments = self.arguments();
        Some(match selector {
            Selector::Count => vec![self.integer(extra as i64)],
            Selector::From(n) => arguments.split_off(n.min(arguments.len())),
            Selector::Variable => {
                let index = self.guard(index, Tag::INTEGER);
                let state = self.state();
                let selected_from = arguments.split_off(1);
                // the result may be any of them
                selected_from.iter().for_each(|&v| self.share(v));
                let list = self.f.lists.push(selected_from);
                vec![self.value(Type::Any, Op::Select(index, list, state))]
            }
        })
    }

    /// Returns whether a call of library function `number` gives a table a metatable.
    fn sets_metatable(&self, number: u32, args: [Option<Value>; 3]) -> bool {
        let [Some(table), Some(meta), None] = args else { return false };
        number == Builtin::SetMetatable as u32
            && !self.is_never(table, Tag::TABLE)
            && !self.is_never(meta, Tag::TABLE)
    }

    /// Discards the facts that no longer hold when the metatable of a table has changed.
    fn change_metatable(&mut self, table: Value) {
        if !self.known.is_fresh(self.f.origin(table)) {
            self.noise.add_any();
        }
        let f = &self.f;
        self.known.change_metatable(self.f.origin(table), |v| {
            f.consult(v).tag().is_some_and(|tag| tag != Tag::NIL)
        });
    }

    /// Builds CALLMETA. If it needs all results, a RETURN of them follows, which is built together
    /// with it. Returns whether control continues.
    pub(super) fn set_class(&mut self) -> bool {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let snapshot = self.source.snapshot;
        let (a, object) = (i.ra(), i.ra() + Layout::RESERVED);
        let operands = [a, object, object + 1].map(|r| self.read(r));
        let tags = [Tag::NATIVE, Tag::TABLE, Tag::TABLE];
        let is_never = operands.iter().zip(tags).any(|(&v, tag)| self.is_never(v, tag));
        // an inlined function returns a known number of values
        let returns = i.c() == 0 && self.is_inlined();
        if !returns && (is_never || snapshot.general || i.c() > 2) {
            self.generic();
            return true;
        }
        if is_never {
            let state = self.state();
            self.end(End::Exit(state));
            return false;
        }
        let mut guarded = operands;
        for (v, tag) in guarded.iter_mut().zip(tags) {
            *v = self.guard(*v, tag);
        }
        let [function, table, class] = guarded;
        self.guard_library(function, Builtin::SetMetatable as u32);
        let state = self.state();
        self.push(Op::SetClass(table, class, state));
        self.share(class);
        self.change_metatable(table);
        self.registers[i.a()..].fill(None);
        if i.c() != 1 {
            self.write(a, table);
        }
        if i.c() != 0 {
            return true;
        }
        debug_assert!(returns_class(&self.source.proto.code, pc.index()));
        if self.is_inlined() {
            self.return_inlined(a, 1);
        } else {
            self.end(End::Return(table));
        }
        false
    }

    /// Guards a native function to be library function `number`.
    pub(super) fn guard_library(&mut self, function: Value, number: u32) {
        let origin = self.f.origin(function);
        if !self.known.has_method(origin, number as usize) {
            let state = self.state();
            self.push(Op::GuardLibrary(function, number, state));
            self.known.note_method(origin, number as usize);
        }
    }
}
