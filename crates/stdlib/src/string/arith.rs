//! Arithmetic on strings: the metamethods that convert them to numbers (manual 3.4.3).

use perilune_runtime::arith::{ArithError, arith};
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, NativeFn, NativeResult, Val};

use crate::support::concat;

macro_rules! metamethods {
    ($($f:ident $event:ident;)*) => {
        $(
            fn $f(cx: &mut Cx) -> NativeResult {
                run(cx, Event::$event)
            }
        )*
        /// Metamethods of strings.
        pub(super) const METAMETHODS: &[(&str, NativeFn)] = &[$((Event::$event.name(), $f)),*];
    };
}

metamethods! {
    add Add;
    sub Sub;
    mul Mul;
    modulo Mod;
    pow Pow;
    div Div;
    idiv IDiv;
    unm Unm;
}

fn run(cx: &mut Cx, event: Event) -> NativeResult {
    // As in PUC, a missing second operand is the converted first one.
    let second = if cx.top() == 1 { 0 } else { 1 };
    if let (Some(a), Some(b)) = (cx.to_number(cx.get(0)), cx.to_number(cx.get(second))) {
        return match arith(event, a.raw(), b.raw()) {
            Ok(v) if v.is_int() => cx.ret1(Val::int(v.as_int())),
            Ok(v) => cx.ret1(Val::float(v.as_float())),
            Err(ArithError::DivideByZero) => Err(cx.error_plain("attempt to divide by zero")),
            Err(ArithError::ModuloByZero) => Err(cx.error_plain("attempt to perform 'n%0'")),
            Err(_) => Err(cx.error_plain("attempt to perform arithmetic on a string value")),
        };
    }
    // The second operand may provide the metamethod.
    cx.set_top(2);
    let (a, b) = (cx.get(0), cx.get(1));
    let handler = if b.as_str().is_some() { Val::NIL } else { cx.metamethod(b, event) };
    if handler.is_nil() {
        return Err(cx.error(concat(&[
            b"attempt to ",
            &event.name().as_bytes()[2..],
            b" a '",
            a.type_name().as_bytes(),
            b"' with a '",
            b.type_name().as_bytes(),
            b"'",
        ])));
    }
    cx.push_callee(handler);
    cx.push(a);
    cx.push(b);
    cx.call_n(2, 1)?;
    cx.ret(1)
}
