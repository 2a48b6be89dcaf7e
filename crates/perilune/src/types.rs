//! Small types of the interface.

use std::ffi::c_void;

/// An integer of Lua.
pub type Integer = i64;

/// A float of Lua.
pub type Number = f64;

/// An address that Lua can compare and use as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LightUserData(pub *mut c_void);

impl LightUserData {
    pub(crate) fn from_bits(bits: u64) -> LightUserData {
        LightUserData(std::ptr::with_exposed_provenance_mut(bits as usize))
    }

    pub(crate) fn bits(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

/// What the program does after a hook has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VmState {
    /// Continues the program.
    Continue,
    /// Yields the coroutine, without values, where this is possible, that is, in line and count
    /// hooks.
    Yield,
}

/// `Send` with the feature `send`; any type without it.
#[cfg(feature = "send")]
pub trait MaybeSend: Send {}
#[cfg(feature = "send")]
impl<T: Send + ?Sized> MaybeSend for T {}

/// `Send` with the feature `send`; any type without it.
#[cfg(not(feature = "send"))]
pub trait MaybeSend {}
#[cfg(not(feature = "send"))]
impl<T: ?Sized> MaybeSend for T {}

/// `Sync` with the feature `send`; any type without it.
#[cfg(feature = "send")]
pub trait MaybeSync: Sync {}
#[cfg(feature = "send")]
impl<T: Sync + ?Sized> MaybeSync for T {}

/// `Sync` with the feature `send`; any type without it.
#[cfg(not(feature = "send"))]
pub trait MaybeSync {}
#[cfg(not(feature = "send"))]
impl<T: ?Sized> MaybeSync for T {}

/// Returns the name of a type without module paths.
pub(crate) fn short_type_name<T: ?Sized>() -> String {
    let full = std::any::type_name::<T>();
    let mut out = String::new();
    let mut word_start = 0;
    let bytes = full.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        if c == b':' && bytes.get(i + 1) == Some(&b':') {
            out.truncate(word_start);
            i += 2;
            continue;
        }
        out.push(c as char);
        // closures in which types are defined are shown as `{{closure}}`
        if !(c.is_ascii_alphanumeric() || matches!(c, b'_' | b'{' | b'}')) {
            word_start = out.len();
        }
        i += 1;
    }
    out.replace("<'_>", "").replace("'_, ", "")
}

#[cfg(test)]
mod tests {
    use super::short_type_name;

    #[test]
    fn names_are_short() {
        assert_eq!(short_type_name::<String>(), "String");
        assert_eq!(short_type_name::<Vec<Option<std::path::PathBuf>>>(), "Vec<Option<PathBuf>>");
        assert_eq!(short_type_name::<[u8; 4]>(), "[u8; 4]");
        let inner = || {
            struct Inner;
            short_type_name::<Option<Inner>>()
        };
        assert_eq!(inner(), "Option<Inner>");
    }
}
