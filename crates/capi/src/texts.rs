//! Texts that C code has pointers to: names in `lua_Debug`, and of upvalues and locals.

use std::ffi::c_char;

use hashbrown::HashSet;

/// Bytes of texts that are kept at least, before the first ones are freed.
const KEPT: usize = 1 << 20;

/// Texts with a final NUL, which do not move. PUC returns pointers into the strings of a function,
/// which live as long as it; here they live until a megabyte of other texts was asked for.
#[derive(Default)]
pub(crate) struct Texts {
    recent: HashSet<Box<[u8]>, foldhash::fast::FixedState>,
    older: HashSet<Box<[u8]>, foldhash::fast::FixedState>,
    bytes: usize,
}

impl Texts {
    /// Returns a copy of a text.
    pub(crate) fn keep(&mut self, text: &[u8]) -> *const c_char {
        let text = [text, b"\0"].concat().into_boxed_slice();
        if let Some(known) = self.recent.get(&text) {
            return known.as_ptr().cast();
        }
        if self.bytes > KEPT {
            self.older = std::mem::take(&mut self.recent);
            self.bytes = 0;
        }
        let text = self.older.take(&text).unwrap_or(text);
        self.bytes += text.len();
        let address = text.as_ptr();
        self.recent.insert(text);
        address.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Texts};

    #[test]
    fn a_text_stays_while_a_megabyte_of_others_is_kept() {
        let mut texts = Texts::default();
        let first = texts.keep(b"name");
        assert_eq!(texts.keep(b"name"), first);
        let large = vec![b'x'; KEPT];
        texts.keep(&large);
        texts.keep(b"other");
        assert_eq!(texts.keep(b"name"), first, "moved to the recent ones again");
        texts.keep(&[&large[..], b"1"].concat());
        texts.keep(&[&large[..], b"2"].concat());
        assert_eq!((texts.recent.len(), texts.older.len()), (1, 3));
    }
}
