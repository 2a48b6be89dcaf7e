//! A list of the functions of the API, so that the linker keeps them in the program although no
//! Rust code calls them.

use std::hint::black_box;

/// Lists functions as addresses.
macro_rules! exports {
    ($($module:path: $($name:ident)*;)*) => {
        /// The number of functions.
        #[cfg(test)]
        const COUNT: usize = [$($(stringify!($name)),*),*].len();

        /// Makes the program refer to each function of the API.
        pub(crate) fn keep() {
            $({
                use $module as module;
                $(black_box(module::$name as *const ());)*
            })*
            black_box(&crate::life::lua_ident);
        }
    };
}

exports! {
    crate::access:
        lua_iscfunction lua_isinteger lua_isnumber lua_isstring lua_isuserdata lua_rawlen
        lua_toboolean lua_tocfunction lua_tointegerx lua_tolstring lua_tonumberx lua_topointer
        lua_tothread lua_touserdata lua_type lua_typename;
    crate::auxiliary::arguments:
        luaL_argerror luaL_checkany luaL_checkinteger luaL_checklstring luaL_checknumber
        luaL_checkoption luaL_checkstack luaL_checktype luaL_checkversion_ luaL_optinteger
        luaL_optlstring luaL_optnumber luaL_typeerror;
    crate::auxiliary::buffers:
        luaL_addgsub luaL_addlstring luaL_addstring luaL_addvalue luaL_buffinit luaL_buffinitsize
        luaL_gsub luaL_prepbuffsize luaL_pushresult luaL_pushresultsize;
    crate::auxiliary::chunks:
        luaL_loadbufferx luaL_loadfilex luaL_loadstring;
    crate::auxiliary::libraries:
        luaL_openlibs luaL_requiref luaopen_base luaopen_coroutine luaopen_debug luaopen_io
        luaopen_math luaopen_os luaopen_package luaopen_string luaopen_table luaopen_utf8;
    crate::auxiliary::metatables:
        luaL_callmeta luaL_checkudata luaL_getmetafield luaL_getsubtable luaL_newmetatable
        luaL_setfuncs luaL_setmetatable luaL_testudata;
    crate::auxiliary::references:
        luaL_ref luaL_unref;
    crate::auxiliary::results:
        luaL_execresult luaL_fileresult;
    crate::auxiliary::texts:
        luaL_len luaL_tolstring luaL_traceback luaL_where;
    crate::calls:
        lua_callk lua_error lua_pcallk lua_yieldk;
    crate::coroutines:
        lua_closeslot lua_closethread lua_isyieldable lua_newthread lua_resetthread lua_resume
        lua_status lua_toclose;
    crate::debug:
        lua_getinfo lua_getlocal lua_getstack lua_getupvalue lua_setlocal lua_setupvalue
        lua_upvalueid lua_upvaluejoin;
    crate::format:
        luaL_error lua_gc lua_pushfstring lua_pushvfstring;
    crate::get:
        lua_createtable lua_getfield lua_getglobal lua_geti lua_getmetatable lua_gettable lua_next
        lua_rawget lua_rawgeti lua_rawgetp;
    crate::hooks:
        lua_gethook lua_gethookcount lua_gethookmask lua_sethook;
    crate::life:
        luaL_newstate lua_atpanic lua_close lua_getallocf lua_newstate lua_setallocf
        lua_setcstacklimit lua_setwarnf lua_version lua_warning;
    crate::load:
        lua_dump lua_load;
    crate::operators:
        lua_arith lua_compare lua_concat lua_len lua_rawequal lua_stringtonumber;
    crate::push:
        lua_pushboolean lua_pushcclosure lua_pushinteger lua_pushlightuserdata lua_pushlstring
        lua_pushnil lua_pushnumber lua_pushstring lua_pushthread;
    crate::set:
        lua_rawset lua_rawseti lua_rawsetp lua_setfield lua_setglobal lua_seti lua_setmetatable
        lua_settable;
    crate::stack:
        lua_absindex lua_checkstack lua_copy lua_gettop lua_pushvalue lua_rotate lua_settop
        lua_xmove;
    crate::userdata:
        lua_getiuservalue lua_newuserdatauv lua_setiuservalue;
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_functions_of_the_headers() {
        // 98 of lua.h, 46 of lauxlib.h and lualib.h, 10 to open libraries; lua_resetthread has
        // another name since 5.4.6, and both are exported
        assert_eq!(super::COUNT, 154);
        super::keep();
    }
}
