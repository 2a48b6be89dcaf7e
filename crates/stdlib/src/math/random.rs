//! `math.random` and `math.randomseed`.

use std::time::{SystemTime, UNIX_EPOCH};

use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_runtime::random::unit;

/// Sets a seed that differs from one run of the program to the next.
pub(super) fn randomize(cx: &Cx) {
    let (n1, n2) = random_seed(cx);
    cx.random().seed(n1 as u64, n2 as u64);
}

/// Makes a seed from the clock and the address of the state.
fn random_seed(cx: &Cx) -> (i64, i64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    (now as i64, std::ptr::from_ref(cx) as usize as i64)
}

/// Implements `math.random([m [, n]])`.
pub(super) fn random(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let random = cx.random().next_bits();
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
    cx.ret1(Val::int(cx.random().between(random, low, high)))
}

/// Implements `math.randomseed([x [, y]])`.
pub(super) fn randomseed(cx: &mut Cx) -> NativeResult {
    let (n1, n2) =
        if cx.is_none(0) { random_seed(cx) } else { (cx.check_int(0)?, cx.opt_int(1, 0)?) };
    cx.random().seed(n1 as u64, n2 as u64);
    cx.push(Val::int(n1));
    cx.push(Val::int(n2));
    cx.ret(2)
}
