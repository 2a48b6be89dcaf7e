//! The expansion of `#[derive(UserData)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::attribute::{Words, conditions};

/// Returns an implementation of `UserData`. It registers the named fields of the struct and the
/// items that `userdata_impl` has collected for the type.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    if !input.generics.params.is_empty() {
        let message =
            "generic types have no fixed set of methods: wrap a concrete one in a newtype";
        return Err(Error::new_spanned(&input.generics, message));
    }
    let ident = &input.ident;
    let mut accessors = Vec::new();
    match &input.data {
        Data::Union(data) => {
            return Err(Error::new_spanned(data.union_token, "unions cannot be userdata"));
        }
        Data::Struct(data) => {
            if let Fields::Named(fields) = &data.fields {
                for field in &fields.named {
                    let mut attributes = field.attrs.clone();
                    let words = Words::take(&mut attributes, &["get", "set", "skip"])?;
                    if words.has("skip") {
                        continue;
                    }
                    let Some(field_ident) = &field.ident else { continue };
                    let name =
                        words.name.clone().unwrap_or_else(|| field_ident.unraw().to_string());
                    let both = !words.has("get") && !words.has("set");
                    let conditions = conditions(&field.attrs);
                    let get = (both || words.has("get")).then(|| {
                        quote! {
                            #(#conditions)*
                            registry.add_field_method_get(#name, |_, this| {
                                ::core::result::Result::Ok(
                                    ::core::clone::Clone::clone(&this.#field_ident),
                                )
                            });
                        }
                    });
                    let set = (both || words.has("set")).then(|| {
                        quote! {
                            #(#conditions)*
                            registry.add_field_method_set(#name, |_, this, value| {
                                this.#field_ident = value;
                                ::core::result::Result::Ok(())
                            });
                        }
                    });
                    accessors.extend([get, set].into_iter().flatten());
                }
            }
        }
        Data::Enum(_) => {}
    }
    Ok(quote! {
        #[automatically_derived]
        impl ::perilune::UserData for #ident {
            fn register(registry: &mut ::perilune::UserDataRegistry<Self>) {
                #[allow(unused_imports)]
                use ::perilune::UserDataFields as _;
                #(#accessors)*
                ::perilune::__private::register_items::<Self>(registry);
            }
        }
    })
}
