//! Hoists lookups that every iteration of a loop would repeat out of the loop.
//!
//! A library function that a loop calls on one of several paths, or in an iteration that changes
//! memory, is found by loads and guards that nothing before them makes redundant. They have no side
//! effects, so they can be executed in front of the loop, and exit there if they fail. The results
//! of the following lookups are then known in the loop:
//!
//! - upvalues that the program never assigns, whatever the loop does;
//! - globals that are constant so far, whatever the loop does;
//! - other globals, and fields of the tables in globals, if the loop changes no shapes, and stores
//!   to nothing in tables but fields in known slots;
//! - methods of strings, whatever the loop does: they stay the same while the epoch of metatables
//!   does, and comparing that is one load and one comparison.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::effects::effects;
use perilune_bytecode::feedback::access;
use perilune_runtime::value::Tag;

use super::order::Loop;
use super::{Builder, Incoming, Start};
use crate::entity::Pc;
use crate::feedback::snapshot::{CalleeSeen, FieldPath, GlobalSeen};
use crate::tier2::ir::{BlockData, End, Op, StringMethod, Target, Type, Value};

/// The most instructions between the load of a callee and its call.
const MAX_ARGUMENTS: usize = 24;

impl Builder<'_> {
    /// Hoists lookups out of a loop. `keeps_tables` specifies whether facts about tables stay known
    /// in the loop.
    pub(super) fn hoist(&mut self, head: Pc, l: &Loop, keeps_tables: bool) {
        let snapshot = self.source.snapshot;
        if snapshot.general || snapshot.failed.contains(&head.as_u32()) {
            return;
        }
        let found = |pc: &Pc| {
            !self.source.flow.cold[*pc]
                && !snapshot.failed.contains(&pc.as_u32())
                && match self.instr(*pc).op() {
                    Bytecode::GetTabUp if keeps_tables => {
                        snapshot.global(*pc) != GlobalSeen::Inherited
                    }
                    Bytecode::GetTabUp => self.is_constant_global(*pc),
                    Bytecode::SelfK => self.native_of_strings(*pc).is_some(),
                    Bytecode::GetUpval => self.never_assigned(self.instr(*pc).b()).is_some(),
                    _ => false,
                }
        };
        let lookups: Vec<Pc> = l.instructions.iter().copied().filter(found).collect();
        let Some(first) = self.starts[head].block.filter(|_| !lookups.is_empty()) else { return };
        self.f.blocks[first].is_loop = false;
        self.begin_at(head);
        let next = self.f.blocks.push(BlockData { is_loop: true, ..BlockData::default() });
        // if one fails, the frame continues at the head
        self.state = Some(self.state_at(head));
        for pc in lookups {
            self.pc = pc;
            match (self.instr(pc).op(), self.native_of_strings(pc)) {
                (Bytecode::GetUpval, _) => {
                    let v = self.upvalue(self.instr(pc).b());
                    self.hold_constants();
                    self.hoist_callee(pc, v);
                }
                (_, Some(method)) => self.hoist_method(method),
                (_, None) => self.hoist_global(pc, keeps_tables),
            }
        }
        self.pc = head;
        self.state = None;
        let incoming = Incoming {
            from: self.block,
            registers: self.registers.clone(),
            known: self.known.clone(),
        };
        self.end(End::Jump(Target { block: next, args: Vec::new() }));
        self.starts[head] = Start { block: Some(next), is_begun: false, incoming: vec![incoming] };
    }

    /// Returns the native function that SELF at `pc` has always found for strings.
    fn native_of_strings(&self, pc: Pc) -> Option<StringMethod> {
        let snapshot = self.source.snapshot;
        if self.instr(pc).op() != Bytecode::SelfK || snapshot.field(pc).dictionaries {
            return None;
        }
        match *snapshot.field(pc).paths {
            [FieldPath::Method { entry, dictionary, native: true }] => {
                let cache = snapshot.cell(pc) as usize;
                Some(StringMethod { cache, entry, dictionary, native: true })
            }
            _ => None,
        }
    }

    fn hoist_method(&mut self, method: StringMethod) {
        let name = self.name();
        if self.known.method_of_strings(name).is_some() {
            return;
        }
        let epoch = match self.known.epoch() {
            Some(epoch) => epoch,
            None => self.value(Type::Is(Tag::INTEGER), Op::Epoch),
        };
        self.known.note_epoch(epoch);
        let state = self.state();
        let found = self.value(Type::Is(Tag::NATIVE), Op::StringMethod(None, method, state));
        self.known.note_method_of_strings(name, (epoch, found));
        self.hoist_callee(self.pc, found);
    }

    fn hoist_global(&mut self, pc: Pc, keeps_tables: bool) {
        let i = self.instr(pc);
        let v = self.global();
        let next = pc + 1;
        let of = self.instr(next);
        if of.op() != Bytecode::GetField || of.b() != i.a() || self.source.flow.leader[next] {
            return self.hoist_callee(pc, v);
        }
        self.pc = next;
        if !keeps_tables
            || self.source.flow.cold[next]
            || self.source.snapshot.failed.contains(&next.as_u32())
            || self.is_never(v, Tag::TABLE)
        {
            return;
        }
        let Some((FieldPath::Own { slot, .. }, shapes)) = self.path(v) else { return };
        let table = self.guard(v, Tag::TABLE);
        self.guard_shapes(table, shapes);
        let v = self.field(table, slot);
        self.hoist_callee(next, v);
    }

    /// Guards the value that the instruction at `pc` has loaded: to be a table, if it is accessed
    /// as one, or to be the expected callee, if it is called and the callee is a library function
    /// or a function that may be inlined.
    fn hoist_callee(&mut self, pc: Pc, v: Value) {
        let a = self.instr(pc).a();
        // an endless loop may be at the end of the function
        let after = Pc::all(self.source.proto).skip(pc.index() + 1);
        for at in after.take(MAX_ARGUMENTS) {
            let i = self.instr(at);
            if self.source.flow.leader[at] || self.source.flow.cold[at] {
                return;
            }
            if i.op() == Bytecode::Call && i.a() == a {
                if self.source.snapshot.failed.contains(&at.as_u32()) {
                    return;
                }
                let candidates = self.source.calls.get(&at.as_u32());
                match (self.source.snapshot.callee(at), candidates.map(Vec::as_slice)) {
                    (CalleeSeen::Builtin(number), _) if !self.is_never(v, Tag::NATIVE) => {
                        let callee = self.guard(v, Tag::NATIVE);
                        self.guard_library(callee, number);
                    }
                    (CalleeSeen::Lua, Some(&[number])) if !self.is_never(v, Tag::FUNCTION) => {
                        self.guard_method(v, number);
                    }
                    _ => {}
                }
                return;
            }
            if self.accesses_table(at, a) && !self.is_never(v, Tag::TABLE) {
                self.guard(v, Tag::TABLE);
                return;
            }
            if effects(i).changes(a) {
                return;
            }
        }
    }

    /// Returns whether the instruction at `pc` accesses a register, in which it has always found a
    /// table.
    fn accesses_table(&self, pc: Pc, r: usize) -> bool {
        use Bytecode::*;
        let (snapshot, i) = (self.source.snapshot, self.instr(pc));
        let object = match i.op() {
            GetTable | GetI | GetField => i.b(),
            SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => i.a(),
            _ => return false,
        };
        let is_for_tables = |path: &FieldPath| path.shape().is_some();
        let are_tables = match i.op() {
            GetField | SetField | SetFieldK => {
                let paths = &snapshot.field(pc).paths;
                !paths.is_empty() && paths.iter().all(is_for_tables)
            }
            _ => {
                let cell = snapshot.cell(pc) & access::ALL;
                cell != 0 && cell & access::NO_TABLE == 0
            }
        };
        object == r && are_tables && !snapshot.failed.contains(&pc.as_u32())
    }

    /// Returns the method of strings that the instruction looks up, if it has been found before.
    pub(super) fn found_method(&mut self) -> Option<Value> {
        let (epoch, found) = self.known.method_of_strings(self.name())?;
        if self.known.epoch() != Some(epoch) {
            let state = self.state();
            self.push(Op::GuardEpoch(epoch, state));
            self.known.note_epoch(epoch);
        }
        Some(found)
    }
}
