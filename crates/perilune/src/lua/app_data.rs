//! Application data: values of the host that a state carries.

use std::cell::{BorrowError, BorrowMutError};

use crate::types::MaybeSend;
use crate::{AppDataRef, AppDataRefMut, Lua};

impl Lua {
    /// Sets the state's value of type `T` and returns the previous one, if there was one.
    ///
    /// # Panics
    /// Panics if any application data is borrowed.
    pub fn set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Option<T> {
        match self.try_set_app_data(data) {
            Ok(old) => old,
            Err(_) => panic!("cannot mutably borrow app data container"),
        }
    }

    /// Sets the state's value of type `T` and returns the previous one, if there was one.
    ///
    /// # Errors
    /// Returns `data` if any application data is borrowed.
    pub fn try_set_app_data<T: MaybeSend + 'static>(&self, data: T) -> Result<Option<T>, T> {
        let _guard = self.control.lock.hold();
        self.control.app_data.set(data)
    }

    /// Borrows the state's value of type `T`; `None` if there is none.
    ///
    /// # Panics
    /// Panics if the value is mutably borrowed.
    pub fn app_data_ref<T: 'static>(&self) -> Option<AppDataRef<'_, T>> {
        self.try_app_data_ref().expect("already mutably borrowed")
    }

    /// Borrows the state's value of type `T`; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the value is mutably borrowed.
    pub fn try_app_data_ref<T: 'static>(&self) -> Result<Option<AppDataRef<'_, T>>, BorrowError> {
        self.control.app_data.get(self.control.lock.hold())
    }

    /// Mutably borrows the state's value of type `T`; `None` if there is none.
    ///
    /// # Panics
    /// Panics if the value is borrowed.
    pub fn app_data_mut<T: 'static>(&self) -> Option<AppDataRefMut<'_, T>> {
        self.try_app_data_mut().expect("already borrowed")
    }

    /// Mutably borrows the state's value of type `T`; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the value is borrowed.
    ///
    /// # Panics
    /// Panics if the container of application data is mutably borrowed.
    pub fn try_app_data_mut<T: 'static>(
        &self,
    ) -> Result<Option<AppDataRefMut<'_, T>>, BorrowMutError> {
        self.control.app_data.get_mut(self.control.lock.hold())
    }

    /// Removes and returns the state's value of type `T`; `None` if there is none.
    ///
    /// # Panics
    /// Panics if any application data is borrowed.
    pub fn remove_app_data<T: 'static>(&self) -> Option<T> {
        let _guard = self.control.lock.hold();
        self.control.app_data.remove()
    }
}
