//! Inline caches of field accesses: the fast paths for hits, and the lookups that fill the caches.
//!
//! An entry for an own field has `own_shape`. If the slot may be nil and a search of the metatable
//! chain has found nothing, the entry has the same `chain_shape`, and no holder. If instead a table
//! with a shape in the chain has the field, the entry has that table as its holder and, as
//! `holder_shape`, the slot in it plus 1; the conditions of chain entries apply to these.
//!
//! A chain entry of a load is valid for tables of the shape `chain_shape` with the metatable word
//! `meta` while the state's `meta_epoch` is `epoch`: all tables of the chain are [`WATCHED`], and
//! the name is [`LuaString::INHERITED`], so the epoch covers changes of their structure, including
//! the holder's, that may affect the name. It also covers stores that replace a function, so a
//! valid entry may record the function in the holder's field: a Lua function along the metatables
//! of tables, a native one for strings.
//!
//! A chain entry of a store describes a transition or, without an outcome, records only that the
//! field is absent. Whether `__newindex` is absent is checked in the metatable at each access.

use super::{LocalShape, Node, Table, WATCHED};
use crate::closure::{LuaClosure, NativeClosure};
use crate::epoch::MetaEpoch;
use crate::header::GcHeader;
use crate::instance::{EntryKind, FieldCache, FieldEntry, FurtherEntries};
use crate::meta::Event;
use crate::native::Builtin;
use crate::state::{STRING_META, State};
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// The result of the lookup of a field.
#[derive(Clone, Copy)]
pub enum Found {
    /// The value, not nil.
    Value(Value),
    /// The field is absent, and there is no metamethod to call.
    Nil,
    /// The `__index` in the metatable of `receiver` is `handler`, a function or another value that
    /// is not a table. The caller must call or index it.
    Metamethod {
        /// The value of `__index`.
        handler: Value,
        /// The table with that metatable.
        receiver: Value,
    },
    /// "'__index' chain too long; possibly a loop"
    TooLong,
}

/// The result of a store to a field.
#[derive(Clone, Copy)]
pub enum Stored {
    /// The value was stored.
    Done,
    /// The value was not stored: the field is absent, and the table's metatable has this
    /// `__newindex`.
    NewIndex(Value),
}

impl FieldCache {
    /// Number of entries of a polymorphic cache besides the first.
    pub const MORE: usize = 7;
    /// The number of misses at which an access becomes megamorphic: from then on, own fields are
    /// looked up in the state's [`MegamorphicCache`](super::MegamorphicCache).
    pub const MEGAMORPHIC: u32 = 64;
    /// An empty cache.
    pub const EMPTY: FieldCache =
        FieldCache { first: FieldEntry::EMPTY, more: None, misses: 0, dictionaries: false };

    /// Loads the cache's field from the table `t`. Returns `None` on a miss.
    #[inline(always)]
    pub unsafe fn hit_get(
        st: *mut State,
        cache: *const FieldCache,
        t: *mut Table,
    ) -> Option<Value> {
        let e = &raw const (*cache).first;
        let shape = (*t).header.word;
        if (*e).own_shape == shape {
            let v = (*t).fields.add((*e).slot as usize).get();
            if !v.is_nil() {
                return Some(v);
            }
            return FieldEntry::get_absent(e, t, (*st).meta_epoch);
        }
        if (*e).chain_shape == shape && (*e).meta == (*t).meta && (*e).epoch == (*st).meta_epoch {
            return FieldEntry::get_chain(e);
        }
        if (*cache).more.is_some() {
            return FieldCache::hit_get_more(st, cache, t);
        }
        None
    }

