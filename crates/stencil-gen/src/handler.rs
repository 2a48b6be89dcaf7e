//! The form of the generated interpreter: operands are decoded from the instruction word, and an
//! instruction ends with a jump to the handler of the next one.
//!
//! The state is in the pinned register. The arguments of each handler are the frame's base, the
//! address after the instruction, the instance, its constants, the distance from instructions to
//! their feedback cells, and the table of handlers. These six use all registers for arguments; the
//! closure is loaded from the frame where upvalues are accessed.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{
    AbiParam, ExtFuncData, ExternalName, FuncRef, InstBuilder, MemFlagsData, SigRef, Signature,
    UserExternalName, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use perilune_bytecode::{Instr, Op};
use perilune_runtime::layout;
use perilune_runtime::tier::stitched::PROLOGUE;
use perilune_semantics::{Exits, Field, Jump, Operands, Place, Runtime, step};

use crate::stencil;
use crate::symbol::{Route, Symbol};

/// Flags of all memory accesses, which are aligned and do not trap.
const MEM: MemFlagsData = MemFlagsData::trusted();
/// The size of an instruction, and of a feedback cell.
const WORD: i32 = size_of::<Instr>() as i32;

/// The distance from the next instruction to operand Bx of this one.
const BX: i32 = Instr::B_BYTE as i32 - WORD;

/// Returns the signature of handlers.
pub(crate) fn signature() -> Signature {
    let mut sig = Signature::new(CallConv::Tail);
    sig.params.extend([AbiParam::new(I64); 6]);
    sig.returns.push(AbiParam::new(I64));
    sig
}

/// A handler, or a part of one.
pub(crate) struct Handler {
    /// The symbol of the handler or part.
    pub(crate) symbol: Symbol,
    base: Value,
    /// The address after the instruction.
    pc: Value,
    instance: Value,
    constants: Value,
    /// The distance from an instruction to its feedback cell.
    distance: Value,
    table: Value,
    sig: SigRef,
}

impl Handler {
    /// Begins a handler.
    pub(crate) fn new(b: &mut FunctionBuilder<'_>, symbol: Symbol) -> Handler {
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let sig = b.import_signature(signature());
        let p = b.block_params(start);
        let (base, pc, instance, constants, distance, table) = (p[0], p[1], p[2], p[3], p[4], p[5]);
        Handler { symbol, base, pc, instance, constants, distance, table, sig }
    }

    fn arguments(&self) -> [Value; 6] {
        [self.base, self.pc, self.instance, self.constants, self.distance, self.table]
    }

