//! Parsing of the attributes `#[lua(..)]`.

use syn::{Attribute, Error, LitStr, Meta, Result};

/// The words in the `lua` attributes of one item.
#[derive(Default)]
pub(crate) struct Words {
    words: Vec<(String, proc_macro2::Span)>,
    pub(crate) name: Option<String>,
}

impl Words {
    /// Removes the `lua` attributes from a list and parses them. `known` are the words that are
    /// allowed there.
    pub(crate) fn take(attributes: &mut Vec<Attribute>, known: &[&str]) -> Result<Words> {
        let mut words = Words::default();
        let mut others = Vec::new();
        for attribute in attributes.drain(..) {
            if attribute.path().is_ident("lua") {
                words.read(&attribute, known)?;
            } else {
                others.push(attribute);
            }
        }
        *attributes = others;
        Ok(words)
    }

    fn read(&mut self, attribute: &Attribute, known: &[&str]) -> Result<()> {
        if matches!(attribute.meta, Meta::Path(_)) {
            return Ok(());
        }
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("name") {
                self.name = Some(meta.value()?.parse::<LitStr>()?.value());
                return Ok(());
            }
            match meta.path.get_ident().map(ToString::to_string) {
                Some(word) if known.contains(&word.as_str()) => {
                    self.words.push((word, meta.path.get_ident().expect("a word").span()));
                    Ok(())
                }
                _ => {
                    Err(meta
                        .error(format!("expected `name = \"..\"` or one of: {}", known.join(", "))))
                }
            }
        })
    }

    /// Returns whether the attributes contain the word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|(w, _)| w == word)
    }

    /// Returns an error if the attributes contain two of these words.
    pub(crate) fn at_most_one(&self, words: &[&str]) -> Result<()> {
        let mut found = self.words.iter().filter(|(w, _)| words.contains(&w.as_str()));
        match (found.next(), found.next()) {
            (Some((a, _)), Some((b, span))) if a != b => {
                Err(Error::new(*span, format!("`{a}` and `{b}` exclude each other")))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the `cfg` attributes of an item, to repeat them on the code generated for it.
pub(crate) fn conditions(attributes: &[Attribute]) -> Vec<&Attribute> {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).collect()
}
