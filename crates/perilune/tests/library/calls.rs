//! Generated calls of functions that depend only on their arguments, with valid and invalid
//! arguments.

use super::doubles::double;
use super::numerals::numeral;
use super::random::Random;
use super::value::{Call, Operation, Value};

/// The kind of an argument.
#[derive(Clone, Copy)]
enum Kind {
    /// Any value.
    Any,
    /// A number.
    Number,
    /// A small integer, near the ends of a short string or list.
    Index,
    /// Any integer.
    Integer,
    /// A count that is small, or too large for any result.
    Count,
    /// A string of a few bytes.
    Text,
    /// A string of code points, some of them invalid.
    Utf8,
    /// A code point, or a number near the range of code points.
    Code,
    /// A numeral.
    Numeral,
    /// A list that is created for this call.
    List,
    /// A comparison function.
    Order,
    /// A format of `os.date`.
    Date,
    /// A time.
    Time,
}

use Kind::*;

/// Functions with their arguments; all except the first may be missing.
const FUNCTIONS: &[(&str, &[Kind])] = &[
    ("assert", &[Any, Any]),
    ("error", &[Any, Index]),
    ("getmetatable", &[Any]),
    ("ipairs", &[List]),
    ("next", &[List, Index]),
    ("pcall", &[Order, Any, Any]),
    ("rawequal", &[Any, Any]),
    ("rawget", &[List, Any]),
    ("rawlen", &[Any]),
    ("rawset", &[List, Any, Any]),
    ("select", &[Index, Any, Any, Any]),
    ("setmetatable", &[List, Any]),
    ("tonumber", &[Numeral, Index]),
    ("tostring", &[Number]),
    ("type", &[Any]),
    ("math.abs", &[Number]),
    ("math.ceil", &[Number]),
    ("math.floor", &[Number]),
    ("math.fmod", &[Number, Number]),
    ("math.log", &[Number, Number]),
    ("math.max", &[Number, Number, Number]),
    ("math.min", &[Number, Number, Number]),
    ("math.modf", &[Number]),
    ("math.sqrt", &[Number]),
    ("math.sin", &[Number]),
    ("math.exp", &[Number]),
    ("math.tointeger", &[Number]),
    ("math.type", &[Any]),
    ("math.ult", &[Integer, Integer]),
    ("math.deg", &[Number]),
    ("math.rad", &[Number]),
    ("math.random", &[Integer, Integer]),
    ("math.randomseed", &[Integer, Integer]),
    ("string.byte", &[Text, Index, Index]),
    ("string.char", &[Code, Code, Code]),
    ("string.len", &[Text]),
    ("string.lower", &[Text]),
    ("string.upper", &[Text]),
    ("string.rep", &[Text, Count, Text]),
    ("string.reverse", &[Text]),
    ("string.sub", &[Text, Index, Index]),
    ("utf8.char", &[Code, Code, Code]),
    ("utf8.codepoint", &[Utf8, Index, Index, Any]),
    ("utf8.codes", &[Utf8, Any]),
    ("utf8.len", &[Utf8, Index, Index, Any]),
    ("utf8.offset", &[Utf8, Index, Index]),
    ("table.concat", &[List, Text, Index, Index]),
    ("table.insert", &[List, Index, Any]),
    ("table.move", &[List, Index, Index, Index, List]),
    ("table.pack", &[Any, Any, Any]),
    ("table.remove", &[List, Index]),
    ("table.sort", &[List, Order]),
    ("table.unpack", &[List, Index, Index]),
    ("os.date", &[Date, Time]),
    ("os.difftime", &[Time, Time]),
    ("add", &[Numeral, Numeral]),
    ("compare", &[Number, Number]),
    ("bits", &[Numeral, Integer]),
    ("concat", &[Any, Any]),
    ("index", &[Any, Any]),
];

fn text(random: &mut Random) -> Vec<u8> {
    let alphabet: &[u8] = [&b"ab"[..], b"aZz09 _", b"\0\x7f\x80\xff", b"12.ex"][random.below(4)];
    let length = random.below(if alphabet.len() == 4 { 6 } else { 12 });
    (0..length).map(|_| *random.pick(alphabet)).collect()
}

fn code(random: &mut Random) -> i64 {
    match random.below(6) {
        0 => random.below(256) as i64,
        1 => *random.pick(&[0xd7ff, 0xd800, 0xdfff, 0xe000, 0xffff, 0x10000, 0x10ffff, 0x110000]),
        2 => 1 << random.below(33),
        3 => (1i64 << random.below(32)) - 1,
        4 => random.below(0x11_0000) as i64,
        _ => random.integer(),
    }
}

