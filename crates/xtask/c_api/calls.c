/* Calls between C code and Lua, for calls.lua. */

#include "lua.h"
#include "lauxlib.h"

/* calls(f, n): calls f n times */
static int calls(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 2), s = 0;
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, i);
    lua_call(L, 1, 1);
    s += lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pushinteger(L, s);
  return 1;
}

/* pcalls(f, n): the same by lua_pcall; the sum of the statuses */
static int pcalls(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 2), s = 0;
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, i);
    s += lua_pcall(L, 1, 1, 0);
    lua_pop(L, 1);
  }
  lua_pushinteger(L, s);
  return 1;
}

static int fail(lua_State *L) { return luaL_error(L, "no %d", 1); }

static int raise(lua_State *L) {
  lua_settop(L, 1);
  return lua_error(L);
}

static int id(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1));
  return 1;
}

/* fields(t, n): reads and writes fields n times */
static int fields(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 2);
  for (i = 0; i < n; i++) {
    lua_getfield(L, 1, "x");
    lua_setfield(L, 1, "y");
  }
  return 0;
}

/* make(n): makes n tables */
static int make(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 1);
  for (i = 0; i < n; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, "v");
    lua_setfield(L, -2, "x");
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, 1);
    lua_pop(L, 1);
  }
  return 0;
}

/* ud(n): makes n userdata */
static int ud(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 1);
  for (i = 0; i < n; i++) {
    lua_newuserdatauv(L, 32, 0);
    lua_pop(L, 1);
  }
  return 0;
}

/* buf(n): adds to a buffer n times */
static int buf(lua_State *L) {
  lua_Integer i, n = luaL_checkinteger(L, 1);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++) luaL_addstring(&b, "abcdef");
  luaL_pushresult(&b);
  return 1;
}

static const luaL_Reg functions[] = {{"calls", calls}, {"pcalls", pcalls}, {"fail", fail},
    {"raise", raise}, {"id", id}, {"fields", fields}, {"make", make}, {"ud", ud}, {"buf", buf},
    {NULL, NULL}};

int luaopen_calls(lua_State *L) {
  luaL_newlib(L, functions);
  return 1;
}
