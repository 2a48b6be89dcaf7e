//! Modules, and the metatables of basic types.

use perilune_runtime::native::Val;

use crate::stack::Raw;
use crate::traits::IntoLua;
use crate::{Function, LightUserData, Lua, LuaString, Number, Result, Table, Thread, Value};

impl Lua {
    /// Makes `require(name)` return `value`.
    ///
    /// ```
    /// # fn main() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// lua.register_module("@host/answer", lua.create_table_from([("n", 42)])?)?;
    /// assert_eq!(lua.load("require('@host/answer').n").eval::<i64>()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn register_module(&self, name: &str, value: impl IntoLua) -> Result<()> {
        self.module_table("_LOADED")?.set(name, value)
    }

    /// Registers `func` as the loader of a module. The loader is called when the module is first
    /// required.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn preload_module(&self, name: &str, func: Function) -> Result<()> {
        self.module_table("_PRELOAD")?.set(name, func)
    }

    /// Removes a loaded module, so that the next `require` loads it again.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn unload_module(&self, name: &str) -> Result<()> {
        self.module_table("_LOADED")?.set(name, Value::Nil)
    }

    /// Returns a table of the registry, and creates it if necessary.
    fn module_table(&self, name: &str) -> Result<Table> {
        if let Some(t) = self.named_registry_value(name)? {
            return Ok(t);
        }
        let t = self.create_table()?;
        self.set_named_registry_value(name, &t)?;
        Ok(t)
    }

    /// Returns the metatable that all values of a basic type share: `bool`, [`Number`],
    /// [`LuaString`], [`Function`], [`Thread`], [`LightUserData`].
    pub fn type_metatable<T: LuaType>(&self) -> Option<Table> {
        let sample = T::sample(self).ok()?;
        let entry = self.enter();
        let s = entry.stack();
        let raw = s.raw(&sample).ok()?;
        let cx = &*s.cx();
        // SAFETY: rooted by the sample.
        let meta = cx.metatable_of(unsafe { Val::of(cx, raw.0) })?;
        Some(Table(s.handle(Raw(meta.val().raw()))))
    }

    /// Sets or removes the metatable that all values of a basic type share.
    ///
    /// ```
    /// # fn main() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let meta = lua.create_table()?;
    /// let index = |_: &_, (n, k): (i64, String)| Ok(format!("{n}.{k}"));
    /// meta.set("__index", lua.create_function(index)?)?;
    /// lua.set_type_metatable::<perilune::Number>(Some(meta));
    /// assert_eq!(lua.load("(5).px").eval::<String>()?, "5.px");
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_type_metatable<T: LuaType>(&self, metatable: Option<Table>) {
        let Ok(sample) = T::sample(self) else { return };
        let entry = self.enter();
        let s = entry.stack();
        let Ok(raw) = s.raw(&sample) else { return };
        let meta = metatable.as_ref().map(|m| s.word(&m.0));
        let cx = &*s.cx();
        // SAFETY: rooted by their handles.
        let (v, meta) =
            unsafe { (Val::of(cx, raw.0), meta.and_then(|m| Val::of(cx, m.0).as_table())) };
        cx.set_type_metatable(v, meta);
    }
}

/// A basic type of Lua whose values share a metatable.
pub trait LuaType: sealed::Sealed {
    /// Returns some value of the type.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    #[doc(hidden)]
    fn sample(lua: &Lua) -> Result<Value>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! types {
    ($($t:ty: $lua:ident => $sample:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl LuaType for $t {
            fn sample($lua: &Lua) -> Result<Value> {
                Ok($sample)
            }
        }
    )*};
}

types! {
    bool: _lua => Value::Boolean(true);
    Number: _lua => Value::Number(0.0);
    LightUserData: _lua => Value::NULL;
    LuaString: lua => Value::String(lua.create_string("")?);
    Function: lua => Value::Function(lua.create_function(|_, ()| Ok(()))?);
    Thread: lua => Value::Thread(lua.current_thread());
}
