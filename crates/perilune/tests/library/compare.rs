//! Comparison of generated calls, batch by batch.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use super::faults::same;
use super::random::{Random, variable};
use super::sides::Sides;
use super::value::Call;

/// The number of calls in a batch.
const BATCH: u64 = 500;
/// The number of batches that share a state.
const BATCHES: u64 = 20;
/// The duration of a run for which no number is set.
const SHORT: Duration = Duration::from_secs(3);

/// Reduces a call that has a different result.
fn shrink(mut call: Call) -> Call {
    let start = Instant::now();
    'smaller: while start.elapsed() < Duration::from_secs(20) {
        for smaller in call.smaller() {
            if !Sides::new(0).agree(std::slice::from_ref(&smaller)) {
                call = smaller;
                continue 'smaller;
            }
        }
        break;
    }
    call
}

/// Returns the first call of a batch that differs, reduced, with the results of both sides.
fn report(calls: &[Call], number: u64) -> String {
    let alone = calls.iter().find(|call| !Sides::new(0).agree(std::slice::from_ref(call)));
    let (calls, number) = match alone {
        Some(call) => (vec![shrink(call.clone())], 0),
        None => (calls.to_vec(), number),
    };
    let (puc, perilune) = Sides::new(number).results(&calls);
    for (i, call) in calls.iter().enumerate() {
        let (puc, perilune) = (puc.get(i), perilune.get(i));
        if !puc.zip(perilune).is_some_and(|(a, b)| same(call, a, b)) {
            let shown = |result: Option<&Vec<u8>>| {
                result.map_or("(nothing)".to_owned(), |r| r.escape_ascii().to_string())
            };
            return format!("{call:?}\n  PUC      {}\n  Perilune {}", shown(puc), shown(perilune));
        }
    }
    "a difference that does not happen again".to_owned()
}

/// Compares the calls in `hard`, and as many generated calls as the variable says.
pub(crate) fn compare(name: &str, hard: Vec<Call>, call: impl Fn(&mut Random) -> Call) {
    let count = variable(name);
    let first = variable("PERILUNE_LIBRARY_SEED").unwrap_or(1);
    let keep = variable("PERILUNE_LIBRARY_KEEP").unwrap_or(1);
    // The file contains the seed of the current batch after a crash.
    let crumb = format!("{}/{name}-seed", env!("CARGO_TARGET_TMPDIR"));
    let crumb = std::fs::File::create(crumb).expect("a file can be made");
    let mut sides = Sides::new(0);
    let (mut made, mut found) = (0, 0);
    for calls in hard.chunks(BATCH as usize) {
        if !sides.agree(calls) {
            found += 1;
            let _ = writeln!(std::io::stderr(), "{name} hard cases: {}", report(calls, 0));
        }
    }
    let mut seed = first;
    let start = Instant::now();
    while found < keep && count.map_or(start.elapsed() < SHORT, |count| made < count) {
        if seed.is_multiple_of(BATCHES) {
            sides = Sides::new(seed / BATCHES);
        }
        let _ = crumb.write_at(format!("{seed:20}\n").as_bytes(), 0);
        let mut random = Random::new(seed);
        let calls: Vec<Call> = (0..BATCH).map(|_| call(&mut random)).collect();
        if !sides.agree(&calls) {
            found += 1;
            let _ = writeln!(
                std::io::stderr(),
                "{name} seed {seed}: {}",
                report(&calls, seed / BATCHES)
            );
            sides = Sides::new(seed / BATCHES);
        }
        made += BATCH;
        seed += 1;
        if count.is_some() && made.is_multiple_of(1_000_000) {
            let _ = writeln!(std::io::stderr(), "{name}: {made} calls, {:?}", start.elapsed());
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {made} generated calls and {} hard ones, the former in {:?}; {found} batches \
         differ",
        hard.len(),
        start.elapsed()
    );
    assert_eq!(found, 0, "calls have other results");
}
