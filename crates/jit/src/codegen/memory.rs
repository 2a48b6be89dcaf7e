//! Loads and stores.
//!
//! Every memory location that code accesses belongs to exactly one [`Region`]. A store changes
//! nothing in other regions, so that Cranelift can remove loads of values that were loaded or
//! stored before, and stores of values that the location already contains. Calls may change all
//! regions.

use std::borrow::Cow;

use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{
    AliasRegionData, Function, InstBuilder, MemFlagsData, Opcode, Type, Value,
};
use perilune_runtime::layout::value;

use super::Emitter;
use super::available::Location;

/// Flags of all memory accesses, which are aligned and do not trap.
const MEM: MemFlagsData = MemFlagsData::trusted();
/// Flags of loads from locations that never change while their address is available: such a load
/// may be moved to its use, or removed. Cranelift's optimizer must stay off for these flags to be
/// right: it would also move a load out of a loop, past the guard that makes the address valid.
pub(super) const CONSTANT: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

/// A part of memory that is disjoint from all other regions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Region {
    /// The VM stack, and values of upvalues, which may be on it.
    Slots,
    /// Heap objects, except for the parts that are in other regions: headers, and the fields of
    /// tables, closures and strings as Rust structures.
    Objects,
    /// The flags in the headers of objects, which write barriers change.
    Flags,
    /// Values of the fields of tables and of their hash parts, wherever they are stored.
    Fields,
    /// Elements of arrays.
    Elements,
    /// Values of globals.
    Cells,
    /// Instances with their caches, and slots of methods.
    Instances,
    /// The state and its threads.
    State,
}

impl Region {
    /// The number of regions.
    pub(super) const COUNT: usize = 8;

    const ALL: [Region; Region::COUNT] = [
        Region::Slots,
        Region::Objects,
        Region::Flags,
        Region::Fields,
        Region::Elements,
        Region::Cells,
        Region::Instances,
        Region::State,
    ];
}

/// A set of regions.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Regions(u8);

impl Regions {
    /// All regions.
    pub(crate) const ALL: Regions = Regions(u8::MAX);

    /// Returns the set without a region.
    pub(crate) const fn without(self, region: Region) -> Regions {
        Regions(self.0 & !(1 << region as u8))
    }

    /// Returns whether the region with this number is in the set.
    pub(super) const fn has(self, region: usize) -> bool {
        self.0 >> region & 1 != 0
    }

    /// Returns whether it is empty.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

const _: () = assert!(Region::COUNT == u8::BITS as usize);

/// The flags of accesses, by region.
pub(super) struct Flags([MemFlagsData; Region::ALL.len()]);

impl Flags {
    /// Declares the regions in a function.
    pub(super) fn declare(func: &mut Function) -> Flags {
        Flags(Region::ALL.map(|region| {
            let description = Cow::Owned(format!("{region:?}"));
            let data = AliasRegionData { user_id: region as u32, description };
            MEM.with_alias_region(Some(func.dfg.alias_regions.insert(data)))
        }))
    }
}

/// An offset in bytes.
pub(crate) trait Offset: Copy {
    /// Returns the offset as an operand.
    fn operand(self) -> i32;
}

impl Offset for i32 {
    fn operand(self) -> i32 {
        self
    }
}

impl Offset for usize {
    fn operand(self) -> i32 {
        self as i32
    }
}

impl Emitter<'_> {
    fn flags_of(&self, region: Region) -> MemFlagsData {
        self.mem_flags.0[region as usize]
    }

    /// Loads from a location, unless an earlier load of it is still available.
    fn load_once(
        &mut self,
        region: Region,
        (opcode, ty): (Opcode, Type),
        address: Value,
        offset: i32,
    ) -> Value {
        let address = self.b.func.dfg.resolve_aliases(address);
        let from = Location { region, address, offset, ty, opcode };
        if let Some(value) = self.available.loaded(self.b.func, from) {
            return value;
        }
        let value = self.load_always(region, (opcode, ty), address, offset);
        self.available.note_load(self.b.func, from, value);
        value
    }

    /// Loads from a location that never changes, without holding the value in a register across
    /// calls.
    pub(super) fn load_constant(&mut self, ty: Type, at: Value, offset: impl Offset) -> Value {
        let address = self.b.func.dfg.resolve_aliases(at);
        let (region, offset, opcode) = (Region::Instances, offset.operand(), Opcode::Load);
        let from = Location { region, address, offset, ty, opcode };
        if let Some(value) = self.available.loaded(self.b.func, from) {
            return value;
        }
        let value = self.b.ins().load(ty, CONSTANT, address, offset);
        self.available.note_load(self.b.func, from, value);
        value
    }

