//! The functions of the runtime that definitions call.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use cranelift_codegen::isa::CallConv;

/// The width of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 32 bits.
    Half,
    /// 64 bits.
    Full,
}

macro_rules! functions {
    ($($(#[$doc:meta])+ $variant:ident $name:literal ($($arg:ident)*) -> $results:literal;)+) => {
        /// A function of the runtime. The first argument of each is the state.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Runtime { $($(#[$doc])+ $variant),+ }

        impl Runtime {
            /// All functions.
            pub const ALL: &'static [Runtime] = &[$(Runtime::$variant),+];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self { $(Runtime::$variant => $name),+ }
            }

            /// Returns the widths of the arguments, and the number of results.
            const fn shape(self) -> (&'static [Width], usize) {
                match self {
                    $(Runtime::$variant => (&[Width::Full $(, Width::$arg)*], $results)),+
                }
            }
        }
    };
}

functions! {
    /// Executes the instruction at the pc of the frame on top. The result is 0 if execution
    /// continues with the frame that is on top afterwards.
    Single "single" () -> 1;
    /// Stitches the code of the function whose frame is on top, at its beginning. The result is as
    /// for `Single`.
    Stitch "stitch" () -> 1;
    /// Serves the requests in the poll word after an instruction that allocates. The result is as
    /// for `Single`.
    Poll "poll" () -> 1;
    /// Loads a field of a table through a cache; the tag is 255 on a miss.
    GetField "get_field" (Full Full) -> 2;
    /// Stores a field of a table through a cache, given payload and tag. Returns 0, without an
    /// effect, on a miss.
    SetField "set_field" (Full Full Full Full) -> 1;
    /// Loads the value that a table has under a short string (payload and tag); the tag is 255 if a
    /// metatable has to be consulted.
    GetStr "get_str" (Full Full) -> 2;
    /// Loads the value that a table has under a key (payload and tag), and records the access in a
    /// cell; the tag is 255 if a metatable has to be consulted.
    GetAny "get_any" (Full Full Full Full) -> 2;
    /// Stores a value, given payload and tag, under an integer key, and records the access in a
    /// cell. Returns 0 if nothing was stored.
    SetInt "set_int" (Full Full Full Full Full) -> 1;
    /// Stores a value, given payload and tag, under a short string key. Returns 0 if nothing was
    /// stored.
    SetStr "set_str" (Full Full Full Full) -> 1;
    /// Makes the table of a NEWTABLE, given the instance, the position and the number of fields.
    NewTable "new_table" (Full Full Full) -> 1;
    /// Makes a closure of an inner function, given the instance, the number and the frame's base.
    Closure "closure" (Full Full Full) -> 1;
    /// Executes TFORCALL of a loop that runs inline, given its first register and operand C.
    /// Returns 0 if the loop does not run inline.
    ForNext "for_next" (Full Full) -> 1;
    /// Executes TFORPREP without a value to be closed, given its first register.
    ForStart "for_start" (Full) -> 0;
    /// Returns whether one string is less than another.
    StringLess "string_less" (Full Full) -> 1;
    /// Returns whether one string is less than or equal to another.
    StringLessEqual "string_less_equal" (Full Full) -> 1;
    /// Executes VARARG, given the frame's base and operands A and C. Returns 0 if the stack has to
    /// grow first.
    VarArg "var_arg" (Full Full Full) -> 1;
    /// Executes CALLMETA, given the first register and operand C. Returns 0 if it is not a plain
    /// `setmetatable`.
    SetClass "set_class" (Full Full) -> 1;
    /// Executes SETLIST, given the table, the position before the first value, the values and their
    /// number.
    SetList "set_list" (Full Full Full Full) -> 0;
    /// Closes the upvalues of a frame from a register on. Returns 0, without an effect, if there
    /// are also variables to be closed, or if a return has closed some and continues.
    Close "close" (Full) -> 1;
    /// Executes TBC, given the register. Returns 0, without an effect, if the value cannot be
    /// closed or there is no memory.
    MarkToClose "mark_to_close" (Full) -> 1;
    /// Returns `a ^ b`, given the payloads of floats.
    Pow "pow" (Full Full) -> 1;
    /// Returns `a % b`, given the payloads of floats.
    FloatMod "float_mod" (Full Full) -> 1;
    /// Returns `a // b`, given the payloads of floats.
    FloatFloor "float_floor" (Full Full) -> 1;
    /// Executes CALL of a native function, given the register with the function, the instruction
    /// and the record of callees. The result is 0 if the running frame, whose base may have
    /// changed, continues with the next instruction. It is [`Runtime::ON_TOP`] if execution
    /// continues with the frame that is on top afterwards.
    CallNative "call_native" (Full Half Full) -> 1;
    /// Executes TAILCALL of a native function, given the register with the function, the
    /// instruction and the record of callees. The result is as for `CallNative`.
    TailCallNative "tail_call_native" (Full Half Full) -> 1;
    /// Executes CALL of a function that has machine code, given the register with the function, the
    /// instruction and the record of callees. The result is as for `CallNative`.
    CallCode "call_code" (Full Half Full) -> 1;
    /// Executes CONCAT for the frame on top, which continues after it. The result is as for
    /// `Single`.
    Concat "concat" () -> 1;
    /// Executes GETFIELD or SELF for the frame on top, which has stored the position after it; the
    /// same holds for the functions below. The result is as for `Single`.
    StepGetField "step_get_field" () -> 1;
    /// Executes GETTABLE, GETI or SELFR.
    StepGet "step_get" () -> 1;
    /// Executes GETTABUP.
    StepGetGlobal "step_get_global" () -> 1;
    /// Executes SETFIELD, also of a constant.
    StepSetField "step_set_field" () -> 1;
    /// Executes SETTABLE or SETI, also of a constant.
    StepSet "step_set" () -> 1;
    /// Executes LEN.
    StepLength "step_length" () -> 1;
    /// Executes EQ.
    StepEqual "step_equal" () -> 1;
    /// Executes LT or LE.
    StepOrder "step_order" () -> 1;
    /// Executes CALL.
    StepCall "step_call" () -> 1;
    /// Executes TAILCALL.
    StepTailCall "step_tail_call" () -> 1;
    /// Executes RETURN, RETURN0 or RETURN1.
    StepReturn "step_return" () -> 1;
    /// Executes FORPREP.
    StepPrepare "step_prepare" () -> 1;
    /// Executes TFORCALL.
    StepIterate "step_iterate" () -> 1;
}

impl Runtime {
    /// Returns the signature.
    pub fn signature(self) -> Signature {
        let (widths, results) = self.shape();
        let ty = |width: &Width| -> Type { if *width == Width::Half { I32 } else { I64 } };
        let mut sig = Signature::new(CallConv::SystemV);
        sig.params.extend(widths.iter().map(|w| AbiParam::new(ty(w))));
        sig.returns.extend((0..results).map(|_| AbiParam::new(I64)));
        sig
    }

    /// Returns the name that generated code calls it by.
    pub fn external(self) -> (u32, u32) {
        (Runtime::NAMESPACE, self as u32)
    }

    /// The result of functions that may leave the running frame on top, if execution continues with
    /// whichever frame is on top afterwards.
    pub const ON_TOP: u64 = 5;

    /// The namespace of these functions among the external names of generated code.
    pub const NAMESPACE: u32 = 1;
}
