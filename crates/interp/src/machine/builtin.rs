//! Library functions that machine code calls without a frame: the common cases of the functions in
//! [`Builtin`], for calls with one result.
//!
//! Each receives a pointer to its arguments on the stack. It leaves the cases that it does not
//! handle, in particular errors, to the library function itself, before it has changed anything.

use perilune_runtime::cfmt;
use perilune_runtime::compare;
use perilune_runtime::convert;
use perilune_runtime::meta::Event;
use perilune_runtime::native::Builtin;
use perilune_runtime::random::unit;
use perilune_runtime::state::State;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::{TAGGED, Table};
use perilune_runtime::tier::{MISS, Pair};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::panics;

/// A library function for machine code, which takes the arguments and their number.
pub(super) type Leaf = unsafe extern "C" fn(*mut State, *mut Value, usize) -> Pair;

/// Wraps a function as a [`Leaf`] that lets no panic unwind out of it.
macro_rules! leaf {
    ($work:ident) => {{
        unsafe extern "C" fn leaf(st: *mut State, args: *mut Value, n: usize) -> Pair {
            panics::leaf(st, NO_ANSWER, || $work(st, args, n))
        }
        leaf
    }};
}

const NO_ANSWER: Pair = Pair { bits: 0, tag: MISS };

/// The number of results that the function returns in the cases that its leaf handles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Results {
    /// Exactly one, which the leaf returns.
    One,
    /// One, or none if the leaf returns nil.
    OneUnlessNil,
    /// No result; the leaf returns nil, the value that a call for one result receives.
    None,
    /// One or more; the leaf returns the first.
    First,
}

/// The leaves, with their numbers of results.
const TABLE: &[(Builtin, Leaf, Results)] = &[
    (Builtin::Assert, leaf!(assert), Results::First),
    (Builtin::RawEqual, leaf!(raw_equal), Results::One),
    (Builtin::RawGet, leaf!(raw_get), Results::One),
    (Builtin::RawLen, leaf!(raw_len), Results::One),
    (Builtin::SetMetatable, leaf!(set_metatable), Results::One),
    (Builtin::GetMetatable, leaf!(get_metatable), Results::One),
    (Builtin::Next, leaf!(next), Results::First),
    (Builtin::Select, leaf!(select), Results::First),
    (Builtin::ToNumber, leaf!(to_number), Results::One),
    (Builtin::ToString, leaf!(to_string), Results::One),
    (Builtin::Type, leaf!(type_), Results::One),
    (Builtin::Abs, leaf!(abs), Results::One),
    (Builtin::Acos, leaf!(acos), Results::One),
    (Builtin::Asin, leaf!(asin), Results::One),
    (Builtin::Atan, leaf!(atan), Results::One),
    (Builtin::Ceil, leaf!(ceil), Results::One),
    (Builtin::Cos, leaf!(cos), Results::One),
    (Builtin::Exp, leaf!(exp), Results::One),
    (Builtin::Floor, leaf!(floor), Results::One),
    (Builtin::Fmod, leaf!(fmod), Results::One),
    (Builtin::Log, leaf!(log), Results::One),
    (Builtin::Max, leaf!(max), Results::One),
    (Builtin::Min, leaf!(min), Results::One),
    (Builtin::Sin, leaf!(sin), Results::One),
    (Builtin::Sqrt, leaf!(sqrt), Results::One),
    (Builtin::Tan, leaf!(tan), Results::One),
    (Builtin::ToInteger, leaf!(to_integer), Results::One),
    (Builtin::MathType, leaf!(math_type), Results::One),
    (Builtin::Random, leaf!(random), Results::One),
    (Builtin::Byte, leaf!(byte), Results::OneUnlessNil),
    (Builtin::Char, leaf!(char_), Results::One),
    (Builtin::StringLen, leaf!(string_len), Results::One),
    (Builtin::Sub, leaf!(sub), Results::One),
    (Builtin::Insert, leaf!(insert), Results::None),
    (Builtin::Remove, leaf!(remove), Results::One),
];

/// The leaves by number.
pub(super) static LEAVES: [Leaf; Builtin::COUNT] = {
    let mut leaves: [Leaf; Builtin::COUNT] = [none; Builtin::COUNT];
    let mut n = 0;
    while n < TABLE.len() {
        leaves[TABLE[n].0 as usize] = TABLE[n].1;
        n += 1;
    }
    leaves
};

