//! The operations of which definitions consist: loads, stores, values, guards and feedback.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I8, I32, I64};
use cranelift_codegen::ir::{
    Block, ExtFuncData, ExternalName, FuncRef, InstBuilder, MemFlagsData, SourceLoc, Type,
    UserExternalName, Value,
};
use cranelift_frontend::FunctionBuilder;
use perilune_bytecode::Op;
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::form::{Field, Form, Jump, Place};
use crate::runtime::Runtime;
use crate::speculation::Speculation;

/// Flags of all accesses: they are aligned and do not trap.
const MEM: MemFlagsData = MemFlagsData::trusted();

/// The source location of code that is rarely executed; other code has source location 0.
pub const COLD: u32 = 1;

/// Continues in a block. Source locations mark the instructions that are cold.
pub fn switch(b: &mut FunctionBuilder<'_>, block: Block) {
    b.switch_to_block(block);
    let is_cold = b.func.layout.is_cold(block);
    b.set_srcloc(SourceLoc::new(if is_cold { COLD } else { 0 }));
}

/// Emits a part of the definition of an opcode.
pub type Define<F> = fn(&mut Emitter<'_, F>, Op, usize);

/// Emits one definition in one form.
pub struct Emitter<'a, F> {
    /// The function that is being built.
    pub b: FunctionBuilder<'a>,
    /// The form.
    pub form: F,
    /// The block that leaves the instruction to the runtime.
    slow: Option<Block>,
    /// Whether the current block is cold in a compact form; the blocks after it are then cold too.
    is_cold: bool,
    define: Define<F>,
}

