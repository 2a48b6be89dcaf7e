//! Library functions that the interpreter knows.

/// Native functions that the interpreter knows by number, to run them without a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Builtin {
    /// Any other function.
    Other = 0,
    /// `next`
    Next,
    /// The iterator of `ipairs`.
    IpairsStep,
    /// `setmetatable`
    SetMetatable,
    /// `assert`
    Assert,
    /// `rawequal`
    RawEqual,
    /// `rawget`
    RawGet,
    /// `rawlen`
    RawLen,
    /// `select`
    Select,
    /// `tonumber`
    ToNumber,
    /// `tostring`
    ToString,
    /// `type`
    Type,
    /// `math.abs`
    Abs,
    /// `math.ceil`
    Ceil,
    /// `math.cos`
    Cos,
    /// `math.exp`
    Exp,
    /// `math.floor`
    Floor,
    /// `math.max`
    Max,
    /// `math.min`
    Min,
    /// `math.sin`
    Sin,
    /// `math.sqrt`
    Sqrt,
    /// `math.tointeger`
    ToInteger,
    /// `math.type`
    MathType,
    /// `string.byte`
    Byte,
    /// `string.char`
    Char,
    /// `string.len`
    StringLen,
    /// `string.sub`
    Sub,
    /// `table.insert`
    Insert,
    /// `table.remove`
    Remove,
    /// The host's `__index` of userdata with computed fields. Its bound values are the table of
    /// functions that compute fields, the table of plain fields, and a fallback.
    FieldIndex,
}

impl Builtin {
    /// The number of known functions.
    pub const COUNT: usize = Builtin::FieldIndex as usize + 1;
}
