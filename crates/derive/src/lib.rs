//! The macros of the crate `perilune` (feature `macros`). That crate documents them.

#![forbid(unsafe_code)]

mod attribute;
mod chunk;
mod from_lua;
mod items;
mod parameter;
mod userdata;

use proc_macro::TokenStream;
use syn::{DeriveInput, ItemImpl, parse_macro_input};

/// See `perilune::FromLua`.
#[proc_macro_derive(FromLua)]
pub fn from_lua(input: TokenStream) -> TokenStream {
    from_lua::expand(parse_macro_input!(input as DeriveInput)).into()
}

/// See `perilune::UserData`.
#[proc_macro_derive(UserData, attributes(lua))]
pub fn userdata(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    userdata::expand(&input).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// See `perilune::userdata_impl`.
#[proc_macro_attribute]
pub fn userdata_impl(arguments: TokenStream, input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as ItemImpl);
    items::expand(&arguments.into(), input).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// See `perilune::chunk`.
#[proc_macro]
pub fn chunk(input: TokenStream) -> TokenStream {
    chunk::expand(input.into()).into()
}
