//! Types of userdata and their metatables.

use std::any::TypeId;
use std::cell::RefCell;
use std::marker::PhantomData;

use super::method::{Method, MethodMut, Named, NamedMut, Owner, Target, function_name};
use super::shared::Outer;
use super::traits::{UserData, UserDataFields, UserDataMethods};
use super::{MetaMethod, index};
use crate::callback::Callee;
use crate::cell::HostCell;
use crate::stack::{Raw, Stack};
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::{MaybeSend, MaybeSync, short_type_name};
use crate::{AnyUserData, Error, Function, Lua, Result, Table, Value};
#[cfg(feature = "async")]
use crate::{UserDataRef, UserDataRefMut};

/// Collects the fields and methods of a type.
pub struct UserDataRegistry<T> {
    lua: Lua,
    target: Target,
    pub(crate) parts: Parts,
    of: PhantomData<T>,
}

/// The collected fields and methods.
#[derive(Default)]
pub(crate) struct Parts {
    fields: Vec<(String, Result<Value>)>,
    getters: Vec<(String, Function)>,
    setters: Vec<(String, Function)>,
    methods: Vec<(String, Function)>,
    meta_methods: Vec<(String, Function)>,
    meta_fields: Vec<(String, Result<Value>)>,
    failure: Option<Error>,
}

/// A proxy, which has the functions of a type without being a value of it.
pub(crate) struct Proxy<T>(PhantomData<T>);

impl<T> UserDataRegistry<T> {
    pub(crate) fn new(lua: &Lua, target: Target) -> UserDataRegistry<T> {
        UserDataRegistry { lua: lua.clone(), target, parts: Parts::default(), of: PhantomData }
    }

    fn function<A, R, C: Callee<A, R>>(&mut self, callee: C) -> Option<Function> {
        let f = self.lua.enter().stack().function(callee, true);
        match f {
            Ok(f) => Some(f),
            Err(e) => {
                self.parts.failure.get_or_insert(e);
                None
            }
        }
    }

    /// Adds a function whose first argument is the value.
    fn function_of_value<A, R, C: Callee<A, R>>(
        &mut self,
        callee: C,
        exclusive: bool,
        name: &str,
    ) -> Option<Function> {
        let Target::Held(place) = &self.target else { return self.function(callee) };
        let (place, name) = (place.clone(), function_name::<T>(name));
        let f = self.lua.enter().stack().held_function(callee, |inner| {
            let entry = place.entry();
            (entry, Outer { place, inner, exclusive, name })
        });
        f.map_err(|e| self.parts.failure.get_or_insert(e)).ok()
    }

    /// Takes over the items of a type, for values that are found in another way.
    pub(super) fn take_parts_of<U: UserData>(&mut self, target: Target) {
        let mut other = UserDataRegistry::<U>::new(&self.lua, target);
        U::register(&mut other);
        let (mine, other) = (&mut self.parts, other.parts);
        mine.fields.extend(other.fields);
        mine.getters.extend(other.getters);
        mine.setters.extend(other.setters);
        mine.methods.extend(other.methods);
        mine.meta_methods.extend(other.meta_methods);
        mine.meta_fields.extend(other.meta_fields);
        mine.failure = mine.failure.take().or(other.failure);
    }

    fn method<M, A, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        M: Fn(&Lua, &T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let owner = Owner::new::<T>(&self.target, name);
        self.function_of_value::<(PhantomData<T>, A), R, _>(Method { owner, method }, false, name)
    }

