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
    /// Executes the instruction at the pc of the frame on top. The result is 0 if the frame that is
    /// on top then is to be continued.
    Single "single" () -> 1;
    /// Stitches the code of the function whose frame is on top, at its beginning. The result is as
    /// for `Single`.
    Stitch "stitch" () -> 1;
    /// Does what the poll word requests after an instruction that allocates. The result is as for
    /// `Single`.
    Poll "poll" () -> 1;
    /// Loads a field of a table through a cache; the tag is 255 on a miss.
    GetField "get_field" (Full Full) -> 2;
    /// Stores a field of a table through a cache: payload and tag. 0 is a miss, without an effect.
    SetField "set_field" (Full Full Full Full) -> 1;
    /// Loads what a table has under a short string (payload and tag); the tag is 255 if a metatable
    /// has to be consulted.
    GetStr "get_str" (Full Full) -> 2;
    /// Loads what a table has under a key (payload and tag); the tag is 255 if a metatable has to
    /// be consulted.
    GetAny "get_any" (Full Full Full) -> 2;
    /// Stores under an integer key: payload and tag; records the access in a cell. 0: nothing was
    /// stored.
    SetInt "set_int" (Full Full Full Full Full) -> 1;
    /// Stores under a short string key: payload and tag. 0: nothing was stored.
    SetStr "set_str" (Full Full Full Full) -> 1;
    /// Makes the table of a NEWTABLE: the instance, the position, and the number of fields.
    NewTable "new_table" (Full Full Full) -> 1;
    /// Makes a closure of an inner function: the instance, the number, and the frame's base.
    Closure "closure" (Full Full Full) -> 1;
    /// TFORCALL of a loop that runs inline: its first register and operand C. 0: it does not.
    ForNext "for_next" (Full Full) -> 1;
    /// TFORPREP without a value to be closed: its first register.
    ForStart "for_start" (Full) -> 0;
    /// Whether one string is less than another.
    StringLess "string_less" (Full Full) -> 1;
    /// Whether one string is less than another, or equal.
    StringLessEqual "string_less_equal" (Full Full) -> 1;
    /// VARARG: the frame's base and operands A and C. 0: the stack has to grow first.
    VarArg "var_arg" (Full Full Full) -> 1;
    /// CALLMETA: the first register and operand C. 0: it is not a plain `setmetatable`.
    SetClass "set_class" (Full Full) -> 1;
    /// SETLIST: the table, the position before the first value, the values and their number.
    SetList "set_list" (Full Full Full Full) -> 0;
    /// Closes the upvalues of a frame from a register on. 0: there are variables to be closed as
    /// well, and nothing was done.
    Close "close" (Full) -> 1;
    /// `a ^ b`, of the payloads of floats.
    Pow "pow" (Full Full) -> 1;
    /// `a % b`, of the payloads of floats.
    FloatMod "float_mod" (Full Full) -> 1;
    /// `a // b`, of the payloads of floats.
    FloatFloor "float_floor" (Full Full) -> 1;
    /// CALL of a native function: the register with the function, the instruction, and the record
    /// of callees. The result is 0 if the running frame continues with the next instruction, its
    /// base may be another; it is [`Runtime::ON_TOP`] if the frame that is on top then is to be
    /// continued.
    CallNative "call_native" (Full Half Full) -> 1;
    /// TAILCALL of a native function: the register with the function, the instruction, and the
    /// record of callees. The result is as for `CallNative`.
    TailCallNative "tail_call_native" (Full Half Full) -> 1;
    /// CALL of a function that has machine code: the register with the function, the instruction,
    /// and the record of callees. The result is as for `CallNative`.
    CallCode "call_code" (Full Half Full) -> 1;
    /// CONCAT by the frame on top, which continues after it. The result is as for `Single`.
    Concat "concat" () -> 1;
    /// GETFIELD or SELF, of which the frame on top has stored the position after it, as for the
    /// functions that follow. The result is as for `Single`.
    StepGetField "step_get_field" () -> 1;
    /// GETTABLE, GETI or SELFR.
    StepGet "step_get" () -> 1;
    /// GETTABUP.
    StepGetGlobal "step_get_global" () -> 1;
    /// SETFIELD, also of a constant.
    StepSetField "step_set_field" () -> 1;
    /// SETTABLE or SETI, also of a constant.
    StepSet "step_set" () -> 1;
    /// LEN.
    StepLength "step_length" () -> 1;
    /// EQ.
    StepEqual "step_equal" () -> 1;
    /// LT or LE.
    StepOrder "step_order" () -> 1;
    /// CALL.
    StepCall "step_call" () -> 1;
    /// TAILCALL.
    StepTailCall "step_tail_call" () -> 1;
    /// RETURN, RETURN0 or RETURN1.
    StepReturn "step_return" () -> 1;
    /// FORPREP.
    StepPrepare "step_prepare" () -> 1;
    /// TFORCALL.
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

    /// What functions return that may leave the running frame on top, if the frame that is on top
    /// is to be continued, whichever it is.
    pub const ON_TOP: u64 = 5;

    /// The namespace of these functions among the external names of generated code.
    pub const NAMESPACE: u32 = 1;
}
