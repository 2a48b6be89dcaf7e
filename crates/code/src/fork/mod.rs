//! Keeps code, locks and threads consistent when the process forks.
//!
//! A forked child has a copy of all memory but only the thread that forked. This has three
//! consequences, and `docs/code-life.md` argues that they are handled:
//!
//! - Locks that other threads held would stay locked. Threads hold the engine's locks only *inside*
//!   the [`Gate`] ([`lock`](crate::lock::lock)), and compile threads run inside it except while
//!   they generate code ([`outside`]). A thread that forks first closes the gate and waits until no
//!   thread is inside, so in the child no lock is held and no structure is in an inconsistent
//!   state.
//! - Other threads, and the states that they were running, do not exist in the child. [`child`]
//!   identifies the process in which the caller runs; structures that refer to threads compare it
//!   and repair themselves.
//! - Memory that is mapped shared stays shared. [`count`] returns how often the process has forked
//!   or been forked; `region/mapping.rs` replaces older pages before it writes to them.
//!
//! The handlers run for `fork`, and not for `posix_spawn`, `vfork` and `_Fork`, whose children may
//! only call `exec` and what is safe in a signal handler.

mod gate;

pub use gate::Gate;

#[cfg(not(loom))]
pub use process::{Inside, child, count, enter, outside, watch};
#[cfg(not(loom))]
pub(crate) use process::{ThreadToken, survives};

#[cfg(not(loom))]
mod process {
    use std::cell::Cell;
    use std::marker::PhantomData;
    use std::sync::Once;
    use std::sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    };

    use super::Gate;
    use crate::barrier;

    static GATE: Gate = Gate::new();
    /// The number of forks between the first process and this one, incremented in each child. 64
    /// bits do not wrap.
    static CHILD: AtomicU64 = AtomicU64::new(0);
    /// The number of forks, incremented on both sides of each fork. 64 bits do not wrap.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    /// The thread that performed the fork which created this process.
    static SURVIVOR: AtomicU64 = AtomicU64::new(0);
    /// Threads with smaller tokens began before that fork.
    static BORN: AtomicU64 = AtomicU64::new(0);
    /// The next thread's token.
    static NEXT_TOKEN: AtomicU64 = AtomicU64::new(1);

    thread_local! {
        /// How often the thread is inside the gate; it counts once there.
        static DEPTH: Cell<usize> = const { Cell::new(0) };
        /// The token of the thread; 0 if it has none yet.
        static TOKEN: Cell<u64> = const { Cell::new(0) };
    }

    /// Keeps the thread inside the gate: no other thread forks until it is dropped.
    #[derive(Debug)]
    pub struct Inside(PhantomData<*const ()>);

    /// Enters the gate. Calls may be nested.
    ///
    /// A thread that is inside must not wait for anything except locks that are only held inside.
    #[inline]
    pub fn enter() -> Inside {
        let depth = DEPTH.get();
        if depth == 0 {
            GATE.enter();
        }
        DEPTH.set(depth + 1);
        Inside(PhantomData)
    }

    impl Drop for Inside {
        #[inline]
        fn drop(&mut self) {
            let depth = DEPTH.get() - 1;
            DEPTH.set(depth);
            if depth == 0 {
                GATE.leave();
            }
        }
    }

    /// Runs `f` outside the gate, so that other threads may fork in the meantime. This is for work
    /// that takes long or waits, and uses none of the engine's locks. The caller must hold no lock
    /// that the child may need.
    pub fn outside<R>(f: impl FnOnce() -> R) -> R {
        struct Return(usize);
        impl Drop for Return {
            fn drop(&mut self) {
                if self.0 > 0 {
                    GATE.enter();
                }
                DEPTH.set(self.0);
            }
        }
        let depth = DEPTH.replace(0);
        if depth > 0 {
            GATE.leave();
        }
        let _return = Return(depth);
        f()
    }

    /// Returns the number of forks between the original process and this one.
    #[inline]
    pub fn child() -> u64 {
        CHILD.load(Acquire)
    }

    /// Returns the number of forks that this process has made, plus those that its ancestors had
    /// made before they forked it.
    #[inline]
    pub fn count() -> u64 {
        COUNT.load(Acquire)
    }

    /// The name of a thread. Tokens are not reused, not even in a child process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct ThreadToken(pub(crate) u64);

    impl ThreadToken {
        /// Returns the calling thread's token.
        #[inline(always)]
        pub(crate) fn of_this_thread() -> ThreadToken {
            let token = TOKEN.get();
            if token == 0 { ThreadToken::create() } else { ThreadToken(token) }
        }

        #[cold]
        fn create() -> ThreadToken {
            let token = NEXT_TOKEN.fetch_add(1, Relaxed);
            TOKEN.set(token);
            ThreadToken(token)
        }
    }

    /// Returns whether a thread exists in this process, unless it has ended since.
    pub(crate) fn survives(thread: ThreadToken) -> bool {
        thread.0 >= BORN.load(Relaxed) || thread.0 == SURVIVOR.load(Relaxed)
    }

    /// Registers the handlers, once per process. Before this, the gate has no effect.
    pub fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            #[cfg(all(unix, not(miri)))]
            // SAFETY: the handlers are functions of the program and do only what is allowed in
            // them; see each handler. If registration fails (no memory), the process should not
            // fork, which cannot be enforced.
            let _ = unsafe { libc::pthread_atfork(Some(prepare), Some(in_parent), Some(in_child)) };
            #[cfg(not(all(unix, not(miri))))]
            let _ = (prepare, in_parent, in_child);
        });
    }

    /// Runs before the fork, on the thread that forks. A thread that forks inside the gate leaves
    /// it first, since two such threads would otherwise wait for each other; the caller is then
    /// responsible for the locks that it holds.
    ///
    /// While the gate is closed this thread counts as inside, as other handlers may take locks of
    /// the engine, for instance when they allocate memory.
    extern "C" fn prepare() {
        if DEPTH.get() > 0 {
            GATE.leave();
        }
        GATE.close();
        DEPTH.set(DEPTH.get() + 1);
    }

    /// Ends what [`prepare`] began, after the gate was opened.
    fn continue_after_fork() {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() > 0 {
            GATE.enter();
        }
    }

    /// Runs after the fork in the parent, also if the fork failed.
    extern "C" fn in_parent() {
        COUNT.fetch_add(1, Release);
        GATE.open();
        continue_after_fork();
    }

    /// Runs after the fork in the child. It only stores words and makes system calls, which is safe
    /// in a signal handler.
    extern "C" fn in_child() {
        BORN.store(NEXT_TOKEN.load(Relaxed), Relaxed);
        SURVIVOR.store(TOKEN.get(), Relaxed);
        COUNT.fetch_add(1, Release);
        CHILD.fetch_add(1, Release);
        barrier::register_again();
        GATE.reset();
        continue_after_fork();
    }
}
