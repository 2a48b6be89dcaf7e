//! Generated doubles and numerals.

use super::numerals::{self, numeral};
use super::random::Random;
use super::value::{Call, Operation, Value};

#[allow(clippy::excessive_precision, reason = "the digits are as they are known")]
/// Doubles that are hard to format: ties of decimal conversions, long expansions, limits.
const HARD: &[f64] = &[
    0.0,
    1.0,
    0.1,
    0.5,
    1.5,
    2.5,
    0.125,
    0.375,
    1e14,
    1e15,
    1e16,
    1e17,
    123456789012345.0,
    99999999999999.0,
    99999999999999.5,
    99999999999999.4,
    999999999999994.0,
    999999999999995.0,
    999999999999996.0,
    9999999999999950.0,
    0.0001,
    0.00001,
    0.000099999999999999,
    0.0000999999999999995,
    9.9999999999999e-5,
    9.99999999999995e-5,
    9.999999999999949e22,
    9.999999999999999e22,
    1e22,
    1e23,
    5e-324,
    1e-323,
    2.2250738585072014e-308,
    2.225073858507201e-308,
    1.7976931348623157e308,
    8.98846567431158e307,
    4503599627370496.5,
    4503599627370497.5,
    9007199254740991.0,
    9007199254740992.0,
    9007199254740993.0,
    9223372036854775807.0,
    9223372036854774784.0,
    18446744073709551615.0,
    1152921504606846976.0,
    1.2345678901234565,
    1.00000000000005,
    1.000000000000050000000001,
    1.0000000000000500,
    0.3,
    2.0 / 3.0,
    1e100,
    1.7e-300,
    6.02214076e23,
    1.6e-19,
    f64::INFINITY,
    f64::NAN,
    // Ties of %.14g that are exact in binary.
    1000000000000.25,
    1000000000000.75,
    10000000000000.5,
    10000000000001.5,
    1.00000000000005e14,
    1.00000000000015e14,
    72057594037927945.0,
    36028797018963968.0,
    1.4821969375237396e-323,
    6.631236846766476e-316,
    3.237883913302901e-319,
    1.8011670033376514e16,
    4.35,
    4.349999999999999,
    0.045,
    2.675,
    1.005,
    0.285,
    8.41,
    5e15,
    4.4501477170144023e-308,
    1.2999999999999999e154,
    9.5e-323,
    5.5e-7,
];

/// Generates a double of any kind.
pub(crate) fn double(random: &mut Random) -> f64 {
    let sign = if random.one_in(4) { -1.0 } else { 1.0 };
    let near = |random: &mut Random, x: f64| {
        f64::from_bits(x.to_bits().wrapping_add(random.below(9) as u64).wrapping_sub(4))
    };
    let x = match random.below(16) {
        0..=3 => return f64::from_bits(random.next()),
        4..=6 => {
            // Generates a decimal with this number of digits.
            let count = 1 + random.below(18) as u32;
            let mantissa = random.next() % 10u64.pow(count);
            let power = match random.below(3) {
                0 => random.below(10) as i32 - count as i32,
                1 => random.below(40) as i32 - 20 - count as i32,
                _ => random.below(640) as i32 - 330,
            };
            format!("{mantissa}e{power}").parse().unwrap_or(0.0)
        }
        7 => {
            let x = random.integer() as f64;
            near(random, x)
        }
        8 => random.below(2_000_000) as f64 / [1.0, 2.0, 4.0, 8.0, 1000.0, 100.0][random.below(6)],
        9 => f64::from_bits(random.next() >> 12 >> random.below(52)),
        10 => {
            let power = f64::from_bits((1 + random.next() % 2046) << 52);
            near(random, power)
        }
        11 => {
            let x = format!("1e{}", random.below(632) as i32 - 324).parse().unwrap_or(0.0);
            near(random, x)
        }
        12 => {
            // Few significant bits: ties of decimal conversions are exact in binary.
            let mantissa = (random.next() >> 11 >> random.below(53)) | 1;
            mantissa as f64 * 2f64.powi(-(random.below(60) as i32))
        }
        13 => {
            // A tie at 14 or 17 digits, or a neighbour of one.
            let count = [13, 14, 15, 16][random.below(4)];
            let digits = random.next() % 10u64.pow(count);
            let x = format!("{digits}5e{}", random.below(40) as i32 - 20).parse().unwrap_or(0.0);
            if random.one_in(2) { near(random, x) } else { x }
        }
        14 => f64::from((random.next() % (1 << 24)) as f32 / 256.0),
        _ => *random.pick(HARD),
    };
    sign * x
}

/// Generates a valid conversion of floats with any flags.
fn conversion(random: &mut Random) -> Vec<u8> {
    let mut text = vec![b'%'];
    for flag in b"-+ #0" {
        if random.one_in(6) {
            text.push(*flag);
        }
    }
    if random.one_in(3) {
        let limit = if random.one_in(4) { 99 } else { 25 };
        text.extend((1 + random.below(limit)).to_string().bytes());
    }
    if !random.one_in(4) {
        text.push(b'.');
        if !random.one_in(10) {
            let limit = if random.one_in(8) { 100 } else { 20 };
            text.extend(random.below(limit).to_string().bytes());
        }
    }
    text.push(*random.pick(b"aAeEfgGggef"));
    text
}

/// Generates the calls that compare a double or a numeral.
pub(crate) fn call(random: &mut Random) -> Call {
    if random.one_in(2) {
        let arguments = vec![Value::Float(double(random)), Value::Str(conversion(random))];
        return Call::new(Operation::Double, arguments);
    }
    let mut arguments = vec![Value::Str(numeral(random))];
    if random.one_in(30) {
        arguments.push(Value::Int(2 + random.below(35) as i64));
    }
    Call::new(Operation::Numeral, arguments)
}

/// Returns calls for the hard doubles in many conversions, and for the hard numerals.
pub(crate) fn hard() -> Vec<Call> {
    let mut calls = Vec::new();
    let mut add = |x: f64| {
        for c in ["%a", "%.3a", "%e", "%.0e", "%g", "%#g", "%f", "%.0f", "%.99f", "%.16g", "%.99g"]
        {
            calls.push(Call::new(Operation::Double, vec![Value::Float(x), Value::str(c)]));
        }
    };
    for x in HARD {
        for bits in -2..=2 {
            let x = f64::from_bits(x.to_bits().wrapping_add_signed(bits));
            add(x);
            add(-x);
        }
    }
    for power in -324..=308 {
        add(format!("1e{power}").parse().unwrap_or(0.0));
    }
    for power in 0..2046 {
        calls.push(Call::new(
            Operation::Double,
            vec![Value::Float(f64::from_bits((power as u64) << 52)), Value::str("%.20e")],
        ));
    }
    // See `faults`. These numerals are not among those that any call may receive.
    for text in ["0X8DdA3Ff5CDD5aCP-1078", "-0x0.DBf6E91bDAaeecP-1022"] {
        calls.push(Call::new(Operation::Numeral, vec![Value::str(text)]));
    }
    for text in numerals::HARD {
        for text in [text.to_string(), format!("-{text}"), format!(" {text} ")] {
            calls.push(Call::new(Operation::Numeral, vec![Value::str(&text)]));
            for base in [2, 10, 16, 36, 0, 1, 37] {
                let arguments = vec![Value::str(&text), Value::Int(base)];
                calls.push(Call::new(Operation::Numeral, arguments));
            }
        }
    }
    calls
}
