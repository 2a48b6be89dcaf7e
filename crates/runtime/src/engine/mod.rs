//! What all states of an engine share: symbols and shapes. Never holds a pointer into a heap; everything in it dies with its last user.

/// The shared part of an engine.
pub struct EngineShared {}

/// An engine-wide hidden class.
pub struct Shape {}