    #[inline(never)]
    unsafe fn hit_get_more(
        st: *mut State,
        cache: *const FieldCache,
        t: *mut Table,
    ) -> Option<Value> {
        let shape = (*t).header.word;
        let more = (*cache).more.as_deref()?;
        if (*cache).is_megamorphic()
            && let Some(own) = (&(*st).megamorphic).find(shape, more.name)
        {
            if let Some(slot) = own {
                let v = (*t).fields.add(slot as usize).get();
                if !v.is_nil() {
                    return Some(v);
                }
            }
            return Table::cached_inherited(st, t, more.name);
        }
        let epoch = (*st).meta_epoch;
        for e in more.iter() {
            if e.own_shape == shape {
                let v = (*t).fields.add(e.slot as usize).get();
                if !v.is_nil() {
                    return Some(v);
                }
                return FieldEntry::get_absent(e, t, epoch);
            }
            if e.chain_shape == shape && e.meta == (*t).meta && e.epoch == epoch {
                return FieldEntry::get_chain(e);
            }
        }
        None
    }

    /// Loads the cache's field, a method, from a string. Returns `None` on a miss.
    #[inline(always)]
    pub unsafe fn hit_method(cache: *const FieldCache, st: *mut State) -> Option<Value> {
        let e = &raw const (*cache).first;
        let meta = (*st).type_metas[STRING_META];
        if (*e).chain_shape == FieldEntry::STRING_SHAPE
            && (*e).meta == meta.addr()
            && (*e).epoch == (*st).meta_epoch
        {
            return FieldEntry::get_chain(e);
        }
        None
    }

    /// Loads the cache's field from a userdata with the metatable `meta`, if the member is not
    /// computed. Returns `None` on a miss.
    #[inline(always)]
    pub unsafe fn hit_userdata(
        cache: *const FieldCache,
        st: *mut State,
        meta: *mut Table,
    ) -> Option<Value> {
        let epoch = (*st).meta_epoch;
        let more = (*cache).more.as_deref().map_or(&[][..], |more| &more[..]);
        std::iter::once(&(*cache).first)
            .chain(more)
            .find(|e| {
                e.chain_shape == FieldEntry::USERDATA_SHAPE
                    && e.meta == meta.addr()
                    && e.epoch == epoch
            })
            .and_then(|e| FieldEntry::get_chain(e))
    }

    /// Stores `v` in the cache's field of the table `t`. On a miss, returns `false` and changes
    /// nothing.
    #[inline(always)]
    pub unsafe fn hit_set(
        st: *mut State,
        cache: *const FieldCache,
        t: *mut Table,
        v: Value,
    ) -> bool {
        let e = &raw const (*cache).first;
        let shape = (*t).header.word;
        if (*e).own_shape == shape {
            return FieldEntry::set_own(e, st, t, v);
        }
        if (*e).chain_shape == shape {
            return FieldEntry::set_new(e, st, t, v);
        }
        if (*cache).more.is_some() {
            return FieldCache::hit_set_more(st, cache, t, v);
        }
        false
    }

    #[inline(never)]
    unsafe fn hit_set_more(
        st: *mut State,
        cache: *const FieldCache,
        t: *mut Table,
        v: Value,
    ) -> bool {
        let shape = (*t).header.word;
        let Some(more) = (*cache).more.as_deref() else { return false };
        if (*cache).is_megamorphic()
            && let Some(slot) = (&(*st).megamorphic).find(shape, more.name).flatten()
        {
            return FieldEntry::set_slot(slot, st, t, v);
        }
        for e in more.iter() {
            if e.own_shape == shape {
                return FieldEntry::set_own(e, st, t, v);
            }
            if e.chain_shape == shape {
                return FieldEntry::set_new(e, st, t, v);
            }
        }
        false
    }

    /// Returns the number of the first recorded entry whose class is like that of `entry`.
    fn oldest_like(&self, entry: &FieldEntry) -> Option<usize> {
        let like = self.entries().enumerate().filter(|(_, e)| e.is_of_class_like(entry));
        let recorded = |n: usize| self.more.as_ref().map_or(0, |more| more.recorded[n]);
        like.map(|(n, _)| n).min_by_key(|&n| recorded(n))
    }

