//! Completion: finds the variable, field or method at the end of a text, and its possible
//! completions.
//!
//! Values are read without metamethods, so that completion has no side effects; tables in `__index`
//! are followed.

use std::collections::BTreeSet;

use perilune::native::{Cx, Val};
use perilune::syntax::{Lexeme, LexemeKind, lexemes};

/// The longest chain of `__index` that is followed.
const MAX_CHAIN: usize = 100;

/// The reserved words.
pub(super) const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// One key on the way to a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Key {
    /// A field, or the global variable at the start.
    Name(String),
    /// An integer in brackets.
    Index(i64),
    /// Any string: only at the start, where the value is a string itself.
    Text,
}

/// The name at the end of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The value in which the name is a field; empty for a variable.
    pub(super) path: Vec<Key>,
    /// Whether it is a method call: `:` precedes the name.
    pub(super) method: bool,
    /// The part of the name that was typed.
    pub(super) name: String,
    /// The offset at which the name starts.
    pub(super) start: usize,
}

/// Returns the name that the text ends with, perhaps an empty one. `None` where no name can be: in
/// strings, comments and numbers, or after values that are not known without running code.
pub(super) fn place(text: &str) -> Option<Place> {
    let mut rest: Vec<Lexeme> = lexemes(text.as_bytes()).collect();
    let word = |l: &Lexeme| text.get(l.span.start as usize..l.span.end as usize).unwrap_or("");
    let mut start = text.len();
    let mut name = String::new();
    if let Some(last) = rest.last() {
        use LexemeKind::{Constant, Keyword, Name, Symbol};
        let touches = last.span.end as usize == text.len();
        match last.kind {
            Name | Keyword | Constant if touches => {
                start = last.span.start as usize;
                name = word(last).to_owned();
                rest.pop();
            }
            Symbol => {}
            _ if touches => return None,
            _ => {}
        }
    }
    let mut path = Vec::new();
    let method = match rest.last().map(word) {
        Some("." | ":") => rest.pop().is_some_and(|l| word(&l) == ":"),
        _ => return Some(Place { path, method: false, name, start }),
    };
    // reads backwards from the value's last key to its first
    loop {
        let last = rest.pop()?;
        match (last.kind, word(&last)) {
            (LexemeKind::Name, key) => {
                path.push(Key::Name(key.to_owned()));
                match rest.last().map(word) {
                    Some(".") => drop(rest.pop()),
                    Some(":") => return None,
                    _ => break,
                }
            }
            (LexemeKind::String, _) => {
                path.push(Key::Text);
                break;
            }
            (_, ")") => {
                // a literal string in parentheses; other values are not known
                let [.., open, string] = &rest[..] else { return None };
                if word(open) != "(" || string.kind != LexemeKind::String {
                    return None;
                }
                let before = rest.len().checked_sub(3).map(|i| rest[i].kind);
                if before == Some(LexemeKind::Name) {
                    return None;
                }
                path.push(Key::Text);
                break;
            }
            (_, "]") => {
                let key = rest.pop()?;
                if rest.pop().map(|l| word(&l)) != Some("[") {
                    return None;
                }
                path.push(match key.kind {
                    LexemeKind::Number => Key::Index(word(&key).parse().ok()?),
                    LexemeKind::String => Key::Name(plain_string(word(&key))?.to_owned()),
                    _ => return None,
                });
            }
            _ => return None,
        }
    }
    path.reverse();
    if matches!(path.first(), Some(Key::Index(_))) {
        return None;
    }
    Some(Place { path, method, name, start })
}

/// Returns the content of a literal string that has no escape sequences.
fn plain_string(literal: &str) -> Option<&str> {
    let content = literal.get(1..literal.len().checked_sub(1)?)?;
    (literal.starts_with(['"', '\'']) && !content.contains('\\')).then_some(content)
}

/// Returns the value that a path leads to; nil if there is none.
pub(super) fn value<'a>(cx: &'a Cx, path: &[Key]) -> Val<'a> {
    let mut v = cx.globals().val();
    for key in path {
        v = match key {
            Key::Text => cx.str(b"").val(),
            Key::Name(name) => field(cx, v, cx.str(name.as_bytes()).val()),
            Key::Index(i) => field(cx, v, Val::int(*i)),
        };
    }
    v
}

/// Returns a field, looked up as in the interpreter, but following only an `__index` that is a
/// table.
pub(super) fn field<'a>(cx: &'a Cx, mut v: Val<'a>, key: Val<'_>) -> Val<'a> {
    for _ in 0..MAX_CHAIN {
        if let Some(t) = v.as_table() {
            let found = t.get(key);
            if !found.is_nil() {
                return found;
            }
        }
        v = index_target(cx, v);
        if v.is_nil() {
            break;
        }
    }
    Val::NIL
}

/// Returns the `__index` of a value.
fn index_target<'a>(cx: &'a Cx, v: Val<'a>) -> Val<'a> {
    cx.metatable_of(v).map_or(Val::NIL, |m| m.get_name(cx, "__index"))
}