    fn import(&self, b: &mut FunctionBuilder<'_>, symbol: Symbol) -> FuncRef {
        let (namespace, index) = symbol.external();
        let name = b.func.declare_imported_user_function(UserExternalName { namespace, index });
        b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature: self.sig,
            colocated: true,
            patchable: false,
        })
    }

    fn tail_call(&self, b: &mut FunctionBuilder<'_>, symbol: Symbol) {
        let f = self.import(b, symbol);
        b.ins().return_call(f, &self.arguments());
    }

    /// Loads the byte of an operand with zero extension.
    fn byte(&self, b: &mut FunctionBuilder<'_>, field: Field) -> Value {
        let byte = match field {
            Field::A => Instr::A_BYTE,
            Field::B | Field::SignedB => Instr::B_BYTE,
            Field::C => Instr::C_BYTE,
            Field::Bx | Field::SignedBx | Field::Extra => unreachable!("it is no byte"),
        };
        b.ins().uload8(I64, MEM, self.pc, byte as i32 - WORD)
    }

    /// Continues with the instruction at an address, in the function to which the arguments belong.
    fn dispatch(&self, b: &mut FunctionBuilder<'_>, pc: Value) {
        self.dispatch_at(b, Place { base: pc, offset: 0 });
    }

    /// Continues with the instruction at a place.
    fn dispatch_at(&self, b: &mut FunctionBuilder<'_>, pc: Place) {
        let op = b.ins().uload8(I64, MEM, pc.base, pc.offset);
        let offset = b.ins().ishl_imm_u(op, 3);
        let entry = b.ins().iadd(self.table, offset);
        let handler = b.ins().load(I64, MEM, entry, 0);
        let after = b.ins().iadd_imm_s(pc.base, i64::from(pc.offset + WORD));
        let mut args = self.arguments();
        args[1] = after;
        b.ins().return_call_indirect(self.sig, handler, &args);
    }

    /// Loads the arguments for a function other than the running one, and continues there.
    fn switch(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value) {
        let stitched = b.ins().load(I64, MEM, instance, layout::instance::STITCHED as i32);
        let (resume, interpret) = (b.create_block(), b.create_block());
        b.set_cold_block(resume);
        b.ins().brif(stitched, resume, &[], interpret, &[]);
        b.switch_to_block(resume);
        let mut args = self.arguments();
        let after = b.ins().iadd_imm_s(pc, i64::from(WORD));
        (args[0], args[1], args[2]) = (base, after, instance);
        let f = self.import(b, Symbol::Resume);
        b.ins().return_call(f, &args);
        b.switch_to_block(interpret);
        self.interpret(b, base, instance, pc);
    }

    /// Loads the arguments for a function other than the running one, which has no stitched code,
    /// and continues there.
    fn interpret(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value) {
        let code = b.ins().load(I64, MEM, instance, layout::instance::CODE as i32);
        let cells = b.ins().load(I64, MEM, instance, layout::instance::CELLS as i32);
        let constants = b.ins().load(I64, MEM, instance, layout::instance::CONSTANTS as i32);
        let saved = self.arguments();
        self.base = base;
        self.instance = instance;
        self.constants = constants;
        self.distance = b.ins().isub(cells, code);
        self.dispatch(b, pc);
        [self.base, self.pc, self.instance, self.constants, self.distance, self.table] = saved;
    }

    /// Continues at the instruction before `pc`: in stitched code if the function has some,
    /// otherwise in the interpreter.
    pub(crate) fn resume_stitched(&mut self, b: &mut FunctionBuilder<'_>) {
        let stitched = b.ins().load(I64, MEM, self.instance, layout::instance::STITCHED as i32);
        let (code, interpret) = (b.create_block(), b.create_block());
        b.set_cold_block(interpret);
        b.ins().brif(stitched, code, &[], interpret, &[]);
        b.switch_to_block(code);
        let offset = b.ins().iadd_imm_s(self.pc, -i64::from(WORD));
        let table = b.ins().load(I64, MEM, self.table, Route::Returning.offset());
        stencil::jump_to(b, self.sig, stitched, self.base, self.instance, offset, table);
        b.switch_to_block(interpret);
        self.table = b.ins().load(I64, MEM, self.table, Route::Interpreting.offset());
        let pc = b.ins().iadd_imm_s(self.pc, -i64::from(WORD));
        self.dispatch(b, pc);
    }

    /// Begins the function whose base and instance are in the arguments, in the interpreter.
    pub(crate) fn begin_function(&mut self, b: &mut FunctionBuilder<'_>) {
        let (base, instance) = (self.base, self.instance);
        self.table = b.ins().load(I64, MEM, self.table, Route::Interpreting.offset());
        self.enter(b, base, instance);
    }

    /// Continues in the function whose base and instance are in the arguments, at `pc`.
    pub(crate) fn return_here(&mut self, b: &mut FunctionBuilder<'_>) {
        let (base, instance, pc) = (self.base, self.instance, self.pc);
        self.table = b.ins().load(I64, MEM, self.table, Route::Interpreting.offset());
        self.switch(b, base, instance, pc);
    }

    /// Continues with the frame on top at the position in its frame word.
    pub(crate) fn continue_on_top(&mut self, b: &mut FunctionBuilder<'_>) {
        let state = b.ins().get_pinned_reg(I64);
        let base = b.ins().load(I64, MEM, state, layout::state::BASE as i32);
        let function = b.ins().load(I64, MEM, base, layout::frame::CALLEE);
        let instance = b.ins().load(I64, MEM, function, layout::closure::INSTANCE as i32);
        let at = b.ins().uload32(MEM, base, layout::frame::PC);
        let code = b.ins().load(I64, MEM, instance, layout::instance::CODE as i32);
        let at = b.ins().ishl_imm_u(at, 2);
        let pc = b.ins().iadd(code, at);
        self.switch(b, base, instance, pc);
    }

    /// Stores the position `back` instructions before the next one in the frame word.
    pub(crate) fn store_position(&self, b: &mut FunctionBuilder<'_>, back: i64) {
        let code = b.ins().load(I64, MEM, self.instance, layout::instance::CODE as i32);
        let distance = b.ins().isub(self.pc, code);
        let at = b.ins().ushr_imm_u(distance, 2);
        let at = b.ins().iadd_imm_s(at, -back);
        b.ins().store(MEM, at, self.base, layout::frame::WORD);
    }

    /// Returns the target of a jump.
    fn target(&self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Place {
        let here = |offset| Place { base: self.pc, offset };
        match jump {
            Jump::Next => here(0),
            Jump::Skip => here(WORD),
            Jump::Own | Jump::Following => {
                // The distance is in the upper 24 bits, in words.
                let word = self.direction_of(b, jump);
                let words = b.ins().sshr_imm_u(word, i64::from(Instr::A_SHIFT));
                let bytes = b.ins().ishl_imm_u(words, 2);
                let base = b.ins().iadd(self.pc, bytes);
                Place { base, offset: if jump == Jump::Own { 0 } else { WORD } }
            }
            Jump::Back => {
                let bytes = self.bytes(b);
                Place { base: b.ins().isub(self.pc, bytes), offset: 0 }
            }
            Jump::Ahead | Jump::Past => {
                let bytes = self.bytes(b);
                let base = b.ins().iadd(self.pc, bytes);
                Place { base, offset: if jump == Jump::Ahead { 0 } else { WORD } }
            }
            Jump::General => unreachable!("handlers assume nothing"),
        }
    }

    /// Returns operand Bx, a number of words, in bytes.
    fn bytes(&self, b: &mut FunctionBuilder<'_>) -> Value {
        let words = b.ins().uload16(I64, MEM, self.pc, BX);
        b.ins().ishl_imm_u(words, 2)
    }

    /// Returns the word of a JMP, which has the sign of its distance.
    fn direction_of(&self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Value {
        let offset = if jump == Jump::Own { -WORD } else { 0 };
        b.ins().sload32(MEM, self.pc, offset)
    }

    /// Returns the arguments for code that needs only base, pc, instance and table. Values for the
    /// other arguments need not be kept alive until then.
    fn few_arguments(&self, b: &mut FunctionBuilder<'_>) -> [Value; 6] {
        let instance = self.running(b);
        [self.base, self.pc, instance, self.table, self.table, self.table]
    }

    /// Returns the instance of the running function, from its frame.
    fn running(&self, b: &mut FunctionBuilder<'_>) -> Value {
        let function = b.ins().load(I64, MEM, self.base, layout::frame::CALLEE);
        b.ins().load(I64, MEM, function, layout::closure::INSTANCE as i32)
    }

    /// Returns the arguments, reloading all of them except base, pc and table.
    fn all_arguments(&self, b: &mut FunctionBuilder<'_>) -> [Value; 6] {
        let instance = self.running(b);
        let code = b.ins().load(I64, MEM, instance, layout::instance::CODE as i32);
        let cells = b.ins().load(I64, MEM, instance, layout::instance::CELLS as i32);
        let constants = b.ins().load(I64, MEM, instance, layout::instance::CONSTANTS as i32);
        let distance = b.ins().isub(cells, code);
        [self.base, self.pc, instance, constants, distance, self.table]
    }

    /// Returns whether this is a call.
    fn is_call(&self) -> bool {
        matches!(self.symbol, Symbol::Handler(Op::Call | Op::TailCall | Op::TForCall, _))
    }

    /// Returns whether this is a call or a return, which needs many registers.
    fn is_transfer(&self) -> bool {
        let Symbol::Handler(op, _) = self.symbol else { return false };
        self.is_call() || matches!(op, Op::Return | Op::Return0 | Op::Return1)
    }

    /// Returns whether the other part is entered after much of the work is done.
    fn is_entered_late(&self, part: usize) -> bool {
        self.is_transfer() && (part == 2 || !self.is_call())
    }
}

impl Operands for Handler {
    fn base(&self) -> Value {
        self.base
    }

    fn instance(&self) -> Value {
        self.instance
    }

    fn register(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place {
        let n = self.byte(b, field);
        let offset = b.ins().ishl_imm_u(n, i64::from(layout::value::LOG_SIZE));
        Place { base: b.ins().iadd(self.base, offset), offset: 0 }
    }

    fn constant(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place {
        let n = match field {
            Field::Bx | Field::Extra => self.number(b, field),
            _ => self.byte(b, field),
        };
        let offset = b.ins().ishl_imm_u(n, i64::from(layout::value::LOG_SIZE));
        Place { base: b.ins().iadd(self.constants, offset), offset: 0 }
    }

    fn number(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value {
        match field {
            Field::A | Field::B | Field::C => self.byte(b, field),
            Field::SignedB => {
                let n = self.byte(b, field);
                b.ins().iadd_imm_s(n, -i64::from(Instr::SB_BIAS))
            }
            Field::Bx => b.ins().uload16(I64, MEM, self.pc, BX),
            Field::SignedBx => b.ins().sload16(I64, MEM, self.pc, BX),
            Field::Extra => {
                let word = b.ins().uload32(MEM, self.pc, 0);
                b.ins().ushr_imm_u(word, i64::from(Instr::A_SHIFT))
            }
        }
    }

    fn word(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        b.ins().load(I32, MEM, self.pc, -WORD)
    }

    fn record(&mut self, b: &mut FunctionBuilder<'_>, offset: usize, log_size: u32) -> Value {
        let at = self.cell(b);
        let number = b.ins().uload32(MEM, at.base, at.offset);
        let records = b.ins().load(I64, MEM, self.instance, offset as i32);
        let offset = b.ins().ishl_imm_u(number, i64::from(log_size));
        b.ins().iadd(records, offset)
    }

    fn cell(&mut self, b: &mut FunctionBuilder<'_>) -> Place {
        Place { base: b.ins().iadd(self.pc, self.distance), offset: -WORD }
    }

    fn interpreter(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        let f = self.import(b, Symbol::Interpret);
        b.ins().func_addr(I64, f)
    }

    fn return_word(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        let code = b.ins().load(I64, MEM, self.instance, layout::instance::CODE as i32);
        let distance = b.ins().isub(self.pc, code);
        b.ins().ushr_imm_u(distance, 2)
    }
}

impl Exits for Handler {
    fn go(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) {
        let pc = self.target(b, jump);
        self.dispatch_at(b, pc);
    }

    fn direction(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Value {
        match jump {
            Jump::Own | Jump::Following => self.direction_of(b, jump),
            Jump::Back => b.ins().iconst(I64, -1),
            _ => b.ins().iconst(I64, 0),
        }
    }

    fn counter(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Place {
        let offset = if jump == Jump::Following { 0 } else { -WORD };
        Place { base: b.ins().iadd(self.pc, self.distance), offset }
    }

    fn slow(&mut self, b: &mut FunctionBuilder<'_>) {
        let Symbol::Handler(op, _) = self.symbol else {
            unreachable!("only definitions leave instructions")
        };
        let symbol = Symbol::Step(step(op));
        if self.is_transfer() {
            let f = self.import(b, symbol);
            let args = self.few_arguments(b);
            b.ins().return_call(f, &args);
        } else {
            self.tail_call(b, symbol);
        }
    }

    fn is_compact(&self) -> bool {
        false
    }

    fn inlined(&self, _: usize) -> Option<Op> {
        None
    }

    fn part(&mut self, b: &mut FunctionBuilder<'_>, number: usize) {
        let Symbol::Handler(op, _) = self.symbol else {
            unreachable!("only definitions have parts")
        };
        let symbol = Symbol::Handler(op, number);
        if self.is_entered_late(number) {
            let f = self.import(b, symbol);
            let args = self.all_arguments(b);
            b.ins().return_call(f, &args);
        } else {
            self.tail_call(b, symbol);
        }
    }

    fn allocated(&mut self, b: &mut FunctionBuilder<'_>) {
        let state = b.ins().get_pinned_reg(I64);
        let word = b.ins().load(I32, MEM, state, layout::state::POLL as i32);
        let (poll, next) = (b.create_block(), b.create_block());
        b.set_cold_block(poll);
        let requested = b.ins().icmp_imm_u(IntCC::NotEqual, word, 0);
        b.ins().brif(requested, poll, &[], next, &[]);
        b.switch_to_block(poll);
        self.tail_call(b, Symbol::Poll);
        b.switch_to_block(next);
        self.dispatch(b, self.pc);
    }

    fn reload(&mut self, b: &mut FunctionBuilder<'_>, status: Value) {
        let (end, on) = (b.create_block(), b.create_block());
        b.set_cold_block(end);
        b.ins().brif(status, end, &[], on, &[]);
        b.switch_to_block(end);
        b.ins().return_(&[status]);
        b.switch_to_block(on);
        self.continue_on_top(b);
    }

    fn called(&mut self, b: &mut FunctionBuilder<'_>, status: Value) {
        let (other, end) = (b.create_block(), b.create_block());
        let (on_top, next) = (b.create_block(), b.create_block());
        for cold in [other, end, on_top] {
            b.set_cold_block(cold);
        }
        b.ins().brif(status, other, &[], next, &[]);
        b.switch_to_block(other);
        let another = b.ins().icmp_imm_u(IntCC::Equal, status, Runtime::ON_TOP as i64);
        b.ins().brif(another, on_top, &[], end, &[]);
        b.switch_to_block(end);
        b.ins().return_(&[status]);
        b.switch_to_block(on_top);
        self.tail_call(b, Symbol::Continue);
        b.switch_to_block(next);
        let state = b.ins().get_pinned_reg(I64);
        let running = self.base;
        self.base = b.ins().load(I64, MEM, state, layout::state::BASE as i32);
        self.dispatch(b, self.pc);
        self.base = running;
    }

    fn enter(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value) {
        let stitched = b.ins().load(I64, MEM, instance, layout::instance::STITCHED as i32);
        let (begin, interpret) = (b.create_block(), b.create_block());
        b.set_cold_block(begin);
        b.ins().brif(stitched, begin, &[], interpret, &[]);
        b.switch_to_block(begin);
        let mut args = self.arguments();
        (args[0], args[2]) = (base, instance);
        let prologue = b.ins().iadd_imm_s(stitched, -(PROLOGUE as i64));
        b.ins().return_call_indirect(self.sig, prologue, &args);

        b.switch_to_block(interpret);
        let entries = b.ins().load(I32, MEM, instance, layout::instance::ENTRIES as i32);
        let state = b.ins().get_pinned_reg(I64);
        let wanted = b.ins().load(I32, MEM, state, layout::state::STITCH_THRESHOLD as i32);
        let is_hot = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, entries, wanted);
        let (stitch, begin) = (b.create_block(), b.create_block());
        b.set_cold_block(stitch);
        b.ins().brif(is_hot, stitch, &[], begin, &[]);
        b.switch_to_block(stitch);
        let f = self.import(b, Symbol::Stitch);
        b.ins().return_call(f, &args);
        b.switch_to_block(begin);
        let code = b.ins().load(I64, MEM, instance, layout::instance::CODE as i32);
        self.interpret(b, base, instance, code);
    }

    fn resume(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value) {
        self.switch(b, base, instance, pc);
    }
}
