//! Strings of Lua.

use std::borrow::Borrow;
use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use perilune_runtime::string::LuaString as StrObject;

use bstr::BStr;

use crate::control::Handle;
use crate::{Error, Lua, Result, WeakLua};

/// A handle to a string: bytes that need not be UTF-8 and never change.
///
/// ```
/// let lua = perilune::Lua::new();
/// let name = lua.create_string("héllo")?;
/// assert_eq!(name.to_str()?, "héllo");
/// assert_eq!(name.as_bytes().len(), 6);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone)]
pub struct LuaString(pub(crate) Handle);

impl LuaString {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the string is rooted by the handle; the caller has the state, or a `Lua` that
        // keeps it alive.
        unsafe { StrObject::bytes(self.0.word().as_string()) }
    }

    /// Returns the contents as UTF-8.
    ///
    /// # Errors
    /// Returns [`Error::FromLuaConversionError`] if they are not UTF-8.
    pub fn to_str(&self) -> Result<BorrowedStr> {
        let bytes = self.as_bytes();
        match std::str::from_utf8(&bytes) {
            Ok(_) => Ok(BorrowedStr(bytes)),
            Err(e) => Err(Error::from_lua_conversion("string", "&str", e.to_string())),
        }
    }

    /// Returns the contents, with replacement characters for sequences that are not UTF-8.
    pub fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(&self.as_bytes()).into_owned()
    }

    /// Returns a value that displays the contents, with replacement characters for sequences that
    /// are not UTF-8.
    pub fn display(&self) -> impl std::fmt::Display + '_ {
        self.to_string_lossy()
    }

    /// Returns the contents.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn as_bytes(&self) -> BorrowedBytes {
        let entry = self.0.enter();
        let lua = entry.lua.clone();
        let bytes: *const [u8] = self.bytes();
        BorrowedBytes { bytes, string: self.clone(), _lua: lua }
    }

    /// Returns the contents and the NUL that follows them in memory, so that C functions can read
    /// them. The contents may contain further NULs.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn as_bytes_with_nul(&self) -> BorrowedBytes {
        let entry = self.0.enter();
        let lua = entry.lua.clone();
        // SAFETY: the string is rooted by the handle, and the entry keeps the state alive.
        let bytes: *const [u8] = unsafe { StrObject::bytes_with_nul(self.0.word().as_string()) };
        BorrowedBytes { bytes, string: self.clone(), _lua: lua }
    }

    /// Returns a weak reference to the string's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the string.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}

impl std::fmt::Debug for LuaString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.0.control.is_alive() {
            return f.write_str("<destroyed>");
        }
        let bytes = self.as_bytes();
        match std::str::from_utf8(&bytes) {
            Ok(text) => text.fmt(f),
            Err(_) => write!(f, "b{:?}", BStr::new(&*bytes)),
        }
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for LuaString {
    fn eq(&self, other: &T) -> bool {
        *self.as_bytes() == *other.as_ref()
    }
}

impl PartialEq for LuaString {
    fn eq(&self, other: &LuaString) -> bool {
        *self.as_bytes() == *other.as_bytes()
    }
}

impl Eq for LuaString {}

impl<T: AsRef<[u8]> + ?Sized> PartialOrd<T> for LuaString {
    fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
        Some((*self.as_bytes()).cmp(other.as_ref()))
    }
}

impl PartialOrd for LuaString {
    fn partial_cmp(&self, other: &LuaString) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LuaString {
    fn cmp(&self, other: &LuaString) -> std::cmp::Ordering {
        (*self.as_bytes()).cmp(&*other.as_bytes())
    }
}

impl Hash for LuaString {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (*self.as_bytes()).hash(state);
    }
}

impl Lua {
    /// Creates a string.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    #[inline]
    pub fn create_string(&self, s: impl AsRef<[u8]>) -> Result<LuaString> {
        let entry = self.enter();
        let stack = entry.stack();
        let raw = stack.string(s.as_ref())?;
        Ok(LuaString(stack.handle(raw)))
    }
}

/// The contents of a string. Keeps the string and its state alive.
#[derive(Clone)]
pub struct BorrowedBytes {
    bytes: *const [u8],
    string: LuaString,
    _lua: Lua,
}

impl BorrowedBytes {
    pub(crate) fn string(&self) -> &LuaString {
        &self.string
    }
}

impl Deref for BorrowedBytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the string is rooted by its handle, does not move, and its state is kept alive.
        unsafe { &*self.bytes }
    }
}

impl AsRef<[u8]> for BorrowedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Borrow<[u8]> for BorrowedBytes {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for BorrowedBytes {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl std::fmt::Debug for BorrowedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl Eq for BorrowedBytes {}

impl<T: AsRef<[u8]> + ?Sized> PartialOrd<T> for BorrowedBytes {
    fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(other.as_ref())
    }
}

impl Ord for BorrowedBytes {
    fn cmp(&self, other: &BorrowedBytes) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for BorrowedBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<'a> IntoIterator for &'a BorrowedBytes {
    type Item = &'a u8;
    type IntoIter = std::slice::Iter<'a, u8>;
    fn into_iter(self) -> std::slice::Iter<'a, u8> {
        self.iter()
    }
}

impl From<&LuaString> for BorrowedBytes {
    fn from(s: &LuaString) -> BorrowedBytes {
        s.as_bytes()
    }
}

impl TryFrom<&LuaString> for BorrowedStr {
    type Error = Error;
    fn try_from(s: &LuaString) -> Result<BorrowedStr> {
        s.to_str()
    }
}

/// The contents of a string, as UTF-8. Keeps the string and its state alive.
#[derive(Clone)]
pub struct BorrowedStr(BorrowedBytes);

impl BorrowedStr {
    pub(crate) fn string(&self) -> &LuaString {
        &self.0.string
    }
}

impl Deref for BorrowedStr {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: checked when it was made; strings never change.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

impl AsRef<str> for BorrowedStr {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for BorrowedStr {
    fn borrow(&self) -> &str {
        self
    }
}

impl std::fmt::Display for BorrowedStr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl std::fmt::Debug for BorrowedStr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: AsRef<str> + ?Sized> PartialEq<T> for BorrowedStr {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl Eq for BorrowedStr {}

impl<T: AsRef<str> + ?Sized> PartialOrd<T> for BorrowedStr {
    fn partial_cmp(&self, other: &T) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(other.as_ref())
    }
}

impl Ord for BorrowedStr {
    fn cmp(&self, other: &BorrowedStr) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for BorrowedStr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
