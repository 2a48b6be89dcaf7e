//! Elements of arrays: loads, stores and appends; calls of the runtime for everything else.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value};
use perilune_bytecode::feedback::access;
use perilune_runtime::layout::{header, state, table};
use perilune_runtime::meta::Event;
use perilune_runtime::table::{ArrayKind, HAS_ELEMENTS, MIN_CAP};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::encoding::KIND_TO_TAG;
use super::memory::Region;
use super::table::Stored;
use super::value::Known;
use crate::entity::{Pc, Reg};
use crate::testing::fault::Fault;

/// The kinds of arrays that an access has seen.
#[derive(Clone, Copy)]
pub(crate) struct Kinds {
    pub(crate) numbers: bool,
    pub(crate) any: bool,
    pub(crate) booleans: bool,
}

/// What the arrays of a store have held so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// All contained only numbers.
    Numbers,
    /// All contained only booleans.
    Booleans,
    /// They differed, or some contained values of any kind.
    Any,
}

/// What a store to an element may do to the array.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct ArrayChanges {
    /// It converts an array of numbers whose kind differs from that of the value.
    pub(crate) converts: bool,
    /// It adds elements, and may store to the hash part.
    pub(crate) grows: bool,
}

/// The expectations about a store to an element.
#[derive(Clone, Copy)]
pub(crate) struct ElementStore {
    pub(crate) held: Held,
    /// The kinds of arrays seen so far.
    pub(crate) seen: Kinds,
    pub(crate) changes: ArrayChanges,
    /// Keys are often neither in the array nor right after it.
    pub(crate) is_sparse: bool,
    /// Whether the code takes a side exit if there is no element to overwrite, or if the array is
    /// of another kind. Stores that may grow the array call the runtime nevertheless.
    pub(crate) exits: bool,
}

/// An element of an array, in one of the three blocks that its kind leads to.
pub(crate) struct Element {
    kind: Value,
    /// The addresses of payload and tag, and of the tag if it is a boolean in an array of these.
    payload: Value,
    tag: Value,
    boolean: Value,
    /// The blocks for a number, for any value, and for a boolean.
    numbers: Block,
    any: Block,
    booleans: Block,
}

impl Kinds {
    /// Returns the kinds that an access with this feedback has seen.
    pub(crate) fn of(cell: u32) -> Kinds {
        Kinds {
            numbers: cell & (access::INTS | access::FLOATS) != 0,
            any: cell & access::ANY != 0,
            booleans: cell & access::BOOLS != 0,
        }
    }
}

impl ElementStore {
    /// Returns the kinds of arrays that a store of `v` has cases for, the likely ones first: those
    /// that may hold the value, if the arrays so far were as `held` says.
    fn cases(self, v: Known, held: Held) -> Vec<Held> {
        let (numbers, booleans) = match v {
            Known::Tag(Tag::INTEGER | Tag::FLOAT) => (true, false),
            Known::Tag(Tag::FALSE | Tag::TRUE) => (false, true),
            Known::Tag(_) => (false, false),
            Known::Value(_) => (true, true),
        };
        match held {
            Held::Numbers => vec![Held::Numbers],
            Held::Booleans if booleans => vec![Held::Booleans],
            // a boolean is most likely stored in an array of booleans
            _ if booleans && !numbers && !self.seen.any => vec![Held::Booleans, Held::Any],
            _ => {
                let others = [(numbers, Held::Numbers), (booleans, Held::Booleans)];
                let fitting = others.into_iter().filter_map(|(fits, case)| fits.then_some(case));
                std::iter::once(Held::Any).chain(fitting).collect()
            }
        }
    }
}

