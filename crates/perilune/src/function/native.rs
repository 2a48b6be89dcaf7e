//! Rust functions whose parameters are the Lua arguments.

use crate::traits::FromLuaMulti;

/// A Rust closure or function whose parameters are the Lua arguments.
pub trait LuaNativeFn<A: FromLuaMulti> {
    /// The type of the function's result.
    type Output;
    /// Calls the function.
    fn call(&self, args: A) -> Self::Output;
}

/// Like [`LuaNativeFn`], for `FnMut` closures.
pub trait LuaNativeFnMut<A: FromLuaMulti> {
    /// The type of the function's result.
    type Output;
    /// Calls the function.
    fn call(&mut self, args: A) -> Self::Output;
}

macro_rules! native_functions {
    ($(($($name:ident)*))*) => {$(
        impl<FN, $($name,)* R> LuaNativeFn<($($name,)*)> for FN
        where
            FN: Fn($($name,)*) -> R,
            ($($name,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case)]
            fn call(&self, args: ($($name,)*)) -> R {
                let ($($name,)*) = args;
                self($($name,)*)
            }
        }

        impl<FN, $($name,)* R> LuaNativeFnMut<($($name,)*)> for FN
        where
            FN: FnMut($($name,)*) -> R,
            ($($name,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case)]
            fn call(&mut self, args: ($($name,)*)) -> R {
                let ($($name,)*) = args;
                self($($name,)*)
            }
        }
    )*};
}

native_functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
    (A B C D E F G H I J K L M) (A B C D E F G H I J K L M N) (A B C D E F G H I J K L M N O)
    (A B C D E F G H I J K L M N O P)
}
