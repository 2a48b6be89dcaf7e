//! Checks that names in the documents occur in the sources.

/// Names that are not the project's own.
const FOREIGN: [&str; 6] =
    ["LuaJIT", "Send", "Sync", "parking_lot", "serde_json", "unsafe_op_in_unsafe_fn"];

/// Words before the name of an item.
const KEYWORDS: [&str; 10] =
    ["struct", "enum", "trait", "fn", "type", "const", "static", "mod", "union", "macro_rules!"];

/// Returns whether the word is `snake_case` with an underscore.
pub(super) fn is_snake(word: &str) -> bool {
    word.contains('_')
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
}

/// Returns whether the word names an item: `CamelCase`, `a::b`, or `snake_case`.
pub(super) fn is_item(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if word.is_empty()
        || !word.chars().all(plain)
        || word.starts_with("__")
        || word.starts_with("perilune")
    {
        return false;
    }
    let camel = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.contains(|c: char| c.is_ascii_lowercase());
    (camel || word.contains("::") || is_snake(word)) && !FOREIGN.contains(&word)
}

/// Returns whether the word looks like a constant or environment variable: at least three capitals,
/// digits and underscores.
pub(super) fn is_capitals(word: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.len() >= 3
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(allowed)
}

/// Returns whether the text defines an item with this name or, with `member`, a field, a variant or
/// a method.
pub(super) fn defines(text: &str, name: &str, member: bool) -> bool {
    text.lines().map(|l| super::markdown::code(l).trim_start()).any(|line| {
        let Some(at) = find_word(line, name) else { return false };
        let (before, after) = (line[..at].trim_end(), &line[at + name.len()..]);
        let item = KEYWORDS.iter().any(|k| before.ends_with(k));
        let declared = before.is_empty() || before.starts_with("pub");
        item || member && declared && after.starts_with([':', ',', '(', ' ', ';'])
            // the types that a macro defines from a list
            || before.is_empty() && after == ";"
    })
}

/// Returns the offset of a name as a whole word.
pub(super) fn find_word(line: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(name)
        .map(|(i, _)| i)
        .find(|&i| !line[..i].ends_with(part) && !line[i + name.len()..].starts_with(part))
}