impl Emitter<'_> {
    /// Loads the number of elements of a table's array.
    pub(crate) fn array_len(&mut self, table: Value) -> Value {
        self.load_u32(Region::Objects, table, table::ARRAY_LEN)
    }

    /// Loads the kind of a table's array.
    pub(super) fn array_kind(&mut self, table: Value) -> Value {
        self.load8(Region::Objects, table, header::AUX)
    }

    /// Returns whether `kind`, as loaded, is this kind.
    fn is_kind(&mut self, kind: Value, wanted: ArrayKind) -> Value {
        self.b.ins().icmp_imm_u(IntCC::Equal, kind, wanted as i64)
    }

    /// Returns whether an array of this kind has values of any kind.
    pub(super) fn is_any(&mut self, kind: Value) -> Value {
        self.is_kind(kind, ArrayKind::Any)
    }

    /// Returns whether an array of this kind has booleans.
    pub(super) fn is_booleans(&mut self, kind: Value) -> Value {
        self.is_kind(kind, ArrayKind::Bool)
    }

    /// Returns whether an array of this kind, which has elements, has numbers.
    fn is_numbers(&mut self, kind: Value) -> Value {
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, kind, ArrayKind::Any as i64)
    }

    /// Returns the tag of the elements of an array of numbers of this kind.
    pub(super) fn number_tag(&mut self, kind: Value) -> Value {
        self.b.ins().iadd_imm_s(kind, KIND_TO_TAG)
    }

    /// Returns the index of key `key` in a table's array; branches to `outside` if it is not in
    /// there.
    pub(crate) fn array_index(&mut self, table: Value, key: Value, outside: Block) -> Value {
        let at = self.plus(key, -1);
        let len = self.array_len(table);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        at
    }

    /// Returns the address of the tag of element `at` of an array of booleans.
    pub(super) fn boolean_address(&mut self, table: Value, at: Value) -> Value {
        let array = self.load64(Region::Objects, table, table::ARRAY);
        self.b.ins().iadd(array, at)
    }

    /// Returns the address of the payload of element `at`.
    fn payload_address(&mut self, table: Value, at: Value) -> Value {
        let array = self.load64(Region::Objects, table, table::ARRAY);
        let offset = self.b.ins().ishl_imm_u(at, 3);
        self.b.ins().iadd(array, offset)
    }

    /// Returns the addresses of payload and tag of element `at`; the tag's is good for arrays of
    /// any kind of value.
    pub(super) fn element_addresses(&mut self, table: Value, at: Value) -> (Value, Value) {
        let array = self.load64(Region::Objects, table, table::ARRAY);
        let offset = self.b.ins().ishl_imm_u(at, 3);
        let payload = self.b.ins().iadd(array, offset);
        let cap = self.load_u32(Region::Objects, table, table::ARRAY_CAP);
        let tags = self.b.ins().ishl_imm_u(cap, 3);
        let tags = self.b.ins().iadd(array, tags);
        let tag = self.b.ins().iadd(tags, at);
        (payload, tag)
    }

    /// Returns the address of the element under `key` of an array of numbers with this tag;
    /// branches to `wrong` if it is not in the array, or the array is of another kind.
    pub(crate) fn number_place(
        &mut self,
        table: Value,
        key: Value,
        tag: Tag,
        wrong: Block,
    ) -> Value {
        let at = self.array_index(table, key, wrong);
        self.guard_numbers(table, tag, wrong);
        self.payload_address(table, at)
    }

    /// Loads the element under `key`, which is in the array, of an array of numbers with this tag;
    /// branches to `wrong` if the array is of another kind.
    pub(crate) fn number_inside(
        &mut self,
        table: Value,
        key: Value,
        tag: Tag,
        wrong: Block,
    ) -> Value {
        self.guard_numbers(table, tag, wrong);
        let next = self.payload_address(table, key);
        let ty = if tag == Tag::FLOAT { F64 } else { I64 };
        self.load(Region::Elements, ty, next, -(size_of::<u64>() as i32))
    }

    /// Branches to `other` unless the array of a table has only numbers with this tag.
    fn guard_numbers(&mut self, table: Value, tag: Tag, other: Block) {
        let kind = self.array_kind(table);
        let wanted = i64::from(tag.0) - KIND_TO_TAG;
        let right = self.b.ins().icmp_imm_u(IntCC::Equal, kind, wanted);
        self.guard(right, other);
    }

    /// Loads the number at an address that [`Emitter::number_place`] has returned.
    pub(crate) fn load_number(&mut self, place: Value, ty: Type) -> Value {
        self.load(Region::Elements, ty, place, 0)
    }

    /// Ends the block: finds the element under `key` of a table's array; branches to `outside` if
    /// it is not in there.
    pub(crate) fn element(
        &mut self,
        table: Value,
        key: Value,
        seen: Kinds,
        outside: Block,
    ) -> Element {
        // loaded first, so that it is also available in the block for a missing element
        let kind = self.array_kind(table);
        let at = self.plus(key, -1);
        let (payload, tag) = self.element_addresses(table, at);
        let boolean = self.boolean_address(table, at);
        self.array_index(table, key, outside);
        let (numbers, any) = (self.block(), self.block());
        let booleans = if seen.booleans { self.block() } else { self.cold_block() };
        let is_booleans = self.is_booleans(kind);
        let others = self.block();
        if seen.booleans && (seen.numbers || seen.any) {
            let is_first = if seen.any { self.is_any(kind) } else { self.is_numbers(kind) };
            let (first, third) = if seen.any { (any, numbers) } else { (numbers, any) };
            self.branch(is_first, first, others);
            self.switch_to(others);
            self.branch(is_booleans, booleans, third);
        } else if seen.any {
            let is_any = self.is_any(kind);
            self.branch(is_any, any, others);
            self.switch_to(others);
            self.branch(is_booleans, booleans, numbers);
        } else {
            // where they were not seen, a loop often compares only once
            self.branch(is_booleans, booleans, others);
            self.switch_to(others);
            let is_any = self.is_any(kind);
            self.branch(is_any, any, numbers);
        }
        Element { kind, payload, tag, boolean, numbers, any, booleans }
    }

    /// Loads the element under `key` of an array of booleans, whose payload is 0; branches to
    /// `wrong` if it is not in the array, the array is of another kind, or the element is nil and
    /// the table has a metatable.
    pub(crate) fn boolean_element(
        &mut self,
        table: Value,
        key: Value,
        wrong: Block,
    ) -> (Value, Value) {
        let at = self.array_index(table, key, wrong);
        let kind = self.array_kind(table);
        let is_booleans = self.is_booleans(kind);
        self.guard(is_booleans, wrong);
        let place = self.boolean_address(table, at);
        let tag = self.load8(Region::Elements, place, 0);
        self.guard_found(table, tag, wrong);
        (self.int(0), tag)
    }

    /// Branches to `wrong` if an element with this tag is nil and the table has a metatable.
    fn guard_found(&mut self, table: Value, tag: Value, wrong: Block) {
        let (hole, found) = (self.cold_block(), self.block());
        self.branch(tag, found, hole);
        self.switch_to(hole);
        let meta = self.meta(table);
        self.branch(meta, wrong, found);
        self.switch_to(found);
    }

    /// Loads the element under `key` of an array of values of any kind; branches to `wrong` if it
    /// is not in the array, nil, or the array is of another kind.
    pub(crate) fn any_element(&mut self, table: Value, key: Value, wrong: Block) -> (Value, Value) {
        let at = self.array_index(table, key, wrong);
        let kind = self.array_kind(table);
        let is_any = self.is_any(kind);
        self.guard(is_any, wrong);
        let (payload, tag) = self.element_addresses(table, at);
        let bits = self.load64(Region::Elements, payload, 0);
        let tag = self.load8(Region::Elements, tag, 0);
        self.guard(tag, wrong);
        (bits, tag)
    }

    /// Loads the element under `key` of a table with an array of any kind, or nil if there is no
    /// such element; branches to `wrong` if a metamethod must be called, and for the first array of
    /// booleans. `seen`: the kinds of arrays so far; `outside_is_likely`: whether keys outside the
    /// array are likely.
    pub(crate) fn element_or_nil(
        &mut self,
        pc: Pc,
        (table, key): (Value, Value),
        (seen, outside_is_likely): (Kinds, bool),
        wrong: Block,
    ) -> (Value, Value) {
        let done = self.join_block(I64);
        let (is_nil, inherits) = (self.block(), self.cold_block());
        let found = |e: &mut Self, (bits, tag): (Value, Value)| {
            e.verify_element(pc, table, key, (bits, tag));
            e.join(done, bits, tag);
        };
        let (outside, in_hash) = match outside_is_likely {
            true => (self.block(), self.block()),
            false => (self.cold_block(), self.cold_block()),
        };
        let element = self.element(table, key, seen, outside);
        let (bits, tag) = self.in_numbers(&element);
        found(self, (bits, tag));
        let (bits, tag) = self.in_any(&element, is_nil);
        found(self, (bits, tag));
        if seen.booleans {
            let (bits, tag) = self.in_booleans(&element, is_nil);
            found(self, (bits, tag));
        } else {
            self.switch_to(element.booleans);
            self.jump(wrong);
        }

        self.switch_to(outside);
        let nodes = self.load64(Region::Objects, table, table::NODES);
        self.branch(nodes, in_hash, is_nil);

        self.switch_to(in_hash);
        if outside_is_likely {
            let (bits, tag) = self.integer_in_nodes(table, nodes, key, is_nil);
            found(self, (bits, tag));
        } else {
            self.jump(inherits);
        }

        self.switch_to(is_nil);
        let meta = self.meta(table);
        self.guard_not(meta, inherits);
        let (zero, nil) = (self.int(0), self.tag(Tag::NIL));
        found(self, (zero, nil));

        self.switch_to(inherits);
        let (bits, tag) = self.inherited_element(table, key);
        self.guard_answer(tag, wrong);
        self.join(done, bits, tag);
        self.switch_to(done.block);
        (self.joined_bits(done), self.joined_tag(done))
    }

    /// Returns the value that the runtime finds under an integer key of a table, or along its chain
    /// of `__index` tables, or a miss.
    fn inherited_element(&mut self, table: Value, key: Value) -> (Value, Value) {
        let get_int = self.body.calls.get_int as usize;
        self.quiet_leaf(get_int, &[table, key])
    }

    /// Continues where an element is a number, and loads it.
    pub(crate) fn in_numbers(&mut self, element: &Element) -> (Value, Value) {
        self.switch_to(element.numbers);
        let bits = self.load64(Region::Elements, element.payload, 0);
        (bits, self.number_tag(element.kind))
    }

    /// Continues where an element may be any value, and loads it; branches to `slow` if it is nil.
    pub(crate) fn in_any(&mut self, element: &Element, slow: Block) -> (Value, Value) {
        self.switch_to(element.any);
        let bits = self.load64(Region::Elements, element.payload, 0);
        let tag = self.load8(Region::Elements, element.tag, 0);
        self.guard(tag, slow);
        (bits, tag)
    }

    /// Continues where an element is a boolean, and loads it; branches to `slow` if it is nil.
    pub(crate) fn in_booleans(&mut self, element: &Element, slow: Block) -> (Value, Value) {
        self.switch_to(element.booleans);
        let tag = self.load8(Region::Elements, element.boolean, 0);
        self.guard(tag, slow);
        (self.int(0), tag)
    }

    /// Ends the block: stores the element under `key` for the instruction at `pc`, and goes to
    /// `done`; branches to `slow` where the runtime cannot store it without the instruction.
    pub(crate) fn store_element(
        &mut self,
        pc: Pc,
        (table, key): (Value, Value),
        v: Stored,
        seen: ElementStore,
        (slow, done): (Block, Block),
    ) {
        let by_call = if seen.is_sparse { self.block() } else { self.cold_block() };
        if seen.changes.converts {
            self.convert_numbers((table, key), v, slow);
        }
        let at = self.plus(key, -1);
        let len = self.array_len(table);
        let kind = self.array_kind(table);
        if matches!(v.known, Known::Tag(Tag::NIL)) {
            self.clear_element(table, (at, len, kind), (by_call, done));
            self.switch_to(by_call);
            return self.store_by_call(pc, (table, key), v, seen, (slow, done));
        }
        let outside = if seen.changes.grows { self.block() } else { self.cold_block() };
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        let cases = seen.cases(v.known, seen.held);
        if cases.len() > 1 {
            // Loaded before the cases part, so that iterations of a loop need not load it again.
            self.load64(Region::Objects, table, table::ARRAY);
            if cases.contains(&Held::Any) {
                self.load_u32(Region::Objects, table, table::ARRAY_CAP);
            }
        }
        self.store_by_kind(kind, v, &cases, by_call, |e, held| {
            match held {
                Held::Numbers => e.store_number(table, at, v),
                Held::Booleans => {
                    let tag = e.boolean_address(table, at);
                    match seen.exits {
                        // rare with a metatable, and a loop tests for one only once
                        true => {
                            let meta = e.meta(table);
                            e.guard_not(meta, by_call);
                        }
                        false => e.guard_stores_element(table, tag, by_call),
                    }
                    e.store_boolean(table, at, v);
                }
                Held::Any => {
                    let (payload, tag) = e.element_addresses(table, at);
                    let stored = e.block();
                    e.without_hole(table, tag, stored, by_call);
                    e.switch_to(stored);
                    e.guard(v.tag, by_call);
                    e.store_any((payload, tag), v);
                    e.barrier(table, (v.bits, v.known));
                }
            }
            e.verify_element(pc, table, key, v.parts());
            e.jump(done);
        });

        self.switch_to(outside);
        if seen.changes.grows {
            self.append(pc, table, (at, len, kind), (v, seen), (by_call, done));
        } else {
            self.jump(by_call);
        }
        self.switch_to(by_call);
        if (seen.held != Held::Any || seen.exits) && !seen.changes.grows {
            // This hardly ever happens, so the code need not avoid running the instruction in the
            // runtime.
            self.jump(slow);
            return;
        }
        self.store_by_call(pc, (table, key), v, seen, (slow, done));
    }

    /// Converts an array of numbers whose kind differs from that of `v` to one of any values, by
    /// storing `v` in the runtime. The store that follows repeats this, which has no effect unless
    /// `v` is nil: as that removes the element, the second store would call `__newindex`, so nil is
    /// left to it. Afterwards, facts about the array hold for its new kind.
    fn convert_numbers(&mut self, (table, key): (Value, Value), v: Stored, slow: Block) {
        let kind = self.array_kind(table);
        let (convert, ready) = (self.cold_block(), self.block());
        let is_other = match v.known {
            Known::Tag(Tag::INTEGER) => self.is_kind(kind, ArrayKind::Float),
            Known::Tag(Tag::FLOAT) => self.is_kind(kind, ArrayKind::Int),
            _ => {
                let (some, numbers) = (self.block(), self.block());
                self.branch(v.tag, some, ready);
                self.switch_to(some);
                let is_numbers = self.is_numbers(kind);
                self.branch(is_numbers, numbers, ready);
                self.switch_to(numbers);
                let held = self.number_tag(kind);
                self.b.ins().icmp(IntCC::NotEqual, held, v.tag)
            }
        };
        self.branch(is_other, convert, ready);
        self.switch_to(convert);
        let set_int = self.body.calls.set_int as usize;
        let hit = self.quiet_leaf(set_int, &[table, key, v.bits, v.tag]).0;
        self.changes_array();
        self.branch(hit, ready, slow);
        self.switch_to(ready);
    }

    /// Branches to `other` if a store to an element whose tag is at this address may call a
    /// metamethod: the element is nil, and the table may have `__newindex`. All elements of arrays
    /// of numbers are there.
    fn guard_stores_element(&mut self, table: Value, tag: Value, other: Block) {
        // in a loop the metatable is loaded once, but not the tag
        let meta = self.meta(table);
        let (some, stored) = (self.cold_block(), self.block());
        self.branch(meta, some, stored);
        self.switch_to(some);
        self.without_hole(table, tag, stored, other);
        self.switch_to(stored);
    }

    /// Ends the block: goes to `stored` if the element whose tag is at this address is not nil, or
    /// the table has no `__newindex`, and else to `other`.
    fn without_hole(&mut self, table: Value, tag: Value, stored: Block, other: Block) {
        let old = self.load8(Region::Elements, tag, 0);
        let hole = self.cold_block();
        self.branch(old, stored, hole);
        self.switch_to(hole);
        self.without_event(table, Event::NewIndex, stored, other);
    }

    /// Ends the block: stores nil to an element of an array; goes to `other` if that requires the
    /// runtime.
    ///
    /// Removing the last element only lowers the length if the element before is not nil, as in all
    /// arrays of numbers. An element in the middle of an array of any values becomes nil in place.
    fn clear_element(
        &mut self,
        table: Value,
        (at, len, kind): (Value, Value, Value),
        (other, done): (Block, Block),
    ) {
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, other);
        let is_any = self.is_any(kind);
        let longer = self.plus(at, 1);
        let is_last = self.b.ins().icmp(IntCC::Equal, longer, len);
        let (last, middle) = (self.block(), self.block());
        self.branch(is_last, last, middle);

        self.switch_to(middle);
        self.guard(is_any, other);
        let (payload, tag) = self.element_addresses(table, at);
        let old = self.load8(Region::Elements, tag, 0);
        // If there is no element, a metamethod may be called.
        self.guard(old, other);
        let nil = self.int(0);
        self.store(Region::Elements, nil, payload, 0);
        self.store8(Region::Elements, nil, tag, 0);
        self.jump(done);

        self.switch_to(last);
        let (any, before, shorter) = (self.block(), self.block(), self.block());
        let others = self.block();
        self.branch(is_any, any, others);
        self.switch_to(others);
        let is_booleans = self.is_booleans(kind);
        self.guard_not(is_booleans, other);
        self.jump(shorter);
        self.switch_to(any);
        self.branch(at, before, shorter);
        self.switch_to(before);
        let last = self.plus(at, -1);
        let (_, tag) = self.element_addresses(table, last);
        let tag = self.load8(Region::Elements, tag, 0);
        self.guard(tag, other);
        self.jump(shorter);
        self.switch_to(shorter);
        self.set_array_len(table, at);
        self.jump(done);
    }

    /// Ends the block: stores an element in the runtime, or in the hash part if it often is there,
    /// and goes to `done`; goes to `slow` if the runtime cannot.
    fn store_by_call(
        &mut self,
        pc: Pc,
        (table, key): (Value, Value),
        v: Stored,
        seen: ElementStore,
        (slow, done): (Block, Block),
    ) {
        let set_int = self.body.calls.set_int as usize;
        let hit = if seen.is_sparse {
            let by_runtime = self.block();
            self.store_under_integer(table, key, v, by_runtime);
            self.verify_element(pc, table, key, v.parts());
            self.jump(done);
            self.switch_to(by_runtime);
            let args = [self.state(), table, key, v.bits, v.tag];
            self.runtime_word(set_int, &args)
        } else {
            let hit = self.quiet_leaf(set_int, &[table, key, v.bits, v.tag]).0;
            self.changes_array();
            hit
        };
        self.branch(hit, done, slow);
    }

    /// Notes that the runtime has stored an element: elements may have moved between the array and
    /// the hash part. It neither changes shapes nor calls anything.
    fn changes_array(&mut self) {
        for region in [Region::Objects, Region::Flags, Region::Fields, Region::Elements] {
            self.available.change(self.b.func, region);
        }
    }

    /// Ends the block: calls `store` in a block for each of these kinds of arrays, to end it; goes
    /// to `other` if the array is of none of them.
    fn store_by_kind(
        &mut self,
        kind: Value,
        v: Stored,
        cases: &[Held],
        other: Block,
        mut store: impl FnMut(&mut Self, Held),
    ) {
        for (n, &held) in cases.iter().enumerate() {
            let is_last = n + 1 == cases.len();
            let next = if is_last { other } else { self.block() };
            match held {
                Held::Any => {
                    let is_any = self.is_any(kind);
                    self.guard(is_any, next);
                }
                Held::Numbers => self.guard_number_kind(kind, v, next),
                Held::Booleans => self.guard_boolean_kind(kind, v, next),
            }
            store(self, held);
            if !is_last {
                self.switch_to(next);
            }
        }
    }

    fn store_number(&mut self, table: Value, at: Value, v: Stored) {
        let payload = self.payload_address(table, at);
        self.store(Region::Elements, v.bits, payload, 0);
    }

    fn store_boolean(&mut self, table: Value, at: Value, v: Stored) {
        let place = self.boolean_address(table, at);
        self.store8(Region::Elements, v.tag, place, 0);
    }

    /// Stores an element of an array of any kind, without a barrier.
    fn store_any(&mut self, (payload, tag): (Value, Value), v: Stored) {
        self.store(Region::Elements, v.bits, payload, 0);
        self.store8(Region::Elements, v.tag, tag, 0);
    }

    /// Branches to `other` unless an array of this kind contains numbers with this tag.
    fn guard_number_kind(&mut self, kind: Value, v: Stored, other: Block) {
        let is_number = matches!(v.known, Known::Tag(Tag::INTEGER | Tag::FLOAT));
        if !is_number && self.body.fault != Some(Fault::UnguardedKind) {
            // other kinds plus the distance are the tags of other values
            let number = self.is_number(v.tag);
            self.guard(number, other);
        }
        let element = self.number_tag(kind);
        let same = self.b.ins().icmp(IntCC::Equal, element, v.tag);
        self.guard(same, other);
    }

    /// Branches to `other` unless an array of this kind is one of booleans, and the value is one.
    fn guard_boolean_kind(&mut self, kind: Value, v: Stored, other: Block) {
        let is_booleans = self.is_booleans(kind);
        self.guard(is_booleans, other);
        if matches!(v.known, Known::Value(_)) {
            let is_boolean = self.is_boolean(v.tag);
            self.guard(is_boolean, other);
        }
    }

    /// Ends the block: appends right after the last element, if there is room and the element is
    /// of the array's kind, and else goes to `by_call`.
    fn append(
        &mut self,
        pc: Pc,
        table: Value,
        (at, len, kind): (Value, Value, Value),
        (v, seen): (Stored, ElementStore),
        (by_call, done): (Block, Block),
    ) {
        let next = self.b.ins().icmp(IntCC::Equal, at, len);
        self.guard(next, by_call);
        let cap = self.load_u32(Region::Objects, table, table::ARRAY_CAP);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, at, cap);
        let full = self.cold_block();
        self.guard(room, full);
        self.guard_appends(table, at, by_call);
        let longer = self.b.ins().iadd_imm_s(len, 1);
        let cases = seen.cases(v.known, Held::Any);
        self.store_by_kind(kind, v, &cases, by_call, |e, held| {
            match held {
                Held::Numbers => e.store_number(table, at, v),
                Held::Booleans => e.store_boolean(table, at, v),
                Held::Any => {
                    e.guard(v.tag, by_call);
                    let places = e.element_addresses(table, at);
                    e.store_any(places, v);
                }
            }
            e.set_array_len(table, longer);
            if held == Held::Any {
                e.barrier(table, (v.bits, v.known));
            }
            e.verify_element(pc, table, longer, v.parts());
            e.jump(done);
        });
        self.switch_to(full);
        self.begin_array(pc, table, kind, v, (by_call, done));
    }

    /// Branches to `other` unless a store to element `at`, the one after the last, only appends:
    /// its key or the next one may be in the hash part, or a metamethod may be called.
    fn guard_appends(&mut self, table: Value, at: Value, other: Block) {
        let bits = self.load8(Region::Objects, table, table::NODE_BITS);
        let elements = self.b.ins().band_imm_u(bits, i64::from(HAS_ELEMENTS));
        let meta = self.meta(table);
        let others = self.b.ins().bor(elements, meta);
        let (some, appends) = (self.cold_block(), self.block());
        self.branch(others, some, appends);
        self.switch_to(some);
        let (keys, no_key) = (self.cold_block(), self.cold_block());
        self.branch(elements, keys, no_key);
        self.switch_to(keys);
        let least = self.least_in_nodes(table, bits);
        let next_key = self.plus(at, 2);
        let is_less = self.b.ins().icmp(IntCC::UnsignedLessThan, next_key, least);
        self.branch(is_less, no_key, other);
        self.switch_to(no_key);
        self.without_event(table, Event::NewIndex, appends, other);
        self.switch_to(appends);
    }

    /// Ends the block: allocates the buffer of an array that has none and no capacity, and stores
    /// the first element, as `Table::set_int` does; goes to `by_call` if the table has an array, if
    /// the key may be in the hash part, if a metamethod may be called, or if the allocation
    /// requires the runtime.
    fn begin_array(
        &mut self,
        pc: Pc,
        table: Value,
        kind: Value,
        v: Stored,
        (by_call, done): (Block, Block),
    ) {
        let begun = match v.known {
            Known::Tag(Tag::NIL) => return self.jump(by_call),
            Known::Tag(tag) => ArrayKind::of_tag(tag),
            Known::Value(tag) => {
                let is_object = self.b.ins().band_imm_u(tag, i64::from(Tag::COLLECTABLE));
                self.guard(is_object, by_call);
                ArrayKind::Any
            }
        };
        self.guard_not(kind, by_call);
        let first = self.int(0);
        self.guard_appends(table, first, by_call);
        // The buffer needs a barrier besides that of the value.
        let flags = self.flags(table);
        let unlogged = self.is_unlogged(flags);
        self.guard_not(unlogged, by_call);
        let buffer = self.bump(begun.block_bytes(MIN_CAP), by_call);
        self.store(Region::Objects, buffer, table, table::ARRAY);
        let cap = self.int(i64::from(MIN_CAP));
        self.store32(Region::Objects, cap, table, table::ARRAY_CAP);
        self.store_byte(Region::Objects, begun as u8, table, header::AUX);
        let one = self.int(1);
        self.set_array_len(table, one);
        match begun {
            ArrayKind::Any => {
                let tags = self.b.ins().iadd_imm_s(buffer, 8 * i64::from(MIN_CAP));
                self.store_any((buffer, tags), v);
            }
            ArrayKind::Bool => self.store8(Region::Elements, v.tag, buffer, 0),
            _ => self.store(Region::Elements, v.bits, buffer, 0),
        }
        self.verify_element(pc, table, one, v.parts());
        self.jump(done);
    }

    fn set_array_len(&mut self, table: Value, len: Value) {
        self.store32(Region::Objects, len, table, table::ARRAY_LEN);
    }

    /// Stores the values from register `r` on (`count` values, or all up to the end of the frame's
    /// values) into a table as elements from `start` on, in the runtime. Returns 0 on failure.
    pub(crate) fn store_list(
        &mut self,
        table: Value,
        r: Reg,
        count: Option<usize>,
        start: usize,
    ) -> Value {
        let st = self.state();
        let values = self.address(r);
        let n = match count {
            Some(count) => self.int(count as i64),
            None => {
                let top = self.load64(Region::State, st, state::TOP);
                self.count_to(top, values)
            }
        };
        let start = self.b.ins().iconst(I32, start as i64);
        let args = [st, table, start, values, n];
        self.runtime_word(self.body.calls.set_list as usize, &args)
    }
}
