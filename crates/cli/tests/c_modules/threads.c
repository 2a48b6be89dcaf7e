/* The use of coroutines that are not the running one. The prototypes are those of the manual, so that
   no headers are needed. */

#include <stddef.h>

typedef struct lua_State lua_State;
typedef long long lua_Integer;
typedef int (*lua_CFunction)(lua_State *);
typedef struct luaL_Reg {
  const char *name;
  lua_CFunction func;
} luaL_Reg;

extern lua_Integer luaL_checkinteger(lua_State *, int);
extern void lua_createtable(lua_State *, int, int), luaL_setfuncs(lua_State *, const luaL_Reg *,
    int);
extern void lua_pushinteger(lua_State *, lua_Integer), lua_settop(lua_State *, int);
extern int lua_checkstack(lua_State *, int);
extern void lua_pushvalue(lua_State *, int);
extern int lua_gettop(lua_State *), lua_yieldk(lua_State *, int, ptrdiff_t, void *);
extern int lua_pcallk(lua_State *, int, int, int, ptrdiff_t, void *);
extern void lua_sethook(lua_State *, void (*)(lua_State *, void *), int, int);
extern void (*lua_gethook(lua_State *))(lua_State *, void *);
extern int lua_gethookmask(lua_State *), lua_error(lua_State *);
extern void lua_pushcclosure(lua_State *, lua_CFunction, int), lua_pushboolean(lua_State *, int);
extern lua_State *lua_newthread(lua_State *), *lua_tothread(lua_State *, int);
extern void lua_xmove(lua_State *, lua_State *, int);
extern void lua_callk(lua_State *, int, int, ptrdiff_t, void *);

static lua_State *saved;

static int save(lua_State *L) {
  saved = L;
  return 0;
}

/* Replaces the values of the saved coroutine's running function by so many numbers. */
static int replace(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  lua_settop(saved, 0);
  for (; n > 0; n--) lua_pushinteger(saved, n);
  return 0;
}

static int thread(lua_State *L) {
  lua_newthread(L);
  return 1;
}

/* A coroutine that has so many numbers below its function. */
static int above(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 2);
  lua_State *co = lua_newthread(L);
  lua_checkstack(co, (int)n + 1);
  for (; n > 0; n--) lua_pushinteger(co, n);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

/* Calls a function in a coroutine, or in the saved one, and returns how many values that has. */
static int call(lua_State *L) {
  lua_State *in = lua_tothread(L, 1);
  int n = lua_gettop(L) - 1;
  if (!in) in = saved;
  lua_xmove(L, in, n);
  lua_callk(in, n - 1, 0, 0, NULL);
  lua_pushinteger(L, lua_gettop(in));
  return 1;
}

static int yield(lua_State *L) { return lua_yieldk(L, 0, 0, NULL); }

static int refused;

static void hook(lua_State *L, void *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  lua_pushcclosure(L, yield, 0);
  refused = lua_pcallk(L, 0, 0, 0, 0, NULL) == 2;
  lua_settop(L, 0);
}

/* Makes a hook call a function that yields, at the next line. */
static int yield_in_hook(lua_State *L) {
  refused = 0;
  lua_sethook(L, hook, 4, 0);
  return 0;
}

static void stop(lua_State *L, void *ar) {
  (void)ar;
  lua_pushinteger(L, 42);
  lua_error(L);
}

/* Raises an error after so many instructions; 0 is no limit. */
static int limit(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  lua_sethook(L, stop, n ? 8 : 0, (int)n);
  return 0;
}

/* Whether a coroutine has that limit. */
static int is_limited(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_pushboolean(L, lua_gethook(co) == stop && lua_gethookmask(co) == 8);
  return 1;
}

static int was_refused(lua_State *L) {
  lua_pushboolean(L, refused);
  return 1;
}

static const luaL_Reg functions[] = {{"save", save}, {"replace", replace}, {"thread", thread}, {"above", above},
    {"call", call}, {"yield_in_hook", yield_in_hook}, {"was_refused", was_refused},
    {"limit", limit}, {"is_limited", is_limited}, {NULL, NULL}};

int luaopen_threads(lua_State *L) {
  lua_createtable(L, 0, 9);
  luaL_setfuncs(L, functions, 0);
  return 1;
}