const _: () = {
    let mut number = 0;
    while number < Builtin::COUNT {
        let mut n = 0;
        while n < TABLE.len() && TABLE[n].0 as usize != number {
            n += 1;
        }
        assert!(Builtin::has_leaf(number as u32) == (n < TABLE.len()), "`has_leaf` is true");
        let returns_one = n < TABLE.len() && matches!(TABLE[n].2, Results::One);
        assert!(Builtin::returns_one(number as u32) == returns_one, "`returns_one` is true");
        number += 1;
    }
};

/// The number of results of functions with a leaf, by number.
static RESULTS: [Results; Builtin::COUNT] = {
    // a function without a leaf handles no case
    let mut results = [Results::First; Builtin::COUNT];
    let mut n = 0;
    while n < TABLE.len() {
        results[TABLE[n].0 as usize] = TABLE[n].2;
        n += 1;
    }
    results
};

/// Calls the leaf of function `number`, and returns its result if that is the only result of the
/// function. Otherwise nothing has changed and the caller must call the function itself: leaves
/// with side effects always have one result, or are not called here.
///
/// # Safety
/// As for the leaves: `args` points to this number of arguments on the stack.
pub(crate) unsafe fn only_result(
    st: *mut State,
    number: usize,
    args: *mut Value,
    n: usize,
) -> Option<Value> {
    let results = RESULTS[number];
    if !matches!(results, Results::One | Results::OneUnlessNil) {
        return None;
    }
    let answer = LEAVES[number](st, args, n);
    let v = Value::from_parts(answer.bits, Tag(answer.tag as u8));
    let is_all = answer.tag != MISS && (results == Results::One || !v.is_nil());
    is_all.then_some(v)
}

/// Calls the leaf of function `number`, and returns the first result of the function, or nil if it
/// has none. If the leaf does not handle the case, nothing has changed and the caller must call the
/// function itself.
///
/// # Safety
/// As for the leaves: `args` points to this number of arguments on the stack.
#[cfg(handlers)]
#[inline]
pub(crate) unsafe fn first_result(
    st: *mut State,
    number: usize,
    args: *mut Value,
    n: usize,
) -> Option<Value> {
    if number == Builtin::Other as usize {
        return None;
    }
    let answer = LEAVES[number](st, args, n);
    (answer.tag != MISS).then(|| Value::from_parts(answer.bits, Tag(answer.tag as u8)))
}

unsafe extern "C" fn none(_: *mut State, _: *mut Value, _: usize) -> Pair {
    NO_ANSWER
}

fn answer(v: Option<Value>) -> Pair {
    v.map_or(NO_ANSWER, Pair::from)
}

/// Returns argument `i`, unless there are fewer.
unsafe fn argument(args: *mut Value, n: usize, i: usize) -> Option<Value> {
    (i < n).then(|| args.add(i).get())
}

unsafe fn integer(args: *mut Value, n: usize, i: usize) -> Option<i64> {
    argument(args, n, i).filter(|v| v.is_int()).map(|v| v.as_int())
}

unsafe fn float(args: *mut Value, n: usize, i: usize) -> Option<f64> {
    let v = argument(args, n, i)?;
    match v.tag() {
        Tag::FLOAT => Some(v.as_float()),
        Tag::INTEGER => Some(v.as_int() as f64),
        _ => None,
    }
}

unsafe fn string(args: *mut Value, n: usize) -> Option<*mut LuaString> {
    argument(args, n, 0).filter(|v| v.is_string()).map(|v| v.as_string())
}

/// Returns argument 0 if it is a table without a metatable.
unsafe fn plain_table(args: *mut Value, n: usize) -> Option<*mut Table> {
    let v = argument(args, n, 0).filter(|v| v.is_table())?;
    (!Table::has_meta(v.as_table())).then(|| v.as_table())
}

/// Returns argument 0 if it is a table without metamethods for these events, none of which is
/// `__index`.
unsafe fn table_for(
    st: *mut State,
    args: *mut Value,
    n: usize,
    events: &[Event],
) -> Option<*mut Table> {
    let t = argument(args, n, 0).filter(|v| v.is_table())?.as_table();
    events.iter().all(|&e| Table::event(&mut *st, t, e).is_nil()).then_some(t)
}

