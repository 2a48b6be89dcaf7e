//! The expansion of `chunk!`.

use proc_macro2::{Delimiter, Ident, LineColumn, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

/// Lua source as it was written, and the variables that it captures.
struct Source {
    text: String,
    /// The position in the file where the text ends so far.
    at: Option<LineColumn>,
    /// Whether the last token is a part of an operator that continues.
    joint: bool,
    captured: Vec<Ident>,
}

/// Returns code that creates a chunk from the tokens.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut source = Source { text: String::new(), at: None, joint: false, captured: Vec::new() };
    source.tokens(tokens);
    let Source { text, captured, .. } = source;
    if captured.is_empty() {
        return quote!(::perilune::__private::plain_chunk(#text));
    }
    let names = captured.iter().map(ToString::to_string);
    quote! {
        ::perilune::__private::capturing_chunk(
            #text,
            move |__captured: &::perilune::Table| -> ::perilune::Result<()> {
                #(__captured.raw_set(#names, #captured)?;)*
                ::core::result::Result::Ok(())
            },
        )
    }
}

impl Source {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.put(open, group.span_open());
                    self.tokens(group.stream());
                    self.put(close, group.span_close());
                }
                TokenTree::Punct(p) if p.as_char() == '$' => {
                    if let Some(TokenTree::Ident(name)) = tokens.peek() {
                        if !self.captured.contains(name) {
                            self.captured.push(name.clone());
                        }
                    } else {
                        self.put("$", p.span());
                    }
                }
                token => {
                    self.put(&token.to_string(), token.span());
                    if let TokenTree::Punct(p) = token {
                        self.joint = p.spacing() == Spacing::Joint;
                    }
                }
            }
        }
    }

    /// Appends a token at the same distance from the previous one as in the file, so that line
    /// numbers are the same. Tokens that are not adjacent in the file stay separate, even if they
    /// come from different places, such as the definition and the call of a macro.
    fn put(&mut self, text: &str, span: Span) {
        let (start, end) = (span.start(), span.end());
        let joint = std::mem::take(&mut self.joint);
        if let Some(at) = self.at {
            let lines = start.line.saturating_sub(at.line);
            if lines > 0 {
                self.text.extend(std::iter::repeat_n('\n', lines));
            } else if start != at && !joint {
                let columns = start.column.saturating_sub(at.column);
                self.text.extend(std::iter::repeat_n(' ', columns.max(1)));
            }
        }
        self.text.push_str(text);
        self.at = Some(end);
    }
}
