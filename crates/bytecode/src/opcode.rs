//! The instruction set: one table, from which the enum, the names and the operand shapes are
//! generated.
//!
//! An instruction is one 32-bit word: the opcode in bits 0-7, then either `A B C` (8 bits each), `A
//! Bx` (8 and 16 bits; `sBx` is signed), `sJ` (24 bits, signed) or `Ax` (24 bits).
//!
//! Notation: `R[x]` is a register, `K[x]` a constant, `U[x]` an upvalue, `top` the end of a
//! multiple result. A frame on the VM stack is `[callee][header][R[0] ..]`, so the compiler
//! reserves **two** registers, for function and header, before the arguments of every call.

/// The interpretation of the operand bits of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Three 8-bit operands.
    Abc,
    /// 8-bit `A` and unsigned 16-bit `Bx`.
    Abx,
    /// 8-bit `A` and signed 16-bit `sBx`.
    Asbx,
    /// Signed 24-bit jump distance, counted from the next instruction.
    Sj,
    /// Unsigned 24-bit operand.
    Ax,
}

/// The feedback that an instruction records, which determines the contents of its feedback cell in
/// an instance.
///
/// Every instruction word has one 32-bit cell in each instance of its proto. For the record kinds
/// the cell is the index of a wider record of that kind in the same instance, assigned in code
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// Nothing.
    None,
    /// Bits: kinds of operands seen, [`operands`](crate::feedback::operands).
    Operands,
    /// Bits: kinds of tables and keys seen, [`access`](crate::feedback::access).
    Access,
    /// Record: inline cache of a field (shape, slot, holder).
    Field,
    /// Record: inline cache of a global (cell).
    Global,
    /// Record: callee seen.
    Callee,
    /// Record: shape of the tables made here.
    Site,
    /// Count: the number of times that a loop continued, or a branch was taken (saturating).
    Count,
}

