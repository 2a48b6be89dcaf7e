//! Machine code of real programs comes, is replaced and goes away while states run it: the figures of the engine say so.

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
