//! Paths of keys such as `a[1].b?.c["d e"]`.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use crate::traits::IntoLua;
use crate::{Error, Lua, Result, Value};

/// A key of a path.
#[derive(Debug, PartialEq)]
pub(crate) enum Key {
    Name(String),
    Index(i64),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Name(s) => f.write_str(s),
            Key::Index(i) => write!(f, "{i}"),
        }
    }
}

impl IntoLua for &Key {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        match self {
            Key::Name(s) => s.into_lua(lua),
            Key::Index(i) => i.into_lua(lua),
        }
    }
}

/// Splits a path into its keys. The flag of a key says whether a `?` follows it.
pub(crate) fn parse(path: &str) -> Result<Vec<(Key, bool)>> {
    let mut chars = path.char_indices().peekable();
    let mut keys = Vec::new();
    let blank = |(_, c): &(usize, char)| c.is_ascii_whitespace();
    loop {
        while chars.next_if(blank).is_some() {}
        let Some(&(at, c)) = chars.peek() else { break };
        let key = match c {
            '[' => {
                chars.next();
                let key = bracket(&mut chars, path.len())?;
                match chars.next() {
                    Some((_, ']')) => key,
                    other => return Err(fail("expected ']'", other.map_or(path.len(), |o| o.0))),
                }
            }
            _ => {
                if c == '.' {
                    chars.next();
                    while chars.next_if(blank).is_some() {}
                } else if !keys.is_empty() {
                    return Err(fail("expected '.' or '['", at));
                }
                let mut name = String::new();
                while let Some((_, c)) = chars
                    .next_if(|(_, c)| !matches!(c, '.' | '?' | '[') && !c.is_ascii_whitespace())
                {
                    name.push(c);
                }
                if name.is_empty() {
                    return Err(fail("empty key", at));
                }
                Key::Name(name)
            }
        };
        let optional = chars.next_if(|(_, c)| *c == '?').is_some();
        keys.push((key, optional));
    }
    Ok(keys)
}

/// Parses the text between brackets: an integer or a quoted string.
fn bracket(chars: &mut Peekable<CharIndices<'_>>, end: usize) -> Result<Key> {
    let at = chars.peek().map_or(end, |c| c.0);
    match chars.peek() {
        Some((_, quote @ ('\'' | '"'))) => {
            let quote = *quote;
            chars.next();
            let mut name = String::new();
            loop {
                match chars.next() {
                    Some((_, c)) if c == quote => return Ok(Key::Name(name)),
                    Some((_, '\\')) => match chars.next() {
                        Some((_, c)) => name.push(c),
                        None => return Err(fail("unfinished string", end)),
                    },
                    Some((_, c)) => name.push(c),
                    None => return Err(fail("unfinished string", end)),
                }
            }
        }
        _ => {
            let mut digits = String::new();
            while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_digit() || *c == '-') {
                digits.push(c);
            }
            digits.parse().map(Key::Index).map_err(|_| fail("invalid integer", at))
        }
    }
}

fn fail(what: &str, at: usize) -> Error {
    Error::runtime(format!("{what} in path at position {at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let shown = |p: &str| match parse(p) {
            Ok(keys) => keys
                .iter()
                .map(|(k, q)| format!("{k:?}{}", if *q { "?" } else { "" }))
                .collect::<Vec<_>>()
                .join(" "),
            Err(e) => e.to_string(),
        };
        assert_eq!(
            shown("a[-1]?.c[\"d\\\" e\"]"),
            "Name(\"a\") Index(-1)? Name(\"c\") Name(\"d\\\" e\")"
        );
        assert_eq!(shown(" .a  [\"b\"]  .c  "), "Name(\"a\") Name(\"b\") Name(\"c\")");
        assert_eq!(shown("a..b"), "runtime error: empty key in path at position 1");
        assert_eq!(shown("a[x]"), "runtime error: invalid integer in path at position 2");
        assert_eq!(shown("a[1"), "runtime error: expected ']' in path at position 3");
        assert_eq!(
            shown("a[99999999999999999999]"),
            "runtime error: invalid integer in path at position 2"
        );
        assert_eq!(shown("a['b"), "runtime error: unfinished string in path at position 4");
    }
}