/// Returns the possible completions of the name at a place, sorted.
pub(super) fn candidates(cx: &Cx, place: &Place) -> Vec<String> {
    let mut found = BTreeSet::new();
    let matches = |name: &str| {
        // Names that begin with an underscore are offered when an underscore is typed.
        name.starts_with(&place.name) && (!name.starts_with('_') || place.name.starts_with('_'))
    };
    let mut v = value(cx, &place.path);
    for _ in 0..MAX_CHAIN {
        if let Some(t) = v.as_table() {
            let mut last = Val::NIL;
            while let Some(Some((key, field))) = t.next(cx, last) {
                last = key;
                let Some(name) = key.as_str().and_then(|s| str::from_utf8(s.bytes()).ok()) else {
                    continue;
                };
                let fits = !place.method || field.as_func().is_some();
                if fits && is_name(name) && matches(name) {
                    found.insert(name.to_owned());
                }
            }
        }
        v = index_target(cx, v);
        if v.is_nil() {
            break;
        }
    }
    if place.path.is_empty() {
        found.extend(KEYWORDS.iter().filter(|k| matches(k)).map(|k| (*k).to_owned()));
    }
    found.into_iter().collect()
}

/// Returns the names of the local variables that a text declares, to complete them in an entry of
/// several lines.
pub(super) fn locals(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut declaring = false;
    for lexeme in lexemes(text.as_bytes()) {
        // An invalid lexeme may end within a character.
        let range = lexeme.span.start as usize..lexeme.span.end as usize;
        let word = text.get(range).unwrap_or("");
        declaring = match lexeme.kind {
            LexemeKind::Keyword => {
                matches!(word, "local" | "for") || declaring && word == "function"
            }
            LexemeKind::Name if declaring => {
                found.insert(word.to_owned());
                true
            }
            _ => declaring && word == ",",
        };
    }
    found
}

/// Returns whether a key can be written after a dot.
pub(super) fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::{Key, Place, candidates, locals, place};
    use crate::native::with_cx;
    use perilune::Lua;

    fn name(key: &str) -> Key {
        Key::Name(key.into())
    }

    fn check(text: &str, path: &[Key], method: bool, partial: &str) {
        let start = text.len() - partial.len();
        let expect = Place { path: path.to_vec(), method, name: partial.into(), start };
        assert_eq!(place(text), Some(expect), "{text}");
    }

    #[test]
    fn places() {
        check("", &[], false, "");
        check("pri", &[], false, "pri");
        check("x = pri", &[], false, "pri");
        check("return", &[], false, "return");
        check("string.", &[name("string")], false, "");
        check("x = a.b.c", &[name("a"), name("b")], false, "c");
        check("s:", &[name("s")], true, "");
        check("a . b : c", &[name("a"), name("b")], true, "c");
        check("x..y", &[], false, "y");
        check("(('x'):r", &[Key::Text], true, "r");
        check("a[1].b['c d'].e", &[name("a"), Key::Index(1), name("b"), name("c d")], false, "e");
        check("f(x, a.", &[name("a")], false, "");
        check("'a' + b", &[], false, "b");
        check("-- a\nb", &[], false, "b");
    }

    #[test]
    fn no_places() {
        for text in
            ["f().", "'abc", "-- abc", "12", "f(x).y", "a[b].c", "x:y().z", "a:b.c", "f('x'):r"]
        {
            assert_eq!(place(text), None, "{text}");
        }
    }

    fn complete(lua: &Lua, text: &str) -> String {
        with_cx(lua, |cx| candidates(cx, &place(text).expect("a place")).join(" "))
    }

    #[test]
    fn names_of_a_state() {
        let lua = Lua::new();
        let program = "Base = {run = print, x = 1}; Base.__index = Base
            obj = setmetatable({own = {}}, Base); list = {{deep = 1}}; text = 'x'
            trap = setmetatable({}, {__index = function() error 'called' end})
            loop = {}; setmetatable(loop, {__index = loop}); obj['no name'] = 1";
        lua.load(program).exec().expect("runs");
        assert_eq!(complete(&lua, "pri"), "print");
        assert_eq!(complete(&lua, "string.re"), "rep reverse");
        assert_eq!(complete(&lua, "text:re"), "rep reverse");
        assert_eq!(complete(&lua, "('x'):up"), "upper");
        assert_eq!(complete(&lua, "obj."), "own run x");
        assert_eq!(complete(&lua, "obj:"), "run");
        assert_eq!(complete(&lua, "obj.__"), "__index");
        assert_eq!(complete(&lua, "list[1].d"), "deep");
        assert_eq!(complete(&lua, "trap."), "");
        assert_eq!(complete(&lua, "trap.a.b"), "");
        assert_eq!(complete(&lua, "loop.x"), "");
        assert_eq!(complete(&lua, "io.stdout:se"), "seek setvbuf");
        assert_eq!(complete(&lua, "whi"), "while");
        assert_eq!(complete(&lua, "e"), "else elseif end error");
        assert_eq!(complete(&lua, "_"), "_G _VERSION");
    }

    #[test]
    fn local_variables() {
        let found = locals("local a, b <const> = c\nfor i, v in p do local function f(x) end");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "f", "i", "v"]);
        let found = locals("\u{e4} local a = '\\\u{1f600}");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a"]);
    }
}