unsafe fn assert(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(argument(args, n, 0).filter(|v| v.truthy()))
}

unsafe fn raw_equal(_: *mut State, args: *mut Value, n: usize) -> Pair {
    match (argument(args, n, 0), argument(args, n, 1)) {
        (Some(a), Some(b)) => Value::bool(a.raw_equals(b)).into(),
        _ => NO_ANSWER,
    }
}

unsafe fn raw_get(_: *mut State, args: *mut Value, n: usize) -> Pair {
    match (argument(args, n, 0), argument(args, n, 1)) {
        (Some(t), Some(key)) if t.is_table() => Table::get(t.as_table(), key).into(),
        _ => NO_ANSWER,
    }
}

unsafe fn raw_len(_: *mut State, args: *mut Value, n: usize) -> Pair {
    match argument(args, n, 0) {
        Some(t) if t.is_table() => Value::int(Table::length(t.as_table())).into(),
        Some(s) if s.is_string() => Value::int((*s.as_string()).len as i64).into(),
        _ => NO_ANSWER,
    }
}

unsafe fn set_metatable(st: *mut State, args: *mut Value, n: usize) -> Pair {
    match (plain_table(args, n), argument(args, n, 1)) {
        (Some(t), Some(m))
            if m.is_table() && Table::fast_event(st, m.as_table(), Event::Gc).is_nil() =>
        {
            if !Table::set_metatable(st, t, m.as_table()) {
                return NO_ANSWER;
            }
            Value::table(t).into()
        }
        _ => NO_ANSWER,
    }
}

unsafe fn get_metatable(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let Some(v) = argument(args, n, 0) else { return NO_ANSWER };
    // the metatable for a tagged word has not been created yet
    if v.is_table() && (*v.as_table()).meta & TAGGED != 0 {
        return NO_ANSWER;
    }
    let meta = Table::meta_of(st, v);
    if meta.is_null() {
        return Value::NIL.into();
    }
    // `__metatable` may hide it
    if !Table::metamethod(st, v, Event::Metatable).is_nil() {
        return NO_ANSWER;
    }
    Value::table(meta).into()
}

unsafe fn next(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let Some(t) = argument(args, n, 0).filter(|v| v.is_table()) else { return NO_ANSWER };
    let key = argument(args, n, 1).unwrap_or(Value::NIL);
    // a float that equals an integer is never a key of a table
    if key.is_float() {
        return NO_ANSWER;
    }
    match Table::next(st, t.as_table(), key) {
        Ok(found) => found.map_or(Value::NIL, |(key, _)| key).into(),
        Err(_) => NO_ANSWER,
    }
}

unsafe fn select(_: *mut State, args: *mut Value, n: usize) -> Pair {
    if let Some(s) = string(args, n) {
        return if LuaString::bytes(s).first() == Some(&b'#') {
            Value::int(n as i64 - 1).into()
        } else {
            NO_ANSWER
        };
    }
    match integer(args, n, 0) {
        Some(i) if i >= 1 => {
            let at = usize::try_from(i).unwrap_or(n);
            argument(args, n, at).unwrap_or(Value::NIL).into()
        }
        _ => NO_ANSWER,
    }
}

unsafe fn to_number(_: *mut State, args: *mut Value, n: usize) -> Pair {
    let (Some(v), 1) = (argument(args, n, 0), n) else { return NO_ANSWER };
    convert::to_number(v).unwrap_or(Value::NIL).into()
}

unsafe fn to_string(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let Some(v) = argument(args, n, 0) else { return NO_ANSWER };
    let is_known =
        matches!(v.tag(), Tag::NIL | Tag::FALSE | Tag::TRUE | Tag::STRING | Tag::INTEGER);
    // the metatable of a basic type may define how its values are converted to strings
    if !is_known || !Table::metamethod(st, v, Event::ToString).is_nil() {
        return NO_ANSWER;
    }
    match v.tag() {
        Tag::STRING => v.into(),
        Tag::INTEGER => {
            let mut digits = [0; 20];
            Value::string((*st).intern(cfmt::decimal(v.as_int(), &mut digits))).into()
        }
        Tag::NIL => Value::string((*st).intern(b"nil")).into(),
        Tag::FALSE => Value::string((*st).intern(b"false")).into(),
        Tag::TRUE => Value::string((*st).intern(b"true")).into(),
        _ => NO_ANSWER,
    }
}

