//! Lays out trees of values in lines.

use super::tree::{Node, Table};
use crate::style::{Role, paint};

const INDENT: usize = 2;

/// Returns the value on one line if it fits into `width` columns, otherwise on several.
pub(in crate::repl) fn layout(node: &Node, width: usize, colours: bool) -> String {
    let mut w = Writer { text: String::new(), width, column: 0, colours };
    w.node(node, 0, 0);
    w.text
}

struct Writer {
    text: String,
    width: usize,
    column: usize,
    colours: bool,
}

impl Writer {
    fn put(&mut self, text: &str, role: Role) {
        self.column += columns(text);
        let painted = if self.colours { paint(text, role) } else { text.into() };
        self.text.push_str(&painted);
    }

    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes a value. `after` is the number of columns that are needed after it on its last line.
    fn node(&mut self, node: &Node, indent: usize, after: usize) {
        match node {
            Node::Text(text, role) => self.put(text, *role),
            Node::Object(_, text) => self.put(text, Role::Plain),
            Node::Back(mark) => self.put(&format!("<table {mark}>"), Role::Faint),
            Node::Table(t) => {
                if let Some(mark) = t.mark {
                    self.put(&format!("<{mark}>"), Role::Faint);
                }
                if t.entries.is_empty() {
                    self.put(if t.cut { "{…}" } else { "{}" }, Role::Plain);
                } else if self.column + flat(t) + after <= self.width {
                    self.one_line(t, indent);
                } else {
                    self.broken(t, indent + INDENT);
                    self.line(indent);
                    self.put("}", Role::Plain);
                }
            }
        }
    }

    fn one_line(&mut self, t: &Table, indent: usize) {
        self.put("{", Role::Plain);
        for (i, (key, value)) in t.entries.iter().enumerate() {
            if i > 0 {
                self.put(", ", Role::Plain);
            }
            self.key(key);
            self.node(value, indent, 0);
        }
        self.put(if t.cut { ", …}" } else { "}" }, Role::Plain);
    }

    /// Writes a table on several lines. Items that are not tables fill lines; every other entry has
    /// its own line.
    fn broken(&mut self, t: &Table, indent: usize) {
        self.put("{", Role::Plain);
        let mut filling = false;
        for (i, (key, value)) in t.entries.iter().enumerate() {
            let last = i + 1 == t.entries.len() && !t.cut;
            let comma = usize::from(!last);
            let fills = key.is_none() && !matches!(value, Node::Table(t) if !t.entries.is_empty());
            if filling && fills && self.column + 1 + node_width(value) + comma <= self.width {
                self.put(" ", Role::Plain);
            } else {
                self.line(indent);
            }
            filling = fills;
            self.key(key);
            self.node(value, indent, comma);
            if !last {
                self.put(",", Role::Plain);
            }
        }
        if t.cut {
            self.line(indent);
            self.put("…", Role::Faint);
        }
    }

