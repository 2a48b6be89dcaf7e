//! The expansion of `#[userdata_impl]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, FnArg, ImplItem, ImplItemConst, ImplItemFn, ItemImpl, Receiver, Result};

use crate::attribute::{Words, conditions};
use crate::parameter::{Parameter, State, state};

/// Returns the block itself and code that registers its items, which the derived `UserData`
/// implementation of the type runs.
pub(crate) fn expand(arguments: &TokenStream, mut block: ItemImpl) -> Result<TokenStream> {
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`userdata_impl` takes no arguments"));
    }
    if let Some((_, path, _)) = &block.trait_ {
        return Err(Error::new_spanned(path, "`userdata_impl` is for blocks of the type itself"));
    }
    if !block.generics.params.is_empty() {
        let message =
            "generic types have no fixed set of methods: wrap a concrete one in a newtype";
        return Err(Error::new_spanned(&block.generics, message));
    }
    let mut register = Vec::new();
    let mut first = None;
    for item in &mut block.items {
        let (ident, code) = match item {
            ImplItem::Fn(f) => (f.sig.ident.clone(), function(f)?),
            ImplItem::Const(c) => (c.ident.clone(), constant(c)?),
            _ => continue,
        };
        first.get_or_insert(ident);
        register.extend(code);
    }
    // the name is unique, since no two blocks of a type have an item of the same name
    let first = first.unwrap_or_else(|| format_ident!("none"));
    let name = format_ident!("__perilune_register_{}", first.unraw());
    let ty = &block.self_ty;
    Ok(quote! {
        #block

        const _: () = {
            #[automatically_derived]
            impl #ty {
                #[allow(non_snake_case, unused_imports, unused_variables, unused_mut, clippy::all)]
                fn #name(registry: &mut dyn ::core::any::Any) {
                    use ::perilune::{UserDataFields as _, UserDataMethods as _};
                    let ::core::option::Option::Some(registry) =
                        registry.downcast_mut::<::perilune::UserDataRegistry<#ty>>()
                    else {
                        return;
                    };
                    #(#register)*
                }
            }

            ::perilune::__private::inventory::submit! {
                ::perilune::__private::Items {
                    of: ::core::any::TypeId::of::<#ty>,
                    register: <#ty>::#name,
                }
            }
        };
    })
}

