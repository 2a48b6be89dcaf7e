//! Reads values into a tree of what will be shown.

use std::cmp::Ordering;

use perilune::native::{Cx, Tab, Val};

use super::quote::quote;
use crate::repl::complete::is_name;
use crate::style::Role;

/// How much of a value is shown.
#[derive(Clone, Copy, Debug)]
pub(in crate::repl) struct Limits {
    /// Tables that are nested deeper than this are shown as `{…}`.
    pub(in crate::repl) depth: usize,
    /// The number of entries of one table.
    pub(in crate::repl) entries: usize,
    /// The number of entries of all tables.
    pub(in crate::repl) total: usize,
    /// The number of bytes of a string that is the value itself.
    pub(in crate::repl) string: usize,
    /// The number of bytes of a string in a table.
    pub(in crate::repl) inner_string: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 4, entries: 100, total: 600, string: 10_000, inner_string: 200 }
    }
}

/// A value to be shown.
pub(in crate::repl) enum Node {
    Text(String, Role),
    /// An object with a `__tostring`: its index on the stack, and the text.
    Object(usize, String),
    Table(Table),
    /// A reference back to an enclosing table; the number with which that is marked.
    Back(usize),
}

/// A table to be shown.
#[derive(Default)]
pub(in crate::repl) struct Table {
    /// The number by which entries refer to this table, if any does.
    pub(super) mark: Option<usize>,
    /// Keys (`None` for the next integer) and values.
    pub(super) entries: Vec<(Option<(String, Role)>, Node)>,
    /// Whether entries were left out.
    pub(super) cut: bool,
}

impl Node {
    /// Calls `f` for each object.
    pub(super) fn each_object(&mut self, f: &mut dyn FnMut(usize, &mut String)) {
        match self {
            Node::Object(place, text) => f(*place, text),
            Node::Table(t) => t.entries.iter_mut().for_each(|(_, v)| v.each_object(f)),
            Node::Text(..) | Node::Back(_) => {}
        }
    }
}

/// Reads a value without running code. Objects with a `__tostring` are pushed on the stack.
pub(in crate::repl) fn read(cx: &Cx, v: Val<'_>, limits: &Limits) -> Node {
    let mut reader = Reader { cx, limits, left: limits.total, around: Vec::new(), marks: 0 };
    reader.node(v)
}

struct Reader<'a> {
    cx: &'a Cx,
    limits: &'a Limits,
    /// The number of entries that may still be shown.
    left: usize,
    /// The addresses of the tables around the current place, with their marks.
    around: Vec<(Option<u64>, Option<usize>)>,
    marks: usize,
}

impl Reader<'_> {
    fn node(&mut self, v: Val<'_>) -> Node {
        if let Some(s) = v.as_str() {
            let nested = !self.around.is_empty();
            let limit = if nested { self.limits.inner_string } else { self.limits.string };
            return Node::Text(quote(s.bytes(), limit), Role::String);
        }
        if v.is_number() || v.is_nil() || v.as_bool().is_some() {
            let role = if v.is_number() { Role::Number } else { Role::Constant };
            return Node::Text(self.plain(v), role);
        }
        let says = self.cx.metatable_of(v).map(|m| m.get_name(self.cx, "__tostring"));
        if says.is_some_and(|s| !s.is_nil()) && self.cx.reserve(4).is_ok() {
            self.cx.push(v);
            return Node::Object(self.cx.top() - 1, String::new());
        }
        match v.as_table() {
            Some(t) => self.table(t),
            None => Node::Text(self.plain(v), Role::Faint),
        }
    }

    fn plain(&self, v: Val<'_>) -> String {
        String::from_utf8_lossy(self.cx.plain_tostring(v).bytes()).into_owned()
    }

    fn table(&mut self, t: Tab<'_>) -> Node {
        let address = t.val().address();
        if let Some(i) = self.around.iter().position(|(a, _)| *a == address) {
            let marks = &mut self.marks;
            let mark = self.around[i].1.get_or_insert_with(|| {
                *marks += 1;
                *marks
            });
            return Node::Back(*mark);
        }
        let mut shown = Table::default();
        if self.around.len() >= self.limits.depth {
            shown.cut = t.next(self.cx, Val::NIL).flatten().is_some();
            return Node::Table(shown);
        }
        self.around.push((address, None));
        let mut n = 0;
        loop {
            let v = t.get_int(n + 1);
            if v.is_nil() {
                break;
            }
            if !self.room(&mut shown) {
                break;
            }
            n += 1;
            let node = self.node(v);
            shown.entries.push((None, node));
        }
        if !shown.cut {
            self.fields(t, n, &mut shown);
        }
        shown.mark = self.around.pop().and_then(|(_, mark)| mark);
        Node::Table(shown)
    }

    /// Reads the entries other than those with the keys 1 to `n`, sorted.
    fn fields(&mut self, t: Tab<'_>, n: i64, shown: &mut Table) {
        let mut fields = Vec::new();
        let mut last = Val::NIL;
        while let Some(Some((k, v))) = t.next(self.cx, last) {
            last = k;
            if !k.as_int().is_some_and(|i| (1..=n).contains(&i)) {
                fields.push((k, v));
            }
        }
        fields.sort_by(|(a, _), (b, _)| compare(*a, *b));
        for (k, v) in fields {
            if !self.room(shown) {
                return;
            }
            let key = self.key(k);
            let node = self.node(v);
            shown.entries.push((Some(key), node));
        }
    }

    /// Returns whether one more entry may be shown.
    fn room(&mut self, shown: &mut Table) -> bool {
        shown.cut = self.left == 0 || shown.entries.len() >= self.limits.entries;
        self.left -= usize::from(!shown.cut);
        !shown.cut
    }

    fn key(&self, k: Val<'_>) -> (String, Role) {
        if let Some(s) = k.as_str() {
            return match str::from_utf8(s.bytes()) {
                Ok(name) if is_name(name) => (name.to_owned(), Role::Plain),
                _ => (format!("[{}]", quote(s.bytes(), self.limits.inner_string)), Role::String),
            };
        }
        let role = match k.as_bool() {
            Some(_) => Role::Constant,
            None if k.is_number() => Role::Number,
            None => Role::Faint,
        };
        (format!("[{}]", self.plain(k)), role)
    }
}

/// Compares keys: numbers by value, strings by bytes, then the others by type. Equal ones stay in
/// the order of the traversal.
fn compare(a: Val<'_>, b: Val<'_>) -> Ordering {
    let number = |v: Val<'_>| v.as_float().or(v.as_int().map(|i| i as f64));
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        return x.cmp(&y);
    }
    match (number(a), number(b), a.as_str(), b.as_str()) {
        // An integer that is equal to a float after the conversion is less than that float, which
        // is at least 2^63: another float with an integral value is not a key.
        (Some(x), Some(y), ..) => x.total_cmp(&y).then_with(|| b.as_int().cmp(&a.as_int())),
        (.., Some(x), Some(y)) => x.bytes().cmp(y.bytes()),
        _ => rank(a).cmp(&rank(b)).then_with(|| a.as_bool().cmp(&b.as_bool())),
    }
}

fn rank(v: Val<'_>) -> usize {
    let types = ["number", "string", "boolean", "table", "function"];
    types.iter().position(|t| *t == v.type_name()).unwrap_or(types.len())
}
