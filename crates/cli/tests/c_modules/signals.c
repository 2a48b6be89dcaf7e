/* Hooks that a signal handler sets, and hooks that yield. The prototypes are those of the manual, so
   that no headers are needed. */

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

typedef struct lua_State lua_State;
typedef int (*lua_CFunction)(lua_State *);
typedef struct luaL_Reg {
  const char *name;
  lua_CFunction func;
} luaL_Reg;
typedef struct lua_Debug lua_Debug;
typedef void (*lua_Hook)(lua_State *, lua_Debug *);

extern void lua_sethook(lua_State *, lua_Hook, int, int);
extern lua_Hook lua_gethook(lua_State *);
extern int lua_gethookmask(lua_State *), lua_gethookcount(lua_State *);
extern lua_State *lua_tothread(lua_State *, int), *lua_newthread(lua_State *);
extern int luaL_error(lua_State *, const char *, ...), lua_isyieldable(lua_State *);
extern int lua_yieldk(lua_State *, int, ptrdiff_t, void *);
extern void lua_createtable(lua_State *, int, int), lua_pushinteger(lua_State *, long long);
extern void lua_pushboolean(lua_State *, int);
extern long long luaL_checkinteger(lua_State *, int);
extern void luaL_setfuncs(lua_State *, const luaL_Reg *, int);

static lua_State *interrupted;
static int ticks, handled;

static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void on_signal(int n) {
  (void)n;
  lua_sethook(interrupted, stop, 15, 1);
}

static void start(void (*f)(int), long microseconds, int repeats) {
  struct itimerval time;
  signal(SIGALRM, f);
  memset(&time, 0, sizeof time);
  time.it_value.tv_usec = microseconds;
  if (repeats) time.it_interval.tv_usec = microseconds;
  setitimer(ITIMER_REAL, &time, NULL);
}

/* interrupt(microseconds [, coroutine]): what runs then is stopped by an error */
static int interrupt(lua_State *L) {
  interrupted = lua_tothread(L, 2) ? lua_tothread(L, 2) : L;
  start(on_signal, (long)luaL_checkinteger(L, 1), 0);
  return 0;
}

static void count(lua_State *L, lua_Debug *ar) {
  (void)ar;
  ticks++;
  lua_sethook(L, NULL, 0, 0);
}

static void on_tick(int n) {
  (void)n;
  handled++;
  lua_sethook(interrupted, count, 15, 1);
}

/* sample(microseconds): a hook is set again and again; 0 ends it and returns how often it ran */
static int sample(lua_State *L) {
  interrupted = L;
  start(on_tick, (long)luaL_checkinteger(L, 1), 1);
  lua_pushinteger(L, ticks);
  lua_pushinteger(L, handled);
  return 2;
}

/* What lua_gethook returns right after lua_sethook, also for another coroutine. */
static int settings(lua_State *L) {
  lua_State *co = lua_newthread(L);
  int ok = lua_gethook(co) == NULL && lua_gethookmask(co) == 0;
  lua_sethook(co, stop, 8, 7);
  ok = ok && lua_gethook(co) == stop && lua_gethookmask(co) == 8 && lua_gethookcount(co) == 7;
  lua_sethook(co, stop, 0, 7);
  ok = ok && lua_gethook(co) == NULL && lua_gethookmask(co) == 0;
  lua_sethook(co, NULL, 8, 7);
  lua_pushboolean(L, ok && lua_gethook(co) == NULL && lua_gethookmask(co) == 0);
  return 1;
}

static void yield(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (lua_isyieldable(L)) lua_yieldk(L, 0, 0, NULL);
}

/* yield_at_lines(coroutine) */
static int yield_at_lines(lua_State *L) {
  lua_sethook(lua_tothread(L, 1), yield, 4, 0);
  return 0;
}

static const luaL_Reg functions[] = {{"interrupt", interrupt}, {"sample", sample},
    {"settings", settings}, {"yield_at_lines", yield_at_lines}, {NULL, NULL}};

int luaopen_signals(lua_State *L) {
  lua_createtable(L, 0, 4);
  luaL_setfuncs(L, functions, 0);
  return 1;
}
