//! The input and output of a translation.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use perilune_bytecode::Proto;
use perilune_runtime::tier::RuntimeCalls;

use crate::analysis::early::EarlyPart;
use crate::exits::map::ExitMap;
use crate::feedback::snapshot::Snapshot;
use crate::testing::fault::Fault;
use crate::tier2;

/// A function to be translated, and the assumptions about it.
pub(crate) struct Input<'a> {
    pub(crate) proto: &'a Arc<Proto>,
    pub(crate) snapshot: &'a Snapshot,
    /// The pc of the loop at which an OSR entry begins, or `None` for the function itself.
    pub(crate) entry: Option<usize>,
    /// The id that frames of the code carry.
    pub(crate) id: u32,
    pub(crate) calls: &'a RuntimeCalls,
    /// Whether to run Cranelift's verifier.
    pub(crate) verify: bool,
    /// Whether the code compares the values that it holds for registers and tables with frame and
    /// heap.
    pub(crate) verify_values: bool,
    /// Whether guards also fail when the state requests it.
    pub(crate) stress_exits: bool,
    /// The fault to inject, for tests.
    pub(crate) fault: Option<Fault>,
    /// Whether the code counts instructions.
    pub(crate) counts: bool,
    /// Calls whose callee is likely to be a member of the same module, by pc.
    pub(crate) direct: &'a HashMap<u32, Direct>,
    /// Calls whose callees may be inlined, by pc.
    pub(crate) inlinees: &'a Inlinees,
}

/// Functions that may be inlined, by the pcs of their calls.
pub(crate) type Inlinees = HashMap<u32, Vec<Inlinee>>;

/// A function that may be inlined at a call.
pub(crate) struct Inlinee {
    pub(crate) proto: Arc<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The address of its slot, which the code compares. The code keeps the method alive.
    pub(crate) slot: usize,
    /// The ids of the shapes of the receivers that have it as their method, if it is one of several
    /// callees.
    pub(crate) shapes: BTreeSet<u32>,
    /// The early returns, if only these may be inlined.
    pub(crate) early: Option<EarlyPart>,
    /// Calls in the function whose callees may be inlined in turn.
    pub(crate) inlinees: Inlinees,
    /// See [`Input::direct`]. It is empty: calls in inlined functions go through slots.
    pub(crate) direct: HashMap<u32, Direct>,
}

/// The results of a translation besides Cranelift IR.
pub(crate) struct Translated {
    pub(crate) exits: ExitMap,
    /// The intermediate representation.
    pub(crate) ssa: tier2::ir::Function,
}

/// The likely callee of a call.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    /// The number of the callee among the members of the module.
    pub(crate) member: u32,
    /// The address of its slot, which the code compares. The code keeps the method alive.
    pub(crate) slot: usize,
    /// Whether the function calls itself.
    pub(crate) is_self: bool,
}
