//! Application data: values of the host that a state carries, one per type.

use std::any::{Any, TypeId};
use std::cell::{BorrowError, BorrowMutError, Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use crate::sync::Guard;

type Map = HashMap<TypeId, RefCell<Box<dyn Any>>>;

/// The application data of one state.
#[derive(Default)]
pub(crate) struct AppData {
    /// Borrowed (shared) while any of its values is borrowed.
    map: RefCell<Map>,
}

impl AppData {
    /// Removes and returns all values when the state ends.
    pub(crate) fn take_all(&self) -> Option<Map> {
        self.map.try_borrow_mut().ok().map(|mut m| std::mem::take(&mut *m))
    }

    /// Returns whether no value is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.map.try_borrow().is_ok_and(|m| m.is_empty())
    }

    /// Sets the value of type `T` and returns the previous one.
    ///
    /// # Errors
    /// Returns `data` if any application data is borrowed.
    pub(crate) fn set<T: 'static>(&self, data: T) -> Result<Option<T>, T> {
        let Ok(mut map) = self.map.try_borrow_mut() else { return Err(data) };
        let old = map.insert(TypeId::of::<T>(), RefCell::new(Box::new(data)));
        drop(map);
        Ok(old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b))
    }

    /// Borrows the value of type `T`. `guard` keeps other threads out of the state.
    ///
    /// # Errors
    /// Returns an error if the value is mutably borrowed.
    pub(crate) fn get<'a, T: 'static>(
        &'a self,
        guard: Guard<'a>,
    ) -> Result<Option<AppDataRef<'a, T>>, BorrowError> {
        let map = self.map.try_borrow()?;
        if !map.contains_key(&TypeId::of::<T>()) {
            return Ok(None);
        }
        let place: *const RefCell<Box<dyn Any>> = &raw const map[&TypeId::of::<T>()];
        // SAFETY: the cell lies in the map, which is borrowed, and so unchanged, as long as `_map`
        // lives; `_map` is dropped after `data`.
        let cell = unsafe { &*place };
        let data = Ref::map(cell.try_borrow()?, |b| b.downcast_ref().expect("by type"));
        Ok(Some(AppDataRef { data, _map: map, _guard: guard }))
    }

    /// Mutably borrows the value of type `T`, like [`AppData::get`].
    ///
    /// # Errors
    /// Returns an error if the value is borrowed.
    ///
    /// # Panics
    /// Panics if the container of application data is mutably borrowed.
    pub(crate) fn get_mut<'a, T: 'static>(
        &'a self,
        guard: Guard<'a>,
    ) -> Result<Option<AppDataRefMut<'a, T>>, BorrowMutError> {
        let map = self.map.borrow();
        let Some(cell) = map.get(&TypeId::of::<T>()) else { return Ok(None) };
        let place = std::ptr::from_ref(cell);
        // SAFETY: as in [`AppData::get`].
        let cell = unsafe { &*place };
        let data = RefMut::map(cell.try_borrow_mut()?, |b| b.downcast_mut().expect("by type"));
        Ok(Some(AppDataRefMut { data, _map: map, _guard: guard }))
    }

    /// Removes and returns the value of type `T`.
    ///
    /// # Panics
    /// Panics if any application data is borrowed.
    pub(crate) fn remove<T: 'static>(&self) -> Option<T> {
        let map = self.map.try_borrow_mut();
        let old = map.expect("cannot mutably borrow app data container").remove(&TypeId::of::<T>());
        old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b)
    }
}

/// A shared borrow of application data.
pub struct AppDataRef<'a, T: ?Sized> {
    // Declared before the borrow of the map that holds the value, so that it is dropped first.
    data: Ref<'a, T>,
    _map: Ref<'a, Map>,
    _guard: Guard<'a>,
}

impl<T: ?Sized> Deref for AppDataRef<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T: ?Sized + std::fmt::Display> std::fmt::Display for AppDataRef<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for AppDataRef<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

/// An exclusive borrow of application data.
pub struct AppDataRefMut<'a, T: ?Sized> {
    // Declared before the borrow of the map that holds the value, so that it is dropped first.
    data: RefMut<'a, T>,
    _map: Ref<'a, Map>,
    _guard: Guard<'a>,
}

impl<T: ?Sized> Deref for AppDataRefMut<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T: ?Sized> DerefMut for AppDataRefMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}

impl<T: ?Sized + std::fmt::Display> std::fmt::Display for AppDataRefMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for AppDataRefMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
