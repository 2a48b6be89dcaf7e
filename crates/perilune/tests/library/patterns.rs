//! Generated patterns, well-formed and malformed, and subjects that they may match.

use super::random::Random;
use super::value::{Call, Operation, REPLACEMENTS, Value};

/// Alphabets of subjects: few letters, so that patterns often match.
const ALPHABETS: &[&[u8]] = &[
    b"ab",
    b"abc",
    b"a",
    b"aB1 _",
    b"()a",
    b"((a))b",
    b"a\0",
    b"\0\xff\x80a",
    b"a\xe4\xc3\xa4 \n\t",
    b"%a-^$",
    b"[]a.b",
    b"0123456789abcdefABCDEF",
    b"foo=bar, 12;",
    b"xyz\x7f\x01 ",
];

/// The approximate maximum number of backtracking steps.
const STEPS: f64 = 20_000.0;

fn set(random: &mut Random, alphabet: &[u8], out: &mut Vec<u8>) {
    out.push(b'[');
    if random.one_in(3) {
        out.push(b'^');
    }
    if random.one_in(12) {
        out.push(b']');
    }
    for _ in 0..random.below(4) + usize::from(!random.one_in(10)) {
        match random.below(6) {
            0 => class(random, out),
            1 => out.extend([*random.pick(alphabet), b'-', *random.pick(alphabet)]),
            2 => out.extend(*random.pick(&[
                b"a-z",
                b"0-9",
                b"A-F",
                b"\0-\x1f",
                b"\x80-\xff",
                b"z-a",
            ])),
            3 if random.one_in(3) => out.push(*random.pick(b"-^%].[")),
            _ => out.push(*random.pick(alphabet)),
        }
    }
    if random.one_in(12) {
        out.push(b'-');
    }
    out.push(b']');
}

fn class(random: &mut Random, out: &mut Vec<u8>) {
    out.push(b'%');
    out.push(*random.pick(b"acdglpsuwxzACDGLPSUWXZ.%()[]-+*?^$eE_\0\xff"));
}

fn single(random: &mut Random, alphabet: &[u8], out: &mut Vec<u8>) {
    match random.below(10) {
        0..=4 => out.push(*random.pick(alphabet)),
        5 | 6 => out.push(b'.'),
        7 => class(random, out),
        _ => set(random, alphabet, out),
    }
}

fn pieces(random: &mut Random, alphabet: &[u8], open: &mut usize, depth: usize, out: &mut Vec<u8>) {
    for _ in 0..random.below(5) + usize::from(depth == 0) {
        match random.below(24) {
            0 | 1 if depth < 4 => {
                out.push(b'(');
                *open += 1;
                pieces(random, alphabet, open, depth + 1, out);
                out.push(b')');
            }
            2 => {
                out.extend(b"()");
                *open += 1;
            }
            3 if *open > 0 || random.one_in(4) => {
                let number = if random.one_in(6) { 9 } else { random.below(*open) + 1 };
                out.extend([b'%', b'0' + (number % 10) as u8]);
            }
            4 => out.extend([b'%', b'b', *random.pick(alphabet), *random.pick(alphabet)]),
            5 => {
                out.extend(b"%f");
                set(random, alphabet, out);
            }
            _ => {
                single(random, alphabet, out);
                if random.below(5) < 2 {
                    out.push(*random.pick(b"*+-?"));
                }
            }
        }
    }
}

fn pattern(random: &mut Random, alphabet: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if random.one_in(300) {
        // The maximum number of captures or depth of recursion, and one more.
        let count = 31 + random.below(3);
        return match random.below(4) {
            0 => b"()".repeat(count),
            1 => [b"(".repeat(count), b")".repeat(count)].concat(),
            2 => b"a?".repeat(198 + random.below(4)),
            _ => [b"(a".repeat(count), b")".repeat(count - 1)].concat(),
        };
    }
    if random.one_in(8) {
        let count = random.below(9);
        return (0..count).map(|_| *random.pick(b"()[]^$%.*+-?abf01\0]")).collect();
    }
    if random.one_in(10) {
        // Plain patterns, which are searched for without the matcher.
        let count = random.below(5);
        return (0..count).map(|_| *random.pick(alphabet)).collect();
    }
    if random.one_in(6) {
        out.push(b'^');
    }
    let mut open = 0;
    pieces(random, alphabet, &mut open, 0, &mut out);
    if random.one_in(8) {
        out.push(b'$');
    }
    if random.one_in(8) {
        random.damage(&mut out, b"()[]^$%.*+-?ab12\0f");
    }
    out
}

/// Generates a subject that is short enough for the repetitions in `pattern`.
fn subject(random: &mut Random, alphabet: &[u8], pattern: &[u8]) -> Vec<u8> {
    let repeats = pattern.iter().filter(|b| b"*+-?".contains(b)).count();
    let limit = match repeats {
        0 => 80,
        1 => 60,
        n => (STEPS.powf(1.0 / (n + 1) as f64) as usize).max(2),
    };
    let mut out = Vec::new();
    let length = random.below(limit + 1);
    while out.len() < length {
        if out.len() > 2 && random.one_in(6) {
            let from = random.below(out.len());
            let piece = out[from..(from + 4).min(out.len())].to_vec();
            out.extend(piece);
        } else {
            let count = if random.one_in(8) { 1 + random.below(4) } else { 1 };
            out.extend(std::iter::repeat_n(*random.pick(alphabet), count));
        }
    }
    out.truncate(length);
    out
}

/// Generates an argument of the wrong type or with an odd value.
fn odd(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Nil,
        1 => Value::Bool(true),
        2 => Value::Float(1.5),
        3 => Value::Float(2.0),
        4 => Value::str("2"),
        5 => Value::Object(*random.pick(&[1, 3, 6, 8])),
        6 => Value::Float(1e300),
        _ => Value::Int(random.integer()),
    }
}

