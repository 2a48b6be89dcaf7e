//! Failures of the compiler: catches panics outside of compile threads, and injects faults for
//! tests.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use perilune_code::Refusal;

/// Stages of compiling a method, in order.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Copying feedback, on the thread of the state.
    Snapshot,
    /// Translating bytecode to Cranelift IR.
    Translate,
    /// Running Cranelift's verifier.
    Verify,
    /// Compiling the IR to machine code with Cranelift.
    Compile,
    /// Reserving executable memory.
    Reserve,
    /// Installing the code in the slot.
    Publish,
}

/// A fault to inject, for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A panic at the beginning of a stage.
    Panic(Stage),
    /// The IR is malformed, which the verifier reports.
    Malformed,
    /// OSR entries do not check the tags of registers.
    UncheckedEntry,
    /// Facts about memory outlive calls.
    StaleMemory,
    /// Facts about memory outlive calls of functions whose early returns are inlined.
    StaleJoins,
    /// Values of upvalues that the program never assigns are reused after calls without a guard.
    StaleConstants,
    /// Values of globals that may change are reused after calls.
    StaleGlobals,
    /// Loaded fields are reused after stores to fields and after calls.
    StaleLoads,
    /// Loops that are not quiet keep facts about memory.
    NoisyLoops,
    /// Loops keep facts about memory after polls in which memory may have changed.
    LoudPolls,
    /// The fields of a constructor are inferred from slots, instead of from shapes.
    UnlinkedConstructor,
    /// Exits omit the store of the last register that they should store.
    ForgottenStore,
    /// Registers of inlined frames are taken for variables of the outermost frame.
    ConfusedRegisters,
    /// Stores have no write barrier.
    NoBarrier,
    /// A store compares the kind of an array with a tag that may not be the tag of a number.
    UnguardedKind,
}

impl Fault {
    /// Panics if the fault is a panic at this stage. The panic prints no message, as it is not a
    /// bug.
    pub(crate) fn at(fault: Option<Fault>, stage: Stage) {
        if fault == Some(Fault::Panic(stage)) {
            resume_unwind(Box::new(format!("injected at {stage:?}")));
        }
    }
}

/// Runs a part of the compiler. A panic becomes a refusal.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Refusal> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| Refusal::Panic(message(&*payload).into()))
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}
