/* Functions that use the C API where modules seldom do: continuations, yields, coroutines, errors
   across them, buffers,
       hooks. The script next to it checks what they do. The prototypes are those
   of the manual, so that no headers are needed. */

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct lua_State lua_State;
typedef long long lua_Integer;
typedef double lua_Number;
typedef ptrdiff_t lua_KContext;
typedef int (*lua_CFunction)(lua_State *);
typedef int (*lua_KFunction)(lua_State *, int, lua_KContext);
typedef const char *(*lua_Reader)(lua_State *, void *, size_t *);
typedef int (*lua_Writer)(lua_State *, const void *, size_t, void *);
typedef struct luaL_Reg {
  const char *name;
  lua_CFunction func;
} luaL_Reg;
typedef struct luaL_Buffer {
  char *b;
  size_t size, n;
  lua_State *L;
  union {
    double align;
    char b[1024];
  } init;
} luaL_Buffer;
typedef struct lua_Debug {
  int event;
  const char *name, *namewhat, *what, *source;
  size_t srclen;
  int currentline, linedefined, lastlinedefined;
  unsigned char nups, nparams;
  char isvararg, istailcall;
  unsigned short ftransfer, ntransfer;
  char short_src[60];
  void *i_ci;
} lua_Debug;
typedef void (*lua_Hook)(lua_State *, lua_Debug *);

extern int lua_gettop(lua_State *), lua_type(lua_State *, int), lua_checkstack(lua_State *, int);
extern void lua_settop(lua_State *, int), lua_pushvalue(lua_State *, int);
extern void lua_rotate(lua_State *, int, int), lua_copy(lua_State *, int, int);
extern void lua_xmove(lua_State *, lua_State *, int), lua_pushnil(lua_State *);
extern void lua_pushinteger(lua_State *, lua_Integer), lua_pushboolean(lua_State *, int);
extern void lua_pushnumber(lua_State *, lua_Number), lua_pushlightuserdata(lua_State *, void *);
extern const char *lua_pushstring(lua_State *, const char *);
extern const char *lua_pushfstring(lua_State *, const char *, ...);
extern const char *lua_pushvfstring(lua_State *, const char *, va_list);
extern const char *lua_tolstring(lua_State *, int, size_t *);
extern lua_Integer lua_tointegerx(lua_State *, int, int *);
extern void lua_pushcclosure(lua_State *, lua_CFunction, int), lua_callk(lua_State *, int, int,
    lua_KContext, lua_KFunction);
extern int lua_pcallk(lua_State *, int, int, int, lua_KContext, lua_KFunction);
extern int lua_yieldk(lua_State *, int, lua_KContext, lua_KFunction), lua_error(lua_State *);
extern lua_State *lua_newthread(lua_State *), *lua_tothread(lua_State *, int);
extern int lua_resume(lua_State *, lua_State *, int, int *), lua_status(lua_State *),
    lua_resetthread(lua_State *);
extern int lua_pushthread(lua_State *), lua_isyieldable(lua_State *), lua_compare(lua_State *,
    int, int, int);
extern int lua_getfield(lua_State *, int, const char *), lua_next(lua_State *, int),
    lua_rawgeti(lua_State *, int, lua_Integer);
extern void lua_setfield(lua_State *, int, const char *), lua_createtable(lua_State *, int,
    int), lua_rawseti(lua_State *, int, lua_Integer);
extern void lua_settable(lua_State *, int), lua_rawset(lua_State *, int);
extern const char *lua_pushlstring(lua_State *, const char *, size_t);
extern void lua_arith(lua_State *, int), lua_concat(lua_State *, int), lua_len(lua_State *,
    int), lua_toclose(lua_State *, int);
extern void *lua_newuserdatauv(lua_State *, size_t, int), *lua_touserdata(lua_State *, int);
extern int lua_setmetatable(lua_State *, int), lua_getiuservalue(lua_State *, int, int),
    lua_setiuservalue(lua_State *, int, int);
extern int lua_load(lua_State *, lua_Reader, void *, const char *, const char *),
    lua_dump(lua_State *, lua_Writer, void *, int);
extern int lua_gc(lua_State *, int, ...), lua_rawequal(lua_State *, int, int);
extern lua_CFunction lua_tocfunction(lua_State *, int);
extern int lua_getstack(lua_State *, int, lua_Debug *), lua_getinfo(lua_State *, const char *,
    lua_Debug *);
