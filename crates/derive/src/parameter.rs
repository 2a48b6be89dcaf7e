//! Parameters of methods, and the arguments that Lua passes for them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{FnArg, GenericArgument, Ident, PathArguments, Result, Type, TypeReference};

/// A parameter for which Lua passes an argument.
pub(crate) struct Parameter {
    /// Pattern of the closure's parameter.
    pub(crate) pattern: TokenStream,
    /// The type of that parameter.
    pub(crate) ty: TokenStream,
    /// The expression that is passed to the method.
    pub(crate) value: TokenStream,
}

/// Returns how a method receives the state, if this parameter is the state.
pub(crate) fn state(argument: &FnArg) -> Option<State> {
    let FnArg::Typed(typed) = argument else { return None };
    let is_lua = |ty: &Type| match ty {
        Type::Path(p) => p.path.segments.last().is_some_and(|s| s.ident == "Lua"),
        _ => false,
    };
    match &*typed.ty {
        Type::Reference(TypeReference { elem, mutability: None, .. }) if is_lua(elem) => {
            Some(State::Borrowed)
        }
        ty if is_lua(ty) => Some(State::Owned),
        _ => None,
    }
}

/// See [`state`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// `&Lua`
    Borrowed,
    /// `Lua`
    Owned,
}

impl Parameter {
    /// Creates the description of parameter `i`.
    pub(crate) fn new(i: usize, argument: &FnArg) -> Result<Parameter> {
        let FnArg::Typed(typed) = argument else {
            return Err(syn::Error::new_spanned(argument, "a receiver comes first"));
        };
        let name = format_ident!("__argument{}", i);
        Ok(of_type(&name, &typed.ty))
    }
}

fn of_type(name: &Ident, ty: &Type) -> Parameter {
    if let Type::Reference(r) = ty {
        let (ty, mutable) = borrowed(r);
        return if mutable {
            Parameter { pattern: quote!(mut #name), ty, value: quote!(&mut *#name) }
        } else {
            Parameter { pattern: quote!(#name), ty, value: quote!(&*#name) }
        };
    }
    if let Some(r) = optional_reference(ty) {
        let (inner, mutable) = borrowed(r);
        let ty = quote!(::core::option::Option<#inner>);
        return if mutable {
            Parameter { pattern: quote!(mut #name), ty, value: quote!(#name.as_deref_mut()) }
        } else {
            Parameter { pattern: quote!(#name), ty, value: quote!(#name.as_deref()) }
        };
    }
    Parameter { pattern: quote!(#name), ty: quote!(#ty), value: quote!(#name) }
}

/// Returns the `&T` of an `Option<&T>`.
fn optional_reference(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Reference(r)) => Some(r),
        _ => None,
    }
}

/// Returns the type that holds the borrow for a reference parameter, and whether the borrow is
/// mutable.
fn borrowed(r: &TypeReference) -> (TokenStream, bool) {
    let elem = &*r.elem;
    match elem {
        Type::Path(p) if p.path.is_ident("str") => (quote!(::perilune::BorrowedStr), false),
        Type::Slice(s) if matches!(&*s.elem, Type::Path(p) if p.path.is_ident("u8")) => {
            (quote!(::perilune::BorrowedBytes), false)
        }
        _ if r.mutability.is_some() => (quote!(::perilune::UserDataRefMut<#elem>), true),
        _ => (quote!(::perilune::UserDataRef<#elem>), false),
    }
}
