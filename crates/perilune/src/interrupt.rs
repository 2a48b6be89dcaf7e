//! Stopping a running script from another thread or a signal handler.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use perilune_code::fork;
use perilune_runtime::state::{State, poll};

/// A gate to a state's poll word that outlives the state.
///
/// Requests are lock-free, so that signal handlers may make them: a request is counted in `users`
/// before it reads `word`, and [`Gate::close`] clears `word` and then waits until the counted
/// requests have ended.
pub(crate) struct Gate {
    word: AtomicPtr<AtomicU32>,
    /// The number of requests in progress, in the low half, and the number of the process that they
    /// are counted in ([`fork::child`]): a forked child has none of the threads that they run on.
    users: AtomicU64,
}

impl Gate {
    /// Creates a gate to the poll word of `st`.
    ///
    /// # Safety
    /// `st` is alive, and stays so until [`Gate::close`] has returned.
    pub(crate) unsafe fn to(st: *mut State) -> Arc<Gate> {
        let word = AtomicPtr::new((&raw const (*st).poll).cast_mut());
        Arc::new(Gate { word, users: AtomicU64::new(0) })
    }

    /// Sets INTERRUPT and these bits of the poll word.
    pub(crate) fn request(&self, with: u32) {
        let process = fork::child() as u32;
        let one_more =
            |users| Some(u64::from(process) << 32 | u64::from(users_in(process, users) + 1));
        let _ = self.users.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more);
        let word = self.word.load(Ordering::SeqCst);
        if !word.is_null() {
            // SAFETY: P2: the gate was open after this request was counted, so closing it waits
            // until this request has ended.
            unsafe { (*word).fetch_or(poll::INTERRUPT | with, Ordering::Relaxed) };
        }
        self.users.fetch_sub(1, Ordering::SeqCst);
    }

    /// Closes the gate. No request touches the poll word afterwards.
    pub(crate) fn close(&self) {
        self.word.store(null_mut(), Ordering::SeqCst);
        let process = fork::child() as u32;
        while users_in(process, self.users.load(Ordering::SeqCst)) != 0 {
            std::thread::yield_now();
        }
    }
}

/// Returns how many of these [`Gate::users`] are in a process.
fn users_in(process: u32, users: u64) -> u32 {
    if (users >> 32) as u32 == process { users as u32 } else { 0 }
}

/// A handle that raises "interrupted!" in the script that a state is running. It may be kept and
/// used on any thread, even after the state has ended.
#[derive(Clone)]
pub struct Interrupt(pub(crate) Arc<Gate>);

impl Interrupt {
    /// Requests the interrupt, which is raised at the script's next safepoint. An idle state is
    /// interrupted as soon as it runs something.
    pub fn request(&self) {
        self.0.request(0);
    }

    /// Installs a signal handler that requests the interrupt. While the trap is armed, the signal
    /// disarms it and interrupts the script; otherwise the signal has its default effect. A second
    /// signal therefore ends a process whose script does not stop.
    ///
    /// # Errors
    /// Returns the system's error when the signal cannot be caught.
    pub fn on_signal(&self, signal: i32, trap: Arc<SignalTrap>) -> std::io::Result<()> {
        let gate = self.0.clone();
        let act = move || {
            if trap.disarm() {
                gate.request(if trap.patient.load(Ordering::SeqCst) { poll::PATIENCE } else { 0 });
            } else {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        };
        // SAFETY: P3 (code that runs in a signal handler is async-signal-safe): atomic operations
        // only, and a function documented as such.
        unsafe { signal_hook::low_level::register(signal, act) }.map(|_| ())
    }
}

/// The effect of a signal on a script; see [`Interrupt::on_signal`].
#[derive(Default)]
pub struct SignalTrap {
    armed: AtomicBool,
    patient: AtomicBool,
}

impl SignalTrap {
    /// Arms the trap: the signal interrupts the script from now on.
    pub fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    /// Disarms the trap: the signal has its default effect from now on. Returns whether it was
    /// armed.
    pub fn disarm(&self) -> bool {
        self.armed.swap(false, Ordering::SeqCst)
    }

    /// Sets whether long-running library functions, such as a search with an expensive pattern,
    /// continue for up to a second after the signal. Library functions of PUC Lua cannot be
    /// interrupted, so programs that send signals may rely on a second one being necessary. The
    /// script itself still stops at its next safepoint.
    pub fn set_patient(&self, patient: bool) {
        self.patient.store(patient, Ordering::SeqCst);
    }
}

/// Restores the default action of SIGPIPE, which Rust's start-up code sets to be ignored: a write
/// to a pipe that has no reader ends the process, as in C programs. Commands call this when they
/// start, so that `command | head` works.
pub fn end_on_broken_pipe() {
    // SAFETY: P3: the default action runs no code of the process.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
