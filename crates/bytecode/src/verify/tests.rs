//! Code that must not verify.
