//! Library functions of floats. Machine code that knows the types of the arguments passes them as
//! floats in registers; the leaves in [`super::builtin`] take the arguments from the stack.

macro_rules! functions {
    ($($function:ident $method:ident;)*) => {$(
        pub(super) extern "C" fn $function(x: f64) -> f64 {
            x.$method()
        }
    )*};
}

functions! {
    acos acos;
    asin asin;
    cos cos;
    exp exp;
    log ln;
    sin sin;
    tan tan;
}

pub(super) extern "C" fn atan(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

pub(super) extern "C" fn fmod(a: f64, b: f64) -> f64 {
    a % b
}
