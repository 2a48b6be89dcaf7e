//! Faults of glibc 2.36, which PUC has from there and Perilune does not: a result that differs by
//! one of them is no difference.

use super::value::{Call, Operation, Value};

/// Whether results of a call are the same but for the C library's faults.
pub(crate) fn same(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    puc == perilune || alternative_general(call, puc, perilune) || subnormal(call, puc, perilune)
}

/// `%#.3g` of 999.96, which is rounded up to the next power of ten, gives `1.e+03` instead of C's
/// `1.00e+03`.
fn alternative_general(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    let alternative = |s: &[u8]| s.contains(&b'#') && s.iter().any(|c| b"gG".contains(c));
    let without_zeros = |s: &[u8]| -> Vec<u8> {
        // Where there are fewer zeros there is more padding.
        s.iter().copied().filter(|c| !b" 0".contains(c)).collect()
    };
    call.arguments.iter().any(|v| matches!(v, Value::Str(s) if alternative(s)))
        && without_zeros(puc) == without_zeros(perilune)
}

/// A hexadecimal numeral of 54 bits or more for one of the larger subnormal numbers is rounded to
/// even when it lies above the middle: `0x8DDA3FF5CDD5A.Cp-1074` gives the number that ends with
/// `A`.
fn subnormal(call: &Call, puc: &[u8], perilune: &[u8]) -> bool {
    // The first result, a float.
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
