//! The tables around the current value of a conversion, and which elements the conversion skips.

use perilune_runtime::table::Table as TableObject;
use perilune_runtime::value::{Tag, Value as Word};

use super::{DeserializeOptions as Options, userdata};
use crate::stack::{Raw, Stack};
use crate::{Error, Result};

/// A table and the tables around it. All of them are in slots of the stack, which no code changes
/// meanwhile (`debug.setlocal` does not set values of native functions), so they are alive and
/// their addresses are not reused.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    table: *mut TableObject,
    around: Option<&'a Path<'a>>,
    depth: usize,
}

impl<'a> Path<'a> {
    /// Enters a table.
    pub(super) fn enter(
        table: *mut TableObject,
        around: Option<&'a Path<'a>>,
        limit: usize,
    ) -> Result<Path<'a>> {
        let depth = around.map_or(0, |p| p.depth + 1);
        if depth >= limit {
            return Err(Error::DeserializeError("recursion limit exceeded".to_owned()));
        }
        Ok(Path { table, around, depth })
    }

    /// Returns whether the path contains this table.
    fn contains(&self, table: *mut TableObject) -> bool {
        let mut next = Some(self);
        while let Some(p) = next {
            if p.table == table {
                return true;
            }
            next = p.around;
        }
        false
    }
}

/// Returns whether the options require that an element be skipped.
#[inline]
pub(super) fn skips(s: Stack<'_>, v: Raw, options: &Options, path: &Path<'_>) -> Result<bool> {
    match v.0.tag() {
        Tag::TABLE if path.contains(v.0.as_table()) => {
            if options.deny_recursive_tables {
                return Err(Error::DeserializeError("recursive table detected".to_owned()));
            }
            Ok(true)
        }
        Tag::LIGHT => Ok(v.0.bits() != 0 && !options.deny_unsupported_types),
        Tag::FUNCTION | Tag::NATIVE | Tag::THREAD => Ok(!options.deny_unsupported_types),
        Tag::USERDATA => {
            Ok(!options.deny_unsupported_types && userdata::serializer(s, v).is_none())
        }
        _ => Ok(false),
    }
}

/// Like [`skips`], for keys.
#[inline]
pub(super) fn skips_key(s: Stack<'_>, v: Raw, options: &Options, path: &Path<'_>) -> Result<bool> {
    if is_null(v) && !options.deny_unsupported_types {
        return Ok(true);
    }
    skips(s, v, options, path)
}

/// Returns whether the value represents `null`.
#[inline]
pub(super) fn is_null(v: Raw) -> bool {
    v.0.tag() == Tag::LIGHT && v.0.bits() == 0
}

/// Returns the number of elements if the table is a list.
///
/// # Safety
/// `t` is alive.
pub(super) unsafe fn list_len(
    s: Stack<'_>,
    t: *mut TableObject,
    options: &Options,
) -> Option<usize> {
    if (*t).meta != 0
        && TableObject::metatable(&mut *s.st, t) == super::array_metatable(s).0.as_table()
    {
        return Some(TableObject::length(t) as usize);
    }
    if options.detect_mixed_tables {
        let (count, max) = extent(t)?;
        // a table with too many holes is a map
        return (max < 10 || count * 2 >= max).then_some(max);
    }
    let len = TableObject::length(t) as usize;
    if len > 0 {
        return Some(len);
    }
    let empty = options.encode_empty_tables_as_array
        && TableObject::next_index(t, TableObject::FIRST).is_none();
    empty.then_some(0)
}

/// Returns the number of elements and the highest index, if all keys are indices.
unsafe fn extent(t: *mut TableObject) -> Option<(usize, usize)> {
    let (mut at, mut count, mut max) = (TableObject::FIRST, 0, 0);
    while let Some((next, k, _)) = TableObject::next_index(t, at) {
        if k.tag() != Tag::INTEGER || k.as_int() < 1 {
            return None;
        }
        max = max.max(k.as_int() as usize);
        count += 1;
        at = next;
    }
    Some((count, max))
}

/// nil
pub(super) const NIL: Raw = Raw(Word::NIL);
