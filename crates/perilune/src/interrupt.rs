//! Stopping a running script from outside.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use perilune_runtime::state::{State, poll};

/// The way to a state's poll word, which outlives the state.
///
/// Lock-free on the side of the requests, so that signal handlers may use it: a request announces itself in `users`
/// before it looks at `word`, and [`Gate::close`] waits for announced requests after it has taken `word` away.
pub(crate) struct Gate {
    word: AtomicPtr<AtomicU32>,
    users: AtomicU32,
}

impl Gate {
    /// A gate to the poll word of `st`.
    ///
    /// # Safety
    /// `st` is alive, and stays so until [`Gate::close`] has returned.
    pub(crate) unsafe fn to(st: *mut State) -> Arc<Gate> {
        let word = AtomicPtr::new((&raw const (*st).poll).cast_mut());
        Arc::new(Gate { word, users: AtomicU32::new(0) })
    }

    /// Sets INTERRUPT and these bits of the poll word.
    pub(crate) fn request(&self, with: u32) {
        self.users.fetch_add(1, Ordering::SeqCst);
        let word = self.word.load(Ordering::SeqCst);
        if !word.is_null() {
            // SAFETY: P2: the gate was open after this request was counted, so whoever closes it waits for the end of it.
            unsafe { (*word).fetch_or(poll::INTERRUPT | with, Ordering::Relaxed) };
        }
        self.users.fetch_sub(1, Ordering::SeqCst);
    }

    /// Cuts the way; no request touches the poll word after this.
    pub(crate) fn close(&self) {
        self.word.store(null_mut(), Ordering::SeqCst);
        while self.users.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }
}

/// Raises "interrupted!" in the script that a state runs. May be kept and used on any thread, also when the state is gone.
#[derive(Clone)]
pub struct Interrupt(pub(crate) Arc<Gate>);

impl Interrupt {
    /// Asks for the interrupt; it happens at the script's next safepoint. A state that runs nothing is interrupted
    /// as soon as it runs something.
    pub fn request(&self) {
        self.0.request(0);
    }

    /// Lets a signal ask for the interrupt: when the trap is armed, the signal disarms it and interrupts the script; otherwise
    /// it does what it does by default. So a second signal ends a process whose script does not stop.
    ///
    /// # Errors
    /// When the signal cannot be caught.
    pub fn on_signal(&self, signal: i32, trap: Arc<SignalTrap>) -> std::io::Result<()> {
        let gate = self.0.clone();
        let act = move || {
            if trap.disarm() {
                gate.request(if trap.patient.load(Ordering::SeqCst) { poll::PATIENCE } else { 0 });
            } else {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        };
        // SAFETY: P3 (what runs in a signal handler is async-signal-safe): atomic operations only, and a function documented as such.
        unsafe { signal_hook::low_level::register(signal, act) }.map(|_| ())
    }
}

/// What a signal does to a script; see [`Interrupt::on_signal`].
#[derive(Default)]
pub struct SignalTrap {
    armed: AtomicBool,
    patient: AtomicBool,
}

impl SignalTrap {
    /// From now on the signal interrupts the script.
    pub fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    /// From now on the signal does what it does by default. Whether it would have interrupted the script.
    pub fn disarm(&self) -> bool {
        self.armed.swap(false, Ordering::SeqCst)
    }

    /// Whether library functions that run long, such as a search with an expensive pattern, go on for a second after the signal. PUC's
    /// never stop, so programs that stand by with a second signal expect to need it. Safepoints of the script obey at once.
    pub fn set_patient(&self, patient: bool) {
        self.patient.store(patient, Ordering::SeqCst);
    }
}

/// Lets a write to a pipe that nobody reads end the process, as in C programs; the start-up code of Rust programs turns it
/// into an error. For commands, at their start: what `command | head` needs.
pub fn end_on_broken_pipe() {
    // SAFETY: P3: the default action is no handler, so nothing of the process runs in it.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