impl<'a, F: Form> Emitter<'a, F> {
    /// Begins a definition; the current block is its entry. `define` emits those parts that the
    /// form wants in place.
    pub fn new(b: FunctionBuilder<'a>, form: F, define: Define<F>) -> Emitter<'a, F> {
        Emitter { b, form, slow: None, is_cold: false, define }
    }

    /// Ends the definition.
    pub fn finish(mut self, config: cranelift_codegen::isa::TargetFrontendConfig) {
        if let Some(slow) = self.slow {
            self.switch(slow);
            if self.speculates() {
                self.go(Jump::General);
            } else {
                self.form.slow(&mut self.b);
            }
        }
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }

    /// Returns whether this variant of the instruction assumes something about its operands.
    pub(crate) fn speculates(&self) -> bool {
        self.form.speculation() != Speculation::Nothing
    }

    // ---- memory ----

    /// Returns the state.
    pub(crate) fn state(&mut self) -> Value {
        self.b.ins().get_pinned_reg(I64)
    }

    /// Returns the place at an address plus an offset.
    pub(crate) fn at(&self, base: Value, offset: usize) -> Place {
        Place { base, offset: offset as i32 }
    }

    /// Returns the place of a field of the state.
    pub(crate) fn in_state(&mut self, offset: usize) -> Place {
        let base = self.state();
        self.at(base, offset)
    }

    pub(crate) fn load(&mut self, ty: Type, at: Place) -> Value {
        self.b.ins().load(ty, MEM, at.base, at.offset)
    }

    pub(crate) fn load64(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().load(I64, MEM, base, offset as i32)
    }

    /// Loads 32 bits, zero-extended.
    pub(crate) fn load32(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().uload32(MEM, base, offset as i32)
    }

    /// Loads a byte, zero-extended.
    pub(crate) fn load8(&mut self, base: Value, offset: usize) -> Value {
        self.b.ins().uload8(I64, MEM, base, offset as i32)
    }

    pub(crate) fn store(&mut self, v: Value, at: Place) {
        self.b.ins().store(MEM, v, at.base, at.offset);
    }

    /// Returns `base + index * 2^shift`.
    pub(crate) fn element(&mut self, base: Value, index: Value, shift: u32) -> Value {
        let offset = self.b.ins().ishl_imm_u(index, i64::from(shift));
        self.b.ins().iadd(base, offset)
    }

    // ---- values ----

    pub(crate) fn int(&mut self, n: i64) -> Value {
        self.b.ins().iconst(I64, n)
    }

    pub(crate) fn register(&mut self, field: Field) -> Place {
        self.form.register(&mut self.b, field)
    }

    pub(crate) fn constant(&mut self, field: Field) -> Place {
        self.form.constant(&mut self.b, field)
    }

    pub(crate) fn number(&mut self, field: Field) -> Value {
        self.form.number(&mut self.b, field)
    }

    /// Loads the payload of the value at a place.
    pub(crate) fn bits(&mut self, at: Place) -> Value {
        self.load(I64, at.plus(layout::value::BITS as i32))
    }

    /// Loads the payload of a float.
    pub(crate) fn float(&mut self, at: Place) -> Value {
        self.load(F64, at.plus(layout::value::BITS as i32))
    }

    /// Loads the tag, a byte.
    pub(crate) fn tag(&mut self, at: Place) -> Value {
        self.load(I8, at.plus(layout::value::TAG as i32))
    }

    /// Stores a value.
    pub(crate) fn put(&mut self, at: Place, bits: Value, tag: Value) {
        self.store(bits, at.plus(layout::value::BITS as i32));
        self.store(tag, at.plus(layout::value::TAG as i32));
    }

    /// Stores a value whose tag is known.
    pub(crate) fn put_tagged(&mut self, at: Place, bits: Value, tag: Tag) {
        let tag = self.b.ins().iconst(I8, i64::from(tag.0));
        self.put(at, bits, tag);
    }

    /// Stores nil, false or true.
    pub(crate) fn put_plain(&mut self, at: Place, tag: Tag) {
        let zero = self.int(0);
        self.put_tagged(at, zero, tag);
    }

    /// Stores a value that the runtime has returned as a pair: the tag is the low byte of 64 bits.
    pub(crate) fn put_pair(&mut self, at: Place, bits: Value, tag: Value) {
        let tag = self.b.ins().ireduce(I8, tag);
        self.put(at, bits, tag);
    }

    pub(crate) fn copy(&mut self, to: Place, from: Place) {
        let (bits, tag) = (self.bits(from), self.tag(from));
        self.put(to, bits, tag);
    }

    pub(crate) fn has_tag(&mut self, tag: Value, wanted: Tag) -> Value {
        self.b.ins().icmp_imm_u(IntCC::Equal, tag, i64::from(wanted.0))
    }

    // ---- control ----

    pub(crate) fn block(&mut self) -> Block {
        if self.is_cold { self.cold() } else { self.b.create_block() }
    }

    /// Returns a new block that is rarely executed.
    pub(crate) fn cold(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    /// Returns a new block for operands that are less common than others, but not exceptional.
    pub(crate) fn alternative(&mut self) -> Block {
        if self.form.is_compact() { self.cold() } else { self.block() }
    }

    pub(crate) fn switch(&mut self, block: Block) {
        switch(&mut self.b, block);
        self.is_cold = self.form.is_compact() && self.b.func.layout.is_cold(block);
    }

    /// Returns the block that leaves the instruction to the runtime.
    pub(crate) fn slow(&mut self) -> Block {
        if let Some(block) = self.slow {
            return block;
        }
        let block = self.cold();
        self.slow = Some(block);
        block
    }

    /// Continues in a new block if `c` is true, and in `other` if not. The new block comes next in
    /// the code: Cranelift places the second successor of a branch first.
    pub(crate) fn check(&mut self, c: Value, other: Block) {
        let not = self.b.ins().icmp_imm_u(IntCC::Equal, c, 0);
        self.check_not(not, other);
    }

    /// Continues in `other` if `c` is true, and in a new block if not.
    pub(crate) fn check_not(&mut self, c: Value, other: Block) {
        let on = self.block();
        self.b.ins().brif(c, other, &[], on, &[]);
        self.switch(on);
    }

    /// Continues if `c` is true; if not, the runtime executes the instruction.
    pub(crate) fn guard(&mut self, c: Value) {
        let slow = self.slow();
        self.check(c, slow);
    }

    /// Continues unless `c` is true; if it is, the runtime executes the instruction.
    pub(crate) fn guard_not(&mut self, c: Value) {
        let slow = self.slow();
        self.check_not(c, slow);
    }

    /// Continues if a tag is `wanted`; if not, the runtime executes the instruction.
    pub(crate) fn guard_tag(&mut self, tag: Value, wanted: Tag) {
        let c = self.has_tag(tag, wanted);
        self.guard(c);
    }

    /// Continues if no safepoint is requested; if one is, the runtime executes the instruction.
    pub(crate) fn guard_unpolled(&mut self) {
        let at = self.in_state(layout::state::POLL);
        let word = self.load(I32, at);
        self.guard_not(word);
    }

    pub(crate) fn next(&mut self) {
        self.form.go(&mut self.b, Jump::Next);
    }

    pub(crate) fn go(&mut self, jump: Jump) {
        self.form.go(&mut self.b, jump);
    }

    pub(crate) fn part(&mut self, number: usize) {
        if self.speculates() {
            self.leave();
        } else if let Some(op) = self.form.inlined(number) {
            (self.define)(self, op, number);
        } else {
            self.form.part(&mut self.b, number);
        }
    }

    /// Leaves the instruction to the runtime.
    pub(crate) fn leave(&mut self) {
        let slow = self.slow();
        self.b.ins().jump(slow, &[]);
    }

    /// Calls a function of the runtime with the state and arguments; returns its results.
    pub fn call(&mut self, function: Runtime, args: &[Value]) -> Vec<Value> {
        let f = self.import(function);
        let mut all = vec![self.state()];
        all.extend_from_slice(args);
        let call = self.b.ins().call(f, &all);
        self.b.inst_results(call).to_vec()
    }

    fn import(&mut self, function: Runtime) -> FuncRef {
        let signature = self.b.import_signature(function.signature());
        let (namespace, index) = function.external();
        let name = UserExternalName { namespace, index };
        let name = self.b.func.declare_imported_user_function(name);
        self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        })
    }

