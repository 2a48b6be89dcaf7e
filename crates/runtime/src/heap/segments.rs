//! A segmented list, which does not move its elements when it grows: growing a contiguous list of
//! hundreds of thousands of objects would stop the program for milliseconds.

use std::collections::VecDeque;

/// Number of elements of a segment.
const SEGMENT: usize = 2048;

/// A list that grows at its end and shrinks at both.
pub(super) struct Segments<T> {
    /// The segments; all but the last are full.
    segments: VecDeque<Vec<T>>,
    /// The number of elements that were taken from the first segment.
    start: usize,
    len: usize,
}

impl<T> Default for Segments<T> {
    fn default() -> Segments<T> {
        Segments { segments: VecDeque::new(), start: 0, len: 0 }
    }
}

impl<T: Copy> Segments<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn place(&self, i: usize) -> (usize, usize) {
        debug_assert!(i < self.len);
        ((self.start + i) / SEGMENT, (self.start + i) % SEGMENT)
    }

    /// Returns element `i`, if there is one.
    pub(super) fn get(&self, i: usize) -> Option<T> {
        let (segment, at) = if i < self.len { self.place(i) } else { return None };
        Some(self.segments[segment][at])
    }

    /// Replaces element `i`, and returns the former one.
    pub(super) fn replace(&mut self, i: usize, v: T) -> T {
        let (segment, at) = self.place(i);
        std::mem::replace(&mut self.segments[segment][at], v)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.segments.iter().flatten().skip(self.start).copied()
    }

    /// Appends an element. Returns false, without an effect, if there is no memory for it.
    pub(super) fn push(&mut self, v: T) -> bool {
        if !self.has_segment(1) {
            return false;
        }
        let last = (self.start + self.len) / SEGMENT;
        self.segments[last].push(v);
        self.len += 1;
        true
    }

    /// Returns whether there is room for more elements, also if a segment cannot be allocated when
    /// the last one is nearly full.
    pub(super) fn has_room(&mut self) -> bool {
        self.has_segment(SEGMENT / 8)
    }

    /// Returns whether there is a segment for `more` elements, at most one segment's, after
    /// allocating one if necessary.
    fn has_segment(&mut self, more: usize) -> bool {
        if self.start + self.len + more <= self.segments.len() * SEGMENT {
            return true;
        }
        let mut segment = Vec::new();
        if self.segments.try_reserve(1).is_err() || segment.try_reserve_exact(SEGMENT).is_err() {
            return false;
        }
        self.segments.push_back(segment);
        true
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        let v = self.get(0)?;
        self.start += 1;
        self.len -= 1;
        if self.start == SEGMENT {
            self.segments.pop_front();
            self.start = 0;
        }
        Some(v)
    }

    pub(super) fn pop_back(&mut self) -> Option<T> {
        let v = self.get(self.len.checked_sub(1)?)?;
        self.truncate(self.len - 1);
        Some(v)
    }

    /// Keeps the first `len` elements.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        let end = self.start + self.len;
        self.segments.truncate(end.div_ceil(SEGMENT));
        if let Some(last) = self.segments.back_mut() {
            last.truncate(end - (end - 1) / SEGMENT * SEGMENT);
        } else {
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn ints(list: &Segments<Value>) -> Vec<i64> {
        let all: Vec<i64> = list.iter().map(|v| v.as_int()).collect();
        let each: Vec<i64> = (0..list.len()).map(|i| list.get(i).unwrap().as_int()).collect();
        assert_eq!(all, each);
        assert!(list.get(list.len()).is_none());
        all
    }

    #[test]
    fn does_what_a_deque_does() {
        let (mut list, mut model) = (Segments::default(), VecDeque::new());
        let mut random = fastrand::Rng::with_seed(1);
        let steps = if cfg!(miri) { 24 } else { 4_000 };
        for step in 0..steps {
            let count = random.usize(..2 * SEGMENT);
            match random.u8(..if step % (steps / 4) < steps / 8 { 5 } else { 9 }) {
                0..=1 => {
                    for i in 0..count as i64 {
                        assert!(list.has_room() && list.push(Value::int(i)));
                        model.push_back(i);
                    }
                }
                2 => {
                    for _ in 0..count {
                        assert_eq!(list.pop_front().map(|v| v.as_int()), model.pop_front());
                    }
                }
                3 => {
                    for _ in 0..count.min(50) {
                        assert_eq!(list.pop_back().map(|v| v.as_int()), model.pop_back());
                    }
                }
                4 if !model.is_empty() => {
                    let i = count % model.len();
                    let old = list.replace(i, Value::int(-7)).as_int();
                    assert_eq!(old, std::mem::replace(&mut model[i], -7));
                }
                _ => {
                    let len = model.len().saturating_sub(count);
                    list.truncate(len);
                    model.truncate(len);
                }
            }
            assert_eq!((list.len(), list.is_empty()), (model.len(), model.is_empty()));
            if step % 64 == 0 {
                assert_eq!(ints(&list), Vec::from(model.clone()));
            }
        }
    }
}