    fn method_mut<M, A, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let owner = Owner::new::<T>(&self.target, name);
        let method = MethodMut { owner, method: RefCell::new(method) };
        self.function_of_value::<(PhantomData<T>, A), R, _>(method, true, name)
    }

    fn plain<F, A, R>(&mut self, name: &str, f: F) -> Option<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.function(Named { name: function_name::<T>(name), f })
    }

    fn plain_mut<F, A, R>(&mut self, name: &str, f: F) -> Option<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.function(NamedMut { name: function_name::<T>(name), f: RefCell::new(f) })
    }

    /// Adds an async function. `start` receives the arguments on the stack.
    #[cfg(feature = "async")]
    fn future<F, R>(
        &mut self,
        start: impl Fn(Stack<'_>, usize, usize) -> Result<F> + 'static,
    ) -> Option<Function>
    where
        F: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let f = self.lua.enter().stack().async_function(crate::futures::AsyncCallee::new(start));
        f.map_err(|e| self.parts.failure.get_or_insert(e)).ok()
    }

    #[cfg(feature = "async")]
    fn async_method<B, M, A, MR, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        B: FromLua,
        M: Fn(Lua, B, A) -> MR + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let name = function_name::<T>(name);
        self.future(move |s, at, n| {
            // SAFETY: they are the arguments.
            let (this, args) = unsafe {
                let this = B::from_stack_args(at, n.min(1), 1, None, s);
                (this, A::from_stack_args(at + 1, n.saturating_sub(1), 2, Some(&name), s))
            };
            let this = this.map_err(|e| match e {
                Error::BadArgument { cause, .. } => (*cause).clone().bad_self(&name),
                e => e.bad_self(&name),
            })?;
            Ok(method(s.lua.clone(), this, args?))
        })
    }

    #[cfg(feature = "async")]
    fn async_plain<F, A, FR, R>(&mut self, name: &str, f: F) -> Option<Function>
    where
        F: Fn(Lua, A) -> FR + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let name = function_name::<T>(name);
        self.future(move |s, at, n| {
            // SAFETY: they are the arguments.
            let args = unsafe { A::from_stack_args(at, n, 1, Some(&name), s)? };
            Ok(f(s.lua.clone(), args))
        })
    }

    /// Makes the metatable.
    pub(crate) fn build(self) -> Result<Table> {
        let UserDataRegistry { lua, parts, .. } = self;
        if let Some(e) = parts.failure {
            return Err(e);
        }
        let meta = lua.create_table()?;
        for (name, f) in parts.meta_methods {
            MetaMethod::validate(&name)?;
            meta.raw_set(name, f)?;
        }
        for (name, value) in parts.meta_fields {
            MetaMethod::validate(&name)?;
            meta.raw_set(name, value?)?;
        }
        if meta.raw_get::<Value>(MetaMethod::Type.name())?.is_nil() {
            meta.raw_set(MetaMethod::Type.name(), short_type_name::<T>())?;
        }
        meta.raw_set("__metatable", false)?;

        // fields and methods that need no call to be read
        let own: Value = meta.raw_get("__index")?;
        let members = match &own {
            Value::Table(t) => t.clone(),
            _ => lua.create_table()?,
        };
        for (name, value) in parts.fields {
            members.raw_set(name, value?)?;
        }
        for (name, f) in parts.methods {
            members.raw_set(name, f)?;
        }
        let getters = lua.create_table_from(parts.getters)?;
        let setters = lua.create_table_from(parts.setters)?;
        let fallback = if own.is_table() { Value::Nil } else { own.clone() };
        if !getters.is_empty() || (!fallback.is_nil() && !members.is_empty()) {
            // an unknown field is an error only if the type has no `__index` of its own
            let strict = own.is_nil() && members.is_empty();
            meta.raw_set("__index", index::getter(&lua, &members, &getters, fallback, strict)?)?;
        } else if fallback.is_nil() && (own.is_table() || !members.is_empty()) {
            meta.raw_set("__index", members)?;
        }
        if !setters.is_empty() {
            let own: Value = meta.raw_get("__newindex")?;
            meta.raw_set("__newindex", index::setter(&lua, &setters, own)?)?;
        }
        Ok(meta)
    }
}

pub(crate) fn check_meta_field(lua: &Lua, name: &str, value: impl IntoLua) -> Result<Value> {
    let value = value.into_lua(lua)?;
    let fits = matches!(value, Value::Nil | Value::Table(_) | Value::Function(_));
    if matches!(name, "__index" | "__newindex") && !fits {
        return Err(Error::MetaMethodTypeError {
            method: name.to_owned(),
            type_name: value.type_name(),
            message: Some("expected nil, table or function".to_owned()),
        });
    }
    Ok(value)
}

