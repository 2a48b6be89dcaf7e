//! What a compile job knows of the feedback of the state that asked for it.

use perilune_bytecode::Feedback;
use perilune_runtime::instance::{FieldEntry, Instance};

/// What an inline cache of a field has seen.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct FieldSnapshot {
    /// Shapes that have the field themselves, and its slot in them.
    pub own: Vec<(u32, u32)>,
    /// The first entry finds the field along the chain of metatables; true if its holder is a dictionary.
    pub chain: Option<bool>,
    /// There are further entries.
    pub more: bool,
}

/// Feedback of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The cell of each instruction: for accesses and operators bits of what was seen, else the number of a record.
    pub cells: Box<[u32]>,
    /// Caches of fields, by number.
    pub fields: Box<[FieldSnapshot]>,
}

impl Snapshot {
    /// Takes the feedback of an instance.
    ///
    /// # Safety
    /// `inst` is a live instance of the state that runs on this thread.
    pub unsafe fn take(inst: *mut Instance) -> Snapshot {
        let proto = &(*inst).proto;
        let cells = &*(*inst).storage.cells;
        let fields = proto.code.iter().filter(|i| i.op().feedback() == Feedback::Field).count();
        let fields = (0..fields)
            .map(|n| {
                let cache = &*(*inst).fields.add(n);
                let more = cache.more.as_deref().map_or(&[][..], |m| &m[..]);
                let own = std::iter::once(&cache.first)
                    .chain(more)
                    .filter(|e| e.own_shape != FieldEntry::NO_SHAPE)
                    .map(|e| (e.own_shape, e.slot))
                    .collect();
                let first = &cache.first;
                let is_chain = first.own_shape == FieldEntry::NO_SHAPE
                    && first.chain_shape != FieldEntry::NO_SHAPE
                    && !first.holder.is_null();
                FieldSnapshot {
                    own,
                    chain: is_chain.then_some(first.holder_shape == 0),
                    more: !more.is_empty(),
                }
            })
            .collect();
        Snapshot { cells: cells.into(), fields }
    }
}
