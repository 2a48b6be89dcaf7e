//! Emits Cranelift IR for the compilers: frames, values, guards, accesses to tables, allocation,
//! calls, polls and exits.
//!
//! An [`Emitter`] has one method for each of these. It knows the layout of the runtime and the
//! protocols of `crates/runtime/src/tier.rs`, and is the only part of the crate that loads and
//! stores. The caller decides which code is emitted for an instruction, and tracks the facts about
//! its operands: nothing here depends on feedback or on the contents of registers.
//!
//! A method that takes a block named after a condition (`slow`, `other`) branches to that block if
//! the condition holds, and otherwise continues in a new block.

mod allocate;
mod available;
mod barrier;
pub(crate) mod builtin;
pub(crate) mod cache;
pub(crate) mod call;
mod closing;
mod compare;
pub(crate) mod element;
mod encoding;
mod exit;
mod extra;
mod frame;
mod guard;
pub(crate) mod inline;
mod list;
pub(crate) mod memory;
mod nodes;
pub(crate) mod number;
mod poll;
mod prologue;
mod protected;
mod random;
pub(crate) mod table;
pub(crate) mod traverse;
pub(crate) mod value;
pub(crate) mod verify;

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, DataFlowGraph, Function, InstBuilder, InstructionData, SigRef,
    Signature, Type, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder, FunctionBuilderContext, Variable};
use perilune_bytecode::Proto;
use perilune_runtime::instance::Places;
use perilune_runtime::layout;
use perilune_runtime::tier::RuntimeCalls;

use crate::entity::{Pc, Reg};
use crate::exits::map::ExitMap;
use crate::exits::state::{FrameState, Home, Point};
use crate::pipeline::symbols::Callees;
use crate::testing::fault::Fault;
use available::Available;
use inline::FrameCode;

/// The function body that code is emitted for.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) proto: &'a Proto,
    pub(crate) calls: &'a RuntimeCalls,
    /// The id that frames of the code carry.
    pub(crate) id: u32,
    /// Whether the code is an OSR entry, which the interpreter loop enters.
    pub(crate) is_loop: bool,
    /// Whether the code counts instructions.
    pub(crate) counts: bool,
    /// Whether the code compares the values that it holds with the frame and the heap.
    pub(crate) verify_values: bool,
    /// Whether guards also fail when the state requests it.
    pub(crate) stress_exits: bool,
    /// The fault to inject, for tests.
    pub(crate) fault: Option<Fault>,
}

/// Emits the code of one function.
pub(crate) struct Emitter<'a> {
    b: FunctionBuilder<'a>,
    body: Body<'a>,
    callees: Callees<'a>,
    /// The address of register 0.
    base: Variable,
    /// The base in a loop that does not change it.
    loop_base: Option<Value>,
    /// The closure that was passed, which is valid as long as nothing has been called.
    passed_closure: Value,
    /// Whether no code has called anything on any path to here.
    nothing_called: bool,
    /// The frames that code is emitted for: the outermost one, and those of inlined functions.
    frames: Vec<FrameCode<'a>>,
    /// The number of the current frame.
    current: usize,
    /// The number of slots that frames of inlined functions take above those of the function
    /// itself.
    inlined_slots: usize,
    /// The first of the slots for descriptions of virtual tables.
    virtuals_at: Reg,
    /// Whether frames of inlined functions are stored, so that code can read from them.
    frames_are_stored: bool,
    /// The state, and the block in which it was last read from its machine register.
    state: Option<(Block, Value)>,
    /// The block that exits with the status of a callee that failed or yields.
    failure: Option<Block>,
    /// The block that returns, without results, the status and base that it is passed.
    leaving: Option<Block>,
    /// The blocks that deoptimize a frame with the frame word that they are passed, one for each
    /// point and frame.
    deoptimizing: Vec<(Point, usize, Block)>,
    /// The blocks in which the self-check reports differences.
    verify_reports: Option<verify::VerifyReports>,
    /// The blocks that deoptimize, which are emitted last, with the values that they store to home
    /// slots.
    deferred: Vec<(Block, FrameState, Vec<Home>)>,
    /// The exits emitted so far, with their frame states.
    exits: ExitMap,
    entry_sig: SigRef,
    mem_flags: memory::Flags,
    available: Available,
    /// Signatures of functions of the runtime that are called by address.
    sigs: Vec<(Vec<Type>, Vec<Type>, SigRef)>,
}