macro_rules! put {
    ($self:ident.$list:ident, $name:expr, $f:expr) => {
        if let Some(f) = $f {
            $self.parts.$list.push(($name, f));
        }
    };
}

impl<T> UserDataFields<T> for UserDataRegistry<T> {
    fn add_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V) {
        let value = value.into_lua(&self.lua);
        self.parts.fields.push((name.into(), value));
    }

    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + MaybeSend + 'static,
        R: IntoLua,
    {
        let name = name.into();
        put!(self.getters, name, self.method(&name, move |lua, this, ()| method(lua, this)));
    }

    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua,
    {
        let name = name.into();
        put!(self.setters, name, self.method_mut(&name, method));
    }

    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + MaybeSend + 'static,
        R: IntoLua,
    {
        let name = name.into();
        put!(self.getters, name, self.plain(&name, function));
    }

    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, mut function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua,
    {
        let name = name.into();
        put!(self.setters, name, self.plain_mut(&name, move |lua, (u, v)| function(lua, u, v)));
    }

    fn add_meta_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V) {
        let name = name.into();
        let value = check_meta_field(&self.lua, &name, value);
        self.parts.meta_fields.push((name, value));
    }

    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua,
    {
        let name = name.into();
        let value = f(&self.lua).and_then(|v| check_meta_field(&self.lua, &name, v));
        self.parts.meta_fields.push((name, value));
    }
}

macro_rules! add {
    ($($add:ident $list:ident $make:ident ($($bound:tt)*);)*) => {$(
        fn $add<F, A, R>(&mut self, name: impl Into<String>, f: F)
        where
            F: $($bound)* + MaybeSend + 'static,
            A: FromLuaMulti,
            R: IntoLuaMulti,
        {
            let name = name.into();
            put!(self.$list, name, self.$make(&name, f));
        }
    )*};
}

#[cfg(feature = "async")]
macro_rules! add_async {
    ($($add:ident $list:ident $borrow:ident;)*) => {$(
        fn $add<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
        where
            T: 'static,
            M: Fn(Lua, $borrow<T>, A) -> MR + MaybeSend + 'static,
            A: FromLuaMulti,
            MR: Future<Output = Result<R>> + MaybeSend + 'static,
            R: IntoLuaMulti,
        {
            let name = name.into();
            put!(self.$list, name, self.async_method(&name, method));
        }
    )*};
    (functions $($add:ident $list:ident;)*) => {$(
        fn $add<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
        where
            F: Fn(Lua, A) -> FR + MaybeSend + 'static,
            A: FromLuaMulti,
            FR: Future<Output = Result<R>> + MaybeSend + 'static,
            R: IntoLuaMulti,
        {
            let name = name.into();
            put!(self.$list, name, self.async_plain(&name, function));
        }
    )*};
}

impl<T> UserDataMethods<T> for UserDataRegistry<T> {
    #[cfg(feature = "async")]
    add_async! {
        add_async_method methods UserDataRef;
        add_async_method_mut methods UserDataRefMut;
        add_async_meta_method meta_methods UserDataRef;
        add_async_meta_method_mut meta_methods UserDataRefMut;
    }
    #[cfg(feature = "async")]
    add_async! { functions
        add_async_function methods;
        add_async_meta_function meta_methods;
    }

    add! {
        add_method methods method (Fn(&Lua, &T, A) -> Result<R>);
        add_method_mut methods method_mut (FnMut(&Lua, &mut T, A) -> Result<R>);
        add_function methods plain (Fn(&Lua, A) -> Result<R>);
        add_function_mut methods plain_mut (FnMut(&Lua, A) -> Result<R>);
        add_meta_method meta_methods method (Fn(&Lua, &T, A) -> Result<R>);
        add_meta_method_mut meta_methods method_mut (FnMut(&Lua, &mut T, A) -> Result<R>);
        add_meta_function meta_methods plain (Fn(&Lua, A) -> Result<R>);
        add_meta_function_mut meta_methods plain_mut (FnMut(&Lua, A) -> Result<R>);
    }
}

