//! Generated formats, valid and invalid, with suitable and unsuitable arguments.

use super::doubles::double;
use super::random::Random;
use super::value::{Call, NAMED, Operation, Value};

fn number(random: &mut Random, out: &mut Vec<u8>) {
    let n = match random.below(10) {
        0 => 99,
        1 => 100,
        2 => 1000,
        3 => random.below(120),
        _ => random.below(20),
    };
    if random.one_in(20) {
        out.push(b'0');
    }
    out.extend(n.to_string().bytes());
}

/// Generates a conversion after its `%`; returns its letter.
fn conversion(random: &mut Random, out: &mut Vec<u8>) -> u8 {
    let letter = match random.below(30) {
        0 => *random.pick(b"bFhjklmnrtvwyzBCDHLPQS%\0\n\xff."),
        _ => *random.pick(b"dddiuoxXcaAefEgGgGqsssspfd"),
    };
    // Mostly flags that the conversion accepts.
    let (flags, precision): (&[u8], bool) = match letter {
        b'd' | b'i' => (b"-+0 ", true),
        b'u' => (b"-0", true),
        b'o' | b'x' | b'X' => (b"-#0", true),
        b's' => (b"-", true),
        b'c' | b'p' => (b"-", false),
        b'q' => (b"", false),
        _ => (b"-+#0 ", true),
    };
    let flags = if random.one_in(12) { b"-+#0 " } else { flags };
    for flag in flags {
        if random.one_in(5) {
            out.push(*flag);
            if random.one_in(40) {
                let count = 1 + random.below(25);
                out.extend(std::iter::repeat_n(*flag, count));
            }
        }
    }
    if random.one_in(3) && (letter != b'q' || random.one_in(10)) {
        number(random, out);
    }
    if random.one_in(3) && (precision || random.one_in(10)) {
        out.push(b'.');
        if !random.one_in(6) {
            number(random, out);
        }
    }
    out.push(letter);
    letter
}

fn text(random: &mut Random) -> Vec<u8> {
    let alphabet: &[u8] = match random.below(4) {
        0 => b"abc",
        1 => b"\0\n\r\"\\0123\x7f\xff\x80\t",
        2 => b"a\"\\\n\x001",
        _ => b"hello world %d",
    };
    let limit = if random.one_in(20) { 300 } else { 12 };
    let length = random.below(limit);
    (0..length).map(|_| *random.pick(alphabet)).collect()
}

fn any(random: &mut Random) -> Value {
    match random.below(9) {
        0 => Value::Nil,
        1 => Value::Bool(random.one_in(2)),
        2 | 3 => Value::Int(random.integer()),
        4 => Value::Float(double(random)),
        5 => Value::Float(random.integer() as f64),
        6 => Value::Object(*random.pick(NAMED)),
        7 => Value::str(super::numerals::numeral(random)),
        _ => Value::Str(text(random)),
    }
}

fn fitting(random: &mut Random, letter: u8) -> Value {
    if random.one_in(12) {
        return any(random);
    }
    match letter {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => match random.below(8) {
            0 => Value::Float(random.integer() as f64),
            1 => Value::str(random.integer().to_string()),
            _ => Value::Int(random.integer()),
        },
        b'c' => {
            Value::Int(if random.one_in(6) { random.integer() } else { random.below(300) as i64 })
        }
        b'a' | b'A' | b'e' | b'E' | b'f' | b'g' | b'G' => match random.below(8) {
            0 => Value::Int(random.integer()),
            1 => Value::str(super::numerals::numeral(random)),
            _ => Value::Float(double(random)),
        },
        _ => any(random),
    }
}

/// Generates a value without an address, for `%p`.
fn without_address(value: Value) -> Value {
    match value {
        Value::Str(_) | Value::Object(_) => Value::Nil,
        value => value,
    }
}

/// Generates a call of `string.format`.
pub(crate) fn call(random: &mut Random) -> Call {
    let mut format = Vec::new();
    let mut arguments = Vec::new();
    for _ in 0..=random.below(4) {
        if random.one_in(3) {
            format.extend(*random.pick(&[
                &b"abc"[..],
                b" ",
                b"%%",
                b"\0",
                b"100%%",
                b"\xff",
                b"\n",
            ]));
        }
        if random.one_in(15) {
            continue;
        }
        format.push(b'%');
        let letter = conversion(random, &mut format);
        if !random.one_in(60) {
            arguments.push(fitting(random, letter));
        }
    }
    if random.one_in(15) {
        random.damage(&mut format, b"%%%-+ #0123456789.dsqxfgcaip\0 ");
    }
    if random.one_in(20) {
        arguments.push(any(random));
    }
    if format.contains(&b'p') {
        arguments = arguments.into_iter().map(without_address).collect();
    }
    // The driver accepts any number of arguments, but missing ones must be absent rather than nil.
    arguments.insert(0, Value::Str(format));
    if random.one_in(200) {
        arguments[0] = any(random);
    }
    Call::new(Operation::Format, arguments)
}

/// Returns calls with every conversion with every single flag, width and precision, for arguments
/// of each type.
pub(crate) fn hard() -> Vec<Call> {
    let mut calls = Vec::new();
    let values = [
        Value::Nil,
        Value::Bool(true),
        Value::Int(0),
        Value::Int(-1),
        Value::Int(i64::MIN),
        Value::Int(65),
        Value::Int(255),
        Value::Float(0.0),
        Value::Float(-0.0),
        Value::Float(1.0),
        Value::Float(0.1),
        Value::Float(-2.5),
        Value::Float(1e300),
        Value::Float(2f64.powi(63)),
        Value::Float(f64::INFINITY),
        Value::Float(f64::NEG_INFINITY),
        Value::Float(f64::NAN),
        Value::str(""),
        Value::str("text"),
        Value::str("10"),
        Value::str("0x10"),
        Value::str("1e1"),
        Value::str("zero\0zero"),
        Value::str("\"\\\n\r\0\x7f\u{e4}1"),
        Value::str("l".repeat(150)),
        Value::Object(6),
        Value::Object(7),
        Value::Object(8),
        Value::Object(9),
    ];
    let specs = [
        "",
        "-",
        "+",
        " ",
        "#",
        "0",
        "5",
        "-5",
        "05",
        "+5",
        " 5",
        "#5",
        ".0",
        ".3",
        ".",
        "10.3",
        "-10.3",
        "010.3",
        "99",
        "100",
        ".99",
        ".100",
        "99.99",
        "-+ #0",
        "-+ #020.10",
        "00000000000000000005",
        "0000000000000000000000000000005",
        "1.2.3",
        "5-",
        "+-",
        "--",
        "5 ",
    ];
    for letter in "diuoxXcaAefEgGFqsp%bhlLnzw".chars() {
        for spec in specs {
            let format = format!("<%{spec}{letter}>");
            calls.push(Call::new(Operation::Format, vec![Value::str(&format)]));
            for value in &values {
                if letter == 'p' && matches!(value, Value::Str(_) | Value::Object(_)) {
                    continue;
                }
                let arguments = vec![Value::str(&format), value.clone()];
                calls.push(Call::new(Operation::Format, arguments));
            }
        }
    }
    calls
}