extern const char *lua_getlocal(lua_State *, const lua_Debug *, int);
extern const char *lua_setlocal(lua_State *, const lua_Debug *, int);
extern const char *lua_getupvalue(lua_State *, int, int);
extern void lua_warning(lua_State *, const char *, int);
extern void lua_sethook(lua_State *, lua_Hook, int, int);
extern lua_Hook lua_gethook(lua_State *);
extern int lua_gethookmask(lua_State *), lua_gethookcount(lua_State *);
extern int luaL_error(lua_State *, const char *, ...), luaL_ref(lua_State *, int);
extern void luaL_unref(lua_State *, int, int), luaL_setfuncs(lua_State *, const luaL_Reg *, int);
extern void luaL_buffinit(lua_State *, luaL_Buffer *), luaL_addlstring(luaL_Buffer *,
    const char *, size_t);
extern void luaL_addvalue(luaL_Buffer *), luaL_pushresult(luaL_Buffer *);
extern lua_Integer luaL_checkinteger(lua_State *, int), luaL_optinteger(lua_State *, int,
    lua_Integer);
extern lua_Number luaL_checknumber(lua_State *, int), luaL_optnumber(lua_State *, int,
    lua_Number);
extern const char *luaL_checklstring(lua_State *, int, size_t *), *luaL_gsub(lua_State *,
    const char *, const char *, const char *);
extern void *luaL_checkudata(lua_State *, int, const char *);
extern void luaL_checkversion_(lua_State *, lua_Number, size_t);
extern int luaL_newmetatable(lua_State *, const char *);
extern void luaL_setmetatable(lua_State *, const char *), luaL_traceback(lua_State *,
    lua_State *, const char *, int);
extern lua_State *luaL_newstate(void);
extern void lua_close(lua_State *), luaL_openlibs(lua_State *);
extern void luaL_requiref(lua_State *, const char *, lua_CFunction, int);
extern int luaopen_base(lua_State *), luaopen_io(lua_State *), luaopen_string(lua_State *);
extern int luaL_loadstring(lua_State *, const char *);

#define REGISTRY (-1001000)
#define upvalue(i) (REGISTRY - (i))
#define pop(L, n) lua_settop(L, -(n) - 1)
#define tostring(L, i) lua_tolstring(L, i, NULL)

/* callk(f, ...): "callk", then the results */
static int callk_done(lua_State *L, int status, lua_KContext ctx) {
  lua_pushfstring(L, "callk:%d:%d", status, (int)ctx);
  lua_rotate(L, 1, 1);
  return lua_gettop(L);
}

static int callk(lua_State *L) {
  lua_callk(L, lua_gettop(L) - 1, -1, 42, callk_done);
  return callk_done(L, 0, 42);
}

/* pcallk(handler or nil, f, ...): status, then the results or the error */
static int pcallk_done(lua_State *L, int status, lua_KContext ctx) {
  lua_pushinteger(L, status);
  lua_copy(L, -1, 1);
  pop(L, 1);
  lua_pushinteger(L, (lua_Integer)ctx);
  return lua_gettop(L);
}

static int pcallk(lua_State *L) {
  int handler = lua_type(L, 1) == 0 ? 0 : 1;
  int status = lua_pcallk(L, lua_gettop(L) - 2, -1, handler, 7, pcallk_done);
  return pcallk_done(L, status, 7);
}

static int pcall_plain(lua_State *L) {
  lua_pushinteger(L, lua_pcallk(L, lua_gettop(L) - 1, -1, 0, 0, NULL));
  lua_rotate(L, 1, 1);
  return lua_gettop(L);
}

/* yields 1 .. n, each with what it was resumed with before */
static int counting(lua_State *L, int status, lua_KContext ctx) {
  lua_Integer n = lua_tointegerx(L, upvalue(1), NULL);
  (void)status;
  if (ctx == n) return lua_gettop(L);
  lua_pushinteger(L, ctx + 1);
  lua_rotate(L, 1, 1);
  return lua_yieldk(L, lua_gettop(L), ctx + 1, counting);
}

static int count(lua_State *L) { return counting(L, 0, 0); }

