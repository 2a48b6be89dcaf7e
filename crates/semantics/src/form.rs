//! The parameters of a definition: where operands come from, and where control continues.

use cranelift_codegen::ir::Value;
use cranelift_frontend::FunctionBuilder;
use perilune_bytecode::Op;

use crate::speculation::Speculation;

/// An address.
#[derive(Clone, Copy)]
pub struct Place {
    /// The base.
    pub base: Value,
    /// The offset from the base in bytes.
    pub offset: i32,
}

impl Place {
    /// Returns the place `offset` bytes after this one.
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

/// The place where an instruction continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    /// The next instruction.
    Next,
    /// The instruction after the next one.
    Skip,
    /// The target of this JMP.
    Own,
    /// The target of the JMP that follows this test.
    Following,
    /// `Bx` words back.
    Back,
    /// `Bx` words ahead.
    Ahead,
    /// One word more than `Bx` words ahead.
    Past,
    /// The general variant of this instruction.
    General,
}

/// The source of operands. Addresses are valid until something is called.
pub trait Operands {
    /// Returns the instruction word of 32 bits.
    fn word(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
    /// Returns the address of register 0.
    fn base(&self) -> Value;
    /// Returns the instance of the running function.
    fn instance(&self) -> Value;
    /// Returns the address of the register that an operand names.
    fn register(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place;
    /// Returns the address of the constant that an operand names.
    fn constant(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Place;
    /// Returns an operand as a 64-bit integer.
    fn number(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value;
    /// Returns the address of the instruction's record among those at `offset` of the instance,
    /// whose size is a power of two.
    fn record(&mut self, b: &mut FunctionBuilder<'_>, offset: usize, log_size: u32) -> Value;
    /// Returns the address of the feedback cell of the instruction.
    fn cell(&mut self, b: &mut FunctionBuilder<'_>) -> Place;
    /// Returns the contents of the entry slot of a method without machine code.
    fn interpreter(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
    /// Returns the position of the next instruction in the form that a frame word stores.
    fn return_word(&mut self, b: &mut FunctionBuilder<'_>) -> Value;
    /// Returns what this variant of the instruction assumes about its operands.
    fn speculation(&self) -> Speculation {
        Speculation::Nothing
    }
    /// Returns an operand that is added to an integer or compared with one, and not used otherwise.
    fn immediate(&mut self, b: &mut FunctionBuilder<'_>, field: Field) -> Value {
        self.number(b, field)
    }
    /// Returns operand C of a test, 0 or 1, if this variant is for one of the two.
    fn wanted(&self) -> Option<bool> {
        None
    }
    /// Returns the value of the register that an operand names, if it is a float that the preceding
    /// instruction has left in a machine register.
    fn carried(&self, _field: Field) -> Option<Value> {
        None
    }
}

/// The exits of an instruction. Each of them ends the current block, unless it returns a value.
pub trait Exits {
    /// Continues at another instruction of the function.
    fn go(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump);
    /// Continues at the next instruction, with the result of this one, a float, in a machine
    /// register.
    fn carry(&mut self, b: &mut FunctionBuilder<'_>, _result: Value) {
        self.go(b, Jump::Next);
    }
    /// Returns whether a jump leads backwards, as a 64-bit value that is negative if it does.
    fn direction(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Value;
    /// Returns the cell that counts how often a jump has led backwards.
    fn counter(&mut self, b: &mut FunctionBuilder<'_>, jump: Jump) -> Place;
    /// Makes the runtime execute the instruction from its beginning, and continues after it.
    fn slow(&mut self, b: &mut FunctionBuilder<'_>);
    /// Returns whether code for less common operands should be separated from the rest, since there
    /// is a copy of it for each instruction.
    fn is_compact(&self) -> bool;
    /// Returns the opcode if another part of its definition is emitted in place.
    fn inlined(&self, part: usize) -> Option<Op>;
    /// Continues in another part of the definition, which is compiled separately.
    fn part(&mut self, b: &mut FunctionBuilder<'_>, number: usize);
    /// Ends an instruction that is complete and has allocated: continues after a safepoint if the
    /// poll word is set.
    fn allocated(&mut self, b: &mut FunctionBuilder<'_>);
    /// Continues after the runtime has run other functions since the position was stored: ends with
    /// `status` if that is not 0, and otherwise continues with the frame on top.
    fn reload(&mut self, b: &mut FunctionBuilder<'_>, status: Value);
    /// Continues after the runtime has called a function since the position was stored: with the
    /// next instruction if `status` is 0, or with the frame on top if it is
    /// [`Runtime::ON_TOP`](crate::Runtime::ON_TOP). Ends with any other `status`.
    fn called(&mut self, b: &mut FunctionBuilder<'_>, status: Value);
    /// Continues at the beginning of another function, whose frame is on top, given its base and
    /// its instance.
    fn enter(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value);
    /// Continues in a function to which the running one has returned, given its base, its instance
    /// and the address of the instruction.
    fn resume(&mut self, b: &mut FunctionBuilder<'_>, base: Value, instance: Value, pc: Value);
}

/// A form of code to which opcodes are compiled.
pub trait Form: Operands + Exits {}
impl<T: Operands + Exits> Form for T {}
