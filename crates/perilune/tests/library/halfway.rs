//! Exact decimal expansions of doubles and of the numbers halfway between two of them.

/// Decimal digits of a big number, nine to a limb, the least significant limb first.
struct Big(Vec<u32>);

impl Big {
    fn times(&mut self, factor: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = (carry % 1_000_000_000) as u32;
            carry /= 1_000_000_000;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn power(&mut self, base: u32, mut exponent: u32) {
        // Multiplies by as many factors at once as fit a limb.
        let (at_once, many) = if base == 2 { (29, 1 << 29) } else { (12, 244_140_625) };
        while exponent >= at_once {
            self.times(many);
            exponent -= at_once;
        }
        self.times(base.pow(exponent));
    }

    fn digits(&self) -> String {
        let mut text = String::new();
        for (i, limb) in self.0.iter().rev().enumerate() {
            text += &if i == 0 { limb.to_string() } else { format!("{limb:09}") };
        }
        text
    }
}

/// Returns the exact value of `mantissa * 2^exponent` as digits and a power of ten.
fn exact(mantissa: u64, exponent: i32) -> (String, i32) {
    let limbs = [mantissa % 1_000_000_000, mantissa / 1_000_000_000 % 1_000_000_000];
    let mut big = Big(limbs.map(|limb| limb as u32).to_vec());
    while big.0.len() > 1 && big.0.last() == Some(&0) {
        big.0.pop();
    }
    if exponent >= 0 {
        big.power(2, exponent as u32);
        (big.digits(), 0)
    } else {
        // m / 2^k = m * 5^k / 10^k
        big.power(5, exponent.unsigned_abs());
        (big.digits(), exponent)
    }
}

/// Returns digits and power of ten of the number halfway between the finite double `x` and the next
/// larger one in magnitude.
pub(crate) fn halfway(x: f64) -> (String, i32) {
    let bits = x.abs().to_bits();
    let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    exact(2 * mantissa + 1, exponent - 1)
}

#[test]
fn halfway_is_exact() {
    assert_eq!(
        halfway(1.0),
        ("100000000000000011102230246251565404236316680908203125".into(), -53)
    );
    assert_eq!(halfway(9007199254740992.0), ("9007199254740993".into(), 0));
    assert!(halfway(0.0).0.starts_with("247032822920623272088284396434"));
}
