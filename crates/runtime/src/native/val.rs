//! Values as native functions see them.

use std::marker::PhantomData;

use super::{Cx, Raised};
use crate::string::LuaString;
use crate::table::Table;
use crate::userdata::Userdata;
use crate::value::{Tag, Value};

/// A value that stays valid until the next operation that may run Lua code or collect; such
/// operations take the [`Cx`] as `&mut`.
#[derive(Clone, Copy)]
pub struct Val<'a> {
    v: Value,
    life: PhantomData<&'a Cx>,
}

macro_rules! object_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a>(pub(super) Val<'a>);

        impl<'a> From<$name<'a>> for Val<'a> {
            fn from(x: $name<'a>) -> Val<'a> {
                x.0
            }
        }
    )*};
}

object_types! {
    /// A string.
    Str;
    /// A table.
    Tab;
    /// A function.
    Func;
    /// A full userdata.
    Udata;
}

impl<'a> Val<'a> {
    /// The value nil.
    pub const NIL: Val<'static> = Val { v: Value::NIL, life: PhantomData };

    /// Makes a value that follows the rule of [`Val`]. The caller is responsible for the lifetime.
    #[inline(always)]
    pub(crate) fn new(v: Value) -> Val<'a> {
        Val { v, life: PhantomData }
    }
    /// Makes a `Val` of a raw value, valid until the `Cx` is used to run code or to collect.
    ///
    /// # Safety
    /// `v` is a live value of the state.
    #[inline(always)]
    pub unsafe fn of(_: &'a Cx, v: Value) -> Val<'a> {
        Val::new(v)
    }
    /// Returns the raw value, which has no lifetime.
    #[inline(always)]
    pub fn raw(self) -> Value {
        self.v
    }
    /// Makes a boolean.
    #[inline(always)]
    pub fn bool(b: bool) -> Val<'static> {
        Val::new(Value::bool(b))
    }
    /// Makes an integer.
    #[inline(always)]
    pub fn int(i: i64) -> Val<'static> {
        Val::new(Value::int(i))
    }
    /// Makes a float.
    #[inline(always)]
    pub fn float(f: f64) -> Val<'static> {
        Val::new(Value::float(f))
    }
    /// Makes a light userdata.
    pub fn light(address: u64) -> Val<'static> {
        Val::new(Value::light(address))
    }
    /// Returns whether the value is nil.
    #[inline(always)]
    pub fn is_nil(self) -> bool {
        self.v.is_nil()
    }
    /// Returns whether the value is neither nil nor false.
    #[inline(always)]
    pub fn truthy(self) -> bool {
        self.v.truthy()
    }
    /// Returns the value of a boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.v.tag() {
            Tag::TRUE => Some(true),
            Tag::FALSE => Some(false),
            _ => None,
        }
    }
    /// Returns an integer, without conversion.
    #[inline(always)]
    pub fn as_int(self) -> Option<i64> {
        self.v.is_int().then(|| self.v.as_int())
    }
    /// Returns a float, without conversion.
    #[inline(always)]
    pub fn as_float(self) -> Option<f64> {
        self.v.is_float().then(|| self.v.as_float())
    }
    /// Returns whether the value is a number of either kind.
    #[inline(always)]
    pub fn is_number(self) -> bool {
        self.v.is_number()
    }
    /// Returns a string, without conversion.
    #[inline(always)]
    pub fn as_str(self) -> Option<Str<'a>> {
        self.v.is_string().then_some(Str(self))
    }
    /// Returns a table.
    #[inline(always)]
    pub fn as_table(self) -> Option<Tab<'a>> {
        self.v.is_table().then_some(Tab(self))
    }
    /// Returns a function.
    #[inline(always)]
    pub fn as_func(self) -> Option<Func<'a>> {
        self.v.is_function().then_some(Func(self))
    }
    /// Returns a full userdata.
    pub fn as_udata(self) -> Option<Udata<'a>> {
        (self.v.tag() == Tag::USERDATA).then_some(Udata(self))
    }
    /// Returns whether the value is a coroutine.
    pub fn is_thread(self) -> bool {
        self.v.tag() == Tag::THREAD
    }
    /// Returns the address of a light userdata.
    pub fn as_light(self) -> Option<u64> {
        (self.v.tag() == Tag::LIGHT).then(|| self.v.bits())
    }
    /// Returns the name of the value's type.
    pub fn type_name(self) -> &'static str {
        self.v.type_name()
    }
    /// Compares with primitive equality.
    pub fn raw_equals(self, other: Val<'_>) -> bool {
        self.v.raw_equals(other.v)
    }
    /// Returns the address that identifies an object (`%p`); for a userdata with a block, that is
    /// the address of the block. `None` for other values.
    pub fn address(self) -> Option<u64> {
        match self.v.tag() {
            Tag::USERDATA => {
                // SAFETY: N2.
                let block = unsafe { (*self.v.as_userdata()).block };
                Some(if block.is_null() { self.v.bits() } else { block.expose_provenance() as u64 })
            }
            t if t.is_collectable() => Some(self.v.bits()),
            Tag::LIGHT => Some(self.v.bits()),
            _ => None,
        }
    }
}