    /// Replaces entry `n` by that of a class like its class: programs make classes again. Returns
    /// false, without an effect, if the class of the new entry had been replaced before, so that
    /// both are in use.
    fn replace(&mut self, n: usize, entry: FieldEntry, name: *mut LuaString) -> bool {
        /// The number of replacements that count as a miss.
        const MANY: u32 = 64;
        let more = self.more.get_or_insert_with(|| FurtherEntries::new(name));
        if more.replaced.contains(&entry.meta) {
            return false;
        }
        let known = match n.checked_sub(1) {
            None => &mut self.first,
            Some(n) => &mut more.entries[n],
        };
        more.replaced[more.replacements as usize % FurtherEntries::REPLACED] = known.meta;
        more.replacements = more.replacements.wrapping_add(1);
        more.recorded[n] = more.replacements;
        *known = entry;
        if !more.replacements.is_multiple_of(MANY) {
            self.misses = self.misses.saturating_sub(1).max(1);
        }
        true
    }

    /// Makes entry `n` of `cache` valid for the field `name` that `t` inherits; compiled code for
    /// tables like `t` compares this entry. Returns false, without changing entries, if the access
    /// should become polymorphic instead, or if further tables would have to be watched.
    ///
    /// # Safety
    /// `cache` and its `name`, a short string, and `t` are live and of the state `st`.
    #[inline(never)]
    pub unsafe fn renew(
        st: *mut State,
        cache: *mut FieldCache,
        n: usize,
        t: *mut Table,
        name: *mut LuaString,
    ) -> bool {
        let cache = &mut *cache;
        if (*t).shape.is_null() || cache.is_megamorphic() {
            return false;
        }
        if LocalShape::find((*t).shape, name).is_some() {
            return false;
        }
        let Some(holder) = Table::watched_holder(st, t, name) else { return false };
        let entry = FieldEntry::chain(st, t, holder, name);
        let Some(known) = cache.entries().nth(n) else { return false };
        if known.is_like(&entry) {
            let known = match n.checked_sub(1) {
                None => &mut cache.first,
                Some(n) => &mut cache.more.as_deref_mut().expect("it has entry n").entries[n],
            };
            *known = entry;
            return true;
        }
        if cache.entries().any(|e| e.is_like(&entry)) || cache.oldest_like(&entry) != Some(n) {
            return false;
        }
        cache.misses = cache.misses.saturating_add(1);
        cache.replace(n, entry, name)
    }

    /// Returns whether the access uses the state's caches.
    pub fn is_megamorphic(&self) -> bool {
        self.misses >= FieldCache::MEGAMORPHIC && self.more.is_some()
    }

    /// Adds `entry`, for the field `name` of `t`: it replaces the entry for the same tables, or
    /// else that of a class that is no longer in use, or else fills a free place, or else replaces
    /// the entries in turn.
    ///
    /// When the access is megamorphic, own fields are added to the state's cache, and few other
    /// entries are recorded, as that costs more than it saves. Inherited fields are then added to
    /// the state's cache by the caller.
    unsafe fn record(
        st: *mut State,
        cache: *mut FieldCache,
        t: *mut Table,
        name: *mut LuaString,
        entry: FieldEntry,
    ) {
        const SELDOM: u32 = 16;
        let cache = &mut *cache;
        cache.misses = cache.misses.saturating_add(1);
        if cache.is_megamorphic() {
            if let EntryKind::Own(_) = entry.kind() {
                return (&mut (*st).megamorphic).record(t, name, entry.slot);
            }
            if !cache.misses.is_multiple_of(SELDOM) {
                return;
            }
        }
        let free = |e: &FieldEntry| e.kind() == EntryKind::Unused;
        if cache.first.is_like(&entry) || free(&cache.first) {
            cache.first = entry;
            return;
        }
        if let Some(n) = cache.oldest_like(&entry)
            && !cache.entries().any(|e| e.is_like(&entry))
            && cache.replace(n, entry, name)
        {
            return;
        }
        let turn = cache.misses as usize % FieldCache::MORE;
        let more = cache.more.get_or_insert_with(|| FurtherEntries::new(name));
        let place =
            more.iter().position(|e| e.is_like(&entry)).or_else(|| more.iter().position(free));
        let place = place.unwrap_or(turn);
        more[place] = entry;
        more.recorded[1 + place] = more.replacements;
    }
}

