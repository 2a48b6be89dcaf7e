//! Types that any thread may use, provided that the lock of their state is held while their
//! contents are used (feature `send`).

use crate::control::Control;
use crate::{BorrowedBytes, LightUserData, UserDataRef, UserDataRefMut};

// SAFETY: P6: its contents are used with its lock held; host values inside are `Send`
// (`MaybeSend`).
unsafe impl Send for Control {}
// SAFETY: P6: likewise.
unsafe impl Sync for Control {}
// SAFETY: an address, which is never dereferenced.
unsafe impl Send for LightUserData {}
// SAFETY: likewise.
unsafe impl Sync for LightUserData {}
// SAFETY: the bytes of a string never change; the handle that roots it is `Send`.
unsafe impl Send for BorrowedBytes {}
// SAFETY: likewise.
unsafe impl Sync for BorrowedBytes {}
// SAFETY: a borrow, which begins and ends with the lock held, of a value that threads may
// share.
unsafe impl<T: Sync> Send for UserDataRef<T> {}
// SAFETY: likewise.
unsafe impl<T: Sync> Sync for UserDataRef<T> {}
// SAFETY: an exclusive borrow, which begins and ends with the lock held, of a value that
// threads may have.
unsafe impl<T: Send> Send for UserDataRefMut<T> {}
// SAFETY: likewise; shared, it gives shared access only.
unsafe impl<T: Send + Sync> Sync for UserDataRefMut<T> {}