impl<'a> Str<'a> {
    /// Returns the contents.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        // SAFETY: N2 (a Val is alive for its lifetime): nothing collects while `'a` lasts, and
        // strings never change.
        unsafe { LuaString::bytes(self.0.v.as_string()) }
    }
    /// Returns the hash, which is computed once for each string.
    #[inline(always)]
    pub fn hash(self) -> u32 {
        // SAFETY: N2.
        unsafe { LuaString::hash(self.0.v.as_string()) }
    }
    /// Returns the string as a `Val`.
    pub fn val(self) -> Val<'a> {
        self.0
    }
}

impl<'a> Func<'a> {
    /// Returns whether this is a function of the host.
    pub fn is_native(self) -> bool {
        self.0.v.tag() == Tag::NATIVE
    }
    /// Returns the function as a `Val`.
    pub fn val(self) -> Val<'a> {
        self.0
    }
}

impl<'a> Tab<'a> {
    #[inline(always)]
    pub(crate) fn ptr(self) -> *mut Table {
        self.0.v.as_table()
    }
    /// Returns the table as a `Val`.
    pub fn val(self) -> Val<'a> {
        self.0
    }
    /// Reads a key with primitive access.
    #[inline(always)]
    pub fn get(self, key: Val<'_>) -> Val<'a> {
        // SAFETY: N2.
        unsafe { Val::new(Table::get(self.ptr(), key.v)) }
    }
    /// Reads an integer key with primitive access.
    #[inline(always)]
    pub fn get_int(self, i: i64) -> Val<'a> {
        // SAFETY: N2.
        unsafe { Val::new(Table::get_int(self.ptr(), i)) }
    }
    /// Reads a named field with primitive access.
    pub fn get_name(self, cx: &'a Cx, name: &str) -> Val<'a> {
        self.get(cx.str(name.as_bytes()).val())
    }
    /// Returns a border (manual 3.4.7), without metamethods.
    #[inline(always)]
    pub fn len(self) -> i64 {
        // SAFETY: N2.
        unsafe { Table::length(self.ptr()) }
    }
    /// Returns whether a border is 0. This does not tell whether there are other keys.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
    /// Returns whether the elements from `from` to `to` are in the array part, and none is nil.
    pub fn is_full(self, from: i64, to: i64) -> bool {
        // SAFETY: N2.
        unsafe { Table::is_full(self.ptr(), from, to) }
    }
    /// Returns whether the table has a metatable.
    #[inline(always)]
    pub fn has_meta(self) -> bool {
        // SAFETY: N2.
        unsafe { (*self.ptr()).meta != 0 }
    }
    /// Writes an integer key with primitive access.
    #[inline(always)]
    pub fn set_int(self, cx: &Cx, i: i64, v: Val<'_>) {
        // SAFETY: N2; Table::set_int does the barrier.
        unsafe { Table::set_int(&mut *cx.state(), self.ptr(), i, v.v) }
    }
    /// Writes a named field with primitive access, as an instruction with a constant name does.
    pub fn set_name(self, cx: &Cx, name: &str, v: Val<'_>) {
        // SAFETY: N2; Table::set_str_const does the barrier.
        unsafe {
            let st = &mut *cx.state();
            let name = st.intern(name.as_bytes());
            Table::set_str_const(st, self.ptr(), name, v.v);
        }
    }
    /// Like [`Tab::set`], but respects the memory limit: if there is no room for the table to grow,
    /// stores nothing and returns the number of bytes that are missing.
    ///
    /// # Errors
    /// As for [`Tab::set`].
    pub fn set_within(
        self,
        cx: &Cx,
        key: Val<'_>,
        v: Val<'_>,
    ) -> Result<Option<usize>, super::Raised> {
        use crate::table::Refused;
        // SAFETY: N2; the table does the barrier.
        match unsafe { Table::set_within(cx.state(), self.ptr(), key.v, v.v) } {
            Ok(()) => Ok(None),
            Err(Refused::NoRoom(bytes)) => Ok(Some(bytes)),
            Err(Refused::Key(e)) => Err(cx.key_error(e)),
        }
    }
    /// Writes a key with primitive access.
    ///
    /// # Errors
    /// Returns "table index is nil" or "table index is NaN". The message has no position, since it
    /// is an error of the table and not of the function.
    pub fn set(self, cx: &Cx, key: Val<'_>, v: Val<'_>) -> Result<(), super::Raised> {
        // SAFETY: N2; Table::set does the barrier.
        unsafe { Table::set(&mut *cx.state(), self.ptr(), key.v, v.v) }.map_err(|e| cx.key_error(e))
    }
    /// Returns the entry after `key` (nil: the first), in an order that is stable while no key is
    /// added.
    ///
    /// # Errors
    /// Returns `None` for a key that is not in the table.
    #[allow(clippy::type_complexity)]
    pub fn next(self, cx: &Cx, key: Val<'_>) -> Option<Option<(Val<'a>, Val<'a>)>> {
        // SAFETY: N2.
        match unsafe { Table::next(cx.state(), self.ptr(), key.v) } {
            Ok(Some((k, v))) => Some(Some((Val::new(k), Val::new(v)))),
            Ok(None) => Some(None),
            Err(_) => None,
        }
    }
    /// Returns the metatable.
    pub fn metatable(self, cx: &'a Cx) -> Option<Tab<'a>> {
        // SAFETY: N2.
        unsafe {
            let m = Table::metatable(&mut *cx.state(), self.ptr());
            (!m.is_null()).then(|| Tab(Val::new(Value::table(m))))
        }
    }
    /// Sets or removes the metatable, and registers a finalizer if the metatable has `__gc`. Does
    /// not check `__metatable`.
    ///
    /// # Errors
    /// Returns "not enough memory", leaving the table unchanged.
    pub fn set_metatable(self, cx: &Cx, m: Option<Tab<'_>>) -> Result<(), Raised> {
        // SAFETY: N2.
        unsafe {
            let st = &mut *cx.state();
            let m = m.map_or(std::ptr::null_mut(), Tab::ptr);
            if !Table::set_metatable(st, self.ptr(), m) {
                return Err(cx.memory_error());
            }
            st.note_finalizer(self.0.v, m);
        }
        Ok(())
    }
}

impl Func<'_> {
    /// Hides the bound values of a native function from debuggers, for code that relies on them.
    ///
    /// # Panics
    /// Panics for a Lua function.
    pub fn hide_bound(self) -> Self {
        assert!(self.0.v.tag() == Tag::NATIVE, "a native function");
        // SAFETY: N2.
        unsafe { (*self.0.v.as_native()).header.flags |= crate::header::GcHeader::HIDDEN }
        self
    }

    /// Marks a native function as one that the interpreter and the compiler know.
    ///
    /// # Panics
    /// Panics for a Lua function.
    pub fn make_known(self, builtin: super::Builtin) {
        assert!(self.0.v.tag() == Tag::NATIVE, "a native function");
        // SAFETY: N2.
        unsafe { (*self.0.v.as_native()).header.word = builtin as u32 }
    }
}

