//! The life cycle of machine code: code of real programs is published, replaced and freed while
//! states run it, as the metrics of the engine show.

#[path = "code_life/support.rs"]
mod support;

#[path = "code_life/evict.rs"]
mod evict;
#[path = "code_life/partitions.rs"]
mod partitions;
#[path = "code_life/reclaim.rs"]
mod reclaim;
#[path = "code_life/recompile.rs"]
mod recompile;
#[path = "code_life/sharing.rs"]
mod sharing;
