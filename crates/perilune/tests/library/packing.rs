//! Generated formats of `string.pack`, valid and invalid, with suitable and unsuitable values and
//! data.

use super::doubles::double;
use super::random::Random;
use super::value::{Call, Operation, Value};

/// Generates options and adds their values to `values`. `huge` allows sizes that would take too
/// much memory if packed.
fn format(random: &mut Random, huge: bool, values: &mut Vec<Value>) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..random.below(7) + usize::from(!random.one_in(20)) {
        let option = *random.pick(b"<>=! bBhHlLjJTfndiIiIiIssczzxXX");
        let option = if random.one_in(80) { *random.pick(b"aAy0123-%\0\xff") } else { option };
        out.push(option);
        let mut size = 8;
        if b"iIs!".contains(&option) && random.below(4) > 0 || option == b'c' && !random.one_in(15)
        {
            size = match random.below(12) {
                0 => 0,
                1 => 17 + random.below(10),
                2..=4 => [1, 2, 4, 8, 16][random.below(5)],
                _ => 1 + random.below(16),
            };
            let mut digits = size.to_string();
            if random.one_in(100) {
                digits = (*random.pick(&[
                    "2147483647",
                    "2147483648",
                    "99999999999999",
                    "214748364",
                    "214748365",
                    "0000000000000001",
                    "1000000",
                ]))
                .to_owned();
                if option == b'c' && !huge {
                    digits = "16".to_owned();
                }
            }
            out.extend(digits.bytes());
        }
        if !b"<>=! xX".contains(&option) {
            values.push(value(random, option, size));
        }
    }
    out
}

fn value(random: &mut Random, option: u8, size: usize) -> Value {
    if random.one_in(40) {
        return match random.below(7) {
            0 => Value::Nil,
            1 => Value::Bool(false),
            2 => Value::Object(*random.pick(&[1, 6, 8])),
            3 => Value::Float(1.5),
            4 => Value::str("12"),
            5 => Value::str("x"),
            _ => Value::Float(random.integer() as f64),
        };
    }
    match option {
        b'f' | b'n' | b'd' => {
            if random.one_in(5) {
                Value::Int(random.integer())
            } else {
                Value::Float(double(random))
            }
        }
        b's' | b'z' | b'c' => {
            let limit = if option == b'c' { size + 1 + usize::from(random.one_in(10)) } else { 12 };
            let mut length = random.below(limit);
            if option == b's' && random.one_in(10) {
                length = 250 + random.below(12);
            }
            let alphabet: &[u8] =
                if option == b'z' && !random.one_in(8) { b"ab\xff" } else { b"ab\0\xff" };
            Value::Str((0..length).map(|_| *random.pick(alphabet)).collect())
        }
        _ => {
            // Near the limits of the size.
            let bits = match option {
                b'b' | b'B' => 8,
                b'h' | b'H' => 16,
                b'i' | b'I' => 8 * size.min(8),
                _ => 64,
            };
            let bits = bits.max(1);
            let limit = 1i128 << (bits - random.below(2));
            let near = limit - 2 + random.below(4) as i128;
            match random.below(4) {
                0 => Value::Int(near as i64),
                1 => Value::Int((-near) as i64),
                2 => Value::Int(random.integer()),
                _ => Value::Int(random.below(200) as i64 - 100),
            }
        }
    }
}

/// Generates bytes to unpack: often small numbers, so that lengths fit.
fn data(random: &mut Random) -> Vec<u8> {
    let limit = if random.one_in(4) { 80 } else { 30 };
    let length = random.below(limit);
    let kind = random.below(4);
    (0..length)
        .map(|_| match kind {
            0 => random.next() as u8,
            1 => *random.pick(&[0, 0, 0, 1, 2, 3]),
            2 => *random.pick(&[0, 0xff, 0x80, 0x7f]),
            _ if random.one_in(4) => random.below(6) as u8,
            _ => 0,
        })
        .collect()
}

/// Generates a call of a packing function.
pub(crate) fn call(random: &mut Random) -> Call {
    let operation = *random.pick(&[
        Operation::Pack,
        Operation::Packsize,
        Operation::Unpack,
        Operation::Unpack,
        Operation::RoundTrip,
    ]);
    let huge = matches!(operation, Operation::Packsize | Operation::Unpack);
    let mut values = Vec::new();
    let mut format = format(random, huge, &mut values);
    if random.one_in(12) {
        let alphabet: &[u8] = if huge {
            b"<>=! bBhHlLjJTfndiIsczxX0123456789\0y"
        } else {
            b"<>=! bBhHlLjJTfndiIszxX\0y"
        };
        random.damage(&mut format, alphabet);
    }
    let mut arguments = vec![Value::Str(format)];
    match operation {
        Operation::Pack | Operation::RoundTrip => {
            arguments.extend(values);
            if random.one_in(30) {
                arguments.pop();
            }
        }
        Operation::Unpack => {
            let data = data(random);
            let length = data.len();
            arguments.push(Value::Str(data));
            if random.one_in(3) {
                arguments.push(match random.below(10) {
                    0 => Value::Int(random.integer()),
                    1 => Value::Float(2.0),
                    2 => Value::str("x"),
                    _ => Value::Int(random.below(2 * length + 5) as i64 - length as i64 - 2),
                });
            }
        }
        _ => {}
    }
    if random.one_in(150) && !arguments.is_empty() {
        let i = random.below(arguments.len());
        arguments[i] = value(random, b'?', 8);
    }
    Call::new(operation, arguments)
}

/// Returns calls for every option in every size, with the values next to its limits.
pub(crate) fn hard() -> Vec<Call> {
    let mut calls = Vec::new();
    let mut options: Vec<String> = "bBhHlLjJTfndzxX <>=!iIsc".chars().map(String::from).collect();
    for size in [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17] {
        options.extend(["i", "I", "s", "c", "!"].map(|option| format!("{option}{size}")));
    }
    for option in &options {
        for before in ["", ">", "!4b", ">!16b", "X"] {
            for after in ["", "Xi4", "X", "Xc1", "Xz", "Xs2", "X ", "X!", "Xx", "!8Xd", "Xi3"] {
                let format = format!("{before}{option}{after}");
                calls.push(Call::new(Operation::Packsize, vec![Value::str(&format)]));
                for n in
                    [0, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 65536, i64::MAX, i64::MIN]
                {
                    let n = Value::Int(n);
                    let arguments = vec![Value::str(&format), n.clone(), n];
                    calls.push(Call::new(Operation::RoundTrip, arguments));
                }
                for fill in [0, 1, 0x7f, 0x80, 0xff] {
                    let data = Value::Str(vec![fill; 40]);
                    calls.push(Call::new(Operation::Unpack, vec![Value::str(&format), data]));
                }
            }
        }
    }
    let sizes =
        ["c2147483647", "c2147483640", "c2147483639", "c2147483647c1", "c2147483648", "c214748365"];
    for format in sizes {
        calls.push(Call::new(Operation::Packsize, vec![Value::str(format)]));
        calls.push(Call::new(Operation::Unpack, vec![Value::str(format), Value::str("abc")]));
    }
    calls
}
