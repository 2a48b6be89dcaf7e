//! Who may have a long piece of work given up.

/// Asked every few thousand tokens or statements, and within long tokens, with the bytes that parsing has taken so far: whether to give up.
pub type Watch<'w> = &'w dyn Fn(usize) -> bool;

/// The message when a [`Watch`] said so.
pub const GIVEN_UP: &str = "not enough memory";
