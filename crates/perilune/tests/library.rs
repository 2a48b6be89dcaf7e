//! Compares the library with PUC's: generated calls are made on both sides, and their results and
//! errors must be exactly equal.
//!
//! Calls come in batches, each from its own seed. A call with a different result is reduced before
//! it is reported.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PERILUNE_DOUBLES` | number of doubles and numerals converted in both directions | 3 seconds |
//! | `PERILUNE_PATTERNS` | number of calls of `find`, `match`, `gmatch` and `gsub` | 3 seconds |
//! | `PERILUNE_FORMATS` | number of calls of `format` | 3 seconds |
//! | `PERILUNE_PACKING` | number of calls of `pack`, `unpack` and `packsize` | 3 seconds |
//! | `PERILUNE_CALLS` | number of calls of other functions without effects | 3 seconds |
//! | `PERILUNE_ENDLESS` | number of expensive calls that are interrupted | 40 |
//! | `PERILUNE_LIBRARY_SEED` | the first seed | 1 |
//! | `PERILUNE_LIBRARY_KEEP` | number of differences to collect before the end | 1 |
//!
//! One batch in 50 runs in a state that collects at every safepoint, one in 4 in a state whose
//! stacks have no spare room.

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
