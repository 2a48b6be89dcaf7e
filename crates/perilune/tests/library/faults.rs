//! Faults of glibc 2.36, which PUC inherits and Perilune does not have: results that differ by one
//! of them count as equal.

use super::value::{Call, Operation, Value};

/// Returns whether results of a call are the same apart from the C library's faults.
pub(crate) fn same(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    puc == perilune || alternative_general(call, puc, perilune) || subnormal(call, puc, perilune)
}

/// Checks for the fault that `%#.3g` of 999.96, which is rounded up to the next power of ten, gives
/// `1.e+03` instead of C's `1.00e+03`.
fn alternative_general(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    let alternative = |s: &[u8]| s.contains(&b'#') && s.iter().any(|c| b"gG".contains(c));
    call.arguments.iter().any(|v| matches!(v, Value::Str(s) if alternative(s)))
        && without_fault(puc) == without_fault(perilune)
}

/// Returns the text with every power of ten in it, such as `1.00e+03`, in the form of the fault:
/// without the zeros after the point, and without the padding that compensates for them. The rest
/// is unchanged.
fn without_fault(text: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        rest = &rest[1..];
        out.push(byte);
        let zeros = rest.iter().take_while(|c| **c == b'0').count();
        let exponent = rest.get(zeros).is_some_and(|c| b"eE".contains(c));
        let alone = !out.iter().rev().nth(2).is_some_and(u8::is_ascii_digit)
            || out.iter().rev().skip(2).take_while(|c| c.is_ascii_digit()).all(|c| *c == b'0');
        if !out.ends_with(b"1.") || !exponent {
            continue;
        }
        if !alone {
            // the preceding digits belong to the previous conversion, so there is no padding
            rest = &rest[zeros..];
            continue;
        }
        // padding before: blanks before a sign, or zeros after it
        out.truncate(out.len() - 2);
        while out.last() == Some(&b'0') {
            out.pop();
        }
        let sign = out.last().copied().filter(|c| b"+-".contains(c));
        out.truncate(out.len() - usize::from(sign.is_some()));
        while out.last() == Some(&b' ') {
            out.pop();
        }
        out.extend(sign);
        out.extend(b"1.");
        // and after: blanks after the digits of the exponent
        rest = &rest[zeros..];
        let number = 2 + rest.iter().skip(2).take_while(|c| c.is_ascii_digit()).count();
        let (exponent, after) = rest.split_at(number.min(rest.len()));
        out.extend(exponent);
        let blanks = after.iter().take_while(|c| **c == b' ').count();
        rest = &after[blanks..];
    }
    out
}

#[test]
fn only_the_fault_is_passed_over() {
    let same = |a: &str, b: &str| without_fault(a.as_bytes()) == without_fault(b.as_bytes());
    assert!(same("1.e+03", "1.00e+03"));
    assert!(same("x  -1.e+03|", "x-1.00e+03|"));
    assert!(same("-001.e+03 ", "-1.00e+03"));
    assert!(same("1.5E+011.e+06", "1.5E+011.00000e+06"));
    assert!(!same("1.5E+011.e+06", "1.5E+012.00000e+06"));
    assert!(!same("1.e+03", "1.00e+04"));
    assert!(!same("2.e+03", "2.00e+03"));
    assert!(!same("1.e+03", "1.50e+03"));
    assert!(!same("10.5", "1.5"));
    assert!(!same("1.e+03 a b", "1.00e+03 ab"));
}

/// Checks for the fault that a hexadecimal numeral of 54 bits or more for one of the larger
/// subnormal numbers is rounded to even although it lies above the middle:
/// `0x8DDA3FF5CDD5A.Cp-1074` gives the number that ends with `A`.
fn subnormal(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    // Returns the first result, a float.
    fn number(result: &[u8]) -> Option<u64> {
        let bytes = result.strip_prefix(b"true\nd")?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes) & !(1 << 63))
    }
    let hexadecimal = |v: &Value| matches!(v, Value::Str(s) if s.iter().any(|c| b"xX".contains(c)));
    call.operation == Operation::Numeral
        && call.arguments.first().is_some_and(hexadecimal)
        && number(puc).zip(number(perilune)).is_some_and(|(puc, perilune)| {
            (1 << 51..1 << 52).contains(&puc) && puc & 1 == 0 && perilune == puc + 1
        })
}
