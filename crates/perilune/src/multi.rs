//! Multiple values: arguments and results.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use crate::Value;

/// Any number of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MultiValue(pub(crate) VecDeque<Value>);

impl MultiValue {
    /// Returns an empty list of values.
    pub const fn new() -> MultiValue {
        MultiValue(VecDeque::new())
    }

    /// Returns an empty list of values with room for this number.
    pub fn with_capacity(capacity: usize) -> MultiValue {
        MultiValue(VecDeque::with_capacity(capacity))
    }

    /// Creates a list of values from a vector.
    pub fn from_vec(values: Vec<Value>) -> MultiValue {
        MultiValue(values.into())
    }

    /// Returns the values as a vector.
    pub fn into_vec(self) -> Vec<Value> {
        self.0.into()
    }
}

impl Deref for MultiValue {
    type Target = VecDeque<Value>;
    fn deref(&self) -> &VecDeque<Value> {
        &self.0
    }
}

impl DerefMut for MultiValue {
    fn deref_mut(&mut self) -> &mut VecDeque<Value> {
        &mut self.0
    }
}

impl From<Vec<Value>> for MultiValue {
    fn from(values: Vec<Value>) -> MultiValue {
        MultiValue::from_vec(values)
    }
}

impl From<MultiValue> for Vec<Value> {
    fn from(values: MultiValue) -> Vec<Value> {
        values.into_vec()
    }
}

impl FromIterator<Value> for MultiValue {
    fn from_iter<I: IntoIterator<Item = Value>>(iter: I) -> MultiValue {
        MultiValue(iter.into_iter().collect())
    }
}

impl IntoIterator for MultiValue {
    type Item = Value;
    type IntoIter = std::collections::vec_deque::IntoIter<Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a MultiValue {
    type Item = &'a Value;
    type IntoIter = std::collections::vec_deque::Iter<'a, Value>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Any number of values of one type, as the last arguments or results.
#[derive(Clone, Debug, Default)]
pub struct Variadic<T>(pub(crate) Vec<T>);

impl<T> Variadic<T> {
    /// Returns an empty list of values.
    pub const fn new() -> Variadic<T> {
        Variadic(Vec::new())
    }

    /// Returns an empty list of values with room for this number.
    pub fn with_capacity(capacity: usize) -> Variadic<T> {
        Variadic(Vec::with_capacity(capacity))
    }
}

impl<T> Deref for Variadic<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Variadic<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for Variadic<T> {
    fn from(values: Vec<T>) -> Variadic<T> {
        Variadic(values)
    }
}

impl<T> From<Variadic<T>> for Vec<T> {
    fn from(values: Variadic<T>) -> Vec<T> {
        values.0
    }
}

impl<T> FromIterator<T> for Variadic<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Variadic<T> {
        Variadic(iter.into_iter().collect())
    }
}

impl<T> IntoIterator for Variadic<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