static int counter(lua_State *L) {
  luaL_checkinteger(L, 1);
  lua_pushcclosure(L, count, 1);
  return 1;
}

static int yield(lua_State *L) { return lua_yieldk(L, lua_gettop(L), 0, NULL); }

/* resume(n, thread, ...): up to n times; statuses and values as text */
static int resume(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  lua_State *co = lua_tothread(L, 2);
  luaL_Buffer b;
  int args = lua_gettop(L) - 2;
  lua_xmove(L, co, args);
  luaL_buffinit(L, &b);
  for (; n > 0; n--) {
    int results = 0, i, status = lua_resume(co, L, args, &results);
    if (status > 1) results = 1;
    lua_pushfstring(L, "[%d %d %d", status, results, lua_status(co));
    luaL_addvalue(&b);
    for (i = results; i > 0; i--) {
      const char *s = tostring(co, -i);
      lua_pushfstring(L, " %s", s ? s : "?");
      luaL_addvalue(&b);
    }
    luaL_addlstring(&b, "]", 1);
    if (status != 1) break;
    pop(co, results);
    lua_pushinteger(co, n);
    args = 1;
  }
  luaL_pushresult(&b);
  return 1;
}

/* a coroutine that C makes, from a function and a value that stays below it */
static int spawn(lua_State *L) {
  lua_State *co = lua_newthread(L);
  lua_pushstring(co, "below");
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return 1;
}

static int stack_of(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int i, n = lua_gettop(co);
  for (i = 1; i <= n; i++) {
    lua_pushvalue(co, i);
    lua_xmove(co, L, 1);
  }
  return n;
}

static int reset(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_pushinteger(L, lua_resetthread(co));
  lua_pushinteger(L, lua_gettop(co));
  return 2;
}

static int push(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_settop(L, 2);
  lua_xmove(L, co, 1);
  return 0;
}

/* a call on another coroutine than the running one */
static int call_on(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int status;
  lua_pushvalue(L, 2);
  lua_xmove(L, co, 1);
  status = lua_pcallk(co, 0, 1, 0, 0, NULL);
  lua_pushinteger(L, status);
  lua_xmove(co, L, 1);
  return 2;
}

static int error_value(lua_State *L) {
  lua_settop(L, 1);
  return lua_error(L);
}

static int error_text(lua_State *L) {
  return luaL_error(L, "%s %d %f %c %% %p %I", "text", -5, 1.5, 'c', (void *)0,
      (lua_Integer)1 << 40);
}

/* nine values, some of them on the stack of the call */
static const char *format(lua_State *L, const char *f, ...) {
  const char *s;
  va_list args;
  va_start(args, f);
  s = lua_pushvfstring(L, f, args);
  va_end(args);
  return s;
}

static int formats(lua_State *L) {
  format(L, "%d %f %d %f %d %f %d %f %d %f %d %f %d %f %d %f %s %f %f %U", 1, 1.5, 2, 2.5, 3,
      3.5, 4, 4.5, 5,
         5.5, 6, 6.5, 7, 7.5, 8, 8.5, "nine", 9.5, 10.5, 0x20ACL);
  return 1;
}

/* deep(n, f): n nested calls of C, then f */
static int deep(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  char room[500];
  memset(room, 'x', sizeof room);
  if (n > 0) {
    lua_pushcclosure(L, deep, 0);
    lua_pushinteger(L, n - 1);
    lua_pushvalue(L, 2);
    lua_callk(L, 2, 1, 0, NULL);
  } else {
    lua_pushvalue(L, 2);
    lua_callk(L, 0, 1, 0, NULL);
  }
  lua_pushinteger(L, room[499]);
  pop(L, 1);
  return 1;
}

static int upvalues(lua_State *L) {
  lua_Integer i, sum = 0;
  for (i = 1; i <= 255; i++) sum += lua_tointegerx(L, upvalue(i), NULL);
  lua_pushinteger(L, sum);
  lua_copy(L, -1, upvalue(255));
  lua_pushboolean(L, lua_type(L, upvalue(256)) == -1);
  return 2;
}

static int with_255_upvalues(lua_State *L) {
  int i;
  lua_checkstack(L, 300);
  for (i = 1; i <= 255; i++) lua_pushinteger(L, i);
  lua_pushcclosure(L, upvalues, 255);
  return 1;
}