unsafe fn type_(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let Some(v) = argument(args, n, 0) else { return NO_ANSWER };
    Value::string((&(*st).type_names)[v.tag().index()]).into()
}

unsafe fn abs(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(match argument(args, n, 0) {
        Some(v) if v.is_int() => Some(Value::int(v.as_int().wrapping_abs())),
        Some(v) if v.is_float() => Some(Value::float(v.as_float().abs())),
        _ => None,
    })
}

/// Returns an integral float as an integer if it fits, otherwise as a float.
fn integral(x: f64) -> Value {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { Value::int(x as i64) } else { Value::float(x) }
}

unsafe fn rounded(args: *mut Value, n: usize, round: fn(f64) -> f64) -> Pair {
    answer(match argument(args, n, 0) {
        Some(v) if v.is_int() => Some(v),
        Some(v) if v.is_float() => Some(integral(round(v.as_float()))),
        _ => None,
    })
}

unsafe fn floor(_: *mut State, args: *mut Value, n: usize) -> Pair {
    rounded(args, n, f64::floor)
}

unsafe fn ceil(_: *mut State, args: *mut Value, n: usize) -> Pair {
    rounded(args, n, f64::ceil)
}

macro_rules! functions_of_a_float {
    ($($function:ident)*) => {$(
        unsafe fn $function(_: *mut State, args: *mut Value, n: usize) -> Pair {
            answer(float(args, n, 0).map(|x| Value::float(super::float::$function(x))))
        }
    )*};
}

functions_of_a_float!(acos asin cos exp sin tan);

unsafe fn sqrt(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(float(args, n, 0).map(|x| Value::float(x.sqrt())))
}

unsafe fn atan(_: *mut State, args: *mut Value, n: usize) -> Pair {
    let x = if n == 1 { Some(1.0) } else { float(args, n, 1) };
    answer(float(args, n, 0).zip(x).map(|(y, x)| Value::float(super::float::atan(y, x))))
}

/// The function itself takes the logarithm to another base.
unsafe fn log(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(float(args, n, 0).filter(|_| n == 1).map(|x| Value::float(super::float::log(x))))
}

unsafe fn fmod(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(match (integer(args, n, 0), integer(args, n, 1)) {
        (Some(a), Some(b)) => (b != 0).then(|| Value::int(a.wrapping_rem(b))),
        _ => {
            let operands = float(args, n, 0).zip(float(args, n, 1));
            operands.map(|(a, b)| Value::float(super::float::fmod(a, b)))
        }
    })
}

/// Returns the second of two numbers if `is_better` holds, otherwise the first.
unsafe fn choose(
    args: *mut Value,
    n: usize,
    is_better: unsafe fn(Value, Value) -> Option<bool>,
) -> Pair {
    let (Some(a), Some(b), 2) = (argument(args, n, 0), argument(args, n, 1), n) else {
        return NO_ANSWER;
    };
    if !a.is_number() || !b.is_number() {
        return NO_ANSWER;
    }
    if is_better(a, b) == Some(true) { b.into() } else { a.into() }
}

unsafe fn max(_: *mut State, args: *mut Value, n: usize) -> Pair {
    choose(args, n, |a, b| compare::less_than(a, b))
}

unsafe fn min(_: *mut State, args: *mut Value, n: usize) -> Pair {
    choose(args, n, |a, b| compare::less_than(b, a))
}

unsafe fn to_integer(_: *mut State, args: *mut Value, n: usize) -> Pair {
    match argument(args, n, 0) {
        Some(v) if v.is_int() => v.into(),
        Some(v) if v.is_float() => {
            convert::float_to_integer(v.as_float()).map_or(Value::NIL, Value::int).into()
        }
        Some(v) if !v.is_string() => Value::NIL.into(),
        _ => NO_ANSWER,
    }
}