    fn key(&mut self, key: &Option<(String, Role)>) {
        if let Some((key, role)) = key {
            self.put(key, *role);
            self.put(" = ", Role::Plain);
        }
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Returns the number of columns of a table on one line, with its braces.
fn flat(t: &Table) -> usize {
    let entries = t.entries.iter().map(|(key, value)| {
        key.as_ref().map_or(0, |(k, _)| columns(k) + 3) + node_width(value) + 2
    });
    entries.sum::<usize>() + if t.cut { 3 } else { 0 }
}

fn node_width(node: &Node) -> usize {
    match node {
        Node::Text(text, _) | Node::Object(_, text) => {
            // An object's text may have several lines.
            if text.contains('\n') { usize::MAX / 1_000_000 } else { columns(text) }
        }
        Node::Back(_) => 9,
        Node::Table(t) if t.entries.is_empty() => 3,
        Node::Table(t) => flat(t) + if t.mark.is_some() { 3 } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use crate::native::with_cx;
    use crate::repl::pretty::{Limits, layout, read};
    use crate::style::strip;
    use perilune::Lua;

    /// Returns the layout of the value of an expression.
    fn show(program: &str, width: usize, limits: &Limits) -> String {
        let lua = Lua::new();
        with_cx(&lua, |cx| {
            let f = cx.load(program.as_bytes(), b"=test", b"t", None).expect("compiles");
            cx.push_callee(f);
            assert_eq!(cx.call_protected(0).expect("runs"), 1);
            let tree = read(cx, cx.get(cx.top() - 1), limits);
            let plain = layout(&tree, width, false);
            assert_eq!(strip(&layout(&tree, width, true)), plain);
            plain
        })
    }

    fn check(expression: &str, width: usize, expect: &str) {
        assert_eq!(show(&format!("return {expression}"), width, &Limits::default()), expect);
    }

    #[test]
    fn scalars() {
        check("nil", 80, "nil");
        check("1.0", 80, "1.0");
        check("'a\\n'", 80, "\"a\\n\"");
        check("{}", 80, "{}");
        assert!(show("return print", 80, &Limits::default()).starts_with("function: "));
    }

    #[test]
    fn keys_are_sorted() {
        let table = "{z = 1, ['a b'] = 2, [10] = 3, [-1] = 4, [1.5] = 5, [true] = 6, y = 7, 'i', \
                     ['end'] = 8, [false] = 9}";
        check(
            table,
            200,
            "{\"i\", [-1] = 4, [1.5] = 5, [10] = 3, [\"a b\"] = 2, [\"end\"] = 8, y = 7, z = 1, \
             [false] = 9, [true] = 6}",
        );
    }

    /// Several integers may become the same float when they are converted to floats.
    #[test]
    fn large_keys_are_sorted() {
        let limits = Limits { total: 1000, entries: 1000, ..Limits::default() };
        for count in 20..40 {
            // The last keys stay in the order of insertion, as they are few compared with the
            // sorted ones.
            let table = format!(
                "local t = {{}}
                 for i = 1, 200 do t[i / 256] = 1 end
                 t[0] = next(t)
                 next(t)
                 for i = 1, {count} do
                   t[math.maxinteger - i * 7 % {count}] = 1
                   if i == {count} // 2 then t[2^63] = 0 end
                 end
                 return t"
            );
            let shown = show(&table, 80, &limits);
            assert!(shown.ends_with("7] = 1,\n  [9.2233720368548e+18] = 0\n}"), "{shown}");
        }
    }

    #[test]
    fn lines() {
        check("{a = {1, 2}, b = {c = 'd'}}", 27, "{a = {1, 2}, b = {c = \"d\"}}");
        check("{a = {1, 2}, b = {c = 'd'}}", 26, "{\n  a = {1, 2},\n  b = {c = \"d\"}\n}");
        check("{10, 20, 30, 40, x = 1}", 12, "{\n  10, 20,\n  30, 40,\n  x = 1\n}");
        check("{{1, 2}, {3, 4}}", 10, "{\n  {1, 2},\n  {3, 4}\n}");
    }

    #[test]
    fn cycles() {
        let limits = Limits::default();
        let cycle = "local t = {1}; t.me = t; t.other = {back = t}; return t";
        let expect = "<1>{1, me = <table 1>, other = {back = <table 1>}}";
        assert_eq!(show(cycle, 80, &limits), expect);
        let twice = "local s = {}; return {s, s}";
        assert_eq!(show(twice, 80, &limits), "{{}, {}}");
    }

    #[test]
    fn limits() {
        let small = Limits { depth: 2, entries: 3, total: 5, string: 9, inner_string: 2 };
        let check = |value: &str, expect: &str| {
            assert_eq!(show(&format!("return {value}"), 80, &small), expect);
        };
        check("{1, 2, 3, 4}", "{1, 2, 3, …}");
        check("{{{}}}", "{{{}}}");
        check("{{{1}}}", "{{{…}}}");
        check("{'abc'}", "{\"ab\"… (3 bytes)}");
        check("{{1, 2}, {3, 4}}", "{{1, 2}, {3, …}}");
    }
}