impl Lua {
    /// Registers the fields and methods of a type that does not implement [`UserData`]. Existing
    /// userdata keep theirs.
    ///
    /// # Errors
    /// Returns an error when the metatable cannot be made.
    pub fn register_userdata_type<T: 'static>(
        &self,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<()> {
        self.make_metatable::<T>(TypeId::of::<T>(), f).map(drop)
    }

    /// Makes and stores the metatable of the type `key`.
    fn make_metatable<T: 'static>(
        &self,
        key: TypeId,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<u32> {
        let mut registry = UserDataRegistry::new(self, Target::Type(TypeId::of::<T>()));
        f(&mut registry);
        let meta = registry.build()?;
        let entry = self.enter();
        // SAFETY: P4; the table is rooted by its handle, and then by a slot of its own.
        unsafe {
            let slot = (*entry.st).add_host_root(meta.0.word());
            if let Some(old) = self.control.metatables.borrow_mut().insert(key, slot) {
                (*entry.st).host_roots.release(old);
            }
            Ok(slot)
        }
    }

    /// Returns the metatable of a type, which `f` makes if there is none.
    #[inline]
    fn metatable_of<T: 'static>(
        &self,
        s: Stack<'_>,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<Raw> {
        let known = self.control.metatables.borrow().get(&TypeId::of::<T>()).copied();
        let slot = match known {
            Some(slot) => slot,
            None => self.make_metatable(TypeId::of::<T>(), f)?,
        };
        // SAFETY: P4.
        Ok(Raw(unsafe { (*s.st).host_roots.get(slot) }))
    }

    /// Makes a userdata of a cell that holds, or is a proxy of, a `T`.
    pub(crate) fn userdata_of<T: 'static>(
        &self,
        s: Stack<'_>,
        cell: crate::control::AnyBox,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<Raw> {
        s.poll()?;
        let meta = self.metatable_of::<T>(s, f)?;
        let u = s.udata(cell);
        s.set_udata_meta(u, meta);
        Ok(u)
    }

    /// Creates a userdata with this value. The value is treated as not `Send`; see
    /// [`Lua::create_send_userdata`].
    ///
    /// # Errors
    /// Returns an error when the metatable of the type cannot be made or the memory limit is
    /// reached.
    pub fn create_userdata<T: UserData + MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, Some(&self.control));
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }

    /// Like [`Lua::create_userdata`], for values that may change threads: the state can be detached
    /// ([`Lua::detach`]) while the userdata exists.
    ///
    /// # Errors
    /// As there.
    pub fn create_send_userdata<T: UserData + Send + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, None);
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }

    /// Creates a userdata with a value of any type. It has the fields and methods that
    /// [`Lua::register_userdata_type`] has registered.
    ///
    /// # Errors
    /// As for [`Lua::create_userdata`].
    pub fn create_any_userdata<T: MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, Some(&self.control));
        self.userdata_of::<T>(s, cell, |_| ()).map(|u| AnyUserData(s.handle(u)))
    }

    /// Creates a userdata that has the functions and fields of a type without being a value of it.
    ///
    /// # Errors
    /// As for [`Lua::create_userdata`].
    pub fn create_proxy<T: UserData + 'static>(&self) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(Proxy::<T>(PhantomData), Some(&self.control));
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }
}

impl<T: UserData + MaybeSend + MaybeSync + 'static> IntoLua for T {
    #[inline]
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_userdata(self).map(Value::UserData)
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        let cell = HostCell::boxed(self, Some(&s.lua.control));
        s.lua.userdata_of::<T>(s, cell, T::register)
    }
}

impl AnyUserData {
    /// Wraps a value in a type that converts to a userdata.
    pub fn wrap<T: MaybeSend + MaybeSync + 'static>(data: T) -> impl IntoLua {
        Wrapped(data)
    }
}

struct Wrapped<T>(T);

impl<T: MaybeSend + MaybeSync + 'static> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_any_userdata(self.0).map(Value::UserData)
    }
}