impl FieldEntry {
    /// Returns the shape that the entry is for.
    fn shape(&self) -> u32 {
        if self.own_shape != FieldEntry::NO_SHAPE { self.own_shape } else { self.chain_shape }
    }

    /// Returns whether the entry is for the same tables. Either all tables of one shape have the
    /// field or none does, but they may look it up in different metatables.
    fn is_like(&self, other: &FieldEntry) -> bool {
        let own = |e: &FieldEntry| matches!(e.kind(), EntryKind::Own(_));
        self.shape() == other.shape() && (own(self) || own(other) || self.meta == other.meta)
    }

    /// Returns whether both entries say where tables of one shape inherit the field, from classes
    /// that the same code seems to have made, or that they do not inherit it.
    fn is_of_class_like(&self, other: &FieldEntry) -> bool {
        match (self.kind(), other.kind()) {
            (EntryKind::Absent(a), EntryKind::Absent(b)) => {
                return a == b && self.meta != other.meta;
            }
            (EntryKind::Chain(a), EntryKind::Chain(b)) if a == b => {}
            _ => return false,
        }
        if self.meta == other.meta || self.holder_is_dictionary() != other.holder_is_dictionary() {
            return false;
        }
        if self.outcome.is_null() || other.outcome.is_null() {
            let is_data = self.outcome.is_null() && other.outcome.is_null();
            let same_place = (self.holder_shape, self.slot) == (other.holder_shape, other.slot);
            return is_data && same_place && !self.holder_is_dictionary();
        }
        // SAFETY: the collector clears the entries of dead functions.
        let instance = |e: &FieldEntry| unsafe { (*e.outcome.cast::<LuaClosure>()).instance };
        instance(self) == instance(other)
    }

    /// Returns the entry for tables like `t`, which do not have the field `name` themselves, but
    /// find it in `holder` along their chain.
    ///
    /// # Safety
    /// The objects are live and of the state `st`; `t` has a shape, and `holder` has the field.
    unsafe fn chain(
        st: *mut State,
        t: *mut Table,
        holder: *mut Table,
        name: *mut LuaString,
    ) -> FieldEntry {
        let v = Table::get_str(holder, name);
        // Stores to cells of globals do not change the epoch.
        let is_noted = (*holder).header.flags & GcHeader::ENVIRONMENT == 0;
        let slot = match Table::field_slot(holder, name) {
            Some(slot) => slot,
            None => Table::node_of_str(holder, name).expect("the holder has the field"),
        };
        FieldEntry {
            chain_shape: (*t).header.word,
            slot,
            meta: (*t).meta,
            epoch: (*st).meta_epoch,
            holder,
            holder_shape: (*holder).header.word,
            outcome: match v.tag() {
                Tag::FUNCTION if is_noted => v.as_ptr(),
                _ => std::ptr::null_mut(),
            },
            ..FieldEntry::EMPTY
        }
    }

    /// Handles an own slot that is nil: returns the value in the chain if the entry knows the
    /// holder, or nil if the entry knows that the chain does not have the field.
    #[inline(never)]
    unsafe fn get_absent(e: *const FieldEntry, t: *mut Table, epoch: MetaEpoch) -> Option<Value> {
        let meta = (*t).meta;
        if meta == 0 {
            return Some(Value::NIL);
        }
        if (*e).meta != meta || (*e).epoch != epoch {
            return None;
        }
        if (*e).chain_shape == (*e).own_shape {
            return Some(Value::NIL);
        }
        if (*e).holder.is_null() {
            return None;
        }
        let v = (*(*e).holder).fields.add((*e).holder_shape as usize - 1).get();
        (!v.is_nil()).then_some(v)
    }

