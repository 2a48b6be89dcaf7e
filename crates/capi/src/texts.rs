//! Texts to which C code has pointers: the names in `lua_Debug`, and the names of upvalues and
//! locals.

use std::any::Any;
use std::ffi::c_char;
use std::sync::{Arc, Weak};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use perilune_runtime::value::{Tag, Value};

/// The least number of bytes at which texts of functions that are gone are looked for and freed.
const LEAST: usize = 1 << 20;

/// The number of bytes that a function counts as, besides its texts.
const OVERHEAD: usize = 128;

/// The owner of texts: the proto of a function, which its closures share.
type Owner = dyn Any + Send + Sync;

/// Texts with a final NUL, which do not move.
type Set = HashSet<Box<[u8]>, FixedState>;

/// The source of a chunk, and a copy with a final NUL.
type Source = (Weak<[u8]>, Box<[u8]>);

/// Texts that do not move. PUC returns pointers into the strings of a function's proto, which live
/// as long as the proto; so do these.
#[derive(Default)]
pub(crate) struct Texts {
    /// The texts of each proto, by its address. The address is not reused while the entry exists.
    owned: HashMap<usize, (Weak<Owner>, Set), FixedState>,
    /// The sources of chunks, by address. All functions of a chunk share its source.
    sources: HashMap<usize, Source, FixedState>,
    /// The texts that belong to no Lua function. There are few: kinds and fixed names.
    others: Set,
    /// The number of bytes in `owned` and `sources`.
    bytes: usize,
    /// The number of bytes above which the texts of protos and chunks that are gone are freed.
    limit: usize,
}

/// Returns a copy of a text with a final NUL.
fn c_text(text: &[u8]) -> Box<[u8]> {
    [text, b"\0"].concat().into_boxed_slice()
}

/// Returns a copy of a text in a set, and the number of bytes that this has added.
fn keep_in(set: &mut Set, text: &[u8]) -> (*const c_char, usize) {
    let text = c_text(text);
    let bytes = text.len();
    if let Some(known) = set.get(&text) {
        return (known.as_ptr().cast(), 0);
    }
    let address = text.as_ptr();
    set.insert(text);
    (address.cast(), bytes)
}

impl Texts {
    /// Returns a copy of a text that belongs to a proto or, without an owner, to no function.
    pub(crate) fn keep<P: Any + Send + Sync>(
        &mut self,
        owner: Option<&Arc<P>>,
        text: &[u8],
    ) -> *const c_char {
        let Some(owner) = owner else { return keep_in(&mut self.others, text).0 };
        self.limit_bytes();
        let entry = self.owned.entry(Arc::as_ptr(owner).addr());
        let (_, set) = entry.or_insert_with(|| {
            let owner: Arc<Owner> = owner.clone();
            self.bytes += OVERHEAD;
            (Arc::downgrade(&owner), Set::default())
        });
        let (kept, bytes) = keep_in(set, text);
        self.bytes += bytes;
        kept
    }

    /// Returns a copy of the source of a chunk. It may be as long as the whole program, so a known
    /// one is found without reading it.
    fn keep_source(&mut self, source: &Arc<[u8]>) -> *const c_char {
        self.limit_bytes();
        let entry = self.sources.entry(Arc::as_ptr(source).cast::<u8>().addr());
        let (_, text) = entry.or_insert_with(|| {
            self.bytes += OVERHEAD + source.len() + 1;
            (Arc::downgrade(source), c_text(source))
        });
        text.as_ptr().cast()
    }

    /// Frees the texts of protos and chunks that are gone, if there are many texts.
    fn limit_bytes(&mut self) {
        if self.bytes > self.limit.max(LEAST) {
            self.free_unowned();
        }
    }

    /// Frees the texts of protos and chunks that are gone.
    fn free_unowned(&mut self) {
        let mut bytes = 0;
        self.owned.retain(|_, (owner, texts)| {
            let lives = owner.strong_count() > 0;
            if lives {
                bytes += OVERHEAD + texts.iter().map(|text| text.len()).sum::<usize>();
            }
            lives
        });
        self.sources.retain(|_, (source, text)| {
            let lives = source.strong_count() > 0;
            if lives {
                bytes += OVERHEAD + text.len();
            }
            lives
        });
        (self.bytes, self.limit) = (bytes, 2 * bytes);
    }

    /// Returns a copy of a text that belongs to the proto of this function, if it is a Lua
    /// function.
    ///
    /// # Safety
    /// `f` is live.
    pub(crate) unsafe fn keep_of(&mut self, f: Value, text: &[u8]) -> *const c_char {
        let owner = if f.tag() == Tag::FUNCTION {
            Some(&(*(*f.as_function()).instance).proto)
        } else {
            None
        };
        self.keep(owner, text)
    }

    /// Returns a copy of the source of a function's chunk; of `text` if the function has none.
    ///
    /// # Safety
    /// `f` is live.
    pub(crate) unsafe fn keep_source_of(&mut self, f: Value, text: &[u8]) -> *const c_char {
        let source = if f.tag() == Tag::FUNCTION {
            (&(*(*f.as_function()).instance).proto).source.as_ref()
        } else {
            None
        };
        match source {
            Some(source) => self.keep_source(source),
            None => self.keep_of(Value::NIL, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LEAST, Texts};

    #[test]
    fn texts_live_as_long_as_their_owner() {
        let mut texts = Texts::default();
        let (first, second) = (Arc::new(1), Arc::new(2));
        let name = texts.keep(Some(&first), b"name");
        let fixed = texts.keep(None::<&Arc<i32>>, b"name");
        assert!(texts.keep(Some(&second), b"name") != name && fixed != name);
        // more than are kept without a check
        for i in 0..3u8 {
            let passing = Arc::new(i);
            texts.keep(Some(&passing), &vec![b'x'; LEAST]);
        }
        assert!(texts.owned.len() <= 3 && texts.bytes < 2 * LEAST);
        assert_eq!(texts.keep(Some(&first), b"name"), name);
        assert_eq!(texts.keep(None::<&Arc<i32>>, b"name"), fixed);
        drop((first, second));
        texts.free_unowned();
        assert!(texts.owned.is_empty() && texts.bytes == 0);
    }

    #[test]
    fn functions_share_the_source_of_their_chunk() {
        let mut texts = Texts::default();
        let source: Arc<[u8]> = Arc::from(vec![b'x'; LEAST]);
        let kept = texts.keep_source(&source);
        assert_eq!(texts.keep_source(&source.clone()), kept);
        assert!(texts.bytes < 2 * LEAST);
        texts.free_unowned();
        assert_eq!(texts.keep_source(&source), kept);
        drop(source);
        texts.free_unowned();
        assert!(texts.sources.is_empty() && texts.bytes == 0);
    }
}
