//! Metatables: the metatable word of a table, metatables of other types, and finding metamethods
//! (manual 2.4).

use super::{LocalShape, Table};
use crate::header::GcHeader;
use crate::meta::Event;
use crate::state::{State, type_meta_index};
use crate::value::{Tag, Value};

/// Number of events with a bit in [`Table::absent`].
const CACHED_EVENTS: u8 = 8;
const _: () = assert!(CACHED_EVENTS as u32 == u8::BITS, "`absent` is a byte");
const _: () = assert!((Event::Index as u8) < CACHED_EVENTS, "caches rely on its bit");
const _: () = assert!((Event::NewIndex as u8) < CACHED_EVENTS, "machine code tests its bit");
const _: () = assert!((Event::Mode as u8) < CACHED_EVENTS, "the collector sets its bit");

/// Marks the metatable word of a metatable `{__index = C}` that has not been materialized.
pub const TAGGED: usize = 1;

impl State {
    /// Begins another epoch, which invalidates all inline caches of metatable chains.
    ///
    /// # Safety
    /// As for [`InheritedGlobals::empty`](super::InheritedGlobals::empty).
    pub(crate) unsafe fn advance_epoch(&mut self) {
        self.meta_epoch = self.meta_epoch.next();
        self.inherited_globals.empty();
    }
}

impl Table {
    /// Returns whether the table has a metatable.
    #[inline(always)]
    pub unsafe fn has_meta(t: *mut Table) -> bool {
        (*t).meta != 0
    }

    /// Returns `C` of a metatable `{__index = C}` that was never materialised; null otherwise.
    #[inline(always)]
    pub(super) unsafe fn tagged_index(t: *mut Table) -> *mut Table {
        let word = (*t).meta;
        if word & TAGGED != 0 {
            std::ptr::with_exposed_provenance_mut(word & !TAGGED)
        } else {
            std::ptr::null_mut()
        }
    }

    /// Returns the metatable, or null. Materializes the metatable of a tagged metatable word.
    #[inline(always)]
    pub unsafe fn metatable(st: *mut State, t: *mut Table) -> *mut Table {
        if (*t).meta & TAGGED != 0 {
            return Table::materialise(st, t);
        }
        std::ptr::with_exposed_provenance_mut((*t).meta)
    }

    #[cold]
    #[inline(never)]
    unsafe fn materialise(st: *mut State, t: *mut Table) -> *mut Table {
        let class = Table::tagged_index(t);
        let m = Table::new(st, 1, 0);
        Table::set_str_const(st, m, (*st).event_names[Event::Index as usize], Value::table(class));
        (*m).header.flags |= GcHeader::IS_META;
        (*t).meta = m.expose_provenance();
        (*st).barrier(t.cast());
        m
    }

    /// Sets or (null) removes the metatable. The caller handles `__gc` and `__metatable`. Returns
    /// false, leaving the table unchanged, if there is no memory for a change of its form.
    #[must_use]
    pub unsafe fn set_metatable(st: *mut State, t: *mut Table, m: *mut Table) -> bool {
        if !m.is_null() {
            Table::note_metatable(st, m);
        }
        Table::set_meta_word(st, t, m.expose_provenance())
    }

    /// Gives `t` its own metatable `{__index = class}`, without creating that table yet. Returns
    /// false, leaving the table unchanged, if there is no memory for a change of its form.
    #[must_use]
    pub unsafe fn set_meta_index(st: *mut State, t: *mut Table, class: *mut Table) -> bool {
        (*class).header.flags |= GcHeader::INDEX_TARGET;
        Table::set_meta_word(st, t, class.expose_provenance() | TAGGED)
    }

    unsafe fn set_meta_word(st: *mut State, t: *mut Table, word: usize) -> bool {
        let shape = (*t).shape;
        if !shape.is_null() && (*shape).has_meta != (word != 0) {
            let new = match word {
                0 => LocalShape::without_meta(st, shape),
                _ => LocalShape::with_meta(st, shape),
            };
            if !new.is_null() {
                Table::set_shape(st, t, new);
            } else if !Table::make_dictionary(st, t, 0) {
                return false;
            }
        }
        (*t).meta = word;
        Table::note_move(st, t);
        (*st).barrier(t.cast());
        true
    }

    /// Returns the metatable of any value, or null.
    #[inline]
    pub unsafe fn meta_of(st: *mut State, v: Value) -> *mut Table {
        match v.tag() {
            Tag::TABLE => Table::metatable(st, v.as_table()),
            Tag::USERDATA => (*v.as_userdata()).meta,
            tag => type_meta_index(tag).map_or(std::ptr::null_mut(), |i| (&(*st).type_metas)[i]),
        }
    }