    /// Returns the value in the holder. A weak table may have lost it.
    #[inline(always)]
    unsafe fn get_chain(e: *const FieldEntry) -> Option<Value> {
        let holder = (*e).holder;
        if holder.is_null() {
            return Some(Value::NIL);
        }
        let v = if (*e).holder_shape != 0 {
            (*holder).fields.add((*e).slot as usize).get()
        } else {
            Node::value((*holder).nodes.add((*e).slot as usize))
        };
        (!v.is_nil()).then_some(v)
    }

    /// Writes an existing field, unless it is nil and there may be a `__newindex`.
    #[inline(always)]
    unsafe fn set_own(e: *const FieldEntry, st: *mut State, t: *mut Table, v: Value) -> bool {
        FieldEntry::set_slot((*e).slot, st, t, v)
    }

    /// Like [`FieldEntry::set_own`], for the field in `slot`.
    #[inline(always)]
    unsafe fn set_slot(slot: u32, st: *mut State, t: *mut Table, v: Value) -> bool {
        let old = (*t).fields.add(slot as usize).get();
        if old.is_nil() && !Table::lacks_newindex(t) {
            return false;
        }
        Table::write_field(st, t, slot, v);
        true
    }

    /// Adds the field; nil is not stored. An entry that was recorded by a store of nil has no
    /// outcome, and an entry recorded for a table with inline room is only for such tables.
    #[inline(always)]
    unsafe fn set_new(e: *const FieldEntry, st: *mut State, t: *mut Table, v: Value) -> bool {
        if !Table::lacks_newindex(t) {
            return false;
        }
        if v.is_nil() {
            return true;
        }
        let next = (*e).outcome.cast::<LocalShape>();
        if next.is_null() || (*next).is_inline && (*next).count > (*t).fields_cap.into() {
            return false;
        }
        Table::add_field(st, t, next, v);
        true
    }
}

impl Table {
    /// The longest chain of `__index` or `__newindex` (PUC-Lua's `MAXTAGLOOP`).
    pub const MAX_CHAIN: usize = 2000;

    /// Looks up the field `name` of `t` along its chain of `__index` tables, and records the result
    /// in `cache`. Called on a miss.
    #[inline(never)]
    pub unsafe fn cache_get(
        st: *mut State,
        cache: *mut FieldCache,
        t: *mut Table,
        name: *mut LuaString,
    ) -> Found {
        let mut entry =
            FieldEntry { epoch: (*st).meta_epoch, meta: (*t).meta, ..FieldEntry::EMPTY };
        let cacheable = !(*t).shape.is_null() && LuaString::is_short(name);
        let own_slot = if cacheable { LocalShape::find((*t).shape, name) } else { None };
        if let Some(slot) = own_slot {
            entry.own_shape = (*t).header.word;
            entry.slot = slot;
        }
        let own = match own_slot {
            Some(slot) => (*t).fields.add(slot as usize).get(),
            None => Table::get_str(t, name),
        };
        if !own.is_nil() || (*t).meta == 0 && own_slot.is_some() {
            if own_slot.is_some() {
                FieldCache::record(st, cache, t, name, entry);
            }
            return if own.is_nil() { Found::Nil } else { Found::Value(own) };
        }
        entry.chain_shape = (*t).header.word;
        if (*t).meta != 0 {
            (*name).uses |= LuaString::INHERITED;
        }
        let is_short = LuaString::is_short(name);
        let by_state = is_short && (!cacheable || (*cache).is_megamorphic());
        if by_state {
            Table::note_own(st, t, name, own_slot);
        }
        let mut current = t;
        for _ in 0..Table::MAX_CHAIN {
            let handler = Table::watch_index(st, current);
            if handler.is_nil() {
                if by_state && (*t).meta != 0 {
                    Table::note_inherited(st, t, name, std::ptr::null_mut());
                } else if cacheable {
                    FieldCache::record(st, cache, t, name, entry);
                }
                return Found::Nil;
            }
            if !handler.is_table() {
                return Found::Metamethod { handler, receiver: Value::table(current) };
            }
            current = handler.as_table();
            (*current).header.flags |= GcHeader::INDEX_TARGET;
            let v = Table::get_str(current, name);
            if !v.is_nil() {
                if by_state {
                    Table::note_inherited(st, t, name, Table::place_of_str(current, name));
                } else if own_slot.is_some() {
                    if let Some(slot) = Table::field_slot(current, name) {
                        entry.chain_shape = FieldEntry::NO_SHAPE;
                        entry.holder = current;
                        entry.holder_shape = slot + 1;
                        FieldCache::record(st, cache, t, name, entry);
                    }
                } else if cacheable {
                    let entry = FieldEntry::chain(st, t, current, name);
                    FieldCache::record(st, cache, t, name, entry);
                }
                return Found::Value(v);
            }
        }
        Found::TooLong
    }

