//! Sets of shapes that a table may have.

use std::fmt;

use crate::feedback::inlinee::MAX_SHAPES;

/// A set of shapes, one of which a table has: a single one where code has seen no other, or a few
/// whose tables have a field in the same slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shapes {
    ids: [u32; MAX_SHAPES],
    count: usize,
}

impl Shapes {
    /// Returns the set of these shapes; `None` if there are too many, or none.
    pub(crate) fn of(ids: impl IntoIterator<Item = u32>) -> Option<Shapes> {
        let mut found = Shapes { ids: [0; MAX_SHAPES], count: 0 };
        for id in ids {
            if !found.contains(id) {
                *found.ids.get_mut(found.count)? = id;
                found.count += 1;
            }
        }
        (found.count != 0).then_some(found)
    }

    /// Returns the ids, in the order in which they were given.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids[..self.count]
    }

    /// Returns whether the set has this shape.
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.ids().contains(&id)
    }

    /// Returns whether the set is a subset of `others`.
    pub(crate) fn are_in(&self, others: &Shapes) -> bool {
        self.ids().iter().all(|&id| others.contains(id))
    }

    /// Returns the union with `others`, unless that has too many shapes.
    pub(crate) fn and(&self, others: &Shapes) -> Option<Shapes> {
        Shapes::of(self.ids().iter().chain(others.ids()).copied())
    }
}

impl fmt::Display for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, id) in self.ids().iter().enumerate() {
            let separator = if n == 0 { "" } else { " or " };
            write!(f, "{separator}{id}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(ids: [u32; N]) -> Shapes {
        Shapes::of(ids).expect("they are few")
    }

    #[test]
    fn sets_are_small() {
        assert_eq!(of([3, 5, 3]).ids(), [3, 5]);
        assert_eq!(of([3, 5]).to_string(), "3 or 5");
        assert!(Shapes::of([]).is_none());
        assert!(Shapes::of(0..=MAX_SHAPES as u32).is_none());
    }

    #[test]
    fn a_set_is_in_another() {
        assert!(of([5]).are_in(&of([3, 5])) && !of([3, 5]).are_in(&of([5])));
        assert_eq!(of([3]).and(&of([5, 3])), Some(of([3, 5])));
        assert_eq!(of([1, 2, 3]).and(&of([4, 5])), None);
    }
}