impl<'a> Udata<'a> {
    /// Returns the userdata as a `Val`.
    pub fn val(self) -> Val<'a> {
        self.0
    }
    #[inline(always)]
    pub(crate) fn ptr(self) -> *mut Userdata {
        self.0.v.as_userdata()
    }
    /// Passes the host's value to a closure, if it has this type. The reference cannot be kept, and
    /// the closure must not use the same userdata again.
    pub fn with<T: 'static, R>(self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: N2. The value is moved out while it is borrowed, so a second borrow finds
        // nothing.
        unsafe {
            let place = &raw mut (*self.ptr()).data;
            let mut data = (*place).take()?;
            let r = data.downcast_mut::<T>().map(f);
            *place = Some(data);
            r
        }
    }
    /// Returns whether the host's value is a `T`.
    pub fn is<T: 'static>(self) -> bool {
        // SAFETY: N2.
        unsafe { (*self.ptr()).data.as_ref().is_some_and(|d| d.is::<T>()) }
    }
    /// Returns the metatable.
    pub fn metatable(self) -> Option<Tab<'a>> {
        // SAFETY: N2.
        unsafe {
            let m = (*self.ptr()).meta;
            (!m.is_null()).then(|| Tab(Val::new(Value::table(m))))
        }
    }
    /// Sets or removes the metatable.
    pub fn set_metatable(self, cx: &Cx, m: Option<Tab<'_>>) {
        // SAFETY: N2; barrier after the store.
        unsafe {
            let st = &mut *cx.state();
            let m = m.map_or(std::ptr::null_mut(), Tab::ptr);
            (*self.ptr()).meta = m;
            st.barrier(self.ptr().cast());
            st.note_finalizer(self.0.v, m);
        }
    }
    /// Returns user value `n`, from 0; `None` if it does not exist.
    pub fn user_value(self, n: usize) -> Option<Val<'a>> {
        // SAFETY: N2.
        unsafe { (&(*self.ptr()).user_values).get(n).map(|v| Val::new(*v)) }
    }
    /// Makes room for `n` user values, if there are fewer, in a userdata that C code has made.
    pub fn make_user_values(self, n: usize) {
        // SAFETY: N2.
        unsafe { Userdata::make_user_values(self.ptr(), n) }
    }
    /// Sets user value `n`; returns false if it does not exist.
    pub fn set_user_value(self, cx: &Cx, n: usize, v: Val<'_>) -> bool {
        // SAFETY: N2; barrier after the store.
        unsafe {
            let Some(place) = (&mut (*self.ptr()).user_values).get_mut(n) else { return false };
            *place = v.v;
            (*cx.state()).barrier(self.ptr().cast());
            true
        }
    }
}
