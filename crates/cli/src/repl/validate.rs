//! Determines whether the input is a complete entry.

use perilune::syntax;

use super::dot_command;

/// Returns whether the text could still become valid with more lines.
///
/// The newline before the next line is taken into account, so that a string that lacks its quote is
/// an error at once.
pub(super) fn is_incomplete(text: &str) -> bool {
    if dot_command::split(text).is_some() {
        return false;
    }
    let text = text.strip_prefix('=').unwrap_or(text);
    let parses = |source: String| syntax::check(source.as_bytes(), b"=");
    if parses(format!("return {text}\n;")).is_ok() {
        return false;
    }
    let mut error = parses(format!("{text}\n"));
    if error.is_ok() {
        return false;
    }
    // An incomplete expression may not be an incomplete statement: `(f or` alone would be wrong as
    // one.
    if error.as_ref().is_err_and(|e| !e.incomplete) {
        error = parses(format!("return {text}\n"));
    }
    error.is_err_and(|e| e.incomplete)
}

#[cfg(test)]
mod tests {
    use super::is_incomplete;

    #[test]
    fn whole() {
        for text in ["", "1", "= 1", "x = 1", "f()", "return", "-- c", "1 -- c", "x =", ".help"] {
            let expect = text == "x =";
            assert_eq!(is_incomplete(text), expect, "{text}");
        }
    }

    #[test]
    fn wrong() {
        for text in ["x = = 1", "end", "'abc", "x = \"a", "for for", "1 + $"] {
            assert!(!is_incomplete(text), "{text}");
        }
    }

    #[test]
    fn unfinished() {
        let texts = [
            "for i = 1, 3 do",
            "function f()",
            "x = {",
            "{1,",
            "1 +",
            "f(",
            "#",
            "x = 'a\\",
            "x = 'a\\z",
            "[[a",
            "--[[ a",
            "if x then\n  y()",
            "= 1 +",
            "'a' ..",
        ];
        for text in texts {
            assert!(is_incomplete(text), "{text}");
        }
    }
}
