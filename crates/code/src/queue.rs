//! The queue of jobs by priority that all workers share. Channels bring jobs to it in the order of
//! their arrival.

/// A queue that hands out the job with the highest priority, and among equal ones the first to
/// arrive.
///
/// Priorities change while jobs wait, so the queue is searched when a job is taken. There are at
/// most hundreds of jobs, and each takes far longer than the search.
pub(crate) struct Queue<J> {
    /// The jobs in the order of their arrival, with the priorities that they came with.
    entries: Vec<(u64, J)>,
}

impl<J> Queue<J> {
    /// Creates an empty queue.
    pub(crate) fn new() -> Queue<J> {
        Queue { entries: Vec::new() }
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
        Some(self.entries.remove(place).1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all jobs, in the order of their arrival.
    pub(crate) fn jobs(&self) -> Vec<&J> {
        self.entries.iter().map(|(_, job)| job).collect()
    }

    /// Takes out the jobs at these places of [`Queue::jobs`], in the order of their arrival.
    pub(crate) fn take(&mut self, places: &[usize]) -> Vec<J> {
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for (place, entry) in std::mem::take(&mut self.entries).into_iter().enumerate() {
            if places.contains(&place) {
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
        let mut wanted = |(place, job): (usize, &J)| out(job).then_some(place);
        // Jobs stay in the queue if `out` panics.
        let places: Vec<usize> =
            self.jobs().into_iter().enumerate().filter_map(&mut wanted).collect();
        if places.is_empty() { Vec::new() } else { self.take(&places) }
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
        assert_eq!(queue.jobs(), [&'a', &'b', &'c', &'e', &'x', &'y']);
        assert_eq!(queue.take(&[5, 4]), ['x', 'y']);
        let order: String = std::iter::from_fn(|| queue.pop(|_, given| given)).collect();
        assert_eq!(order, "ebac");
        assert!(queue.is_empty());
    }

    #[test]
    fn priorities_are_read_when_a_job_is_taken() {
        let mut queue = Queue::new();
        "abc".chars().for_each(|job| queue.push(0, job));
        assert_eq!(queue.pop(|job, _| u64::from(*job == 'b')), Some('b'));
        assert_eq!(queue.pop(|job, _| u64::from(*job)), Some('c'));
    }
}
