//! The form of stitched code: operands are holes, which are filled when the code of a function is
//! stitched, and the code of an instruction falls through to that of the next one.
//!
//! Code receives the arguments of handlers (see [`crate::handler`]) with two exceptions: the
//! address of the function's first instruction in place of that of the next instruction, which the
//! code knows, and the address of the feedback cells in place of the distance to them. Code
//! contains no absolute addresses: cases that it does not cover are left to a handler, through the
//! table.
//!
//! **Invariant:** a number on which control flow depends is not a hole, since Cranelift would
//! evaluate the condition with the placeholder. Such numbers are loaded from the instruction.

use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, ExtFuncData, ExternalName, InstBuilder, MemFlagsData, SigRef, Signature,
    UserExternalName, Value,
};
use cranelift_frontend::FunctionBuilder;
use perilune_bytecode::{Instr, Op};
use perilune_runtime::layout;
use perilune_runtime::tier::stitched::PROLOGUE;
use perilune_semantics::{Exits, Field, Jump, Operands, Place, Speculation, step, switch};

use crate::handler::signature;
use crate::symbol::{Route, Symbol};
use crate::target::Target;

/// Flags of all memory accesses, which are aligned and do not trap.
const MEM: MemFlagsData = MemFlagsData::trusted();
/// Size of an instruction, and of a feedback cell.
const WORD: i32 = size_of::<Instr>() as i32;

/// The number with which a hole is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hole {
    /// The offset of the register that an operand names.
    Register(Field),
    /// The offset of the constant that an operand names.
    Constant(Field),
    /// The offset of the instruction, and of its feedback cell.
    Offset,
    /// The position of the next instruction.
    Position,
    /// The offset of the instruction's record in the instance.
    Record,
    /// An operand that is a number.
    Immediate(Field),
}

impl Hole {
    /// All kinds of holes.
    pub(crate) const ALL: [Hole; 12] = [
        Hole::Register(Field::A),
        Hole::Register(Field::B),
        Hole::Register(Field::C),
        Hole::Constant(Field::B),
        Hole::Constant(Field::C),
        Hole::Constant(Field::Bx),
        Hole::Constant(Field::Extra),
        Hole::Offset,
        Hole::Position,
        Hole::Record,
        Hole::Immediate(Field::C),
        Hole::Immediate(Field::SignedB),
    ];

    /// Returns the position among all kinds.
    pub(crate) fn index(self) -> usize {
        Hole::ALL.iter().position(|&other| other == self).expect("it is listed")
    }
}

/// The variant of an instruction that a stencil implements.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// Whether a jump that may lead in either direction leads backwards.
    pub(crate) backwards: bool,
    /// Operand C of a test.
    pub(crate) wanted: bool,
    /// What the variant assumes about the operands.
    pub(crate) speculation: Speculation,
    /// The operands whose values are in a machine register.
    pub(crate) carried: Vec<Field>,
}

impl Variant {
    /// The general variant.
    pub(crate) const GENERAL: Variant = Variant {
        backwards: false,
        wanted: false,
        speculation: Speculation::Nothing,
        carried: Vec::new(),
    };

    /// Returns the signature of the code.
    pub(crate) fn signature(&self) -> Signature {
        if self.carried.is_empty() { signature() } else { carrying() }
    }
}

/// Returns the signature of code that receives a float of the preceding instruction.
fn carrying() -> Signature {
    let mut sig = signature();
    sig.params.push(AbiParam::new(F64));
    sig
}

/// A stencil.
pub(crate) struct Stencil {
    /// The opcode; `None` for the beginning of a function.
    op: Option<Op>,
    variant: Variant,
    /// The parts of the definition that need no native frame.
    frameless: Vec<usize>,
    /// The amount by which the placeholder of a hole is raised. The positions where the code then
    /// differs contain the hole.
    raised: Option<(Hole, i32)>,
    /// Returns the placeholder of a hole.
    placeholder: fn(Hole) -> i32,
    /// Whether numbers in holes may be negative.
    has_signed_holes: bool,
    base: Value,
    /// The address of the first instruction of the function.
    code: Value,
    instance: Value,
    constants: Value,
    /// The address of the feedback cells.
    cells: Value,
    table: Value,
    /// The float that the preceding instruction has left in a register.
    float: Option<Value>,
    sig: SigRef,
}

/// Jumps to the stitched code at `offset` bytes from the first instruction, given the address of
/// the offsets of the code.
pub(crate) fn jump_to(
    b: &mut FunctionBuilder<'_>,
    sig: SigRef,
    stitched: Value,
    base: Value,
    instance: Value,
    pc: Value,
    table: Value,
) {
    let code = b.ins().load(I64, MEM, instance, layout::instance::CODE as i32);
    let offset = b.ins().isub(pc, code);
    let at = b.ins().iadd(stitched, offset);
    let offset = b.ins().uload32(MEM, at, 0);
    let target = b.ins().iadd(stitched, offset);
    let constants = b.ins().load(I64, MEM, instance, layout::instance::CONSTANTS as i32);
    let cells = b.ins().load(I64, MEM, instance, layout::instance::CELLS as i32);
    let args = [base, code, instance, constants, cells, table];
    b.ins().return_call_indirect(sig, target, &args);
}

