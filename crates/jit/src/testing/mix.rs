//! A mix of tiers, for tests: each function stays in one tier, so that functions of all tiers call
//! each other, however often they run. Otherwise a function that is called often is compiled, and
//! compiled callers rarely call a function that is not.

use perilune_bytecode::Proto;

/// The tier in which a function stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fixed {
    Interpreted,
    Stitched,
    Optimized,
}

/// Returns the tier of a function, which depends on its place in the source and a seed.
pub(crate) fn tier_of(seed: u64, proto: &Proto) -> Fixed {
    let place = u64::from(proto.line_defined) << 32 | proto.code.len() as u64;
    let mixed =
        (place ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    match (mixed >> 32) % 4 {
        0 => Fixed::Interpreted,
        1 => Fixed::Stitched,
        _ => Fixed::Optimized,
    }
}
