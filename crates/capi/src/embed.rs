//! C modules and C functions for programs that embed the engine.

use perilune::{Function, Lua, Result, Table};
use perilune_runtime::native::Val;

use crate::run::run;
use crate::state::{CFunction, LuaState};

/// The field of the registry through which a created function is passed on to get a handle.
const CREATED: &str = "perilune.created_c_function";

/// The field of the registry with `package.preload` (`LUA_PRELOAD_TABLE`).
const PRELOAD: &str = "_PRELOAD";

/// Operations on a state for C modules and C functions.
pub trait CModules {
    /// Allows programs of the state to load C modules with `require` and `package.loadlib`.
    ///
    /// # Safety
    /// A C module can do whatever the process can: the state is no longer a sandbox, limits of
    /// memory and time do not apply inside modules, and a bug in a module can violate memory
    /// safety. The caller is responsible for the modules that programs of the state can find.
    unsafe fn allow_c_modules(&self);

    /// Creates a Lua function from a C function, or from a Rust function that uses the C API.
    ///
    /// # Errors
    /// Returns "not enough memory" when the memory limit is reached.
    ///
    /// # Safety
    /// `f` follows the rules of the C API. It does not unwind, and has no frame with destructors
    /// where it calls functions of the API that can raise an error.
    unsafe fn create_c_function(&self, f: CFunction) -> Result<Function>;

    /// Makes `require(name)` call a function that is linked with the program, as if it were the
    /// function `luaopen_…` of a C library (`package.preload`).
    ///
    /// # Errors
    /// Returns "not enough memory" when the memory limit is reached.
    ///
    /// # Safety
    /// See [`CModules::create_c_function`]. The same holds for all functions that the module
    /// defines.
    unsafe fn preload_c_module(&self, name: &str, open: CFunction) -> Result<()>;

    /// Passes the `lua_State` of the running coroutine to `f`, for calls of the C API. Values that
    /// `f` leaves on the stack are removed.
    ///
    /// # Safety
    /// `f` follows the rules of the C API, removes only values that it has pushed, and does not use
    /// the state through handles. No function that it calls raises an error outside of `lua_pcall`:
    /// that would end the process.
    unsafe fn with_lua_state<R>(&self, f: impl FnOnce(*mut LuaState) -> R) -> R;
}

impl CModules for Lua {
    unsafe fn allow_c_modules(&self) {
        // SAFETY: the function uses nothing but the state.
        unsafe { self.with(crate::package::allow) };
    }

    unsafe fn create_c_function(&self, f: CFunction) -> Result<Function> {
        crate::files::connect();
        // SAFETY: the function uses nothing but the state. N1; C2 holds by the caller's contract.
        unsafe {
            self.with(|cx| {
                let cx = &*cx;
                crate::hooks::prepare(cx);
                let l = LuaState::of(cx.state(), (*cx.state()).thread);
                let f = (*(*l).global).functions.light(cx, run, f as *const ());
                cx.registry().set_name(cx, CREATED, Val::of(cx, f));
            });
        }
        let created = self.named_registry_value(CREATED);
        self.unset_named_registry_value(CREATED)?;
        created
    }

    unsafe fn preload_c_module(&self, name: &str, open: CFunction) -> Result<()> {
        let open = self.create_c_function(open)?;
        let preload: Option<Table> = self.named_registry_value(PRELOAD)?;
        match preload {
            Some(preload) => preload.raw_set(name, open),
            // `package` takes the table when it is opened
            None => {
                let preload = self.create_table()?;
                preload.raw_set(name, open)?;
                self.set_named_registry_value(PRELOAD, preload)
            }
        }
    }

    unsafe fn with_lua_state<R>(&self, f: impl FnOnce(*mut LuaState) -> R) -> R {
        crate::files::connect();
        // SAFETY: N1; the caller is responsible for what `f` does.
        unsafe {
            self.with(|cx| {
                crate::hooks::prepare(cx);
                f(LuaState::of(cx.state(), (*cx.state()).thread))
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    use perilune::Lua;

    use super::CModules;
    use crate::push::lua_pushinteger;
    use crate::stack::lua_gettop;
    use crate::state::LuaState;

    unsafe extern "C" fn count(l: *mut LuaState) -> c_int {
        // SAFETY: C1.
        unsafe { lua_pushinteger(l, i64::from(lua_gettop(l))) };
        1
    }

    unsafe extern "C" fn fail(l: *mut LuaState) -> c_int {
        // SAFETY: C1; nothing here has a destructor.
        unsafe { crate::auxiliary::arguments::luaL_checkinteger(l, 1) as c_int }
    }

    #[test]
    fn functions_of_the_host() {
        let lua = Lua::new();
        // SAFETY: the functions follow the rules of the C API.
        let (count, fail) = unsafe { (lua.create_c_function(count), lua.create_c_function(fail)) };
        let (count, fail) = (count.unwrap(), fail.unwrap());
        assert_eq!(count.call::<i64>(("a", 2, 3.5)).unwrap(), 3);
        let message = fail.call::<()>("no number").unwrap_err().to_string();
        assert!(message.contains("number expected, got string"), "{message}");
        assert_eq!(fail.call::<Vec<i64>>(0).unwrap_or_default(), Vec::<i64>::new());
        lua.globals().set("count", count).unwrap();
        let hot = "local n = 0 for i = 1, 5000 do n = n + count(i, i) end return n";
        assert_eq!(lua.load(hot).eval::<i64>().unwrap(), 10000);
    }

    #[test]
    fn modules_of_the_host() {
        let lua = Lua::new();
        // SAFETY: the function follows the rules of the C API.
        unsafe { lua.preload_c_module("host.count", count).unwrap() };
        let code = "local n, from = require 'host.count' return n, from, require 'host.count'";
        let loaded: (i64, String, i64) = lua.load(code).eval().unwrap();
        assert_eq!(loaded, (2, ":preload:".to_owned(), 2));

        let engine = perilune::Engine::new();
        let lua = Lua::without_libraries(&engine);
        // SAFETY: as above.
        unsafe { lua.preload_c_module("early", count).unwrap() };
        lua.open_libraries();
        assert_eq!(lua.load("return (require 'early')").eval::<i64>().unwrap(), 2);
    }

    #[test]
    fn the_state_of_the_host() {
        let lua = Lua::new();
        // SAFETY: these functions raise no error.
        let (top, n) = unsafe {
            lua.with_lua_state(|l| {
                let top = lua_gettop(l);
                lua_pushinteger(l, 7);
                crate::set::lua_setglobal(l, c"seven".as_ptr());
                lua_pushinteger(l, 8);
                (top, lua_gettop(l) - top)
            })
        };
        assert_eq!((top, n), (0, 1));
        assert_eq!(lua.globals().get::<i64>("seven").unwrap(), 7);
        // SAFETY: as above; the values were removed.
        assert_eq!(unsafe { lua.with_lua_state(|l| lua_gettop(l)) }, 0);
    }

    #[test]
    fn modules_have_to_be_allowed() {
        let code = "return select(3, package.loadlib('/no/such/library.so', '*'))";
        let lua = Lua::new();
        assert_eq!(lua.load(code).eval::<String>().unwrap(), "absent");
        // SAFETY: nothing is loaded.
        unsafe { lua.allow_c_modules() };
        assert_eq!(lua.load(code).eval::<String>().unwrap(), "open");
    }
}
