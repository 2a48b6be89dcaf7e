//! Hints after the cursor: the parameters of the function whose call was just opened, or the rest
//! of an earlier entry.

use perilune::native::{Cx, Func, Val};
use rustyline::Context;
use rustyline::hint::Hint;
use rustyline::history::SearchDirection;

use super::complete::{self, Key};
use super::signatures;

/// A hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Suggestion {
    text: String,
    /// Whether the hint is inserted into the line when the cursor moves right.
    insert: bool,
}

impl Hint for Suggestion {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.insert.then_some(&self.text)
    }
}

/// Returns the parameters of the function whose call is opened at the end of the text.
pub(super) fn suggest(cx: &Cx, text: &str) -> Option<Suggestion> {
    let callee = text.strip_suffix('(')?;
    let place = complete::place(callee).filter(|p| !p.name.is_empty())?;
    let mut path = place.path;
    path.push(Key::Name(place.name));
    let f = complete::value(cx, &path).as_func()?;
    let mut parameters = parameters(cx, f)?;
    if place.method {
        parameters = signatures::behind_receiver(&parameters);
    }
    Some(Suggestion { text: parameters + ")", insert: false })
}

/// Returns the names of a function's parameters, as far as they are known.
fn parameters(cx: &Cx, f: Func<'_>) -> Option<String> {
    if f.is_native() {
        let known =
            signatures::LIBRARY.iter().find(|(name, _)| library(cx, name).raw_equals(f.val()));
        return known.map(|(_, list)| (*list).to_owned());
    }
    let names = (1..).map_while(|i| cx.parameter_name(f, i));
    let mut names: Vec<String> = names.map(|n| String::from_utf8_lossy(&n).into_owned()).collect();
    if cx.function_info(f).is_vararg {
        names.push("...".into());
    }
    Some(names.join(", "))
}

/// Returns the function of the library that has this name in the table of signatures.
pub(super) fn library<'a>(cx: &'a Cx, name: &str) -> Val<'a> {
    let name = match name.strip_prefix("file:") {
        Some(method) => format!("io.stdout.{method}"),
        None => name.to_owned(),
    };
    let path: Vec<Key> = name.split('.').map(|k| Key::Name(k.to_owned())).collect();
    complete::value(cx, &path)
}

/// Returns the rest of the latest entry of the history that starts with the text.
pub(super) fn from_history(text: &str, context: &Context<'_>) -> Option<Suggestion> {
    if text.trim().is_empty() {
        return None;
    }
    let newest = context.history_index().min(context.history().len().checked_sub(1)?);
    let found = context.history().starts_with(text, newest, SearchDirection::Reverse).ok()??;
    // The rest of a long entry would push the prompt away.
    let rest = found.entry.get(text.len()..)?;
    let shown = rest.split('\n').next().unwrap_or_default();
    (!shown.is_empty()).then(|| Suggestion { text: shown.to_owned(), insert: true })
}

#[cfg(test)]
mod tests {
    use super::{from_history, library, suggest};
    use crate::native::with_cx;
    use crate::repl::signatures;
    use perilune::Lua;
    use rustyline::Context;
    use rustyline::hint::Hint;
    use rustyline::history::{DefaultHistory, History};

    fn check(lua: &Lua, text: &str, expect: &str) {
        let hint = with_cx(lua, |cx| suggest(cx, text));
        assert_eq!(hint.as_ref().map_or("", |h| h.display()), expect, "{text}");
    }

    #[test]
    fn parameters_of_functions() {
        let lua = Lua::new();
        let program = "function f(a, b, ...) end; o = {m = function(self, x) end}; s = 'x'";
        lua.load(program).exec().expect("runs");
        check(&lua, "f(", "a, b, ...)");
        check(&lua, "x = o:m(", "x)");
        check(&lua, "o.m(", "self, x)");
        check(&lua, "math.floor(", "x)");
        check(&lua, "s:rep(", "n [, sep])");
        check(&lua, "io.stdout:write(", "...)");
        check(&lua, "os.clock(", ")");
        check(&lua, "unknown(", "");
        check(&lua, "(", "");
        check(&lua, "print", "");
    }

    /// The table of signatures and the library have the same functions.
    #[test]
    fn signatures_are_complete() {
        let lua = Lua::with_engine(&perilune::Engine::interpreter());
        with_cx(&lua, |cx| {
            for (name, _) in signatures::LIBRARY {
                assert!(library(cx, name).as_func().is_some(), "no function {name}");
            }
        });
        let list = "local names = {}
            for k, v in pairs(_G) do
              if type(v) == 'function' then names[#names + 1] = k
              elseif type(v) == 'table' and v ~= _G and k ~= 'package' then
                for f, v in pairs(v) do if type(v) == 'function' then names[#names + 1] = k .. '.' \
                .. f end end
              end
            end
            return table.concat(names, ' ')";
        let names = lua.load(list).call::<String>(()).expect("runs");
        for name in names.split(' ') {
            assert!(signatures::LIBRARY.iter().any(|(n, _)| *n == name), "no signature of {name}");
        }
    }

    #[test]
    fn earlier_entries() {
        let mut history = DefaultHistory::new();
        for entry in ["print(1)", "for i = 1, 2 do\n  x()\nend", "print(2)"] {
            history.add(entry).expect("room");
        }
        let check = |text: &str, expect: Option<&str>| {
            let hint = from_history(text, &Context::new(&history));
            assert_eq!(hint.as_ref().and_then(|h| h.completion()), expect, "{text}");
        };
        check("pr", Some("int(2)"));
        check("for", Some(" i = 1, 2 do"));
        check("print(2)", None);
        check("x", None);
        check("", None);
    }
}