static int light(lua_State *L) {
  lua_pushcclosure(L, light, 0);
  lua_pushcclosure(L, light, 0);
  lua_pushboolean(L, lua_rawequal(L, -1, -2) && lua_tocfunction(L, -1) == light);
  return 1;
}

static int many(lua_State *L) {
  int i, n = (int)luaL_checkinteger(L, 1);
  luaL_Buffer b;
  if (!lua_checkstack(L, n)) return luaL_error(L, "no room");
  for (i = 0; i < n; i++) lua_pushinteger(L, i);
  lua_concat(L, n);
  luaL_buffinit(L, &b);
  for (i = 0; i < n; i++) {
    lua_pushinteger(L, i);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  lua_pushboolean(L, lua_compare(L, -1, -2, 0));
  lua_pushinteger(L, lua_gettop(L));
  return 2;
}

static int arith(lua_State *L) {
  int op = (int)luaL_checkinteger(L, 1);
  lua_rotate(L, 1, -1);
  pop(L, 1);
  lua_arith(L, op);
  return 1;
}

/* drive(f, n): the memory in use in KB after n protected calls and as many conversions */
static int drive(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 2);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_pushvalue(L, 1);
    lua_pushinteger(L, i);
    lua_pcallk(L, 1, 0, 0, 0, NULL);
    lua_settop(L, 2);
    lua_pushnumber(L, i + 0.5);
    tostring(L, -1);
    lua_settop(L, 2);
  }
  lua_pushinteger(L, lua_gc(L, 3));
  return 1;
}

/* drive_thread(f, n): the same after resuming a coroutine n times */
static int drive_thread(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 2);
  lua_State *co = lua_newthread(L);
  int results;
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  for (lua_Integer i = 1; i <= n; i++) {
    if (lua_resume(co, L, 0, &results) != 1) return luaL_error(L, "it has ended");
    lua_settop(co, -results - 1);
  }
  lua_pushinteger(L, lua_gc(L, 3));
  return 1;
}

static int length(lua_State *L) {
  lua_len(L, 1);
  return 1;
}

static int less(lua_State *L) {
  lua_pushboolean(L, lua_compare(L, 1, 2, 1));
  lua_pushboolean(L, lua_compare(L, 1, 2, 2));
  lua_pushboolean(L, lua_compare(L, 1, 2, 0));
  return 3;
}

static int concat(lua_State *L) {
  lua_concat(L, lua_gettop(L));
  return 1;
}

static int text_address(lua_State *L) {
  lua_pushlightuserdata(L, (void *)tostring(L, 1));
  return 1;
}

/* a chunk read in pieces of a byte, or an error in the reader */
static const char *pieces(lua_State *L, void *data, size_t *size) {
  const char **p = data;
  if (**p == 0) return NULL;
  if (**p == '!') luaL_error(L, "the reader fails");
  *size = 1;
  return (*p)++;
}

/* a chunk that never ends */
static const char *endless(lua_State *L, void *data, size_t *size) {
  (void)L;
  *size = *(int *)data ? 1 : 6;
  return (*(int *)data)++ ? " " : "1 + 1 ";
}

static int load_endless(lua_State *L) {
  int count = 0;
  lua_pushinteger(L, lua_load(L, endless, &count, "=endless", NULL));
  lua_rotate(L, -2, 1);
  return 2;
}

/* How many values a failed lua_setlocal removes. */
static int set_no_local(lua_State *L) {
  lua_Debug ar;
  int before = lua_gettop(L);
  lua_getstack(L, 0, &ar);
  lua_pushinteger(L, 1);
  lua_setlocal(L, &ar, 100);
  lua_pushinteger(L, before + 1 - lua_gettop(L));
  return 1;
}

static int load(lua_State *L) {
  const char *text = luaL_checklstring(L, 1, NULL);
  lua_pushinteger(L, lua_load(L, pieces, &text, "=pieces", "t"));
  lua_rotate(L, -2, 1);
  return 2;
}

static int write(lua_State *L, const void *p, size_t n, void *data) {
  (void)L;
  luaL_addlstring(data, p, n);
  return 0;
}