/// Returns the signature of entries.
pub(crate) fn entry_signature() -> Signature {
    let mut sig = Signature::new(CallConv::Tail);
    sig.params.extend([AbiParam::new(I64); 3]);
    sig.returns.extend([AbiParam::new(I64); 4]);
    sig
}

/// Returns the instruction that defines a condition.
pub(crate) fn comparison(dfg: &DataFlowGraph, condition: Value) -> Option<InstructionData> {
    dfg.value_def(dfg.resolve_aliases(condition)).inst().map(|inst| dfg.insts[inst])
}

/// Emits the negation of a condition, which the instruction `compare` defines.
pub(crate) fn inverted<'f>(
    ins: impl InstBuilder<'f>,
    compare: Option<InstructionData>,
    condition: Value,
) -> Value {
    match compare {
        Some(InstructionData::IntCompare { cond, args: [x, y], .. }) => {
            ins.icmp(cond.complement(), x, y)
        }
        Some(InstructionData::FloatCompare { cond, args: [x, y], .. }) => {
            ins.fcmp(cond.complement(), x, y)
        }
        _ => ins.icmp_imm_u(IntCC::Equal, condition, 0),
    }
}

impl<'a> Emitter<'a> {
    /// Begins the code of a function in `func`; returns the number of arguments that it is passed.
    pub(crate) fn begin(
        func: &'a mut Function,
        context: &'a mut FunctionBuilderContext,
        body: Body<'a>,
        callees: Callees<'a>,
    ) -> (Emitter<'a>, Value) {
        func.signature = entry_signature();
        let mem_flags = memory::Flags::declare(func);
        let mut b = FunctionBuilder::new(func, context);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let params = b.block_params(start).to_vec();
        let base = b.declare_var(I64);
        b.def_var(base, params[1]);
        let instance =
            b.ins().load(I64, memory::CONSTANT, params[0], layout::closure::INSTANCE as i32);
        let exit = b.create_block();
        b.append_block_param(exit, I64);
        b.set_cold_block(exit);
        let entry_sig = b.import_signature(entry_signature());
        let emitter = Emitter {
            b,
            body,
            callees,
            base,
            loop_base: None,
            passed_closure: params[0],
            nothing_called: true,
            mem_flags,
            available: Available::begin(start, body.fault),
            frames: vec![FrameCode {
                proto: body.proto,
                places: Places::in_instances_of(body.proto),
                instance,
                offset: 0,
                inlined: None,
                exit: Some(exit),
            }],
            current: 0,
            inlined_slots: 0,
            virtuals_at: Reg::new(0),
            frames_are_stored: false,
            state: None,
            failure: None,
            leaving: None,
            deoptimizing: Vec::new(),
            verify_reports: None,
            deferred: Vec::new(),
            exits: ExitMap::default(),
            entry_sig,
            sigs: Vec::new(),
        };
        (emitter, params[2])
    }

    /// Ends the code; returns its exits.
    pub(crate) fn finish(mut self, isa: &dyn TargetIsa) -> ExitMap {
        self.exit_blocks();
        self.verify_report_blocks();
        self.b.seal_all_blocks();
        self.b.finalize(isa.frontend_config());
        self.exits
    }

    /// Returns the builder that inserts instructions into the current block.
    pub(crate) fn ins(&mut self) -> FuncInstBuilder<'_, 'a> {
        self.b.ins()
    }

