//! No source text overflows the native stack: nesting has a limit, and chains are parsed without
//! recursion.

use perilune_syntax::{parse, with_arena};

const STACK: usize = 256 << 10;

/// Parses about a megabyte of `unit` between `before` and `after` on a small stack; expects an
/// error of that text, or none.
fn check(before: &str, unit: &str, after: &str, expect: Option<&str>) {
    let source = format!("{before}{}{after}", unit.repeat((1 << 20) / unit.len()));
    let thread = std::thread::Builder::new().stack_size(STACK);
    let result = thread
        .spawn(move || {
            with_arena(|arena| {
                parse(arena, source.as_bytes(), b"=deep").map(drop).map_err(|error| error.message)
            })
        })
        .unwrap()
        .join()
        .unwrap();
    let got = result.map_err(|message| String::from_utf8(message).unwrap());
    assert_eq!(got.err().as_deref(), expect, "{before}{unit}{unit}…");
}

#[test]
fn chains() {
    check("x = ", "1+", "1", None);
    check("x = ", "a and b or ", "1", None);
    check("x = a", ".b.c", "", None);
    check("x = a", "[1]", "", None);
    check("f", "()", "", None);
    check("f", ":m()", "", None);
    check("f", "''{}", "", None);
    check("x = {", "1,", "}", None);
    check("x = {", "a=1;", "}", None);
    check("", "x=1;", "", None);
    check("", ";", "", None);
    check("", "\n", "", None);
    check("", "--\n", "", None);
    check("", " ", "", None);
    check("", "--[[]]", "", None);
    check("", "::", "", Some("deep:1: <name> expected near '::'"));
    check("if a then ", "elseif a then ", "end", None);
    check("f(", "1,", "1)", None);
    check("x = '", "\\z ", "'", None);
    check("x = '", "\\65", "'", None);
    check("return ", "a,", "a", None);
    check("return ", "a<b..c==", "a", None);
}

#[test]
fn nesting() {
    let units = [
        "(",
        "{",
        "{a=",
        "{[",
        "not ",
        "- ",
        "-",
        "#",
        "~ ",
        "a..",
        "2^",
        "f(",
        "a[",
        "function() return ",
        "a+(",
        "f{f(",
        "-{[function() return (",
    ];
    for unit in units {
        if unit == "-" {
            // A comment.
            check("x = ", unit, "", Some("deep:1: unexpected symbol near <eof>"));
        } else {
            check("x = ", unit, "1", Some("C stack overflow"));
        }
    }
    let units = [
        "do ",
        "while a do ",
        "repeat ",
        "if a then ",
        "if a then else ",
        "function f() ",
        "local function f() ",
        "a,",
        "::a::",
        "local x = function() ",
        "return function(...) ",
        "f(function() ",
    ];
    for unit in units {
        check("", unit, "", Some("C stack overflow"));
    }
    let limit = "deep:1: too many local variables (limit is 200) in main function near";
    check("", "for i=1,2 do ", "", Some(&format!("{limit} '='")));
    check("", "for k in v do ", "", Some(&format!("{limit} 'in'")));
}
