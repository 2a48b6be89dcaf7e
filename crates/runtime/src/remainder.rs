//! The remainder of a division of floats that is rounded towards zero: C's `fmod`, which is exact.
//!
//! The C library iterates over the difference of the exponents. If the processor has fused
//! multiply-add instructions, most remainders are computed with a division and one such instruction
//! instead.

/// The floats below this limit have all integers among them.
const LIMIT: f64 = 9_007_199_254_740_992.0;

/// Returns what C's `fmod` returns.
#[inline]
pub(crate) fn remainder(a: f64, b: f64) -> f64 {
    match by_quotient(a, b) {
        Some(rest) => rest,
        None => by_integers(a, b),
    }
}

/// Computes the remainder from the quotient; returns `None` if that is large or not a number, or if
/// the processor is not known to have the operation.
#[inline(always)]
fn by_quotient(a: f64, b: f64) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("fma") && is_x86_feature_detected!("sse4.1") {
        // SAFETY: the processor has these features.
        return unsafe { by_quotient_x86(a, b) };
    }
    if cfg!(target_arch = "aarch64") { from_quotient(a, b) } else { None }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "fma,sse4.1")]
fn by_quotient_x86(a: f64, b: f64) -> Option<f64> {
    from_quotient(a, b)
}

/// Computes the remainder from the quotient, unless that is large or not a number.
///
/// The quotient as rounded to a float never lies below an integer that the exact one reaches, as
/// integers below [`LIMIT`] are floats; it may reach one that the exact one does not. So its
/// integral part is either right, or too far from 0 by one. In both cases the remainder that
/// belongs to it is a multiple of the last bit of `b` and not larger than `b`, or, if `a` is
/// smaller than `b`, the difference of floats that are almost equal: it is a float, and neither
/// operation below rounds.
#[inline(always)]
fn from_quotient(a: f64, b: f64) -> Option<f64> {
    let quotient = (a / b).trunc();
    if quotient == 0.0 {
        // `b` may be infinite
        return Some(a);
    }
    if quotient.abs() < LIMIT {
        let rest = (-quotient).mul_add(b, a);
        let is_beyond = rest != 0.0 && (rest < 0.0) != (a < 0.0);
        let rest = if is_beyond { rest + b.copysign(a) } else { rest };
        return Some(rest.copysign(a));
    }
    None
}

/// Computes the remainder of integral floats as that of integers, and all others by the C library.
fn by_integers(a: f64, b: f64) -> f64 {
    let (x, y) = (a as i64, b as i64);
    if x as f64 == a && y as f64 == b && !matches!(y, 0 | -1) && x != i64::MAX && y != i64::MAX {
        ((x % y) as f64).copysign(a)
    } else {
        a % b
    }
}

#[cfg(test)]
mod tests {
    use super::{by_integers, from_quotient, remainder};

    /// Compares all ways with the C library.
    fn check(a: f64, b: f64) {
        let expected = a % b;
        let same = |x: f64| x.to_bits() == expected.to_bits() || x.is_nan() && expected.is_nan();
        assert!(same(remainder(a, b)), "{a:e} % {b:e}");
        assert!(same(by_integers(a, b)), "{a:e} % {b:e} by integers");
        assert!(from_quotient(a, b).is_none_or(same), "{a:e} % {b:e} from the quotient");
    }

    #[test]
    fn special_values() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            3.0,
            7.5,
            -7.5,
            f64::MIN_POSITIVE,
            5e-324,
            -1.5e-323,
            f64::EPSILON,
            f64::MAX,
            f64::MIN,
            9_007_199_254_740_991.0,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            std::f64::consts::TAU,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for a in values {
            for b in values {
                check(a, b);
            }
        }
    }

    #[test]
    fn random_values() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..if cfg!(miri) { 500 } else { 400_000 } {
            let (a, b) = (f64::from_bits(random.u64(..)), f64::from_bits(random.u64(..)));
            check(a, b);
            // exponents that are close
            let b = f64::from_bits(a.to_bits() ^ random.u64(..) >> random.u32(4..24));
            check(a, b);
            check(b, a);
            // multiples, and the floats next to them
            let n = (random.u64(..) >> random.u32(11..64)) as f64;
            let multiple = n * b;
            for near in [multiple, multiple.next_up(), multiple.next_down(), multiple + b / 2.0] {
                check(near, b);
                check(-near, b);
            }
        }
    }
}