static int dump(lua_State *L) {
  luaL_Buffer b;
  /* the writer pushes the box of the buffer below the function */
  lua_settop(L, 1);
  luaL_buffinit(L, &b);
  lua_pushvalue(L, 1);
  if (lua_dump(L, write, &b, 1)) return luaL_error(L, "no Lua function");
  lua_settop(L, 2);
  luaL_pushresult(&b);
  return 1;
}

/* toclose(x, f): x is closed at the end, also if f fails */
static int toclose(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_toclose(L, -1);
  lua_pushvalue(L, 2);
  lua_callk(L, 0, 1, 0, NULL);
  return 1;
}

/* interrupt(): the script is interrupted from the terminal */
static int interrupt(lua_State *L) {
  (void)L;
  raise(SIGINT);
  return 0;
}

static int yield_to_close(lua_State *L) {
  lua_toclose(L, 1);
  return lua_yieldk(L, 0, 0, NULL);
}

static int closed_by_pop(lua_State *L) {
  lua_pushvalue(L, 1);
  lua_toclose(L, -1);
  pop(L, 1);
  lua_pushstring(L, "popped");
  return 1;
}

static int box(lua_State *L) {
  int *p = lua_newuserdatauv(L, sizeof(int), 2);
  *p = (int)luaL_checkinteger(L, 1);
  lua_pushstring(L, "first");
  lua_setiuservalue(L, -2, 1);
  lua_pushstring(L, "none");
  lua_pushboolean(L, lua_setiuservalue(L, -2, 3));
  lua_setiuservalue(L, -2, 2);
  luaL_setmetatable(L, "api.box");
  return 1;
}

static int unbox(lua_State *L) {
  int *p = luaL_checkudata(L, 1, "api.box");
  lua_pushinteger(L, *p);
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, 1, 2);
  lua_pushboolean(L, lua_getiuservalue(L, 1, 3) == -1);
  lua_rotate(L, -2, 1);
  pop(L, 1);
  return 4;
}

static int references(lua_State *L) {
  int a, b, c;
  lua_createtable(L, 0, 0);
  lua_pushstring(L, "a");
  a = luaL_ref(L, -2);
  lua_pushstring(L, "b");
  b = luaL_ref(L, -2);
  lua_pushnil(L);
  if (luaL_ref(L, -2) != -1) return luaL_error(L, "a reference to nil");
  luaL_unref(L, -1, a);
  luaL_unref(L, -1, b);
  lua_pushstring(L, "c");
  c = luaL_ref(L, -2);
  lua_pushboolean(L, c == b);
  lua_rawgeti(L, -2, c);
  return 2;
}

static int numbers(lua_State *L) {
  lua_pushnumber(L, luaL_checknumber(L, 1) + luaL_optnumber(L, 2, 0.25));
  lua_pushinteger(L, luaL_optinteger(L, 3, 9));
  return 2;
}

static int lines[3];

static void hook(lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "Sl", ar);
  if (ar->event < 3) lines[ar->event]++;
  if (ar->event == 2 && ar->currentline < 0) luaL_error(L, "no line");
}

static int hooked(lua_State *L) {
  memset(lines, 0, sizeof lines);
  lua_sethook(L, hook, 1 | 2 | 4, 0);
  lua_pushvalue(L, 1);
  lua_callk(L, 0, 0, 0, NULL);
  lua_sethook(L, NULL, 0, 0);
  lua_pushboolean(L, lines[0] > 0);
  lua_pushboolean(L, lines[1] > 0);
  lua_pushinteger(L, lines[2]);
  return 3;
}

/* Calls a function without a hook and sets the hook again: whether there was one, its events, and
   their count. */
static int without_hook(lua_State *L) {
  lua_Hook h = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  lua_sethook(L, NULL, 0, 0);
  lua_callk(L, 0, 0, 0, NULL);
  lua_sethook(L, h, mask, count);
  lua_pushboolean(L, h != NULL);
  lua_pushinteger(L, mask);
  lua_pushinteger(L, count);
  return 3;
}

static void yielding_hook(lua_State *L, lua_Debug *ar) {
  lua_sethook(L, NULL, 0, 0);
  lua_yieldk(L, 0, 0, NULL);
}

/* Makes a hook yield at the next line. */
static int yield_in_hook(lua_State *L) {
  lua_sethook(L, yielding_hook, 4, 0);
  return 0;
}

