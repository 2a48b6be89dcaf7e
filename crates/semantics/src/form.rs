//! What a definition is generic over: where operands come from, and where control goes.

use cranelift_codegen::ir::Value;
use cranelift_frontend::FunctionBuilder;
use perilune_bytecode::Op;

/// An address.
#[derive(Clone, Copy)]
pub struct Place {
    /// The base.
    pub base: Value,
    /// The distance from it in bytes.
    pub offset: i32,
}

impl Place {
    /// Returns the place `offset` bytes further.
    pub fn plus(self, offset: i32) -> Place {
        Place { base: self.base, offset: self.offset + offset }
    }
}

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    /// `A`
    A,
    /// `B`
    B,
    /// `C`
    C,
    /// `B` of comparisons with an immediate, signed
    SignedB,
    /// `Bx`
    Bx,
    /// `sBx`
    SignedBx,
    /// `Ax` of the next word, an EXTRAARG
    Extra,
}

/// Where an instruction continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    /// At the next instruction.
    Next,
    /// At the one after it.
    Skip,
    /// Where this JMP leads.
    Own,
    /// Where the JMP leads that follows this test.
    Following,
    /// `Bx` words back.
    Back,
    /// After `Bx` words.
    Ahead,
    /// After `Bx` words and one more.
    Past,
}

/// Where operands come from. Addresses are valid as long as nothing was called.
pub trait Operands {
    /// Returns the instruction, of 32 bits.
    fn word(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
    /// Returns the address of register 0.
    fn base(&self) -> Value;
    /// Returns the instance of the running function.
    fn instance(&self) -> Value;
    /// Returns the address of the register that an operand names.
    fn register(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place;
    /// Returns the address of the constant that an operand names.
    fn constant(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place;
    /// Returns an operand as an integer of 64 bits.
    fn number(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value;
    /// Returns the address of the instruction's record among those at `offset` of the instance,
    /// whose size is a power of two.
    fn record(&mut self, b: &mut FunctionBuilder<'_>, offset: usize, log_size: u32) -> Value;
    /// Returns the address of the feedback cell of the instruction.
    fn cell(&mut self, b: &mut FunctionBuilder<'_>) -> Place;
    /// Returns what the slot of a method holds that is to be interpreted.
    fn interpreter(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
    /// Returns the position of the next instruction as a frame word stores it.
    fn return_word(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
}

/// How an instruction is left. Each of these ends the current block.
pub trait Exits {
    /// Continues at another instruction of the function.
    fn go(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump);
    /// Returns whether a jump leads backwards, as a value of 64 bits that is negative if so.
    fn direction(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Value;
    /// Returns the cell that counts how often a jump leads backwards.
    fn counter(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Place;
    /// Has the runtime execute the instruction from its beginning, and continues after it.
    fn slow(&mut self, b: &mut FunctionBuilder<'_>);
    /// Returns whether code for less common operands is to be apart from the rest, since there is a
    /// copy of it for each instruction.
    fn is_compact(&self) -> bool;
    /// Returns the opcode, if another part of its definition is to be emitted in place.
    fn inlined(&self, part: usize) -> Option<Op>;
    /// Continues in another part of the definition, which is compiled apart from this one.
    fn part(&mut self, b: &mut FunctionBuilder<'_>, number: usize);
    /// The instruction is complete, and has allocated: continues after a safepoint if the poll word
    /// is set.
    fn allocated(&mut self, b: &mut FunctionBuilder<'_>);
    /// The runtime has run other functions since the position was stored: ends with `status` unless
    /// it is 0, else continues with the frame that is on top.
    fn reload(&mut self, b: &mut FunctionBuilder<'_>, status: Value);
    /// The runtime has called a function since the position was stored: continues with the next
    /// instruction if `status` is 0, with the frame on top if it is
    /// [`Runtime::ON_TOP`](crate::Runtime::ON_TOP), else ends with it.
    fn called(&mut self, b: &mut FunctionBuilder<'_>, status: Value);
    /// Continues at the beginning of another function, whose frame is on top: its base and its
    /// instance.
    fn enter(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value);
    /// Continues in a function to which the running one has returned: its base, its instance and
    /// the address of the instruction.
    fn resume(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value);
}

/// What opcodes are compiled to.
pub trait Form: Operands + Exits {}
impl<T: Operands + Exits> Form for T {}