    /// Marks `m` as the metatable of something other than a table.
    pub unsafe fn note_metatable(st: *mut State, m: *mut Table) {
        (*m).header.flags |= GcHeader::IS_META;
        let index = Table::get_str(m, (&(*st).event_names)[Event::Index as usize]);
        if index.is_table() {
            (*index.as_table()).header.flags |= GcHeader::INDEX_TARGET;
        }
    }

    /// Sets or (null) removes the metatable of a basic type. `v` is any value of the type, neither
    /// a table nor a full userdata.
    pub unsafe fn set_type_meta(st: *mut State, v: Value, m: *mut Table) {
        if !m.is_null() {
            Table::note_metatable(st, m);
        }
        if let Some(kind) = type_meta_index(v.tag()) {
            (&mut (*st).type_metas)[kind] = m;
        }
        (*st).advance_epoch();
    }

    /// Returns the metamethod of `v` for the event `e`, or nil.
    #[inline]
    pub unsafe fn metamethod(st: *mut State, v: Value, e: Event) -> Value {
        if v.is_table() && (*v.as_table()).meta & TAGGED != 0 {
            return match e {
                Event::Index => Value::table(Table::tagged_index(v.as_table())),
                _ => Value::NIL,
            };
        }
        Table::fast_event(st, Table::meta_of(st, v), e)
    }

    /// Returns the metamethod for `e` in the metatable `mt`, which may be null. This is one bit
    /// test when `e` is one of the first eight events and known to be absent.
    #[inline(always)]
    pub unsafe fn fast_event(st: *mut State, mt: *mut Table, e: Event) -> Value {
        if mt.is_null() || (e as u8) < CACHED_EVENTS && (*mt).absent & 1 << (e as u8) != 0 {
            return Value::NIL;
        }
        Table::find_event(st, mt, e)
    }

    #[inline(never)]
    unsafe fn find_event(st: *mut State, mt: *mut Table, e: Event) -> Value {
        let v = Table::get_str(mt, (&(*st).event_names)[e as usize]);
        if v.is_nil() && (e as u8) < CACHED_EVENTS {
            // From now on, a new field in `mt` must clear the bit.
            (*mt).header.flags |= GcHeader::IS_META;
            (*mt).absent |= 1 << (e as u8);
        }
        v
    }

    /// Returns the table's metamethod for `__index`, or nil.
    #[inline(always)]
    pub unsafe fn index_event(st: *mut State, t: *mut Table) -> Value {
        match (*t).meta {
            0 => Value::NIL,
            word if word & TAGGED != 0 => Value::table(Table::tagged_index(t)),
            word => {
                Table::fast_event(st, std::ptr::with_exposed_provenance_mut(word), Event::Index)
            }
        }
    }

    /// As [`Table::index_event`], but changes nothing: does not record that the metatable has no
    /// `__index`.
    #[inline(always)]
    pub unsafe fn peek_index_event(st: *mut State, t: *mut Table) -> Value {
        let meta: *mut Table = match (*t).meta {
            0 => return Value::NIL,
            word if word & TAGGED != 0 => return Value::table(Table::tagged_index(t)),
            word => std::ptr::with_exposed_provenance_mut(word),
        };
        match (*meta).absent & 1 << Event::Index as u8 {
            0 => Table::get_str(meta, (&(*st).event_names)[Event::Index as usize]),
            _ => Value::NIL,
        }
    }

    /// Returns whether the epoch changes when the `__index` of `t` does, if its metatable stays the
    /// same.
    #[inline(always)]
    pub(super) unsafe fn is_index_watched(t: *mut Table) -> bool {
        match (*t).meta {
            0 => true,
            word if word & TAGGED != 0 => true,
            word => {
                let meta = std::ptr::with_exposed_provenance_mut::<Table>(word);
                (*meta).header.flags & GcHeader::IS_META != 0
            }
        }
    }

    /// Returns the table's metamethod for `e`, which is not `__index`, or nil.
    #[inline(always)]
    pub unsafe fn event(st: *mut State, t: *mut Table, e: Event) -> Value {
        debug_assert!(e != Event::Index);
        match (*t).meta {
            0 => Value::NIL,
            word if word & TAGGED != 0 => Value::NIL,
            word => Table::fast_event(st, std::ptr::with_exposed_provenance_mut(word), e),
        }
    }

    /// Returns whether storing a new key in `t` is known to call no `__newindex`. The result may be
    /// false although there is none.
    #[inline(always)]
    pub unsafe fn lacks_newindex(t: *mut Table) -> bool {
        let word = (*t).meta;
        word == 0
            || word & TAGGED != 0
            || (*std::ptr::with_exposed_provenance_mut::<Table>(word)).absent
                & 1 << Event::NewIndex as u8
                != 0
    }
}
