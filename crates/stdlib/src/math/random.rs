//! `math.random` and `math.randomseed`: xoshiro256**, seeded and projected to intervals as in PUC.

use std::time::{SystemTime, UNIX_EPOCH};

use perilune_runtime::native::{Cx, NativeResult, Raised, Tab, Val};

/// The generator's state.
struct Xoshiro([u64; 4]);

impl Xoshiro {
    fn seeded(n1: u64, n2: u64) -> Xoshiro {
        let mut x = Xoshiro([n1, 0xFF, n2, 0]);
        for _ in 0..16 {
            x.next();
        }
        x
    }

    fn next(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.0;
        let s2 = s2 ^ s0;
        let s3 = s3 ^ s1;
        self.0 = [s0 ^ s3, s1 ^ s2, s2 ^ (s1 << 17), s3.rotate_left(45)];
        s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// Returns a number in `0 ..= n`: the first of `random` and of further random numbers that,
    /// reduced to the bits of `n`, lies in this range.
    fn project(&mut self, mut random: u64, n: u64) -> u64 {
        if n & n.wrapping_add(1) == 0 {
            return random & n;
        }
        let limit = u64::MAX >> n.leading_zeros();
        loop {
            random &= limit;
            if random <= n {
                return random;
            }
            random = self.next();
        }
    }
}

/// Converts the upper 53 bits to a float in `[0, 1)`.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 * (0.5 / (1u64 << 52) as f64)
}

/// Registers the two functions, which share a generator.
pub(super) fn register(cx: &Cx, lib: Tab<'_>) {
    let (n1, n2) = random_seed(cx);
    let state = cx.udata(Box::new(Xoshiro::seeded(n1 as u64, n2 as u64)), 0);
    lib.set_name(cx, "random", cx.func(random, &[state.into()]).val());
    lib.set_name(cx, "randomseed", cx.func(randomseed, &[state.into()]).val());
}

/// Makes a seed from the clock and the address of the state.
fn random_seed(cx: &Cx) -> (i64, i64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    (now as i64, std::ptr::from_ref(cx) as usize as i64)
}

fn with_state<R>(cx: &Cx, f: impl FnOnce(&mut Xoshiro) -> R) -> Result<R, Raised> {
    cx.bound(0)
        .as_udata()
        .and_then(|u| u.with::<Xoshiro, R>(f))
        .ok_or_else(|| cx.error("random generator is missing"))
}

/// Implements `math.random([m [, n]])`.
fn random(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let random = with_state(cx, Xoshiro::next)?;
    let (low, high) = match cx.top() {
        0 => return cx.ret1(Val::float(unit(random))),
        1 => match cx.check_int(0)? {
            0 => return cx.ret1(Val::int(random as i64)),
            high => (1, high),
        },
        2 => (cx.check_int(0)?, cx.check_int(1)?),
        _ => return Err(cx.error("wrong number of arguments")),
    };
    if low > high {
        return Err(cx.arg_error(0, "interval is empty"));
    }
    let size = (high as u64).wrapping_sub(low as u64);
    let n = with_state(cx, |x| x.project(random, size))?;
    cx.ret1(Val::int(n.wrapping_add(low as u64) as i64))
}

/// Implements `math.randomseed([x [, y]])`.
fn randomseed(cx: &mut Cx) -> NativeResult {
    let (n1, n2) =
        if cx.is_none(0) { random_seed(cx) } else { (cx.check_int(0)?, cx.opt_int(1, 0)?) };
    with_state(cx, |x| *x = Xoshiro::seeded(n1 as u64, n2 as u64))?;
    cx.push(Val::int(n1));
    cx.push(Val::int(n2));
    cx.ret(2)
}

#[cfg(test)]
mod tests {
    use super::{Xoshiro, unit};

    #[test]
    fn sequence_of_seed_42() {
        // The numbers that PUC 5.4 prints for `math.randomseed(42)`, two calls of `math.random(0)`
        // and one of `math.random()`.
        let mut x = Xoshiro::seeded(42, 0);
        let first = [x.next() as i64, x.next() as i64];
        assert_eq!(first, SEED_42);
        assert!((0.0..1.0).contains(&unit(x.next())));
    }

    const SEED_42: [i64; 2] = [-1276290044721465627, 8333941968102511665];

    #[test]
    fn projection_stays_inside() {
        let mut x = Xoshiro::seeded(1, 2);
        for n in [0, 1, 2, 5, 6, 7, 8, 1000, u64::MAX, u64::MAX - 1] {
            for _ in 0..100 {
                let r = x.next();
                assert!(x.project(r, n) <= n);
            }
        }
    }
}
