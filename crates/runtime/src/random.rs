//! The random numbers of `math.random`: xoshiro256** (Blackman and Vigna, "Scrambled linear
//! pseudorandom number generators", 2018), seeded and projected to intervals as in PUC-Lua, so that
//! a program that sets the seed gets the same numbers.

use std::cell::Cell;

/// A generator: the four words of its state.
#[repr(transparent)]
pub struct Random(Cell<[u64; 4]>);

impl Random {
    /// Makes a generator from the two parts of a seed.
    pub fn seeded(n1: u64, n2: u64) -> Random {
        let random = Random(Cell::default());
        random.seed(n1, n2);
        random
    }

    /// Begins the sequence of a seed.
    pub fn seed(&self, n1: u64, n2: u64) {
        self.0.set([n1, 0xFF, n2, 0]);
        for _ in 0..16 {
            self.next_bits();
        }
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_bits(&self) -> u64 {
        let [s0, s1, s2, s3] = self.0.get();
        let s2 = s2 ^ s0;
        let s3 = s3 ^ s1;
        self.0.set([s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17), s3.rotate_left(45)]);
        s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Returns a number in `low ..= high`, which must not be empty, from the random number `random`
    /// and as many further random numbers as necessary.
    #[inline]
    pub fn between(&self, random: u64, low: i64, high: i64) -> i64 {
        let size = (high as u64).wrapping_sub(low as u64);
        self.project(random, size).wrapping_add(low as u64) as i64
    }

    /// Returns a number in `0 ..= n`: the first of `random` and of further random numbers that,
    /// reduced to the bits of `n`, lies in this range.
    #[inline]
    fn project(&self, mut random: u64, n: u64) -> u64 {
        if n & n.wrapping_add(1) == 0 {
            return random & n;
        }
        let limit = u64::MAX >> n.leading_zeros();
        loop {
            random &= limit;
            if random <= n {
                return random;
            }
            random = self.next_bits();
        }
    }
}

/// Converts the upper 53 of 64 random bits to a float in `[0, 1)`.
#[inline]
pub fn unit(random: u64) -> f64 {
    (random >> 11) as f64 * (0.5 / (1u64 << 52) as f64)
}

#[cfg(test)]
mod tests {
    use super::{Random, unit};

    #[test]
    fn sequence_of_seed_42() {
        // The numbers that PUC 5.4 prints for `math.randomseed(42)`, two calls of `math.random(0)`
        // and one of `math.random()`.
        let x = Random::seeded(42, 0);
        let first = [x.next_bits() as i64, x.next_bits() as i64];
        assert_eq!(first, SEED_42);
        assert!((0.0..1.0).contains(&unit(x.next_bits())));
    }

    const SEED_42: [i64; 2] = [-1276290044721465627, 8333941968102511665];

    #[test]
    fn projection_stays_inside() {
        let x = Random::seeded(1, 2);
        for n in [0, 1, 2, 5, 6, 7, 8, 1000, u64::MAX, u64::MAX - 1] {
            for _ in 0..100 {
                let r = x.next_bits();
                assert!(x.project(r, n) <= n);
            }
        }
    }
}