    // ---- feedback ----

    /// Sets bits of the instruction's feedback cell.
    pub(crate) fn note(&mut self, bits: u32) {
        let bits = self.b.ins().iconst(I32, i64::from(bits));
        self.note_value(bits);
    }

    /// Sets bits of the instruction's feedback cell, given as a value. A variant that assumes what
    /// they say was chosen because they are set.
    pub(crate) fn note_value(&mut self, bits: Value) {
        if self.speculates() {
            return;
        }
        let at = self.form.cell(&mut self.b);
        let old = self.load(I32, at);
        let new = self.b.ins().bor(old, bits);
        self.store(new, at);
    }

    /// Returns the address of the instruction's record among those at `offset` of the instance,
    /// whose size is a power of two.
    pub(crate) fn record(&mut self, offset: usize, log_size: u32) -> Value {
        self.form.record(&mut self.b, offset, log_size)
    }

    /// Adds 1 to a count and returns it. Continues unless the count reaches a threshold of the
    /// state; if it does, the runtime executes the instruction. The caller stores the new count.
    pub(crate) fn counted(&mut self, counter: Place, mask: usize, phase: usize) -> Value {
        let count = self.load(I32, counter);
        let count = self.b.ins().iadd_imm_s(count, 1);
        let at = self.in_state(mask);
        let mask = self.load(I32, at);
        let masked = self.b.ins().band(count, mask);
        let at = self.in_state(phase);
        let phase = self.load(I32, at);
        let reached = self.b.ins().icmp(IntCC::Equal, masked, phase);
        self.guard_not(reached);
        count
    }

    /// Leaves the instruction by a backward jump and counts the iteration. If the compiler or a
    /// safepoint has to be called, the runtime executes the instruction instead. `effects` emits
    /// the effects of the instruction before the jump.
    pub(crate) fn round(&mut self, jump: Jump, effects: impl FnOnce(&mut Self)) {
        let counter = self.form.counter(&mut self.b, jump);
        let (mask, phase) = (layout::state::LOOP_MASK, layout::state::LOOP_PHASE);
        let count = self.counted(counter, mask, phase);
        self.guard_unpolled();
        self.store(count, counter);
        effects(self);
        self.go(jump);
    }

    /// Leaves the instruction by a jump in either direction.
    pub(crate) fn take(&mut self, jump: Jump, effects: impl Fn(&mut Self)) {
        let direction = self.form.direction(&mut self.b, jump);
        let back = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, direction, 0);
        let (backwards, forwards) = (self.block(), self.block());
        self.b.ins().brif(back, backwards, &[], forwards, &[]);
        self.switch(forwards);
        effects(self);
        self.go(jump);
        self.switch(backwards);
        self.round(jump, effects);
    }

    // ---- the collector ----

    /// Returns the flag UNLOGGED if the tag is that of a collectable value, and zero otherwise: for
    /// other values the flag of the object in which they are stored does not matter.
    pub(crate) fn unlogged_of(&mut self, tag: Value) -> Value {
        self.b.ins().ushr_imm_u(tag, i64::from(layout::value::UNLOGGED_SHIFT))
    }

    /// Continues if a value with this tag may be stored in the object without the cold path of the
    /// write barrier; if not, the runtime executes the instruction.
    pub(crate) fn guard_barrier(&mut self, object: Value, tag: Value) {
        let slow = self.slow();
        let (done, collectable) = (self.block(), self.block());
        let bit = self.b.ins().band_imm_u(tag, i64::from(Tag::COLLECTABLE));
        self.b.ins().brif(bit, collectable, &[], done, &[]);
        self.switch(collectable);
        let at = self.at(object, layout::header::FLAGS);
        let flags = self.load(I8, at);
        let unlogged = self.b.ins().band_imm_u(flags, i64::from(GcHeader::UNLOGGED));
        self.b.ins().brif(unlogged, slow, &[], done, &[]);
        self.switch(done);
    }
}