fn constant(item: &mut ImplItemConst) -> Result<Option<TokenStream>> {
    let words = Words::take(&mut item.attrs, &["skip", "meta", "field"])?;
    if words.has("skip") {
        return Ok(None);
    }
    let ident = &item.ident;
    let name = words.name.clone().unwrap_or_else(|| ident.unraw().to_string());
    let conditions = conditions(&item.attrs);
    let add = if words.has("meta") { quote!(add_meta_field) } else { quote!(add_field) };
    Ok(Some(quote! { #(#conditions)* registry.#add(#name, Self::#ident); }))
}

/// How a method receives its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Ref,
    Mut,
    Value,
}

fn takes(receiver: Option<&Receiver>) -> Result<Takes> {
    let Some(r) = receiver else { return Ok(Takes::Nothing) };
    if r.colon_token.is_some() {
        return Err(Error::new_spanned(r, "expected `self`, `&self` or `&mut self`"));
    }
    Ok(match (&r.reference, &r.mutability) {
        (Some(_), None) => Takes::Ref,
        (Some(_), Some(_)) => Takes::Mut,
        (None, _) => Takes::Value,
    })
}

fn function(item: &mut ImplItemFn) -> Result<Option<TokenStream>> {
    const KNOWN: [&str; 6] = ["skip", "infallible", "getter", "setter", "field", "meta"];
    let words = Words::take(&mut item.attrs, &KNOWN)?;
    if words.has("skip") {
        return Ok(None);
    }
    words.at_most_one(&["getter", "setter", "field"])?;
    let sig = &item.sig;
    if !sig.generics.params.iter().all(|p| matches!(p, syn::GenericParam::Lifetime(_))) {
        return Err(Error::new_spanned(&sig.generics, "generic methods cannot be called from Lua"));
    }
    let takes = takes(sig.receiver())?;
    let ident = &sig.ident;
    let plain_name = words.name.clone().unwrap_or_else(|| ident.unraw().to_string());
    if words.has("meta") && !plain_name.starts_with("__") {
        let message = "a metamethod's name begins with `__`: say `name = \"__..\"`";
        return Err(Error::new_spanned(ident, message));
    }

    let mut inputs = sig.inputs.iter().filter(|a| matches!(a, FnArg::Typed(_))).peekable();
    let wants = inputs.peek().and_then(|a| state(a));
    if wants.is_some() {
        inputs.next();
    }
    let parameters =
        inputs.enumerate().map(|(i, a)| Parameter::new(i, a)).collect::<Result<Vec<_>>>()?;
    let method = Method { item, words: &words, takes, wants, parameters, name: plain_name };
    let code = method.registration()?;
    let conditions = conditions(&item.attrs);
    Ok(Some(quote! { #(#conditions)* { #code } }))
}

struct Method<'a> {
    item: &'a ImplItemFn,
    words: &'a Words,
    takes: Takes,
    /// How the function receives the state, if that is its first parameter.
    wants: Option<State>,
    parameters: Vec<Parameter>,
    name: String,
}

impl Method<'_> {
    fn error<T>(&self, message: &str) -> Result<T> {
        Err(Error::new_spanned(&self.item.sig, message))
    }

    fn registration(&self) -> Result<TokenStream> {
        let (name, words) = (&self.name, self.words);
        let is_async = self.item.sig.asyncness.is_some();
        if is_async && ["getter", "setter", "field"].iter().any(|w| words.has(w)) {
            return self.error("fields cannot wait");
        }
        if words.has("field") {
            if self.takes != Takes::Nothing || self.wants.is_some() || !self.parameters.is_empty() {
                return self.error("a function that gives a field has no parameters");
            }
            let ident = &self.item.sig.ident;
            let add = if words.has("meta") { quote!(add_meta_field) } else { quote!(add_field) };
            return Ok(quote_spanned! { self.span()=> registry.#add(#name, Self::#ident()); });
        }
        if words.has("meta") && (words.has("getter") || words.has("setter")) {
            return self.error("a metamethod is neither getter nor setter");
        }
        if words.has("getter") {
            if self.takes != Takes::Ref || !self.parameters.is_empty() {
                return self.error("a getter has `&self`, and nothing else but `&Lua`");
            }
            let call = self.call(&quote!(__this), &quote!(__lua));
            return Ok(quote_spanned! { self.span()=>
                registry.add_field_method_get(#name, |__lua, __this| #call);
            });
        }
        if words.has("setter") {
            let (Takes::Ref | Takes::Mut, [parameter]) = (self.takes, &self.parameters[..]) else {
                return self.error("a setter has `&mut self` and one value");
            };
            let Parameter { pattern, ty, .. } = parameter;
            let call = self.call(&quote!(__this), &quote!(__lua));
            return Ok(quote_spanned! { self.span()=>
                registry.add_field_method_set(#name, |__lua, __this, #pattern: #ty| #call);
            });
        }
        let kind = match (words.has("meta"), self.takes) {
            (false, Takes::Ref) => "method",
            (false, Takes::Mut) => "method_mut",
            (false, Takes::Value) => "method_once",
            (false, Takes::Nothing) => "function",
            (true, Takes::Ref) => "meta_method",
            (true, Takes::Mut) => "meta_method_mut",
            (true, Takes::Nothing) => "meta_function",
            (true, Takes::Value) => return self.error("a metamethod cannot take its value away"),
        };
        let patterns = self.parameters.iter().map(|p| &p.pattern);
        let types = self.parameters.iter().map(|p| &p.ty);
        let arguments = quote!((#(#patterns,)*): (#(#types,)*));
        if !is_async {
            let add = format_ident!("add_{kind}", span = self.span());
            let call = self.call(&quote!(__this), &quote!(__lua));
            let this = (self.takes != Takes::Nothing).then(|| quote!(__this,));
            return Ok(quote_spanned! { self.span()=>
                registry.#add(#name, |__lua, #this #arguments| #call);
            });
        }
        let add = format_ident!("add_async_{kind}", span = self.span());
        let (this, value) = match self.takes {
            Takes::Nothing => (None, quote!()),
            Takes::Ref => (Some(quote!(__this,)), quote!(&__this)),
            Takes::Mut => (Some(quote!(mut __this,)), quote!(&mut __this)),
            Takes::Value => (Some(quote!(__this,)), quote!(__this)),
        };
        let call = self.call(&value, &quote!(&__lua));
        Ok(quote_spanned! { self.span()=>
            registry.#add(#name, |__lua, #this #arguments| async move { #call });
        })
    }

    /// Returns the place of the function's name, so that errors of types show the function, with
    /// the names that are visible where the macro is used.
    fn span(&self) -> Span {
        Span::call_site().located_at(self.item.sig.ident.span())
    }

    /// Returns the code of the call, an expression of type `Result`.
    fn call(&self, this: &TokenStream, lua: &TokenStream) -> TokenStream {
        let ident = &self.item.sig.ident;
        let this = (self.takes != Takes::Nothing).then(|| quote!(#this,));
        let lua = self.wants.map(|wants| match (wants, self.item.sig.asyncness) {
            (State::Borrowed, _) => quote!(#lua,),
            (State::Owned, Some(_)) => quote!(__lua,),
            (State::Owned, None) => quote!(::core::clone::Clone::clone(__lua),),
        });
        let values = self.parameters.iter().map(|p| &p.value);
        let wait = self.item.sig.asyncness.map(|_| quote!(.await));
        let call = quote_spanned!(self.span()=> Self::#ident(#this #lua #(#values,)*) #wait);
        if self.words.has("infallible") {
            quote_spanned!(self.span()=> ::core::result::Result::Ok(#call))
        } else {
            call
        }
    }
}
