//! Checks whether there is memory for a thread.

/// The memory that a thread needs beyond its stack, generously estimated.
const BEYOND_STACK: usize = 4 << 20;

/// Returns whether a thread with a stack of this many bytes can be started.
///
/// A thread whose signal stack cannot be allocated panics before it runs any code of the engine,
/// and that ends the process. So memory is allocated tentatively before a thread is started.
pub(crate) fn for_thread(stack: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(stack + BEYOND_STACK).is_ok()
}
