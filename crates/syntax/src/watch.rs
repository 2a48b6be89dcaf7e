//! The check through which a caller can stop a long parse.

/// Returns whether to give up. It is called every few thousand tokens or statements, and within
/// long tokens, with the number of bytes that parsing has taken so far.
pub type Watch<'w> = &'w dyn Fn(usize) -> bool;

/// The message when a [`Watch`] has ended the work.
pub const ABORTED: &str = "not enough memory";

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::ABORTED;
    use crate::{parse_watched, with_arena};

    /// Returns how often the watch was called while `source` was parsed, the largest number of
    /// bytes that it was given, and whether the source is a chunk.
    fn watched(source: &str, give_up: bool) -> (usize, usize, Result<(), String>) {
        let (looks, most) = (Cell::new(0), Cell::new(0));
        let watch = |bytes| {
            looks.set(looks.get() + 1);
            most.set(most.get().max(bytes));
            give_up
        };
        let result = with_arena(|arena| {
            let chunk = parse_watched(arena, source.as_bytes(), b"=watched", 0, &watch);
            chunk.map(drop).map_err(|e| String::from_utf8_lossy(&e.message).into_owned())
        });
        (looks.get(), most.get(), result)
    }

    #[test]
    fn long_tokens_are_given_up() {
        const LENGTH: usize = 1 << 20;
        let text = "a".repeat(LENGTH);
        let kept = [format!("return '{text}'"), format!("return [[{text}]]")];
        let passed = [
            format!("--{text}"),
            format!("--[[{text}]]"),
            " ".repeat(LENGTH),
            "\n".repeat(LENGTH),
            "--\n".repeat(LENGTH / 3),
            format!("return '\\z{}'", " ".repeat(LENGTH)),
            format!("return {}", "9".repeat(LENGTH)),
        ];
        for source in kept.iter().chain(&passed) {
            let what = &source[..20];
            let (looks, _, result) = watched(source, true);
            assert_eq!((looks, result), (1, Err(ABORTED.to_owned())), "{what}");
            let (looks, _, result) = watched(source, false);
            assert_eq!(result, Ok(()), "{what}");
            assert!((12..=20).contains(&looks), "{what}: {looks} looks");
        }
        // Text that is skipped takes no memory.
        assert!(passed.iter().all(|source| watched(source, false).1 < LENGTH / 4));
        assert!(kept.iter().all(|source| watched(source, false).1 > LENGTH / 2));
    }
}
