//! Data of the host that a state carries, one value per type.

use std::any::{Any, TypeId};
use std::cell::{BorrowError, BorrowMutError, Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use crate::Lua;
use crate::sync::Guard;
use crate::types::MaybeSend;

type Map = HashMap<TypeId, RefCell<Box<dyn Any>>>;

/// The application data of one state.
#[derive(Default)]
pub(crate) struct AppData {
    /// Borrowed (shared) while any of its values is borrowed.
    map: RefCell<Map>,
}

impl AppData {
    /// Removes all values, when the state ends.
    pub(crate) fn take_all(&self) -> Option<Map> {
        self.map.try_borrow_mut().ok().map(|mut m| std::mem::take(&mut *m))
    }

    /// Returns whether there is no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.map.try_borrow().is_ok_and(|m| m.is_empty())
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

impl Lua {
    /// Sets the state's value of type `T` and returns the previous one.
    ///
    /// # Panics
    /// Panics if application data is borrowed.
    pub fn set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Option<T> {
        match self.try_set_app_data(data) {
            Ok(old) => old,
            Err(_) => panic!("cannot mutably borrow app data container"),
        }
    }

    /// Sets the state's value of type `T` and returns the previous one.
    ///
    /// # Errors
    /// Returns the value if application data is borrowed.
    pub fn try_set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Result<Option<T>, T> {
        let _guard = self.control.lock.hold();
        let Ok(mut map) = self.control.app_data.map.try_borrow_mut() else { return Err(data) };
        let old = map.insert(TypeId::of::<T>(), RefCell::new(Box::new(data)));
        drop(map);
        Ok(old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b))
    }

    /// Borrows the state's value of type `T`.
    ///
    /// # Panics
    /// Panics if the value is mutably borrowed.
    pub fn app_data_ref<T: 'static>(&self) -> Option<AppDataRef<'_, T>> {
        self.try_app_data_ref().expect("already mutably borrowed")
    }

    /// Borrows the state's value of type `T`.
    ///
    /// # Errors
    /// Returns an error if the value is mutably borrowed.
    pub fn try_app_data_ref<T: 'static>(&self) -> Result<Option<AppDataRef<'_, T>>, BorrowError> {
        let guard = self.control.lock.hold();
        let map = self.control.app_data.map.try_borrow()?;
        if !map.contains_key(&TypeId::of::<T>()) {
            return Ok(None);
        }
        let place: *const RefCell<Box<dyn Any>> = &raw const map[&TypeId::of::<T>()];
        // SAFETY: the cell lies in the map, which is borrowed, and so unchanged, as long as `_map`
        // lives; that is dropped after `data`.
        let cell = unsafe { &*place };
        let data = Ref::map(cell.try_borrow()?, |b| b.downcast_ref().expect("by type"));
        Ok(Some(AppDataRef { data, _map: map, _guard: guard }))
    }

    /// Mutably borrows the state's value of type `T`.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn app_data_mut<T: 'static>(&self) -> Option<AppDataRefMut<'_, T>> {
        self.try_app_data_mut().expect("already borrowed")
    }

    /// Mutably borrows the state's value of type `T`.
    ///
    /// # Errors
    /// Returns an error if the value is borrowed.
    ///
    /// # Panics
    /// Panics if the container is being changed.
    pub fn try_app_data_mut<T: 'static>(
        &self,
    ) -> Result<Option<AppDataRefMut<'_, T>>, BorrowMutError> {
        let guard = self.control.lock.hold();
        let map = self.control.app_data.map.borrow();
        let Some(cell) = map.get(&TypeId::of::<T>()) else { return Ok(None) };
        let place = std::ptr::from_ref(cell);
        // SAFETY: as in `try_app_data_ref`.
        let cell = unsafe { &*place };
        let data = RefMut::map(cell.try_borrow_mut()?, |b| b.downcast_mut().expect("by type"));
        Ok(Some(AppDataRefMut { data, _map: map, _guard: guard }))
    }

    /// Removes and returns the state's value of type `T`.
    ///
    /// # Panics
    /// Panics if application data is borrowed.
    pub fn remove_app_data<T: 'static>(&self) -> Option<T> {
        let _guard = self.control.lock.hold();
        let map = self.control.app_data.map.try_borrow_mut();
        let old = map.expect("cannot mutably borrow app data container").remove(&TypeId::of::<T>());
        old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b)
    }
}