unsafe fn math_type(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let name: &[u8] = match argument(args, n, 0).map(Value::tag) {
        Some(Tag::INTEGER) => b"integer",
        Some(Tag::FLOAT) => b"float",
        Some(_) => return Value::NIL.into(),
        None => return NO_ANSWER,
    };
    Value::string((*st).intern(name)).into()
}

/// Takes a number from the sequence only if it handles the case, since the function itself takes
/// one before it checks its arguments.
unsafe fn random(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let random = &(*st).random;
    let (low, high) = match (n, integer(args, n, 0), integer(args, n, 1)) {
        (0, ..) => return Value::float(unit(random.next_bits())).into(),
        (1, Some(0), _) => return Value::int(random.next_bits() as i64).into(),
        (1, Some(high), _) => (1, high),
        (2, Some(low), Some(high)) => (low, high),
        _ => return NO_ANSWER,
    };
    if low > high {
        return NO_ANSWER;
    }
    Value::int(random.between(random.next_bits(), low, high)).into()
}

/// Returns the start of a range in a string of `len` bytes, counted from 1.
fn start_position(pos: i64, len: i64) -> i64 {
    match pos {
        1.. => pos,
        _ if pos == 0 || pos < -len => 1,
        _ => len + pos + 1,
    }
}

/// Returns the end of a range in a string of `len` bytes, at most `len`.
fn end_position(pos: i64, len: i64) -> i64 {
    if pos > len {
        len
    } else if pos >= 0 {
        pos
    } else if pos < -len {
        0
    } else {
        len + pos + 1
    }
}

unsafe fn byte(_: *mut State, args: *mut Value, n: usize) -> Pair {
    let Some(s) = string(args, n) else { return NO_ANSWER };
    let i = match n {
        1 => 1,
        2 => match integer(args, n, 1) {
            Some(i) => i,
            None => return NO_ANSWER,
        },
        _ => return NO_ANSWER,
    };
    let bytes = LuaString::bytes(s);
    let len = bytes.len() as i64;
    let (start, end) = (start_position(i, len), end_position(i, len));
    if start > end {
        return Value::NIL.into();
    }
    Value::int(i64::from(bytes[start as usize - 1])).into()
}

unsafe fn char_(st: *mut State, args: *mut Value, n: usize) -> Pair {
    match integer(args, n, 0).map(u8::try_from) {
        Some(Ok(byte)) if n == 1 => Value::string((*st).intern(&[byte])).into(),
        _ => NO_ANSWER,
    }
}

unsafe fn string_len(_: *mut State, args: *mut Value, n: usize) -> Pair {
    answer(string(args, n).map(|s| Value::int((*s).len as i64)))
}

/// The length above which the function itself creates strings, since it can check for room.
const SURELY_ROOM: i64 = 1 << 16;

unsafe fn sub(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let (Some(s), Some(i)) = (string(args, n), integer(args, n, 1)) else { return NO_ANSWER };
    let j = match n {
        2 => -1,
        _ => match integer(args, n, 2) {
            Some(j) => j,
            None => return NO_ANSWER,
        },
    };
    let bytes = LuaString::bytes(s);
    let len = bytes.len() as i64;
    let (start, end) = (start_position(i, len), end_position(j, len));
    if start > end {
        return Value::string((*st).intern(b"")).into();
    }
    if start == 1 && end == len {
        return Value::string(s).into();
    }
    if end - start >= SURELY_ROOM {
        return NO_ANSWER;
    }
    Value::string((*st).intern(&bytes[start as usize - 1..end as usize])).into()
}

unsafe fn insert(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let (Some(t), 2) = (table_for(st, args, n, &[Event::Len, Event::NewIndex]), n) else {
        return NO_ANSWER;
    };
    let at = Table::length(t).wrapping_add(1);
    Table::set_int(st, t, at, args.add(1).get());
    Value::NIL.into()
}

unsafe fn remove(st: *mut State, args: *mut Value, n: usize) -> Pair {
    let (Some(t), 1) = (table_for(st, args, n, &[Event::Len]), n) else { return NO_ANSWER };
    let at = Table::length(t);
    if at == 0 {
        return NO_ANSWER;
    }
    let v = Table::get_int(t, at);
    if v.is_nil() {
        return NO_ANSWER;
    }
    Table::set_int(st, t, at, Value::NIL);
    v.into()
}