macro_rules! opcodes {
    ($($(#[doc = $doc:literal])+ $name:ident $text:literal $shape:ident $fb:ident;)*) => {
        /// An operation code.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        // `R[A]` is a register, and no link.
        #[allow(rustdoc::broken_intra_doc_links)]
        pub enum Op { $($(#[doc = $doc])+ $name),* }

        impl Op {
            /// All opcodes, by number.
            pub const ALL: &'static [Op] = &[$(Op::$name),*];
            /// Number of opcodes.
            pub const COUNT: usize = Op::ALL.len();

            /// Returns the opcode's name in listings.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $text),* }
            }

            /// Returns how its operands are encoded.
            pub const fn shape(self) -> Shape {
                match self { $(Op::$name => Shape::$shape),* }
            }

            /// Returns the feedback that it records.
            pub const fn feedback(self) -> Feedback {
                match self { $(Op::$name => Feedback::$fb),* }
            }

            /// Returns the opcode with number `n`.
            pub const fn from_u8(n: u8) -> Option<Op> {
                if (n as usize) < Op::COUNT { Some(Op::ALL[n as usize]) } else { None }
            }
        }
    };
}

opcodes! {
    /// `A B`: R[A] := R[B]
    Move "MOVE" Abc None;
    /// `A sBx`: R[A] := integer sBx
    LoadI "LOADI" Asbx None;
    /// `A sBx`: R[A] := float sBx
    LoadF "LOADF" Asbx None;
    /// `A Bx`: R[A] := K[Bx]
    LoadK "LOADK" Abx None;
    /// `A`: R[A] := K[Ax of the next word, an EXTRAARG]
    LoadKX "LOADKX" Abx None;
    /// `A`: R[A] := false
    LoadFalse "LOADFALSE" Abc None;
    /// `A`: R[A] := false, and the next instruction is skipped
    LFalseSkip "LFALSESKIP" Abc None;
    /// `A`: R[A] := true
    LoadTrue "LOADTRUE" Abc None;
    /// `A B`: R[A], .. R[A+B] := nil
    LoadNil "LOADNIL" Abc None;
    /// `A B`: R[A] := U[B]
    GetUpval "GETUPVAL" Abc None;
    /// `A B`: U[B] := R[A]
    SetUpval "SETUPVAL" Abc None;
    /// `A B C`: R[A] := U[B][K[C]], K[C] a string; how globals are read
    GetTabUp "GETTABUP" Abc Global;
    /// `A B C`: R[A] := R[B][R[C]]
    GetTable "GETTABLE" Abc Access;
    /// `A B C`: R[A] := R[B][integer C]
    GetI "GETI" Abc Access;
    /// `A B C`: R[A] := R[B][K[C]], K[C] a string
    GetField "GETFIELD" Abc Field;
    /// `A B C`: U[A][K[B]] := R[C], K[B] a string; how globals are written
    SetTabUp "SETTABUP" Abc Global;
    /// `A B C`: U[A][K[B]] := K[C]
    SetTabUpK "SETTABUPK" Abc Global;
    /// `A B C`: R[A][R[B]] := R[C]
    SetTable "SETTABLE" Abc Access;
    /// `A B C`: R[A][R[B]] := K[C]
    SetTableK "SETTABLEK" Abc Access;
    /// `A B C`: R[A][integer B] := R[C]
    SetI "SETI" Abc Access;
    /// `A B C`: R[A][integer B] := K[C]
    SetIK "SETIK" Abc Access;
    /// `A B C`: R[A][K[B]] := R[C], K[B] a string
    SetField "SETFIELD" Abc Field;
    /// `A B C`: R[A][K[B]] := K[C]
    SetFieldK "SETFIELDK" Abc Field;
    /// `A B C`: R[A] := {} with room expected for B fields and C array elements (both saturate at
    /// 255). A is the first free register.
    NewTable "NEWTABLE" Abc Site;
    /// `A B C`: R[A+2] := R[B]; R[A] := R[B][K[C]], K[C] a string (R[A+1] is the header of the call
    /// to come)
    SelfK "SELF" Abc Field;
    /// `A B C`: R[A+2] := R[B]; R[A] := R[B][R[C]], for names beyond K[255]; C is not A+2
    SelfR "SELFR" Abc Access;

    /// `A B C`: R[A] := R[B] + integer C
    AddI "ADDI" Abc Operands;
    /// `A B C`: R[A] := R[B] - integer C
    SubI "SUBI" Abc Operands;
    /// `A B C`: R[A] := R[B] + K[C], a number, as in all `..K`
    AddK "ADDK" Abc Operands;
    /// `A B C`: R[A] := R[B] - K[C]
    SubK "SUBK" Abc Operands;
    /// `A B C`: R[A] := R[B] * K[C]
    MulK "MULK" Abc Operands;
    /// `A B C`: R[A] := R[B] % K[C]
    ModK "MODK" Abc Operands;
    /// `A B C`: R[A] := R[B] ^ K[C]
    PowK "POWK" Abc Operands;
    /// `A B C`: R[A] := R[B] / K[C]
    DivK "DIVK" Abc Operands;
    /// `A B C`: R[A] := R[B] // K[C]
    IDivK "IDIVK" Abc Operands;
    /// `A B C`: R[A] := R[B] & K[C], an integer
    BAndK "BANDK" Abc Operands;
    /// `A B C`: R[A] := R[B] | K[C], an integer
    BOrK "BORK" Abc Operands;
    /// `A B C`: R[A] := R[B] ~ K[C], an integer
    BXorK "BXORK" Abc Operands;
    /// `A B C`: R[A] := K[B] + R[C], as in all `K..`
    KAdd "KADD" Abc Operands;
    /// `A B C`: R[A] := K[B] - R[C]
    KSub "KSUB" Abc Operands;
    /// `A B C`: R[A] := K[B] * R[C]
    KMul "KMUL" Abc Operands;
    /// `A B C`: R[A] := K[B] / R[C]
    KDiv "KDIV" Abc Operands;
    /// `A B C`: R[A] := R[B] >> integer C
    ShrI "SHRI" Abc Operands;
    /// `A B C`: R[A] := R[B] << integer C
    ShlI "SHLI" Abc Operands;
    /// `A B C`: R[A] := R[B] + R[C]
    Add "ADD" Abc Operands;
    /// `A B C`: R[A] := R[B] - R[C]
    Sub "SUB" Abc Operands;
    /// `A B C`: R[A] := R[B] * R[C]
    Mul "MUL" Abc Operands;
    /// `A B C`: R[A] := R[B] % R[C]
    Mod "MOD" Abc Operands;
    /// `A B C`: R[A] := R[B] ^ R[C]
    Pow "POW" Abc Operands;
    /// `A B C`: R[A] := R[B] / R[C]
    Div "DIV" Abc Operands;
    /// `A B C`: R[A] := R[B] // R[C]
    IDiv "IDIV" Abc Operands;
    /// `A B C`: R[A] := R[B] & R[C]
    BAnd "BAND" Abc Operands;
    /// `A B C`: R[A] := R[B] | R[C]
    BOr "BOR" Abc Operands;
    /// `A B C`: R[A] := R[B] ~ R[C]
    BXor "BXOR" Abc Operands;
    /// `A B C`: R[A] := R[B] << R[C]
    Shl "SHL" Abc Operands;
    /// `A B C`: R[A] := R[B] >> R[C]
    Shr "SHR" Abc Operands;
    /// `A B`: R[A] := -R[B]
    Unm "UNM" Abc Operands;
    /// `A B`: R[A] := ~R[B]
    BNot "BNOT" Abc Operands;
    /// `A B`: R[A] := not R[B]
    Not "NOT" Abc None;
    /// `A B`: R[A] := #R[B]
    Len "LEN" Abc Operands;
    /// `A B`: R[A] := R[A] .. ... .. R[A+B-1]; B >= 2, and R[A+B] on are free
    Concat "CONCAT" Abc Operands;

    /// `A`: close all upvalues and to-be-closed variables >= R[A]
    Close "CLOSE" Abc None;
    /// `A`: mark R[A] to be closed
    Tbc "TBC" Abc None;
    /// `sJ`: pc += sJ
    Jmp "JMP" Sj Count;
    /// `A B C`: if (R[A] == R[B]) ~= (C ~= 0) then pc++; the next word is always a JMP, as for all
    /// tests
    Eq "EQ" Abc Operands;
    /// `A B C`: if (R[A] < R[B]) ~= (C ~= 0) then pc++
    Lt "LT" Abc Operands;
    /// `A B C`: if (R[A] <= R[B]) ~= (C ~= 0) then pc++
    Le "LE" Abc Operands;
    /// `A B C`: if (R[A] == K[B]) ~= (C ~= 0) then pc++
    EqK "EQK" Abc Operands;
    /// `A sB C`: if (R[A] == sB) ~= (C & 1) then pc++; sB is B - 128; C & 2 says that the source
    /// wrote a float
    EqI "EQI" Abc Operands;
    /// `A sB C`: if (R[A] < sB) ~= (C & 1) then pc++; operands as EQI
    LtI "LTI" Abc Operands;
    /// `A sB C`: if (R[A] <= sB) ~= (C & 1) then pc++
    LeI "LEI" Abc Operands;
    /// `A sB C`: if (R[A] > sB) ~= (C & 1) then pc++ (as a metamethod call: sB < R[A])
    GtI "GTI" Abc Operands;
    /// `A sB C`: if (R[A] >= sB) ~= (C & 1) then pc++
    GeI "GEI" Abc Operands;
    /// `A C`: if (not R[A]) == (C ~= 0) then pc++
    Test "TEST" Abc Count;
    /// `A B C`: if (not R[B]) == (C ~= 0) then pc++ else R[A] := R[B]
    TestSet "TESTSET" Abc Count;

    /// `A B C`: R[A], .. R[A+C-2] := R[A](R[A+2], .. R[A+B]); B is the number of arguments plus 1,
    /// 0: up to top; C the number of results plus 1, 0: all, setting top. R[A+1] is the callee's
    /// frame header.
    Call "CALL" Abc Callee;
    /// `A B C`: as CALL with B = 3, but R[A+3] holds the value `i` of an argument written `{__index
    /// = i}`, whose table is made only when it is needed: `setmetatable(o, {__index = i})`
    CallMeta "CALLMETA" Abc Callee;
    /// `A B C`: return R[A](R[A+2], .. R[A+B]) as a tail call; C ~= 0: there may be upvalues to
    /// close
    TailCall "TAILCALL" Abc Callee;
    /// `A B C`: return R[A], .. R[A+B-2]; B = 0: up to top; C ~= 0: there may be upvalues or
    /// variables to close
    Return "RETURN" Abc None;
    /// return nothing
    Return0 "RETURN0" Abc None;
    /// `A`: return R[A]
    Return1 "RETURN1" Abc None;
    /// `A Bx`: R[A] index, R[A+1] limit, R[A+2] step, R[A+3] the control variable: prepare; if the
    /// loop does not run, pc += Bx + 1. An integer loop keeps in R[A+1] the number of iterations
    /// left.
    ForPrep "FORPREP" Abx Operands;
    /// `A Bx`: step the loop; if it continues { pc -= Bx; R[A+3] := R[A] }
    ForLoop "FORLOOP" Abx Count;
    /// `A Bx`: R[A] iterator, R[A+1] state, R[A+2] control, R[A+3] closing value (marked to be
    /// closed), R[A+4] .. the variables: prepare; pc += Bx
    TForPrep "TFORPREP" Abx None;
    /// `A C`: R[A+4], .. R[A+3+C] := R[A](R[A+1], R[A+2]); the call uses R[A+4] .. R[A+7]
    TForCall "TFORCALL" Abc Callee;
    /// `A Bx`: if R[A+4] ~= nil then { R[A+2] := R[A+4]; pc -= Bx }
    TForLoop "TFORLOOP" Abx Count;
    /// `A B`: R[A][n + i] := R[A+i], 1 <= i <= B (B = 0: up to top), n = Ax of the next word, an
    /// EXTRAARG. Releases R[A+1] on.
    SetList "SETLIST" Abc None;
    /// `A Bx`: R[A] := closure(proto Bx). A is the first free register.
    Closure "CLOSURE" Abx None;
    /// `A C`: R[A], .. R[A+C-2] := varargs; C = 0: all, setting top
    VarArg "VARARG" Abc None;
    /// `A`: first instruction of a vararg function with A parameters: moves the frame above the
    /// extra arguments
    VarArgPrep "VARARGPREP" Abc None;
    /// `Ax`: operand of the instruction before it
    ExtraArg "EXTRAARG" Ax None;
}
