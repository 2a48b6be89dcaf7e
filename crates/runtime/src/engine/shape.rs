//! Shapes: engine-wide hidden classes, a tree of transitions.

use std::mem;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use perilune_code::lock::{Mutex, lock};

use super::symbol::Symbol;

/// The largest number of fields of a shape.
pub const MAX_FIELDS: u32 = 128;
/// The largest number of successors that a shape has at one time.
pub const MAX_CHILDREN: usize = 1000;

/// Numbers that are not the id of any shape: inline caches give them other meanings.
pub const RESERVED_IDS: Range<u32> = u32::MAX - 3..u32::MAX;

/// The source of shape ids, and the number of live shapes.
pub(super) struct ShapeIds {
    next: AtomicU32,
    pub(super) live: AtomicUsize,
}

impl Default for ShapeIds {
    fn default() -> Self {
        // The id 0 means dictionary.
        ShapeIds { next: AtomicU32::new(1), live: AtomicUsize::new(0) }
    }
}

impl ShapeIds {
    /// Returns a fresh id; `None` when they have run out.
    fn take(&self) -> Option<u32> {
        self.next
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| {
                (id < RESERVED_IDS.start).then_some(id + 1)
            })
            .ok()
    }

    /// Continues with ids from `next` on.
    pub(super) fn skip_to(&self, next: u32) {
        self.next.fetch_max(next.min(RESERVED_IDS.start), Ordering::Relaxed);
    }
}

/// Successors by key. Most shapes have one, which needs no memory of its own.
#[derive(Default)]
enum Successors {
    #[default]
    None,
    One(usize, Weak<Shape>),
    Many(HashMap<usize, Weak<Shape>, FixedState>),
}

impl Successors {
    fn get(&self, key: usize) -> Option<&Weak<Shape>> {
        match self {
            Successors::None => None,
            Successors::One(k, shape) => (*k == key).then_some(shape),
            Successors::Many(map) => map.get(&key),
        }
    }

    fn len(&self) -> usize {
        match self {
            Successors::None => 0,
            Successors::One(..) => 1,
            Successors::Many(map) => map.len(),
        }
    }

    fn insert(&mut self, key: usize, shape: Weak<Shape>) {
        match self {
            Successors::One(k, _) if *k != key => {
                let mut map = HashMap::default();
                if let Successors::One(k, one) = mem::take(self) {
                    map.insert(k, one);
                }
                map.insert(key, shape);
                *self = Successors::Many(map);
            }
            Successors::None | Successors::One(..) => *self = Successors::One(key, shape),
            Successors::Many(map) => {
                map.insert(key, shape);
            }
        }
    }

    fn remove(&mut self, key: usize) {
        match self {
            Successors::One(k, _) if *k == key => *self = Successors::None,
            Successors::None | Successors::One(..) => {}
            Successors::Many(map) => {
                map.remove(&key);
                if map.is_empty() {
                    *self = Successors::None;
                }
            }
        }
    }
}

/// An engine-wide hidden class: which fields a table has, in which slots, whether these are inline,
/// and whether it has a metatable. There are two trees: one of the shapes whose slots are inline,
/// and one of all others. A table moves from the first to the second when it has no more room for a
/// field. A shape is immutable except for its transitions, which are weak: a successor keeps its
/// predecessor alive, but not vice versa.
pub struct Shape {
    id: u32,
    count: u32,
    has_meta: bool,
    is_inline: bool,
    /// The predecessor, and the field that was added (`None`: a metatable was added). The root has
    /// no predecessor.
    origin: Option<(Arc<Shape>, Option<Arc<Symbol>>)>,
    /// Successors by the address of the symbol (0: addition of a metatable). The address identifies
    /// the symbol, since the successor holds it. An entry whose successor was dropped has no
    /// effect.
    successors: Mutex<Successors>,
    ids: Arc<ShapeIds>,
}

fn key_of(symbol: &Option<Arc<Symbol>>) -> usize {
    symbol.as_ref().map_or(0, |s| Arc::as_ptr(s).addr())
}

impl Shape {
    pub(super) fn root(ids: &Arc<ShapeIds>, is_inline: bool) -> Arc<Shape> {
        let id = ids.take().expect("a fresh source has ids");
        ids.live.fetch_add(1, Ordering::Relaxed);
        Arc::new(Shape {
            id,
            count: 0,
            has_meta: false,
            is_inline,
            origin: None,
            successors: Mutex::default(),
            ids: ids.clone(),
        })
    }

    /// Returns the id, which is not 0, and is never the id of another shape of the engine.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the number of fields.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns whether tables of this shape have a metatable.
    pub fn has_meta(&self) -> bool {
        self.has_meta
    }

    /// Returns whether the field slots of all tables of this shape are inline, at a fixed distance
    /// from the table. If not, the slots of some tables may still be inline.
    pub fn is_inline(&self) -> bool {
        self.is_inline
    }

    /// Returns the shape whose transition led to this one.
    pub fn predecessor(&self) -> Option<&Arc<Shape>> {
        self.origin.as_ref().map(|(shape, _)| shape)
    }

    /// Returns the last field's symbol; `None` for the root and for a shape whose last transition
    /// added a metatable.
    pub fn last_field(&self) -> Option<&Arc<Symbol>> {
        self.origin.as_ref().and_then(|(_, symbol)| symbol.as_ref())
    }

    pub(super) fn successor(self: &Arc<Self>, symbol: Option<Arc<Symbol>>) -> Option<Arc<Shape>> {
        let key = key_of(&symbol);
        let mut successors = lock(&self.successors);
        if let Some(shape) = successors.get(key).and_then(Weak::upgrade) {
            return Some(shape);
        }
        if successors.len() >= MAX_CHILDREN {
            return None;
        }
        let id = self.ids.take()?;
        let shape = Arc::new(Shape {
            id,
            count: self.count + symbol.is_some() as u32,
            has_meta: self.has_meta || symbol.is_none(),
            is_inline: self.is_inline,
            origin: Some((self.clone(), symbol)),
            successors: Mutex::default(),
            ids: self.ids.clone(),
        });
        self.ids.live.fetch_add(1, Ordering::Relaxed);
        successors.insert(key, Arc::downgrade(&shape));
        Some(shape)
    }
}

impl Drop for Shape {
    fn drop(&mut self) {
        self.ids.live.fetch_sub(1, Ordering::Relaxed);
        // Dropping the predecessor after this may drop its predecessor, and so on: the recursion is
        // at most as deep as a shape has fields.
        if let Some((from, symbol)) = &self.origin {
            let key = key_of(symbol);
            let mut successors = lock(&from.successors);
            // Another thread may have replaced this dying successor by a new one.
            if successors.get(key).is_some_and(|entry| ptr::eq(entry.as_ptr(), self)) {
                successors.remove(key);
            }
        }
    }
}
