//! Exact decimal digits of floats within 128 bits. A float is `m / 2^k`, so shifting its product
//! with a power of ten gives quotient and remainder, which determine the correct rounding. This
//! covers most floats that programs print.

/// The numbers from 0 to 99, two digits each.
pub(crate) const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Powers of ten whose product with any significand fits in 128 bits.
const POWERS: [u128; 23] = {
    let mut powers = [1; 23];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

/// Maximum number of digits that these functions return: any number with this many digits fits in
/// 64 bits.
const MOST: usize = 19;

/// Returns `m` and `k` of a positive normal float `m / 2^k`, if `0 < k < 128`.
#[inline]
fn split(x: f64) -> Option<(u64, u32)> {
    let bits = x.to_bits();
    let biased = (bits >> 52) as u32;
    let k = 1075u32.wrapping_sub(biased);
    (biased > 0 && (1..128).contains(&k)).then_some((bits & ((1 << 52) - 1) | 1 << 52, k))
}

/// Returns `n / 2^k` rounded to nearest, and whether it was exactly half; `k < 128`.
#[inline]
fn divide(n: u128, k: u32) -> (u64, bool, bool) {
    let rest = n & ((1 << k) - 1);
    let half = 1 << (k - 1);
    ((n >> k) as u64, rest > half, rest == half)
}

/// Returns the first `count` significant digits of a positive float as one number, and its decimal
/// exponent. Rounds half to even. `None` if 128 bits do not suffice.
pub(crate) fn scientific(x: f64, count: usize) -> Option<(u64, i32)> {
    let (m, k) = split(x)?;
    if count > MOST {
        return None;
    }
    // The exponent is this or one more: 1233/4096 is a little below the logarithm of 2.
    let mut exponent = ((52 - k as i32) * 1233) >> 12;
    let limit = POWERS[count];
    loop {
        let scale = usize::try_from(count as i32 - 1 - exponent).ok()?;
        let product = u128::from(m) * POWERS.get(scale)?;
        if product >> k >= limit {
            exponent += 1;
            continue;
        }
        let (n, above, half) = divide(product, k);
        let n = n + u64::from(above || half && n & 1 == 1);
        return Some(if u128::from(n) == limit { (n / 10, exponent + 1) } else { (n, exponent) });
    }
}

/// Rounds a positive float to `count` digits after the point, half to even; returns the part before
/// the point and these digits. `None` if 128 bits do not suffice.
pub(crate) fn fixed(x: f64, count: usize) -> Option<(u64, u64)> {
    let (m, k) = split(x)?;
    if count > MOST {
        return None;
    }
    let whole = if k < 64 { m >> k } else { 0 };
    let fraction = u128::from(m) - if k < 64 { u128::from(whole) << k } else { 0 };
    let (n, above, half) = divide(fraction * POWERS[count], k);
    let odd = if count == 0 { whole & 1 == 1 } else { n & 1 == 1 };
    let n = n + u64::from(above || half && odd);
    Some(if u128::from(n) == POWERS[count] { (whole + 1, 0) } else { (whole, n) })
}

/// Fills `out` with the digits of `n` and leading zeros.
#[inline]
pub(crate) fn put_digits(out: &mut [u8], mut n: u64) {
    let mut pairs = out.rchunks_exact_mut(2);
    for place in &mut pairs {
        let pair = (n % 100) as usize * 2;
        n /= 100;
        place.copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if let [first] = pairs.into_remainder() {
        *first = b'0' + n as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats of all magnitudes, short decimals, and their neighbours.
    fn floats() -> Vec<f64> {
        let mut all = Vec::new();
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for i in 0..if cfg!(miri) { 80 } else { 60_000 } {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            all.push(f64::from_bits(state >> 1));
            // near one
            all.push(f64::from_bits(
                (state >> 12) | (1023 - 70 + u64::from(state as u8) % 130) << 52,
            ));
            let short = (state >> 40) as f64 / POWERS[i % 12] as f64;
            all.extend([short, short.next_up(), short.next_down()]);
            all.push((state >> 44) as f64 / (1u64 << (i % 40)) as f64);
            all.extend([
                10f64.powi(i as i32 % 40 - 20),
                10f64.powi(i as i32 % 40 - 20).next_down(),
            ]);
        }
        all.retain(|x| x.is_finite() && *x > 0.0);
        all
    }

    #[test]
    fn digits_equal_those_of_exact_conversion() {
        let mut used = [0; 2];
        for (i, x) in floats().into_iter().enumerate() {
            let count = [14, 17, 6, 1, 15, 19, 3][i % 7];
            if let Some((digits, exponent)) = scientific(x, count) {
                let want = format!("{x:.*e}", count - 1);
                assert_eq!(format!("{digits}e{exponent}"), want.replace('.', ""), "{x:e} {count}");
                used[0] += 1;
            }
            let count = [2, 0, 6, 1, 3, 19][i % 6];
            if let Some((whole, fraction)) = fixed(x, count) {
                let mut text = whole.to_string().into_bytes();
                let mut digits = vec![0; count];
                put_digits(&mut digits, fraction);
                if count > 0 {
                    text.push(b'.');
                    text.extend(digits);
                }
                assert_eq!(
                    String::from_utf8(text).unwrap(),
                    format!("{x:.count$}"),
                    "{x:e} {count}"
                );
                used[1] += 1;
            }
        }
        assert!(used.iter().all(|n| *n > 500), "{used:?}");
    }
}
