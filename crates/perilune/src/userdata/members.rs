//! How types add their fields and methods to a registry.

use super::registry::{UserDataRegistry, check_meta_field};
use super::traits::{UserDataFields, UserDataMethods};
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::MaybeSend;
use crate::{AnyUserData, Lua, Result};
#[cfg(feature = "async")]
use crate::{UserDataRef, UserDataRefMut};

macro_rules! put {
    ($self:ident.$list:ident, $name:expr, $f:expr) => {
        if let Some(f) = $f {
            $self.parts.$list.push(($name, f));
        }
    };
}

impl<T> UserDataFields<T> for UserDataRegistry<T> {
    fn add_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V) {
        self.parts.fields.push((name.into(), Box::new(|lua| value.into_lua(lua))));
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
