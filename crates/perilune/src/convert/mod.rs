//! Conversions of the types of this crate and of the standard library.

mod collections;
mod handles;
mod numbers;
mod text;