impl Stencil {
    /// Begins a stencil.
    pub(crate) fn new(
        b: &mut FunctionBuilder<'_>,
        op: Option<Op>,
        variant: Variant,
        frameless: Vec<usize>,
        raised: Option<(Hole, i32)>,
        target: &dyn Target,
    ) -> Stencil {
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        switch(b, start);
        let sig = b.import_signature(signature());
        let p = b.block_params(start);
        let (base, code, instance, constants, cells, table) = (p[0], p[1], p[2], p[3], p[4], p[5]);
        let float = p.get(6).copied();
        Stencil {
            op,
            variant,
            float,
            frameless,
            raised,
            placeholder: target.placeholders(),
            has_signed_holes: target.has_signed_holes(),
            base,
            code,
            instance,
            constants,
            cells,
            table,
            sig,
        }
    }

    fn number_of(&self, hole: Hole) -> i32 {
        let raised = self.raised.filter(|&(other, _)| other == hole);
        (self.placeholder)(hole) + raised.map_or(0, |(_, by)| by)
    }

    /// Begins stitched code, given base, instance and table alone.
    pub(crate) fn prologue(&mut self, b: &mut FunctionBuilder<'_>) {
        let load = |b: &mut FunctionBuilder<'_>, offset: usize, instance| {
            b.ins().load(I64, MEM, instance, offset as i32)
        };
        self.code = load(b, layout::instance::CODE, self.instance);
        self.constants = load(b, layout::instance::CONSTANTS, self.instance);
        self.cells = load(b, layout::instance::CELLS, self.instance);
        self.table = b.ins().load(I64, MEM, self.table, Route::Returning.offset());
        self.go(b, Jump::Next);
    }

    /// Leaves the instruction to a handler, or to a function to which a handler would leave it.
    pub(crate) fn leave(&self, b: &mut FunctionBuilder<'_>, to: Route) {
        let target = b.ins().load(I64, MEM, self.table, to.offset());
        let distance = b.ins().isub(self.cells, self.code);
        let next = i64::from(self.number_of(Hole::Offset) + WORD);
        let pc = b.ins().iadd_imm_s(self.code, next);
        let args = [self.base, pc, self.instance, self.constants, distance, self.table];
        b.ins().return_call_indirect(self.sig, target, &args);
    }

    /// Continues at another instruction, with a float in a register if one is given.
    fn go_with(&self, b: &mut FunctionBuilder<'_>, jump: Jump, float: Option<Value>) {
        let (namespace, index) = Symbol::Target(jump).external();
        let name = b.func.declare_imported_user_function(UserExternalName { namespace, index });
        let signature = match float {
            Some(_) => b.import_signature(carrying()),
            None => self.sig,
        };
        let f = b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: true,
            patchable: false,
        });
        let args = [self.base, self.code, self.instance, self.constants, self.cells, self.table];
        let args: Vec<Value> = args.into_iter().chain(float).collect();
        b.ins().return_call(f, &args);
    }

    fn hole(&self, b: &mut FunctionBuilder<'_>, hole: Hole) -> Value {
        b.ins().iconst(I64, i64::from(self.number_of(hole)))
    }

    /// Returns the offset of a byte of the instruction from the first one of the function.
    fn byte_at(&self, n: i32) -> i32 {
        self.number_of(Hole::Offset) + n
    }
}

impl Operands for Stencil {
    fn word(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        b.ins().load(I32, MEM, self.code, self.byte_at(0))
    }

    fn base(&self) -> Value {
        self.base
    }

    fn instance(&self) -> Value {
        self.instance
    }

    fn register(&mut self, _: &mut FunctionBuilder<'_>, field: Field) -> Place {
        Place { base: self.base, offset: self.number_of(Hole::Register(field)) }
    }

    fn constant(&mut self, _: &mut FunctionBuilder<'_>, field: Field) -> Place {
        Place { base: self.constants, offset: self.number_of(Hole::Constant(field)) }
    }

