//! The list items of constructors: the first elements of new tables.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Opcode, Value};
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout::{header, table, value};
use perilune_runtime::table::ArrayKind;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::encoding::KIND_TO_TAG;
use super::memory::Region;
use super::table::Stored;
use super::value::Known;
use crate::entity::{Pc, Reg};

/// The kind of the array that holds a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Known(ArrayKind),
    /// An array of numbers if all items are numbers of the same kind, and an array of any values
    /// otherwise; the tag of the item with this number decides.
    Unknown(usize),
}

/// Returns the kind of the array that holds a list with these items.
fn kind_of(items: &[Stored]) -> Kind {
    let mut known = None;
    for item in items {
        let Known::Tag(tag) = item.known else { continue };
        let kind = ArrayKind::of_tag(tag);
        if known.is_some_and(|known| known != kind) || kind == ArrayKind::Any {
            return Kind::Known(ArrayKind::Any);
        }
        known = Some(kind);
    }
    match (items.iter().position(|item| matches!(item.known, Known::Value(_))), known) {
        (None, Some(kind)) => Kind::Known(kind),
        (unknown, _) => Kind::Unknown(unknown.unwrap_or(0)),
    }
}

impl Emitter<'_> {
    /// Ends the block: stores the items of a constructor as all elements of a table, which was made
    /// for `expected` items, as `Table::set_list` does, and goes to `done`. Goes to `slow` if the
    /// table has elements already, if items are nil, or if the allocation of the array takes the
    /// runtime.
    ///
    /// Nothing has been loaded from the array of the table, and nothing is noted of it.
    pub(crate) fn begin_list(
        &mut self,
        pc: Pc,
        t: Value,
        (items, expected): (&[Stored], usize),
        (slow, done): (Block, Block),
    ) {
        let array = self.load_unnoted(t, table::ARRAY);
        let nodes = self.load_unnoted(t, table::NODES);
        let parts = self.b.ins().bor(array, nodes);
        self.guard_not(parts, slow);
        // no elements, and that capacity
        let lengths = self.load_unnoted(t, table::ARRAY_LEN);
        let new = (expected as i64) << 32;
        let is_new = self.b.ins().icmp_imm_s(IntCC::Equal, lengths, new);
        self.guard(is_new, slow);
        let opcode = (Opcode::Uload8, I64);
        let flags = self.load_always(Region::Flags, opcode, t, header::FLAGS as i32);
        let unlogged = self.b.ins().band_imm_u(flags, i64::from(GcHeader::UNLOGGED));
        self.guard_not(unlogged, slow);
        let first = match kind_of(items) {
            Kind::Known(ArrayKind::Any) => return self.list_of_any(pc, t, items, (slow, done)),
            Kind::Known(kind) => {
                let kind_value = self.int(kind as i64);
                return self.list_of_one_kind(pc, t, items, (kind, kind_value), (slow, done));
            }
            Kind::Unknown(first) => items[first],
        };
        let (of_numbers, of_others, of_any) = (self.block(), self.block(), self.block());
        let number = self.is_number(first.tag);
        self.branch(number, of_numbers, of_others);
        self.switch_to(of_numbers);
        for item in items.iter().filter(|item| item.tag != first.tag) {
            let same = self.b.ins().icmp(IntCC::Equal, item.tag, first.tag);
            self.guard(same, of_any);
        }
        let kind = self.b.ins().iadd_imm_s(first.tag, -KIND_TO_TAG);
        self.list_of_one_kind(pc, t, items, (ArrayKind::Int, kind), (slow, done));
        // all may be booleans, but not if one is an object
        self.switch_to(of_others);
        let object = self.b.ins().band_imm_u(first.tag, i64::from(Tag::COLLECTABLE));
        self.branch(object, of_any, slow);
        self.switch_to(of_any);
        self.list_of_any(pc, t, items, (slow, done));
    }

    /// Like [`Emitter::begin_list`], for items of one of the kinds of arrays other than Any: one of
    /// the same size, and the kind itself.
    fn list_of_one_kind(
        &mut self,
        pc: Pc,
        t: Value,
        items: &[Stored],
        (like, kind): (ArrayKind, Value),
        (slow, done): (Block, Block),
    ) {
        let count = items.len();
        let array = self.bump(like.block_bytes(count as u32), slow);
        for (n, item) in items.iter().enumerate() {
            match like {
                ArrayKind::Bool => self.initialize8(Region::Elements, item.tag, array, n),
                _ => self.initialize(Region::Elements, item.bits, array, n * size_of::<u64>()),
            }
        }
        self.initialize_array(t, array, kind, count);
        self.verify_list(pc, t, items);
        self.jump(done);
    }

    /// Like [`Emitter::begin_list`], for items of any kinds.
    fn list_of_any(&mut self, pc: Pc, t: Value, items: &[Stored], (slow, done): (Block, Block)) {
        let count = items.len();
        for item in items {
            self.guard(item.tag, slow);
        }
        let array = self.bump(ArrayKind::Any.block_bytes(count as u32), slow);
        let tags = count * size_of::<u64>();
        for (n, item) in items.iter().enumerate() {
            self.initialize(Region::Elements, item.bits, array, n * size_of::<u64>());
            self.initialize8(Region::Elements, item.tag, array, tags + n);
        }
        let kind = self.int(ArrayKind::Any as i64);
        self.initialize_array(t, array, kind, count);
        self.verify_list(pc, t, items);
        self.jump(done);
    }

    /// Stores the array of a table.
    fn initialize_array(&mut self, t: Value, array: Value, kind: Value, count: usize) {
        self.initialize(Region::Objects, array, t, table::ARRAY);
        self.initialize8(Region::Objects, kind, t, header::AUX);
        let count = count as i64;
        let lengths = self.int(count | count << 32);
        self.initialize(Region::Objects, lengths, t, table::ARRAY_LEN);
    }

    fn verify_list(&mut self, pc: Pc, t: Value, items: &[Stored]) {
        if self.body.verify_values {
            for (n, item) in items.iter().enumerate() {
                let key = self.int(n as i64 + 1);
                self.verify_element(pc, t, key, item.parts());
            }
        }
    }

    /// Stores the items of a constructor, which are in the registers from `first` on, in the
    /// runtime; branches to `failed`, without an effect, if the runtime cannot.
    pub(crate) fn store_new_list(&mut self, t: Value, first: Reg, count: usize, failed: Block) {
        let (values, start) = (self.address(first), self.int(0));
        let count = self.int(count as i64);
        let set_list = self.body.calls.set_list as usize;
        let (stored, _) = self.quiet_leaf(set_list, &[t, start, values, count]);
        self.guard(stored, failed);
    }

    /// Loads a word that is not used again: of a table that is about to change, or of a cache.
    pub(super) fn load_unnoted(&mut self, at: Value, offset: usize) -> Value {
        self.load_always(Region::Objects, (Opcode::Load, I64), at, offset as i32)
    }
}

// The payload of an item is a word.
const _: () = assert!(value::BITS == 0 && size_of::<u64>() == 8);