fn position(random: &mut Random, length: usize) -> Value {
    match random.below(12) {
        0 => odd(random),
        1 => Value::Int(random.integer()),
        _ => Value::Int(random.below(2 * length + 5) as i64 - length as i64 - 2),
    }
}

fn replacement(random: &mut Random, alphabet: &[u8]) -> Value {
    match random.below(12) {
        0..=4 => {
            let mut text = Vec::new();
            for _ in 0..random.below(5) {
                match random.below(4) {
                    0 => text.extend([b'%', b'0' + random.below(4) as u8]),
                    1 if random.one_in(3) => text.extend([b'%', *random.pick(b"%%59a\0.")]),
                    _ => text.push(*random.pick(alphabet)),
                }
            }
            if random.one_in(30) {
                text.push(b'%');
            }
            Value::Str(text)
        }
        5..=10 => Value::Object(*random.pick(REPLACEMENTS)),
        _ => odd(random),
    }
}

/// Generates a call of a function that takes a pattern.
pub(crate) fn call(random: &mut Random) -> Call {
    let alphabet = *random.pick(ALPHABETS);
    let pattern = pattern(random, alphabet);
    let subject = subject(random, alphabet, &pattern);
    let length = subject.len();
    let operation = *random.pick(&[
        Operation::Find,
        Operation::Find,
        Operation::Match,
        Operation::Match,
        Operation::Gmatch,
        Operation::Gsub,
        Operation::Gsub,
        Operation::Gsub,
        Operation::PatternMethod,
        Operation::PatternDirect,
    ]);
    let mut arguments = vec![Value::Str(subject), Value::Str(pattern)];
    match operation {
        Operation::Gsub | Operation::PatternMethod | Operation::PatternDirect => {
            arguments.push(replacement(random, alphabet));
            if random.one_in(4) {
                arguments.push(position(random, 3));
            }
        }
        _ => {
            if random.one_in(4) {
                arguments.push(position(random, length));
                if random.one_in(4) {
                    arguments.push(Value::Bool(random.one_in(2)));
                }
            }
        }
    }
    if random.one_in(60) {
        let i = random.below(arguments.len());
        arguments[i] = odd(random);
    }
    if random.one_in(100) {
        arguments.truncate(random.below(3));
    }
    Call::new(operation, arguments)
}

/// Returns calls with long subjects and patterns, which are not generated.
pub(crate) fn hard() -> Vec<Call> {
    let mut calls = Vec::new();
    let text = b"the quick brown fox jumps over the lazy dog; 0x1F = 31, f(a(b)c)d\n".repeat(6);
    let long = b"a".repeat(300);
    let subjects = [text, long, [b"a".repeat(120), b"b".to_vec()].concat(), b"(".repeat(400)];
    let patterns = [
        "%w+",
        "(%w+)%s+(%w+)",
        "^(.-)%s*$",
        "a-b",
        "a*b",
        "a+$",
        ".-x",
        "%b()",
        "%f[%w]%w+",
        "[^%s]+",
        "()%s()",
        "",
        ".",
        "$",
        "^",
        "x*",
        "(a*(.)%w(%s*))",
        "a?a?a?b",
        "lazy dog",
        "%0",
        "%1",
        "()%1",
        "(.)%1",
        "[a",
        "[]",
        "[^]",
        "[%",
        "[%]",
        "[a-",
        "[a-]",
        "%",
        "%b",
        "%bx",
        "%f",
        "%fa",
        "(",
        ")",
        "(()",
        "())",
        "^^a",
        "^*",
        "*",
        "+a",
        "-",
        "a**",
        "a-+",
        "%z",
        "[%z]",
        "\0",
        "a\0",
        "[\0]",
        "[^\0]+",
        "$$",
        "^$",
        "a$b",
        "%$",
        "(%f[%W])",
        "%f[^\0]",
    ];
    let replacements = ["", "%0%0", "%1", "%2", "<%1>", "%", "%x", "%%", "a\0b"];
    for subject in &subjects {
        for pattern in patterns {
            for operation in [Operation::Find, Operation::Match, Operation::Gmatch] {
                let arguments = vec![Value::str(subject), Value::str(pattern)];
                calls.push(Call::new(operation, arguments.clone()));
                for init in [-1, 2, 100, 10_000] {
                    let arguments = [&arguments[..], &[Value::Int(init)]].concat();
                    calls.push(Call::new(operation, arguments));
                }
            }
            for replacement in replacements {
                let arguments = [subject, pattern.as_bytes(), replacement.as_bytes()];
                calls.push(Call::new(Operation::Gsub, arguments.map(Value::str).to_vec()));
            }
            for object in 1..=super::value::OBJECTS {
                let arguments =
                    vec![Value::str(subject), Value::str(pattern), Value::Object(object)];
                calls.push(Call::new(Operation::Gsub, arguments));
            }
        }
    }
    // The maximum depth of the matcher.
    for unit in ["a?", "a-", "a*", "()", "(a)", "(", "%1", "[a]?", "%f[a]", ".-", "x?a?"] {
        for count in [31, 32, 33, 64, 99, 100, 101, 198, 199, 200, 201, 202, 250, 5000] {
            let arguments = vec![Value::str("a".repeat(260)), Value::str(unit.repeat(count))];
            calls.push(Call::new(Operation::Find, arguments.clone()));
            let anchored =
                vec![arguments[0].clone(), Value::str("^".to_owned() + &unit.repeat(count))];
            calls.push(Call::new(Operation::Match, anchored));
        }
    }
    calls
}
