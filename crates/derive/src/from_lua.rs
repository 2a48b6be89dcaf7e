//! The expansion of `#[derive(FromLua)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_quote};

/// Returns an implementation of `FromLua` that clones the value out of a userdata of the type.
pub(crate) fn expand(input: DeriveInput) -> TokenStream {
    let DeriveInput { ident, mut generics, .. } = input;
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: 'static + ::core::clone::Clone));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let name = ident.to_string();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::perilune::FromLua for #ident #type_generics #where_clause {
            fn from_lua(value: ::perilune::Value, _: &::perilune::Lua) -> ::perilune::Result<Self> {
                match value {
                    ::perilune::Value::UserData(u) => {
                        u.borrow_scoped::<Self, Self>(|v| ::core::clone::Clone::clone(v))
                    }
                    v => ::core::result::Result::Err(::perilune::Error::FromLuaConversionError {
                        from: v.type_name(),
                        to: ::std::string::String::from(#name),
                        message: ::core::option::Option::None,
                    }),
                }
            }
        }
    }
}
