//! Library functions that the interpreter knows.

use crate::instance::CalleeCache;

macro_rules! builtins {
    ($($(#[$doc:meta])* $variant:ident $name:literal;)+) => {
        /// Native functions that the interpreter knows by number, to run them without a call.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum Builtin {
            $(#[doc = concat!("`", $name, "`")] $(#[$doc])* $variant,)+
        }

        impl Builtin {
            /// The names of all known functions, by number, as dumps show them.
            pub const NAMES: &[&str] = &[$($name),+];

            /// The number of known functions.
            pub const COUNT: usize = Builtin::NAMES.len();
        }
    };
}

builtins! {
    ///
    /// Any other function.
    Other "other";
    ///
    /// The iterator of `ipairs`.
    IpairsStep "ipairs_step";
    /// Its bound value is the iterator.
    Ipairs "ipairs";
    /// Its bound value is `next`.
    Pairs "pairs";
    SetMetatable "setmetatable";
    GetMetatable "getmetatable";
    Next "next";
    Assert "assert";
    RawEqual "rawequal";
    RawGet "rawget";
    RawLen "rawlen";
    Select "select";
    ToNumber "tonumber";
    ToString "tostring";
    Type "type";
    Abs "math.abs";
    Acos "math.acos";
    Asin "math.asin";
    Atan "math.atan";
    Ceil "math.ceil";
    Cos "math.cos";
    Exp "math.exp";
    Floor "math.floor";
    Fmod "math.fmod";
    Log "math.log";
    Max "math.max";
    Min "math.min";
    Sin "math.sin";
    Sqrt "math.sqrt";
    Tan "math.tan";
    ToInteger "math.tointeger";
    MathType "math.type";
    Random "math.random";
    Byte "string.byte";
    Char "string.char";
    StringLen "string.len";
    Sub "string.sub";
    Insert "table.insert";
    Remove "table.remove";
    PCall "pcall";
    ///
    /// The host's `__index` of userdata with computed fields. Its bound values are the table of
    /// functions that compute fields, the table of plain fields, and a fallback.
    FieldIndex "field_index";
    Yield "coroutine.yield";
    Resume "coroutine.resume";
    ///
    /// The functions that `coroutine.wrap` makes. Their bound value is the coroutine.
    ResumeWrapped "resume_wrapped";
}

impl Builtin {
    /// Returns whether the function with this number has a leaf: a version that machine code calls
    /// without a frame.
    #[inline(always)]
    pub const fn has_leaf(number: u32) -> bool {
        Builtin::SetMetatable as u32 <= number && number <= Builtin::Remove as u32
    }

    /// Returns whether the function with this number has a leaf and always has one result.
    #[inline(always)]
    pub const fn returns_one(number: u32) -> bool {
        const OTHERS: [Builtin; 5] =
            [Builtin::Next, Builtin::Assert, Builtin::Select, Builtin::Byte, Builtin::Insert];
        let mut n = 0;
        while n < OTHERS.len() {
            if OTHERS[n] as u32 == number {
                return false;
            }
            n += 1;
        }
        Builtin::has_leaf(number)
    }

    /// Returns the number of the function that `callee` of a [`CalleeCache`] identifies, if that
    /// function has a leaf. No code has so small an address.
    pub fn of_callee(callee: usize) -> Option<u32> {
        let number = u32::try_from(callee & !CalleeCache::NATIVE).ok()?;
        (callee & CalleeCache::NATIVE != 0 && Builtin::has_leaf(number)).then_some(number)
    }
}