    /// Loads from a location.
    pub(super) fn load_always(
        &mut self,
        region: Region,
        (opcode, ty): (Opcode, Type),
        address: Value,
        offset: i32,
    ) -> Value {
        let flags = self.flags_of(region);
        match opcode {
            Opcode::Uload8 => self.b.ins().uload8(ty, flags, address, offset),
            Opcode::Uload32 => self.b.ins().uload32(flags, address, offset),
            _ => self.b.ins().load(ty, flags, address, offset),
        }
    }

    /// Loads a value of this type.
    pub(crate) fn load(
        &mut self,
        region: Region,
        ty: Type,
        at: Value,
        offset: impl Offset,
    ) -> Value {
        self.load_once(region, (Opcode::Load, ty), at, offset.operand())
    }

    /// Loads a 64-bit word.
    pub(crate) fn load64(&mut self, region: Region, at: Value, offset: impl Offset) -> Value {
        self.load(region, I64, at, offset)
    }

    /// Loads a 32-bit word.
    pub(crate) fn load32(&mut self, region: Region, at: Value, offset: impl Offset) -> Value {
        self.load(region, I32, at, offset)
    }

    /// Loads a 32-bit number as a 64-bit one.
    pub(crate) fn load_u32(&mut self, region: Region, at: Value, offset: impl Offset) -> Value {
        self.load_once(region, (Opcode::Uload32, I64), at, offset.operand())
    }

    /// Loads a byte as a 64-bit number.
    pub(crate) fn load8(&mut self, region: Region, at: Value, offset: impl Offset) -> Value {
        self.load_once(region, (Opcode::Uload8, I64), at, offset.operand())
    }

    /// Stores an entire SSA value. The payload of a float is stored from the register of the float.
    pub(crate) fn store(&mut self, region: Region, v: Value, at: Value, offset: impl Offset) {
        self.available.change(self.b.func, region);
        let flags = self.flags_of(region);
        let v = self.uncast(v).unwrap_or(v);
        self.b.ins().store(flags, v, at, offset.operand());
    }

    /// Stores an entire SSA value into an object that has just been allocated. Values loaded from
    /// other objects stay available.
    pub(super) fn initialize(&mut self, region: Region, v: Value, at: Value, offset: usize) {
        let flags = self.flags_of(region);
        let v = self.uncast(v).unwrap_or(v);
        self.b.ins().store(flags, v, at, offset.operand());
    }

    /// Like [`Emitter::initialize`], for the low byte of a value.
    pub(super) fn initialize8(&mut self, region: Region, v: Value, at: Value, offset: usize) {
        match self.constant_of(v) {
            Some(constant) => {
                let byte = self.b.ins().iconst(I8, i64::from(constant as u8));
                self.initialize(region, byte, at, offset);
            }
            None => {
                let flags = self.flags_of(region);
                self.b.ins().istore8(flags, v, at, offset.operand());
            }
        }
    }

    /// Like [`Emitter::initialize`], for a Lua value.
    pub(super) fn initialize_value(
        &mut self,
        region: Region,
        (bits, tag): (Value, Value),
        at: Value,
        offset: usize,
    ) {
        self.initialize(region, bits, at, offset + value::BITS);
        self.initialize8(region, tag, at, offset + value::TAG);
    }

    /// Stores the low half of a 64-bit value.
    pub(crate) fn store32(&mut self, region: Region, v: Value, at: Value, offset: impl Offset) {
        self.available.change(self.b.func, region);
        let flags = self.flags_of(region);
        self.b.ins().istore32(flags, v, at, offset.operand());
    }

    /// Stores the low byte of a value. A constant byte is an operand of the machine's instruction,
    /// the low byte of a constant word is not.
    pub(crate) fn store8(&mut self, region: Region, v: Value, at: Value, offset: impl Offset) {
        if let Some(constant) = self.constant_of(v) {
            return self.store_byte(region, constant as u8, at, offset);
        }
        self.available.change(self.b.func, region);
        let flags = self.flags_of(region);
        self.b.ins().istore8(flags, v, at, offset.operand());
    }

    /// Stores a constant byte.
    pub(super) fn store_byte(&mut self, region: Region, v: u8, at: Value, offset: impl Offset) {
        self.available.change(self.b.func, region);
        let byte = self.b.ins().iconst(I8, i64::from(v));
        let flags = self.flags_of(region);
        self.b.ins().store(flags, byte, at, offset.operand());
    }

    /// Loads the value at an address plus offset: payload and tag.
    pub(crate) fn load_value(
        &mut self,
        region: Region,
        at: Value,
        offset: usize,
    ) -> (Value, Value) {
        let bits = self.load64(region, at, offset + value::BITS);
        let tag = self.load8(region, at, offset + value::TAG);
        (bits, tag)
    }

    /// Stores a value at an address plus offset.
    pub(crate) fn store_value(
        &mut self,
        region: Region,
        (bits, tag): (Value, Value),
        at: Value,
        offset: usize,
    ) {
        self.store(region, bits, at, offset + value::BITS);
        self.store8(region, tag, at, offset + value::TAG);
    }
}
