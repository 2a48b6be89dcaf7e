//! Allocations.

use cranelift_codegen::entity::EntityRef;
use perilune_runtime::value::Tag;

use super::Lower;
use crate::codegen::table::Stored;
use crate::codegen::value::Known;
use crate::entity::{Reg, RegisterOperands};
use crate::generic::single::Payload;
use crate::tier2::ir::{Inst, List, Object, State, Value};

impl Lower<'_, '_> {
    /// Allocates a table with the fields that its constructor stores.
    pub(super) fn new_table(&mut self, inst: &Inst, object: Object, state: State) {
        let f = self.f;
        let object = &f.objects[object];
        let i = self.instr(inst);
        let other = self.exit(state);
        let mut values = Vec::with_capacity(object.fields.len());
        for field in &object.fields {
            let (bits, tag) = (self.bits(field.value), self.tag(field.value));
            if field.is_guarded {
                let tag = self.emit().tag_value(tag);
                self.emit().guard(tag, other);
            }
            values.push((field.slot, bits, tag));
        }
        let site = self.generic.record_number(inst.pc);
        let mut shape = self.emit().site_shape(site, i.b(), other);
        if let Some(id) = object.first {
            self.emit().guard_shape_id(shape, id, other);
        }
        if let Some((q, before, entry)) = object.last {
            let cache = self.generic.record_number(q);
            let record = self.emit().record(cache, entry, other);
            self.emit().guard_record_id(record, before, other);
            shape = self.emit().successor(record, other);
            if let Some(id) = object.shape {
                // the same shape may have a different successor in another state
                self.emit().guard_shape_id(shape, id, other);
            }
        }
        let stores = self.stores(state);
        let mut homes = self.homes_of(&stores);
        homes.extend(self.virtual_homes(state));
        let has_virtuals = f.states[state].has_virtuals();
        let slow = self.emit().cold_block();
        let (done, made) = self.emit().block_of_word();
        let is_stored = |slot| values.iter().any(|&(stored, ..)| stored as usize == slot);
        let size = (object.slots, i.c());
        let t = self.emit().allocate_table(size, shape, is_stored, slow);
        self.emit().store_first_fields(t, shape, &values);
        self.emit().jump_with(done, t);

        self.emit().switch_to(slow);
        self.emit().store_homes(&homes);
        self.emit().materialize();
        if has_virtuals {
            self.emit().allocate_virtuals(inst.pc + 1);
        }
        let t = self.emit().call_new_table_preserving(inst.pc, object.slots);
        self.emit().store_first_fields(t, shape, &values);
        let home = Reg::new(i.a() + f.frames[inst.frame].offset);
        let tag = self.emit().tag(Tag::TABLE);
        self.emit().store_home(home, t, tag);
        // the collector clears the registers above the table
        let top = self.emit().address(i.ra() + 1);
        self.emit().quiet_poll_to(object.end, top);
        self.emit().jump_with(done, t);

        self.emit().switch_to(done);
        self.set_lua(inst, Payload::Bits(made), Known::Tag(Tag::TABLE));
    }

    /// Stores the items of a constructor.
    pub(super) fn set_list(
        &mut self,
        inst: &Inst,
        table: Value,
        (list, expected): (List, usize),
        state: State,
    ) {
        let failed = self.exit(state);
        let i = self.instr(inst);
        let items: Vec<Value> = self.f.lists[list].clone();
        let values: Vec<Stored> = items.iter().map(|&v| self.stored(v)).collect();
        let first = self.f.frames[inst.frame].offset + i.a() + 1;
        let registers = items.iter().enumerate().map(|(n, &v)| (Reg::new(first + n), v));
        let registers: Vec<(Reg, Value)> = registers.collect();
        let homes = self.homes_of(&registers);
        let table = self.bits(table);
        let (slow, done) = (self.emit().cold_block(), self.emit().block());
        self.emit().begin_list(inst.pc, table, (&values, expected), (slow, done));

        self.emit().switch_to(slow);
        self.emit().store_homes(&homes);
        self.emit().store_new_list(table, i.ra() + 1, items.len(), failed);
        self.emit().jump(done);
        self.emit().switch_to(done);
    }

    /// Begins a traversal of a table. If the table has nodes, the runtime sorts them.
    pub(super) fn traversal(&mut self, inst: &Inst, table: Value, state: State) {
        let exit = self.exit(state);
        let first = self.instr(inst).ra();
        let stores = self.stores(state);
        let homes = self.homes_of(&stores);
        let table = self.bits(table);
        let (slow, (done, position)) = (self.emit().cold_block(), self.emit().block_of_word());
        let (nodes, start) = (self.emit().nodes(table), self.emit().int(0));
        let empty = self.emit().block();
        self.emit().branch(nodes, slow, empty);
        self.emit().switch_to(empty);
        self.emit().jump_with(done, start);

        self.emit().switch_to(slow);
        self.emit().store_homes(&homes);
        let position_of_nodes = self.emit().begin_traversal(first, exit);
        self.emit().jump_with(done, position_of_nodes);
        self.emit().switch_to(done);
        self.set_lua(inst, Payload::Bits(position), Known::Tag(Tag::ITER));
    }

    /// Allocates a closure in the outermost frame.
    pub(super) fn closure(&mut self, inst: &Inst, state: State) {
        let i = self.instr(inst);
        let stores = self.stores(state);
        let mut homes = self.homes_of(&stores);
        homes.extend(self.virtual_homes(state));
        let slow = self.emit().cold_block();
        let (done, made) = self.emit().block_of_word();
        let c = self.generic.new_closure(inst.pc, slow);
        self.emit().jump_with(done, c);

        self.emit().switch_to(slow);
        self.emit().store_homes(&homes);
        if self.f.states[state].has_virtuals() {
            self.emit().allocate_virtuals(inst.pc);
        }
        let c = self.emit().call_new_closure(inst.pc, i.bx());
        let tag = self.emit().tag(Tag::FUNCTION);
        self.emit().store_home(i.ra(), c, tag);
        // the collector clears the registers above the closure
        let top = self.emit().address(i.ra() + 1);
        self.emit().quiet_poll_to(inst.pc + 1, top);
        self.emit().jump_with(done, c);

        self.emit().switch_to(done);
        self.set_lua(inst, Payload::Bits(made), Known::Tag(Tag::FUNCTION));
    }
}
