//! Descriptions of virtual tables and closures, from which the runtime builds them at exits.
//!
//! A description is stored in slots above all frames, in the format that [`virtuals`] specifies.
//!
//! [`virtuals`]: perilune_runtime::tier::virtuals

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir;
use cranelift_codegen::ir::types::I64;
use perilune_runtime::tier::virtuals;
use perilune_runtime::value::Tag;

use super::Lower;
use crate::codegen::Emitter;
use crate::codegen::value::Known;
use crate::entity::Reg;
use crate::exits::state::Home;
use crate::generic::single::Payload;
use crate::tier2::ir::{
    Content, FrameState, Function, Inst, Metatable, State, VirtualClosure, VirtualTable,
};
use crate::tier2::passes::homes;

impl Lower<'_, '_> {
    /// Returns the stores that describe the virtual tables and closures of a state.
    pub(super) fn virtual_homes(&mut self, state: State) -> Vec<Home> {
        let f = self.f;
        let FrameState { virtuals: tables, closures, .. } = &f.states[state];
        if !f.states[state].has_virtuals() {
            return Vec::new();
        }
        let first = homes::slots(f);
        let mut homes = Vec::new();
        let of_tables: usize = tables.iter().map(|table| table.registers.len()).sum();
        let of_closures: usize = closures.iter().map(|closure| closure.registers.len()).sum();
        let registers = of_tables + of_closures;
        let counts = virtuals::counts(tables.len(), closures.len(), registers);
        self.describe_word(&mut homes, counts);
        let mut places = Vec::with_capacity(tables.len());
        for table in tables {
            places.push(homes.len());
            self.describe(&mut homes, table, &places);
        }
        for closure in closures {
            places.push(homes.len());
            self.describe_word(&mut homes, virtuals::closure(closure.inner, first));
            let instance = self.emit().instance_of(0);
            self.add_slot(&mut homes, instance, Known::Tag(Tag::INTEGER));
        }
        let registers = tables.iter().map(|table| &table.registers);
        let registers = registers.chain(closures.iter().map(|closure| &closure.registers));
        for (registers, place) in registers.zip(places) {
            for r in registers {
                self.describe_word(&mut homes, virtuals::register(place, first - r.index()));
            }
        }
        homes
    }

    /// Allocates the virtual tables of a state; the result is the last one.
    pub(super) fn allocate(&mut self, inst: &Inst, state: State) {
        let homes = self.virtual_homes(state);
        self.emit().store_homes(&homes);
        self.emit().materialize();
        self.emit().allocate_virtuals(inst.pc);
        let tables = &self.f.states[state].virtuals;
        let (_, before) = tables.split_last().expect("there is one");
        let size = |table: &VirtualTable| VirtualTable::size(table.fields.len());
        let place = 1 + before.iter().map(size).sum::<usize>();
        let home = Reg::new(homes::slots(self.f) + place);
        let (table, tag) = self.emit().load_home(home, I64, Some(Known::Tag(Tag::TABLE)));
        self.set_lua(inst, Payload::Bits(table), tag);
    }

    /// Adds the description of a table; the preceding descriptions are at `places`.
    fn describe(&mut self, homes: &mut Vec<Home>, table: &VirtualTable, places: &[usize]) {
        let (frame, pc) = table.site;
        let is_class = matches!(table.metatable, Some(Metatable::WithIndex(_)));
        let site = virtuals::site(table.fields.len(), table.slots, is_class, pc.index());
        self.describe_word(homes, site);
        let instance = self.emit().instance_of(frame.index());
        self.add_slot(homes, instance, Known::Tag(Tag::INTEGER));
        match table.metatable {
            Some(metatable) => {
                let bits = self.bits(metatable.table());
                self.add_slot(homes, bits, Known::Tag(Tag::TABLE));
            }
            None => {
                let payload = self.emit().int(0);
                self.add_slot(homes, payload, Known::Tag(Tag::NIL));
            }
        }
        for &((by, pc), content) in &table.fields {
            if by == frame {
                self.describe_word(homes, pc.index() as u64);
            } else {
                let key = pc.instr(&self.f.frames[by].proto).b();
                let name = self.emit().name_in(by.index(), key);
                self.add_slot(homes, name, Known::Tag(Tag::STRING));
            }
            match content {
                Content::Value(v) => {
                    let (payload, tag) = self.lua(v);
                    let payload = match payload {
                        Payload::Bits(v) | Payload::Float(v) => v,
                    };
                    self.add_slot(homes, payload, tag);
                }
                Content::Table(n) => {
                    let position = self.emit().int(places[n] as i64);
                    self.add_slot(homes, position, Known::Tag(Tag::ITER));
                }
            }
        }
    }

    /// Adds a word, as an integer.
    fn describe_word(&mut self, homes: &mut Vec<Home>, word: u64) {
        let word = self.emit().int(word as i64);
        self.add_slot(homes, word, Known::Tag(Tag::INTEGER));
    }

    fn add_slot(&self, homes: &mut Vec<Home>, payload: ir::Value, tag: Known) {
        let register = Reg::new(homes::slots(self.f) + homes.len());
        homes.push(Home { register, payload, tag: Some(tag) });
    }
}

/// Reserves slots for the descriptions of all states. The prologue checks for room for them.
pub(crate) fn reserve_virtuals(f: &Function, emit: &mut Emitter<'_>) {
    let described = f.states.values().filter(|state| state.has_virtuals());
    if let Some(most) = described.map(description_size).max() {
        emit.reserve_virtuals(Reg::new(homes::slots(f)), most);
    }
}

/// Returns the number of slots of the description of a state's tables and closures.
fn description_size(state: &FrameState) -> usize {
    let size =
        |table: &VirtualTable| VirtualTable::size(table.fields.len()) + table.registers.len();
    let of_closures =
        state.closures.iter().map(|closure| VirtualClosure::size(closure.registers.len()));
    1 + state.virtuals.iter().map(size).chain(of_closures).sum::<usize>()
}
