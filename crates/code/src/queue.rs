//! The queue of jobs by priority that all workers share. Channels bring jobs to it in the order of
//! their arrival.

/// The least number of jobs at which a queue is pruned.
const CROWDED: usize = 64;

/// A queue that hands out the job with the highest priority, and among equal ones the first to
/// arrive.
///
/// Priorities change while jobs wait, so the queue is searched when a job is taken. There are at
/// most hundreds of jobs, and each takes far longer than the search; jobs that are no longer wanted
/// are removed before they become many.
pub(crate) struct Queue<J> {
    /// The jobs in the order of their arrival, with the priorities that they came with.
    entries: Vec<(u64, J)>,
    /// The number of jobs from which on the queue is pruned.
    crowded: usize,
}

impl<J> Queue<J> {
    /// Creates an empty queue.
    pub(crate) fn new() -> Queue<J> {
        Queue { entries: Vec::new(), crowded: CROWDED }
    }

    pub(crate) fn push(&mut self, priority: u64, job: J) {
        self.entries.push((priority, job));
    }

    /// Takes the job with the highest `priority`, a function of the job and the priority that it
    /// came with.
    pub(crate) fn pop(&mut self, priority: impl Fn(&J, u64) -> u64) -> Option<J> {
        let now = |(given, job): &(u64, J)| priority(job, *given);
        let key = |(place, entry): (usize, &(u64, J))| (now(entry), std::cmp::Reverse(place));
        let (_, std::cmp::Reverse(place)) = self.entries.iter().enumerate().map(key).max()?;
        let (_, job) = self.entries.remove(place);
        self.crowded = self.crowded.min(self.doubled());
        Some(job)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all jobs, in the order of their arrival.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &J> {
        self.entries.iter().map(|(_, job)| job)
    }

    /// Takes out the jobs that are not wanted, if the number of jobs has doubled since this was
    /// last done.
    pub(crate) fn prune(&mut self, mut is_wanted: impl FnMut(&J) -> bool) -> Vec<J> {
        if self.entries.len() < self.crowded {
            return Vec::new();
        }
        let unwanted = self.remove(|job| !is_wanted(job));
        self.crowded = self.doubled();
        unwanted
    }

    /// Returns twice the number of jobs, and at least [`CROWDED`].
    fn doubled(&self) -> usize {
        CROWDED.max(2 * self.entries.len())
    }

    /// Takes out the jobs at some places of [`Queue::jobs`], in the order of their arrival.
    pub(crate) fn take(&mut self, is_taken: impl Fn(usize) -> bool) -> Vec<J> {
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for (place, entry) in std::mem::take(&mut self.entries).into_iter().enumerate() {
            if is_taken(place) {
                gone.push(entry.1);
            } else {
                kept.push(entry);
            }
        }
        self.entries = kept;
        gone
    }

    /// Takes out all jobs for which `out` returns true.
    pub(crate) fn remove(&mut self, mut out: impl FnMut(&J) -> bool) -> Vec<J> {
        // Jobs stay in the queue if `out` panics.
        let is_out: Vec<bool> = self.jobs().map(&mut out).collect();
        if is_out.contains(&true) { self.take(|place| is_out[place]) } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hottest_first_then_earliest() {
        let mut queue = Queue::new();
        for (priority, job) in [(1, 'a'), (5, 'b'), (1, 'c'), (5, 'd'), (9, 'e')] {
            queue.push(priority, job);
        }
        assert_eq!(queue.remove(|job| *job == 'd'), ['d']);
        queue.push(7, 'x');
        queue.push(0, 'y');
        assert_eq!(queue.jobs().collect::<String>(), "abcexy");
        assert_eq!(queue.take(|place| place > 3), ['x', 'y']);
        let order: String = std::iter::from_fn(|| queue.pop(|_, given| given)).collect();
        assert_eq!(order, "ebac");
        assert!(queue.is_empty());
    }

    #[test]
    fn a_crowded_queue_is_pruned() {
        let mut queue = Queue::new();
        let mut pruned = 0;
        for n in 0..10 * CROWDED {
            queue.push(0, n);
            pruned += queue.prune(|n| n % 10 == 0).len();
            assert!(queue.jobs().count() <= 3 * CROWDED, "every tenth job is wanted");
        }
        assert_eq!(queue.jobs().filter(|&n| n % 10 == 0).count(), CROWDED);
        assert_eq!(queue.jobs().count() + pruned, 10 * CROWDED);
        // many jobs that were wanted once do not put pruning off
        while queue.pop(|_, given| given).is_some() {}
        (0..CROWDED).for_each(|_| queue.push(0, 1));
        assert_eq!(queue.prune(|n| n % 10 == 0).len(), CROWDED);
    }

    #[test]
    fn priorities_are_read_when_a_job_is_taken() {
        let mut queue = Queue::new();
        "abc".chars().for_each(|job| queue.push(0, job));
        assert_eq!(queue.pop(|job, _| u64::from(*job == 'b')), Some('b'));
        assert_eq!(queue.pop(|job, _| u64::from(*job)), Some('c'));
    }
}