/* extra(thread [, n]): the number in its extra space, which can be changed */
static int extra(lua_State *L) {
  lua_Integer *space = (lua_Integer *)lua_tothread(L, 1) - 1;
  lua_pushinteger(L, *space);
  if (lua_gettop(L) == 3) *space = luaL_checkinteger(L, 2);
  return 1;
}

static lua_Hook chained;

static void chaining_hook(lua_State *L, lua_Debug *ar) { chained(L, ar); }

/* Sets a hook that calls the one before. */
static int chain_hook(lua_State *L) {
  chained = lua_gethook(L);
  lua_sethook(L, chaining_hook, lua_gethookmask(L), lua_gethookcount(L));
  return 0;
}

static void failing_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "stopped by a hook");
}

static int stop(lua_State *L) {
  lua_sethook(L, failing_hook, 8, (int)luaL_checkinteger(L, 1));
  return 0;
}

static int info(lua_State *L) {
  lua_Debug ar;
  const char *name;
  if (!lua_getstack(L, (int)luaL_checkinteger(L, 1), &ar)) return 0;
  lua_getinfo(L, "nSlu", &ar);
  lua_pushfstring(L, "%s %s %s %d %s", ar.what, ar.name ? ar.name : "?", ar.namewhat,
      ar.currentline, ar.short_src);
  name = lua_getlocal(L, &ar, 1);
  if (name) pop(L, 1);
  lua_pushstring(L, name);
  return 2;
}

/* The name of the first upvalue of a function, and the one that was kept of another function. */
static int upvalue_name(lua_State *L) {
  static const char *kept;
  const char *name = lua_getupvalue(L, 1, 1);
  if (lua_gettop(L) > 2) kept = name;
  lua_pushstring(L, name);
  lua_pushstring(L, kept);
  return 2;
}

/* The name of a parameter of a function, and the number of values, one of which is the function. */
static int parameter(lua_State *L) {
  const char *name = lua_getlocal(L, NULL, 1);
  lua_pushinteger(L, lua_gettop(L));
  lua_pushstring(L, name);
  return 2;
}

/* The message and the levels as a hook sees them that is called when a function returns. */
static void returning(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_traceback(L, L, NULL, 0);
  luaL_error(L, "%s", tostring(L, -1));
}

static int fail_on_return(lua_State *L) {
  lua_sethook(L, returning, 2, 0);
  return 0;
}

static int warning(lua_State *L) {
  lua_warning(L, luaL_checklstring(L, 1, NULL), lua_type(L, 2) != -1);
  return 0;
}

static int another_state(lua_State *L) {
  lua_State *other = luaL_newstate();
  const char *code = luaL_checklstring(L, 1, NULL);
  luaL_openlibs(other);
  if (luaL_loadstring(other, code) == 0) lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushstring(L, tostring(other, -1));
  lua_close(other);
  return 1;
}

/* libraries that are no global variables */
static int hidden_libraries(lua_State *L) {
  lua_State *other = luaL_newstate();
  luaL_requiref(other, "_G", luaopen_base, 1);
  luaL_requiref(other, "io", luaopen_io, 0);
  luaL_requiref(other, "string", luaopen_string, 0);
  luaL_loadstring(other, "return tostring(io) .. ' ' .. tostring(string) .. ' ' .. ('abc'):len()");
  lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushstring(L, tostring(other, -1));
  lua_close(other);
  return 1;
}

static int replace(lua_State *L) {
  luaL_gsub(L, luaL_checklstring(L, 1, NULL), luaL_checklstring(L, 2, NULL),
      luaL_checklstring(L, 3, NULL));
  return 1;
}

static int traceback(lua_State *L) {
  luaL_traceback(L, lua_tothread(L, 1), "message", (int)luaL_optinteger(L, 2, 0));
  return 1;
}

/* only_by_continuation(f): the status of an error of f, which C code gets in the continuation */
static int continued(lua_State *L, int status, lua_KContext ctx) {
  lua_pushinteger(L, status * 10 + (int)ctx);
  return 2;
}

static int only_by_continuation(lua_State *L) {
  if (lua_pcallk(L, 0, 0, 0, 5, continued) != 0) return luaL_error(L, "lua_pcallk has returned");
  lua_pushinteger(L, 0);
  return 1;
}

