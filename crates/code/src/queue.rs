//! Jobs by priority: the heap that all workers share. Channels bring jobs to it in the order of
//! their arrival.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

struct Entry<J> {
    priority: u64,
    /// Counts down, so that of equals the earlier is first. 64 bits do not wrap.
    arrival: u64,
    job: J,
}

impl<J> Entry<J> {
    fn key(&self) -> (u64, u64) {
        (self.priority, self.arrival)
    }
}
impl<J> PartialEq for Entry<J> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<J> Eq for Entry<J> {}
impl<J> PartialOrd for Entry<J> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<J> Ord for Entry<J> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Hands out the job of the highest priority; of equals, the one that came first.
pub(crate) struct Queue<J> {
    heap: BinaryHeap<Entry<J>>,
    arrival: u64,
}

impl<J> Queue<J> {
    /// Creates an empty queue.
    pub(crate) fn new() -> Queue<J> {
        Queue { heap: BinaryHeap::new(), arrival: u64::MAX }
    }

    pub(crate) fn push(&mut self, priority: u64, job: J) {
        self.heap.push(Entry { priority, arrival: self.arrival, job });
        self.arrival -= 1;
    }

    pub(crate) fn pop(&mut self) -> Option<J> {
        self.heap.pop().map(|entry| entry.job)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Returns all jobs, in the order of their arrival.
    pub(crate) fn jobs(&self) -> Vec<&J> {
        let mut entries: Vec<&Entry<J>> = self.heap.iter().collect();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.arrival));
        entries.into_iter().map(|entry| &entry.job).collect()
    }

    /// Takes out the jobs at these places of [`Queue::jobs`], in the order of their arrival.
    pub(crate) fn take(&mut self, places: &[usize]) -> Vec<J> {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.arrival));
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for (place, entry) in entries.into_iter().enumerate() {
            if places.contains(&place) {
                gone.push(entry.job);
            } else {
                kept.push(entry);
            }
        }
        self.heap = kept.into();
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
        let order: String = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, "ebac");
        assert!(queue.is_empty());
    }
}