    /// Sets the bytecode instruction of the outermost function that the following code belongs to;
    /// for the code of an inlined function, that is the call.
    pub(crate) fn set_source(&mut self, pc: Pc) {
        let pc = self.outermost_pc(pc);
        self.b.set_srcloc(cranelift_codegen::ir::SourceLoc::new(pc.as_u32()));
    }
}

impl Emitter<'_> {
    /// Creates a block.
    pub(crate) fn block(&mut self) -> Block {
        self.b.create_block()
    }

    /// Creates a block that is rarely executed.
    pub(crate) fn cold_block(&mut self) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    /// Creates a block that continues the current one, and is cold if the current one is cold.
    pub(crate) fn next_block(&mut self) -> Block {
        let is_cold = self.b.current_block().is_some_and(|b| self.b.func.layout.is_cold(b));
        if is_cold { self.cold_block() } else { self.b.create_block() }
    }

    /// Creates a block that is passed a word, and returns both.
    pub(crate) fn block_of_word(&mut self) -> (Block, Value) {
        let block = self.b.create_block();
        let word = self.b.append_block_param(block, I64);
        (block, word)
    }

    /// Continues in `block`, to which no later code may branch.
    ///
    /// As all predecessors are known, a variable that has one value in all of them needs no block
    /// parameter.
    pub(crate) fn switch_to(&mut self, block: Block) {
        self.available.switch_to(self.b.func, block, None);
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    /// Ends the block.
    pub(crate) fn jump(&mut self, to: Block) {
        self.b.ins().jump(to, &[]);
    }

    /// Creates a block that is passed values of these types, and returns both.
    pub(crate) fn block_of(&mut self, types: &[Type]) -> (Block, Vec<Value>) {
        let block = self.b.create_block();
        let params = types.iter().map(|&ty| self.b.append_block_param(block, ty)).collect();
        (block, params)
    }

    /// Marks a block as rarely executed.
    pub(crate) fn set_cold(&mut self, block: Block) {
        self.b.set_cold_block(block);
    }

    /// Ends the block, and passes values to the next one.
    pub(crate) fn jump_with_all(&mut self, to: Block, values: &[Value]) {
        let args: Vec<BlockArg> = values.iter().map(|&v| BlockArg::from(v)).collect();
        self.b.ins().jump(to, &args);
    }

    /// Ends the block, and passes a value to the next one.
    pub(crate) fn jump_with(&mut self, to: Block, value: Value) {
        self.b.ins().jump(to, &[BlockArg::from(value)]);
    }

    /// Ends the block: goes to `yes` if the condition is not zero, otherwise to `no`.
    pub(crate) fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        match self.decided(condition) {
            Some(true) => self.jump(yes),
            Some(false) => self.jump(no),
            None => {
                self.b.ins().brif(condition, yes, &[], no, &[]);
            }
        }
    }

    /// Branches to `no` if `condition` does not hold, and otherwise to `yes`, which is laid out
    /// next.
    pub(crate) fn branch_unless(&mut self, condition: Value, no: Block, yes: Block) {
        if self.decided(condition).is_some() {
            return self.branch(condition, yes, no);
        }
        let compare = comparison(&self.b.func.dfg, condition);
        let inverted = inverted(self.b.ins(), compare, condition);
        self.b.ins().brif(inverted, no, &[], yes, &[]);
    }

    /// Emits a 64-bit constant.
    pub(crate) fn int(&mut self, v: i64) -> Value {
        self.b.ins().iconst(I64, v)
    }

    /// Returns the state. It is read once per block: each read takes an instruction, and keeping it
    /// across blocks takes a machine register.
    pub(crate) fn state(&mut self) -> Value {
        let block = self.b.current_block().expect("code is emitted into a block");
        match self.state {
            Some((read_in, state)) if read_in == block => state,
            _ => {
                let state = self.b.ins().get_pinned_reg(I64);
                self.state = Some((block, state));
                state
            }
        }
    }
}