/* A call that debug builds refuse. */
static int wrong_index(lua_State *L) {
  lua_pushvalue(L, -50);
  return 1;
}

/* as_c_function(f, ...): f as a value made of its address, and what the address returns */
static int as_c_function(lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 1);
  int n;
  if (!f) return 0;
  lua_pushcclosure(L, f, 0);
  lua_rotate(L, 1, 1);
  lua_rotate(L, 2, -1);
  pop(L, 1);
  n = lua_gettop(L);
  lua_pushcclosure(L, f, 0);
  lua_rotate(L, 2, 1);
  lua_callk(L, n - 1, -1, 0, NULL);
  return lua_gettop(L);
}

static int is_yieldable(lua_State *L) {
  lua_pushboolean(L, lua_isyieldable(L));
  return 1;
}

static int sum(lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_checkinteger(L, 2));
  return 1;
}

static int failing_gc(lua_State *L) { return luaL_error(L, "in a finalizer"); }

static int with_failing_gc(lua_State *L) {
  lua_newuserdatauv(L, 16, 0);
  lua_createtable(L, 0, 1);
  lua_pushcclosure(L, failing_gc, 0);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return 1;
}

static int allocate(lua_State *L) {
  lua_newuserdatauv(L, (size_t)luaL_checkinteger(L, 1), 0);
  return 1;
}

/* Pushes a string longer than any object, or adds it to a buffer. */
static int too_long(lua_State *L) {
  luaL_Buffer b;
  if (lua_type(L, 1) == 0)
    lua_pushlstring(L, "x", (size_t)-1 - 100);
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, "x", (size_t)-1 - 100);
  return 0;
}

static int settable(lua_State *L) {
  lua_settable(L, 1);
  return 0;
}

static int rawset(lua_State *L) {
  lua_rawset(L, 1);
  return 0;
}

static const luaL_Reg functions[] = {
    {"too_long", too_long}, {"settable", settable}, {"rawset", rawset},
    {"callk", callk}, {"pcallk", pcallk}, {"pcall", pcall_plain}, {"counter", counter},
        {"yield", yield},
    {"resume", resume}, {"spawn", spawn}, {"stack_of", stack_of}, {"reset", reset}, {"call_on",
        call_on},
    {"error_value", error_value}, {"error_text", error_text}, {"formats", formats}, {"deep",
        deep},
    {"with_255_upvalues", with_255_upvalues}, {"light", light}, {"many", many}, {"arith", arith},
    {"length", length}, {"less", less}, {"concat", concat}, {"text_address", text_address},
    {"load", load}, {"dump", dump},
    {"load_endless", load_endless}, {"set_no_local", set_no_local}, {"toclose", toclose}, {"interrupt", interrupt}, {"closed_by_pop", closed_by_pop}, {"box", box}, {"unbox", unbox},
    {"references", references}, {"numbers", numbers}, {"hooked", hooked}, {"stop", stop},
    {"without_hook", without_hook}, {"chain_hook", chain_hook},
    {"yield_in_hook", yield_in_hook},
    {"extra", extra},
        {"info", info}, {"upvalue_name", upvalue_name},
    {"parameter", parameter}, {"fail_on_return", fail_on_return}, {"warning", warning},
    {"yield_to_close", yield_to_close}, {"push", push}, {"hidden_libraries", hidden_libraries}, {"another_state", another_state}, {"replace", replace}, {"traceback", traceback},
    {"with_failing_gc", with_failing_gc}, {"allocate", allocate},
    {"only_by_continuation", only_by_continuation}, {"wrong_index", wrong_index},
    {"as_c_function", as_c_function}, {"is_yieldable", is_yieldable}, {"sum", sum},
    {"drive", drive}, {"drive_thread", drive_thread}, {NULL, NULL}};

int luaopen_api(lua_State *L) {
  luaL_newmetatable(L, "api.box");
  pop(L, 1);
  lua_createtable(L, 0, 40);
  luaL_setfuncs(L, functions, 0);
  return 1;
}

int luaopen_api_old(lua_State *L) {
  luaL_checkversion_(L, 503, 136);
  return 0;
}

int luaopen_api_inner(lua_State *L) {
  lua_pushstring(L, "a module inside of another library");
  return 1;
}