    fn number(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value {
        match field {
            Field::A => b.ins().uload8(I64, MEM, self.code, self.byte_at(Instr::A_BYTE as i32)),
            Field::B => b.ins().uload8(I64, MEM, self.code, self.byte_at(Instr::B_BYTE as i32)),
            Field::C => b.ins().uload8(I64, MEM, self.code, self.byte_at(Instr::C_BYTE as i32)),
            Field::SignedB => {
                let n = self.number(b, Field::B);
                b.ins().iadd_imm_s(n, -i64::from(Instr::SB_BIAS))
            }
            Field::Bx => b.ins().uload16(I64, MEM, self.code, self.byte_at(Instr::B_BYTE as i32)),
            Field::SignedBx => {
                b.ins().sload16(I64, MEM, self.code, self.byte_at(Instr::B_BYTE as i32))
            }
            Field::Extra => {
                let word = b.ins().uload32(MEM, self.code, self.byte_at(WORD));
                b.ins().ushr_imm_u(word, i64::from(Instr::A_SHIFT))
            }
        }
    }

    fn record(&mut self, b: &mut FunctionBuilder<'_>, _: usize, _: u32) -> Value {
        // The records follow the instance, at offsets that the proto gives.
        b.ins().iadd_imm_s(self.instance, i64::from(self.number_of(Hole::Record)))
    }

    fn cell(&mut self, _: &mut FunctionBuilder<'_>) -> Place {
        Place { base: self.cells, offset: self.number_of(Hole::Offset) }
    }

    fn interpreter(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        b.ins().load(I64, MEM, self.table, Route::Function(Symbol::Interpret).offset())
    }

    fn return_word(&mut self, b: &mut FunctionBuilder<'_>) -> Value {
        self.hole(b, Hole::Position)
    }

    fn speculation(&self) -> Speculation {
        self.variant.speculation
    }

    fn immediate(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value {
        match self.has_signed_holes {
            true => self.hole(b, Hole::Immediate(field)),
            false => self.number(b, field),
        }
    }

    fn wanted(&self) -> Option<bool> {
        Some(self.variant.wanted)
    }

    fn carried(&self, field: Field) -> Option<Value> {
        self.float.filter(|_| self.variant.carried.contains(&field))
    }
}

impl Exits for Stencil {
    fn go(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) {
        self.go_with(b, jump, None);
    }

    fn carry(&mut self, b: &mut FunctionBuilder<'_>, result: Value) {
        self.go_with(b, Jump::Next, Some(result));
    }

    fn direction(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Value {
        let backwards = match jump {
            Jump::Own | Jump::Following => self.variant.backwards,
            Jump::Back => true,
            Jump::Next | Jump::Skip | Jump::Ahead | Jump::Past | Jump::General => false,
        };
        b.ins().iconst(I64, if backwards { -1 } else { 0 })
    }

    fn counter(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Place {
        self.cell(b).plus(if jump == Jump::Following { WORD } else { 0 })
    }

    fn slow(&mut self, b: &mut FunctionBuilder<'_>) {
        let op = self.op.expect("only definitions leave instructions");
        self.leave(b, Route::Function(Symbol::Step(step(op))));
    }

    fn is_compact(&self) -> bool {
        true
    }

    fn inlined(&self, part: usize) -> Option<Op> {
        self.op.filter(|_| self.frameless.contains(&part))
    }

    fn part(&mut self, b: &mut FunctionBuilder<'_>, number: usize) {
        let op = self.op.expect("only definitions have parts");
        self.leave(b, Route::Handler(op, number));
    }

    fn allocated(&mut self, b: &mut FunctionBuilder<'_>) {
        let state = b.ins().get_pinned_reg(I64);
        let word = b.ins().load(I32, MEM, state, layout::state::POLL as i32);
        let (poll, next) = (b.create_block(), b.create_block());
        b.set_cold_block(poll);
        b.ins().brif(word, poll, &[], next, &[]);
        switch(b, poll);
        self.leave(b, Route::Function(Symbol::Poll));
        switch(b, next);
        self.go(b, Jump::Next);
    }

    fn reload(&mut self, b: &mut FunctionBuilder<'_>, status: Value) {
        // A definition that calls the runtime is left to the handler entirely.
        b.ins().return_(&[status]);
    }

    fn called(&mut self, b: &mut FunctionBuilder<'_>, status: Value) {
        self.reload(b, status);
    }

    fn enter(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value) {
        let stitched = b.ins().load(I64, MEM, instance, layout::instance::STITCHED as i32);
        let (code, interpret) = (b.create_block(), b.create_block());
        b.set_cold_block(interpret);
        b.ins().brif(stitched, code, &[], interpret, &[]);
        let args = [base, self.code, instance, self.constants, self.cells, self.table];
        switch(b, code);
        let prologue = b.ins().iadd_imm_s(stitched, -(PROLOGUE as i64));
        b.ins().return_call_indirect(self.sig, prologue, &args);
        switch(b, interpret);
        let enter = Route::Function(Symbol::Enter).offset();
        let enter = b.ins().load(I64, MEM, self.table, enter);
        b.ins().return_call_indirect(self.sig, enter, &args);
    }

    fn resume(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value) {
        let stitched = b.ins().load(I64, MEM, instance, layout::instance::STITCHED as i32);
        let (code, interpret) = (b.create_block(), b.create_block());
        b.set_cold_block(interpret);
        b.ins().brif(stitched, code, &[], interpret, &[]);
        switch(b, code);
        jump_to(b, self.sig, stitched, base, instance, pc, self.table);
        switch(b, interpret);
        let enter = Route::Function(Symbol::Return).offset();
        let enter = b.ins().load(I64, MEM, self.table, enter);
        let args = [base, pc, instance, self.constants, self.cells, self.table];
        b.ins().return_call_indirect(self.sig, enter, &args);
    }
}