    /// Looks up `name` in the table that is the `__index` of strings, and records the result in
    /// `cache`. Returns `None` if the table does not have the field itself. Called on a miss.
    #[inline(never)]
    pub unsafe fn cache_method(
        st: *mut State,
        cache: *mut FieldCache,
        name: *mut LuaString,
    ) -> Option<Value> {
        let meta = (*st).type_metas[STRING_META];
        if meta.is_null() {
            return None;
        }
        let holder = Table::watch_handler(st, meta);
        if !holder.is_table() {
            return None;
        }
        Table::cache_member(st, cache, FieldEntry::STRING_SHAPE, meta, holder.as_table(), name)
    }

    /// Like [`Table::cache_method`], for userdata with the metatable `meta`. The field is looked up
    /// in the table at `__index` or, if that is the host's function for computed fields, among the
    /// members that are not computed. Computed fields are not looked up here, since their functions
    /// must be called where hooks can observe them.
    #[inline(never)]
    pub unsafe fn cache_userdata(
        st: *mut State,
        cache: *mut FieldCache,
        meta: *mut Table,
        name: *mut LuaString,
    ) -> Option<Value> {
        let handler = Table::watch_handler(st, meta);
        let holder = if handler.is_table() {
            handler.as_table()
        } else {
            let [computed, members] = Table::computed_fields(handler)?;
            (*computed).header.flags |= GcHeader::INDEX_TARGET;
            if !Table::get_str(computed, name).is_nil() {
                return None;
            }
            members
        };
        Table::cache_member(st, cache, FieldEntry::USERDATA_SHAPE, meta, holder, name)
    }

    /// Returns the tables that the host's `__index` function of userdata with computed fields uses:
    /// the functions that compute fields, and the other members.
    #[inline(always)]
    pub unsafe fn computed_fields(handler: Value) -> Option<[*mut Table; 2]> {
        if handler.tag() != Tag::NATIVE {
            return None;
        }
        let f = handler.as_native();
        if (*f).header.word != Builtin::FieldIndex as u32 || (*f).header.aux < 2 {
            return None;
        }
        let [a, b] = [0, 1].map(|i| NativeClosure::bound(f, i).get());
        (a.is_table() && b.is_table()).then(|| [a.as_table(), b.as_table()])
    }

    /// Returns the `__index` of `meta`, the metatable of values other than tables, and watches
    /// `meta`, as a cache is going to depend on it.
    unsafe fn watch_handler(st: *mut State, meta: *mut Table) -> Value {
        (*meta).header.flags |= GcHeader::IS_META;
        Table::fast_event(st, meta, Event::Index)
    }

