//! Inline allocation: tables with their first fields, closures, upvalues.
//!
//! An object that fits into the current hole is allocated there, as `State::alloc` does. Only the
//! runtime looks for another hole, counts allocated bytes, and requests collections, so code needs
//! to poll only after a call of the runtime.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::closure::LuaClosure;
use perilune_runtime::header::Kind;
use perilune_runtime::instance::Site;
use perilune_runtime::layout::{closure, header, site, state, table, thread, value};
use perilune_runtime::table::Table;
use perilune_runtime::upvalue::Upvalue;

use super::Emitter;
use super::memory::{CONSTANT, Region};
use super::value::Known;
use crate::entity::{Pc, Reg};

impl Emitter<'_> {
    /// Allocates `size` bytes in the current hole; branches to `slow` if it is too small.
    pub(super) fn bump(&mut self, size: usize, slow: Block) -> Value {
        let st = self.state();
        let place = self.load64(Region::State, st, state::CURSOR);
        let end = self.b.ins().iadd_imm_s(place, size as i64);
        let limit = self.load64(Region::State, st, state::HOLE_END);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.guard(fits, slow);
        self.store(Region::State, end, st, state::CURSOR);
        place
    }

    /// Loads the shape of the tables that allocation site `site` creates, which have at most
    /// `fields` fields; branches to `slow` if this state has not allocated a table there yet.
    pub(crate) fn site_shape(&mut self, site: usize, fields: usize, slow: Block) -> Value {
        if fields == 0 {
            let st = self.state();
            return self.b.ins().load(I64, CONSTANT, st, state::EMPTY_SHAPE as i32);
        }
        let at = self.frame().places.sites + site * size_of::<Site>();
        let shape = self.load64(Region::Instances, self.instance(), at + site::SHAPE);
        self.guard(shape, slow);
        shape
    }

    /// Branches to `other` unless a shape has this id.
    pub(crate) fn guard_shape_id(&mut self, shape: Value, id: u32, other: Block) {
        let found = self.load32(Region::Objects, shape, header::WORD);
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, found, i64::from(id));
        self.guard(same, other);
    }

    /// Allocates a table of a shape as `Table::new` does; branches to `slow` if there is no room.
    /// `is_stored` says which of its fields the caller stores next.
    pub(crate) fn allocate_table(
        &mut self,
        (fields, array): (usize, usize),
        shape: Value,
        is_stored: impl Fn(usize) -> bool,
        slow: Block,
    ) -> Value {
        let t = self.bump(Table::size_for(fields as u8), slow);
        let id = self.load32(Region::Objects, shape, header::WORD);
        let kind = self.b.ins().iconst(I32, Kind::Table as i64);
        self.initialize(Region::Objects, kind, t, header::KIND);
        self.initialize(Region::Objects, id, t, header::WORD);
        self.initialize(Region::Objects, shape, t, table::SHAPE);
        let first = self.b.ins().iadd_imm_s(t, table::INLINE_FIELDS as i64);
        self.initialize(Region::Objects, first, t, table::FIELDS);
        let zero = self.int(0);
        for at in [table::META, table::ARRAY, table::NODES] {
            self.initialize(Region::Objects, zero, t, at);
        }
        let lengths = self.int((array as i64) << 32);
        self.initialize(Region::Objects, lengths, t, table::ARRAY_LEN);
        let caps = self.int((fields as i64) << 40 | (fields as i64) << 48);
        self.initialize(Region::Objects, caps, t, table::NODES_USED);
        for slot in (0..fields).filter(|&slot| !is_stored(slot)) {
            self.initialize_value(
                Region::Fields,
                (zero, zero),
                t,
                table::INLINE_FIELDS + slot * value::SIZE,
            );
        }
        t
    }

    /// Allocates a table in the runtime, for the instruction at `pc`. The caller has to poll once
    /// the table is in a register.
    pub(crate) fn call_new_table(&mut self, pc: Pc, fields: usize) -> Value {
        self.save_frame(pc + 1);
        let st = self.state();
        let (position, fields) = (self.int(pc.index() as i64), self.int(fields as i64));
        let new_table = self.body.calls.new_table as usize;
        let t = self.runtime_word(new_table, &[st, self.instance(), position, fields]);
        self.unless_panicked(t)
    }

    /// Allocates the virtual tables of a state, whose description is stored, and puts them into
    /// their registers; the frame is at `pc`. Preserves all machine registers.
    pub(crate) fn allocate_virtuals(&mut self, pc: Pc) {
        self.pass_virtuals();
        self.quiet_step(self.body.calls.preserving_virtuals as usize, pc);
    }

    /// Like [`Emitter::call_new_table`], but preserves all machine registers.
    pub(crate) fn call_new_table_preserving(&mut self, pc: Pc, fields: usize) -> Value {
        self.save_frame(pc + 1);
        let (st, fields) = (self.state(), self.int(fields as i64));
        self.store(Region::State, fields, st, state::RETURNED_BITS);
        let new_table = self.body.calls.preserving_new_table as usize;
        let call = self.preserving(new_table);
        self.changes_nothing(call);
        let st = self.state();
        let t = self.load64(Region::State, st, state::RETURNED_BITS);
        self.unless_panicked(t)
    }

    /// Stores fields of the new table `t`, by slot, and the shape that it has with them.
    pub(crate) fn store_first_fields(
        &mut self,
        t: Value,
        shape: Value,
        values: &[(u32, Value, Known)],
    ) {
        for &(slot, bits, tag) in values {
            let tag = self.tag_value(tag);
            let at = table::INLINE_FIELDS + slot as usize * value::SIZE;
            self.initialize_value(Region::Fields, (bits, tag), t, at);
        }
        let id = self.load32(Region::Objects, shape, header::WORD);
        self.initialize(Region::Objects, shape, t, table::SHAPE);
        self.initialize(Region::Objects, id, t, header::WORD);
    }

    /// Returns the upvalue for register `r`: the first open upvalue of the list, or a new one at
    /// its front; branches to `slow` if its place is further down the list.
    pub(crate) fn captured_upvalue(&mut self, r: Reg, slow: Block) -> Value {
        let st = self.state();
        let th = self.load64(Region::State, st, state::THREAD);
        let place = self.address(r);
        let head = self.load64(Region::State, th, thread::OPEN);
        let (some, lower, new, done) = (self.block(), self.block(), self.block(), self.block());
        let up = self.b.append_block_param(done, I64);
        self.branch(head, some, new);
        self.switch_to(some);
        let other = self.upvalue_place(head);
        let same = self.b.ins().icmp(IntCC::Equal, other, place);
        self.b.ins().brif(same, done, &[BlockArg::from(head)], lower, &[]);
        self.switch_to(lower);
        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, other, place);
        self.branch(below, new, slow);
        self.switch_to(new);
        let u = self.bump(size_of::<Upvalue>(), slow);
        let word = self.int(Kind::Upvalue as i64);
        self.store(Region::Objects, word, u, header::KIND);
        self.store(Region::Objects, place, u, closure::PLACE);
        self.store(Region::Slots, head, u, closure::CLOSED);
        let nil = self.int(0);
        self.store8(Region::Slots, nil, u, closure::CLOSED + value::TAG);
        self.store(Region::State, u, th, thread::OPEN);
        self.jump_with(done, u);
        self.switch_to(done);
        up
    }

    /// Loads the instance of inner function `n`; branches to `slow` if the state has no instance of
    /// it yet.
    pub(crate) fn inner_instance(&mut self, n: usize, slow: Block) -> Value {
        let at = self.frame().places.children + n * size_of::<usize>();
        let child = self.load64(Region::Instances, self.instance(), at);
        self.guard(child, slow);
        child
    }

    /// Allocates a closure of `instance` with these upvalues; branches to `slow` if there is no
    /// room.
    pub(crate) fn allocate_closure(
        &mut self,
        instance: Value,
        upvalues: &[Value],
        slow: Block,
    ) -> Value {
        let c = self.bump(LuaClosure::size_for(upvalues.len()), slow);
        let word = self.int(Kind::LuaClosure as i64 | (upvalues.len() as i64) << AUX_SHIFT);
        self.store(Region::Objects, word, c, header::KIND);
        self.store(Region::Objects, instance, c, closure::INSTANCE);
        for (n, &up) in upvalues.iter().enumerate() {
            self.store(Region::Objects, up, c, closure::UPVALUES + n * size_of::<usize>());
        }
        c
    }

    /// Allocates a closure of inner function `n` in the runtime, for the instruction at `pc`. The
    /// caller has to poll once the closure is in a register.
    pub(crate) fn call_new_closure(&mut self, pc: Pc, n: usize) -> Value {
        let n = self.int(n as i64);
        let base = self.base();
        let args = [self.instance(), n, base];
        self.save_frame(pc + 1);
        let (c, _) = self.preserving_leaf(self.body.calls.closure as usize, &args);
        self.unless_panicked(c)
    }
}

/// The position of the byte `aux` in the first word of a header.
const AUX_SHIFT: usize = 8 * header::AUX;

// The fields of a header that are written as one word.
const _: () = assert!(
    table::ARRAY_CAP == table::ARRAY_LEN + 4
        && table::NODE_BITS == table::NODES_USED + 4
        && table::FIELDS_CAP == table::NODES_USED + 5
        && table::FIELDS_INLINE == table::NODES_USED + 6
        && table::ABSENT == table::NODES_USED + 7
        && header::KIND == 0
);
