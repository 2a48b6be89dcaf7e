//! Data of the host that a state carries, by type.

use std::any::{Any, TypeId};
use std::cell::{BorrowError, BorrowMutError, Ref, RefCell, RefMut};
use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use crate::Lua;
use crate::sync::Guard;
use crate::types::MaybeSend;

type Map = HashMap<TypeId, RefCell<Box<dyn Any>>>;

/// The data of one state.
#[derive(Default)]
pub(crate) struct AppData {
    /// Borrowed (shared) as long as any of the values is.
    map: RefCell<Map>,
}

impl AppData {
    /// Takes all away, for the end of the state.
    pub(crate) fn take_all(&self) -> Option<Map> {
        self.map.try_borrow_mut().ok().map(|mut m| std::mem::take(&mut *m))
    }

    /// None there?
    pub(crate) fn is_empty(&self) -> bool {
        self.map.try_borrow().is_ok_and(|m| m.is_empty())
    }
}

/// A shared borrow of app data.
pub struct AppDataRef<'a, T: ?Sized> {
    // Before the borrow of the map that it lies in.
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

/// An exclusive borrow of app data.
pub struct AppDataRefMut<'a, T: ?Sized> {
    // Before the borrow of the map that it lies in.
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
    /// Sets the state's value of type `T`; gives the one that was there.
    ///
    /// # Panics
    /// If app data is borrowed.
    pub fn set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Option<T> {
        match self.try_set_app_data(data) {
            Ok(old) => old,
            Err(_) => panic!("cannot mutably borrow app data container"),
        }
    }

    /// As [`Lua::set_app_data`].
    ///
    /// # Errors
    /// The value, if app data is borrowed.
    pub fn try_set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Result<Option<T>, T> {
        let _guard = self.control.lock.hold();
        let Ok(mut map) = self.control.app_data.map.try_borrow_mut() else { return Err(data) };
        let old = map.insert(TypeId::of::<T>(), RefCell::new(Box::new(data)));
        drop(map);
        Ok(old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b))
    }

    /// The state's value of type `T`.
    ///
    /// # Panics
    /// If it is borrowed for writing.
    pub fn app_data_ref<T: 'static>(&self) -> Option<AppDataRef<'_, T>> {
        self.try_app_data_ref().expect("already mutably borrowed")
    }

    /// The state's value of type `T`.
    ///
    /// # Errors
    /// If it is borrowed for writing.
    pub fn try_app_data_ref<T: 'static>(
        &self,
    ) -> Result<Option<AppDataRef<'_, T>>, BorrowError> {
        let guard = self.control.lock.hold();
        let map = self.control.app_data.map.try_borrow()?;
        if !map.contains_key(&TypeId::of::<T>()) {
            return Ok(None);
        }
        let place: *const RefCell<Box<dyn Any>> = &raw const map[&TypeId::of::<T>()];
        // SAFETY: the cell lies in the map, which is borrowed, and so unchanged, as long as `_map` lives; that is dropped after `data`.
        let cell = unsafe { &*place };
        let data = Ref::map(cell.try_borrow()?, |b| b.downcast_ref().expect("by type"));
        Ok(Some(AppDataRef { data, _map: map, _guard: guard }))
    }

    /// The state's value of type `T`, for writing.
    ///
    /// # Panics
    /// If it is borrowed.
    pub fn app_data_mut<T: 'static>(&self) -> Option<AppDataRefMut<'_, T>> {
        self.try_app_data_mut().expect("already borrowed")
    }

    /// The state's value of type `T`, for writing.
    ///
    /// # Errors
    /// If it is borrowed.
    ///
    /// # Panics
    /// If the container is being changed.
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

    /// Takes the state's value of type `T` away.
    ///
    /// # Panics
    /// If app data is borrowed.
    pub fn remove_app_data<T: 'static>(&self) -> Option<T> {
        let _guard = self.control.lock.hold();
        let map = self.control.app_data.map.try_borrow_mut();
        let old = map.expect("cannot mutably borrow app data container").remove(&TypeId::of::<T>());
        old.and_then(|b| b.into_inner().downcast().ok()).map(|b| *b)
    }
}