    /// Looks up `name` in `holder`, and records it for values with the metatable `meta`.
    unsafe fn cache_member(
        st: *mut State,
        cache: *mut FieldCache,
        chain_shape: u32,
        meta: *mut Table,
        holder: *mut Table,
        name: *mut LuaString,
    ) -> Option<Value> {
        if !LuaString::is_short(name) {
            return None;
        }
        (*name).uses |= LuaString::INHERITED;
        (*holder).header.flags |= GcHeader::INDEX_TARGET;
        let v = Table::get_str(holder, name);
        if v.is_nil() {
            return None;
        }
        let slot = match Table::field_slot(holder, name) {
            Some(slot) => slot,
            None => Table::node_of_str(holder, name)?,
        };
        // Stores to cells of globals do not change the epoch.
        let is_noted = (*holder).header.flags & GcHeader::ENVIRONMENT == 0;
        let of_strings = chain_shape == FieldEntry::STRING_SHAPE;
        let is_recorded = of_strings && v.tag() == Tag::NATIVE && is_noted;
        let entry = FieldEntry {
            chain_shape,
            epoch: (*st).meta_epoch,
            meta: meta.expose_provenance(),
            holder,
            holder_shape: (*holder).header.word,
            slot,
            outcome: if is_recorded { v.as_ptr() } else { std::ptr::null_mut() },
            ..FieldEntry::EMPTY
        };
        FieldCache::record(st, cache, holder, name, entry);
        Some(v)
    }

    /// Returns the table's `__index`, and watches the metatable, as a cache is going to depend on
    /// it.
    pub(super) unsafe fn watch_index(st: *mut State, t: *mut Table) -> Value {
        let word = (*t).meta;
        if word != 0 && word & super::metatable::TAGGED == 0 {
            (*std::ptr::with_exposed_provenance_mut::<Table>(word)).header.flags |=
                GcHeader::IS_META;
        }
        Table::index_event(st, t)
    }

    /// Stores `v` in the field `name`, a constant, of `t`, unless a `__newindex` applies, and
    /// records in `cache` how it was stored. Called on a miss.
    #[inline(never)]
    pub unsafe fn cache_set(
        st: *mut State,
        cache: *mut FieldCache,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> Stored {
        let shaped = !(*t).shape.is_null() && LuaString::is_short(name);
        let slot = if shaped { LocalShape::find((*t).shape, name) } else { None };
        let old = match slot {
            Some(slot) => (*t).fields.add(slot as usize).get(),
            None => Table::get_str(t, name),
        };
        if old.is_nil() && !Table::lacks_newindex(t) {
            let handler = Table::event(st, t, Event::NewIndex);
            if !handler.is_nil() {
                return Stored::NewIndex(handler);
            }
        }
        if !shaped {
            Table::set_node(st, t, Value::string(name), v);
            return Stored::Done;
        }
        if let Some(slot) = slot {
            FieldCache::record(
                st,
                cache,
                t,
                name,
                FieldEntry { own_shape: (*t).header.word, slot, ..FieldEntry::EMPTY },
            );
            Table::write_field(st, t, slot, v);
            return Stored::Done;
        }
        let from = (*t).header.word;
        if v.is_nil() {
            FieldCache::record(
                st,
                cache,
                t,
                name,
                FieldEntry { chain_shape: from, ..FieldEntry::EMPTY },
            );
            return Stored::Done;
        }
        Table::set_str_const(st, t, name, v);
        if !(*t).shape.is_null() {
            let successor = (*t).shape;
            let slot = (*successor).count - 1;
            FieldCache::record(
                st,
                cache,
                t,
                name,
                FieldEntry {
                    chain_shape: from,
                    slot,
                    outcome: successor.cast(),
                    ..FieldEntry::EMPTY
                },
            );
        }
        Stored::Done
    }
}

const _: () = assert!(WATCHED & GcHeader::UNLOGGED == 0);