fn utf8(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..random.below(6) {
        match random.below(6) {
            0 | 1 => out.push(b'a' + random.below(3) as u8),
            2 => out.extend("\u{e4}".bytes()),
            3 => out.extend("\u{20ac}".bytes()),
            4 => out.extend("\u{1f600}".bytes()),
            _ => out.extend(*random.pick(&[
                &b"\xed\xa0\x80"[..],
                b"\xf4\x90\x80\x80",
                b"\xfd\xbf\xbf\xbf\xbf\xbf",
                b"\xc0\x80",
                b"\xe0\x9f\xbf",
            ])),
        }
    }
    if random.one_in(4) {
        random.damage(&mut out, b"a\x80\xbf\xc3\xe2\xf0\xf8\xfc\xfe\xff");
    }
    out
}

fn date(random: &mut Random) -> Vec<u8> {
    let mut out = b"!".to_vec();
    if random.one_in(5) {
        out.extend(b"*t");
        return out;
    }
    for _ in 0..random.below(4) {
        out.push(b'%');
        if random.one_in(10) {
            out.push(*random.pick(b"EO"));
        }
        out.push(*random.pick(b"aAbBcCdDeFgGhHIjmMnprRSTuUVwWxXyYzZ%"));
    }
    if random.one_in(12) {
        random.damage(&mut out, b"%EOQ\0 !*t-5");
        // Both sides use the same time zone. Without "!" the current time cannot be compared.
        if out.first() != Some(&b'!') {
            out.insert(0, b'!');
        }
    }
    out
}

fn any(random: &mut Random) -> Value {
    match random.below(10) {
        0 => Value::Nil,
        1 => Value::Bool(random.one_in(2)),
        2 | 3 => Value::Int(random.integer()),
        4 | 5 => Value::Float(double(random)),
        6 => Value::str(numeral(random)),
        7 => Value::Object(1 + random.below(24) as u8),
        8 => Value::Int(random.below(5) as i64 - 1),
        _ => Value::Str(text(random)),
    }
}

fn argument(random: &mut Random, kind: Kind) -> Value {
    match kind {
        Any => any(random),
        Number => match random.below(5) {
            0 => Value::Int(random.integer()),
            1 => Value::str(numeral(random)),
            2 => Value::Int(random.below(9) as i64 - 4),
            _ => Value::Float(double(random)),
        },
        Index => match random.below(12) {
            0 => Value::Float(random.below(6) as f64 - 2.0),
            1 => Value::str(random.below(9).to_string()),
            2 => Value::Float(1.5),
            _ => Value::Int(random.below(14) as i64 - 5),
        },
        Integer => Value::Int(random.integer()),
        Count => Value::Int(match random.below(4) {
            0 => i64::MAX - random.below(100) as i64,
            1 => -random.integer().saturating_abs(),
            _ => random.below(20) as i64,
        }),
        Text => Value::Str(text(random)),
        Utf8 => Value::Str(utf8(random)),
        Code => Value::Int(code(random)),
        Numeral => Value::str(numeral(random)),
        List => Value::Object(13 + random.below(12) as u8),
        Order => Value::Object(*random.pick(&[25, 26, 27, 28, 29, 3, 4, 11])),
        Date => Value::Str(date(random)),
        Time => match random.below(5) {
            0 => Value::Int(random.integer()),
            1 => Value::Float(random.below(1 << 31) as f64),
            _ => Value::Int(random.below(1 << 33) as i64 - (1 << 32)),
        },
    }
}

/// Generates a call of one of the functions.
pub(crate) fn call(random: &mut Random) -> Call {
    let (name, kinds) = *random.pick(FUNCTIONS);
    let mut arguments = vec![Value::str(name)];
    for kind in kinds {
        // PUC counts to the end even if there is nothing to repeat.
        if name == "string.rep" && arguments.len() == 1 {
            arguments.push(Value::Str([text(random), b"x".to_vec()].concat()));
            continue;
        }
        // A wrong count, length or range may take too long.
        let bounded = matches!(kind, Count)
            || name.starts_with("table.") && !matches!(kind, Any | List)
            || matches!(name, "os.date" | "next");
        let value =
            if !bounded && random.one_in(12) { any(random) } else { argument(random, *kind) };
        arguments.push(value);
    }
    if random.one_in(3) {
        let keep = 1 + random.below(arguments.len());
        // Without an argument the result is the current time.
        arguments.truncate(if name == "os.date" { 3 } else { keep });
    }
    Call::new(Operation::Any, arguments)
}
