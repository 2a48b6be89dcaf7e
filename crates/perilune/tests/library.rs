//! The library computes what PUC's computes: generated calls are made on both sides, and their results and errors compared to
//! the letter.
//!
//! Calls come in batches, each from its own seed. A call with another result is made smaller before it is reported.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PERILUNE_DOUBLES` | how many doubles and numerals, on both ways between text and number | 3 seconds |
//! | `PERILUNE_PATTERNS` | how many calls of `find`, `match`, `gmatch` and `gsub` | 3 seconds |
//! | `PERILUNE_FORMATS` | how many calls of `format` | 3 seconds |
//! | `PERILUNE_PACKING` | how many calls of `pack`, `unpack` and `packsize` | 3 seconds |
//! | `PERILUNE_CALLS` | how many calls of other functions without effects | 3 seconds |
//! | `PERILUNE_ENDLESS` | how many calls that take long are interrupted | 40 |
//! | `PERILUNE_LIBRARY_SEED` | the first seed | 1 |
//! | `PERILUNE_LIBRARY_KEEP` | how many differences to collect before the end | 1 |
//!
//! One batch in 50 runs in a state that collects at every safepoint, one in 4 in one whose stacks have no spare room.

#[path = "library/calls.rs"]
mod calls;
#[path = "library/compare.rs"]
mod compare;
#[path = "library/doubles.rs"]
mod doubles;
#[path = "library/faults.rs"]
mod faults;
#[path = "library/formats.rs"]
mod formats;
#[path = "library/halfway.rs"]
mod halfway;
#[path = "library/interrupts.rs"]
mod interrupts;
#[path = "library/numerals.rs"]
mod numerals;
#[path = "library/packing.rs"]
mod packing;
#[path = "library/patterns.rs"]
mod patterns;
#[path = "library/random.rs"]
mod random;
#[path = "library/sides.rs"]
mod sides;
#[path = "library/value.rs"]
mod value;

use compare::compare;

#[test]
fn doubles_are_written_and_read_as_by_puc() {
    compare("PERILUNE_DOUBLES", doubles::hard(), doubles::call);
}

#[test]
fn patterns_match_what_they_match_under_puc() {
    compare("PERILUNE_PATTERNS", patterns::hard(), patterns::call);
}

#[test]
fn formats_give_what_they_give_under_puc() {
    compare("PERILUNE_FORMATS", formats::hard(), formats::call);
}

#[test]
fn packing_gives_what_it_gives_under_puc() {
    compare("PERILUNE_PACKING", packing::hard(), packing::call);
}

#[test]
fn calls_give_what_they_give_under_puc() {
    compare("PERILUNE_CALLS", Vec::new(), calls::call);
}

#[test]
fn no_pattern_runs_on_after_an_interrupt() {
    interrupts::patterns_stop(random::variable("PERILUNE_ENDLESS").unwrap_or(40));
}
