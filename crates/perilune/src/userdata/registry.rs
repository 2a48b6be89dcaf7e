//! The fields and methods of a type, and the metatable created from them.

use std::cell::RefCell;
use std::marker::PhantomData;

use super::index;
use super::metamethod::MetaMethod;
use super::method::{Method, MethodMut, Named, NamedMut, Owner, function_name};
use super::target::{Outer, Target};
use crate::callback::Callee;
#[cfg(feature = "async")]
use crate::stack::Stack;
use crate::sync::XRc;
#[cfg(feature = "async")]
use crate::traits::FromLua;
use crate::traits::{FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::short_type_name;
use crate::{Error, Function, Lua, Result, Table, Value};

/// Collects the fields and methods of a type.
pub struct UserDataRegistry<T> {
    pub(super) lua: Lua,
    pub(super) target: Target,
    pub(crate) parts: Parts,
    of: PhantomData<T>,
}

/// The collected fields and methods.
#[derive(Default)]
pub(crate) struct Parts {
    pub(super) fields: Vec<(String, FieldValue)>,
    pub(super) getters: Vec<(String, Function)>,
    pub(super) setters: Vec<(String, Function)>,
    pub(super) methods: Vec<(String, Function)>,
    pub(super) meta_methods: Vec<(String, Function)>,
    pub(super) meta_fields: Vec<(String, Result<Value>)>,
    pub(super) failure: Option<Error>,
}

/// A proxy, which has the functions of a type but contains no value of the type.
pub(crate) struct Proxy<T>(pub(super) PhantomData<T>);

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

    pub(super) fn method<M, A, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        M: Fn(&Lua, &T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let owner = Owner::new::<T>(&self.target, name);
        self.function_of_value::<(PhantomData<T>, A), R, _>(Method { owner, method }, false, name)
    }

    pub(super) fn method_mut<M, A, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let owner = Owner::new::<T>(&self.target, name);
        let method = MethodMut { owner, method: RefCell::new(method) };
        self.function_of_value::<(PhantomData<T>, A), R, _>(method, true, name)
    }

    pub(super) fn plain<F, A, R>(&mut self, name: &str, f: F) -> Option<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.function(Named { name: function_name::<T>(name), f })
    }

    pub(super) fn plain_mut<F, A, R>(&mut self, name: &str, f: F) -> Option<Function>
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
    pub(super) fn async_method<B, M, A, MR, R>(&mut self, name: &str, method: M) -> Option<Function>
    where
        B: FromLua,
        M: Fn(Lua, B, A) -> MR + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let name = function_name::<T>(name);
        self.future(move |s, at, n| {
            // SAFETY: these values are the arguments of the call.
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
    pub(super) fn async_plain<F, A, FR, R>(&mut self, name: &str, f: F) -> Option<Function>
    where
        F: Fn(Lua, A) -> FR + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let name = function_name::<T>(name);
        self.future(move |s, at, n| {
            // SAFETY: these values are the arguments of the call.
            let args = unsafe { A::from_stack_args(at, n, 1, Some(&name), s)? };
            Ok(f(s.lua.clone(), args))
        })
    }

    /// Creates the metatable in a state. `publish` receives it before the values of the fields are
    /// created, since these may have the type itself.
    ///
    /// # Errors
    /// Returns the first error of a field or method, or an error when the code that filled the
    /// registry has swapped it with one of another state.
    pub(crate) fn build(self, lua: &Lua, publish: impl FnOnce(&Table)) -> Result<Table> {
        let UserDataRegistry { lua: of, parts, .. } = self;
        if !XRc::ptr_eq(&of.control, &lua.control) {
            return Err(Error::runtime("the registry belongs to another state"));
        }
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

        // fields and methods that can be read without a call
        let own: Value = meta.raw_get("__index")?;
        let members = match &own {
            Value::Table(t) => t.clone(),
            _ => lua.create_table()?,
        };
        let is_method = |field: &str| parts.methods.iter().any(|(name, _)| name == field);
        let fields: Vec<_> =
            parts.fields.into_iter().filter(|(name, _)| !is_method(name)).collect();
        // until they are created
        for (name, _) in &fields {
            members.raw_set(name.as_str(), true)?;
        }
        for (name, f) in parts.methods {
            members.raw_set(name, f)?;
        }
        let getters = lua.create_table_from(parts.getters)?;
        let setters = lua.create_table_from(parts.setters)?;
        let fallback = if own.is_table() { Value::Nil } else { own.clone() };
        if !getters.is_empty() || (!fallback.is_nil() && !members.is_empty()) {
            // an unknown field is an error only if the type has neither an `__index` of its own nor
            // methods
            let strict = own.is_nil() && members.is_empty();
            meta.raw_set("__index", index::getter(lua, &members, &getters, fallback, strict)?)?;
        } else if fallback.is_nil() && (own.is_table() || !members.is_empty()) {
            meta.raw_set("__index", &members)?;
        }
        if !setters.is_empty() {
            let own: Value = meta.raw_get("__newindex")?;
            meta.raw_set("__newindex", index::setter(lua, &setters, own)?)?;
        }
        publish(&meta);
        for (name, value) in fields {
            members.raw_set(name, value(lua)?)?;
        }
        Ok(meta)
    }
}

/// Creates the value of a field that is the same for all values of a type.
pub(super) type FieldValue = Box<dyn FnOnce(&Lua) -> Result<Value>>;

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
