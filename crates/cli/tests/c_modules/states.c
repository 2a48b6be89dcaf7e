/* States that C code makes: their memory, levels, globals and warnings. The prototypes are those of
   the manual, so that no headers are needed. */

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef struct lua_State lua_State;
typedef long long lua_Integer;
typedef int (*lua_CFunction)(lua_State *);
typedef void *(*lua_Alloc)(void *, void *, size_t, size_t);
typedef struct luaL_Reg {
  const char *name;
  lua_CFunction func;
} luaL_Reg;

extern lua_State *lua_newstate(lua_Alloc, void *), *luaL_newstate(void), *lua_newthread(lua_State *);
extern lua_Alloc lua_getallocf(lua_State *, void **);
extern void lua_setallocf(lua_State *, lua_Alloc, void *);
extern void lua_close(lua_State *), luaL_openlibs(lua_State *), lua_settop(lua_State *, int);
extern int luaL_loadstring(lua_State *, const char *), lua_getglobal(lua_State *, const char *);
extern int lua_pcallk(lua_State *, int, int, int, ptrdiff_t, void *), lua_getstack(lua_State *,
    int, void *);
extern int lua_gc(lua_State *, int, ...), luaL_error(lua_State *, const char *, ...);
extern void luaL_traceback(lua_State *, lua_State *, const char *, int);
extern const char *lua_tolstring(lua_State *, int, size_t *), *lua_pushstring(lua_State *,
    const char *), *luaL_tolstring(lua_State *, int, size_t *);
extern const char *luaL_checklstring(lua_State *, int, size_t *);
extern lua_Integer luaL_checkinteger(lua_State *, int);
extern void lua_pushinteger(lua_State *, lua_Integer), lua_pushboolean(lua_State *, int);
extern void lua_pushcclosure(lua_State *, lua_CFunction, int), lua_pushvalue(lua_State *, int);
extern void lua_createtable(lua_State *, int, int), lua_setfield(lua_State *, int, const char *);
extern void lua_rawseti(lua_State *, int, lua_Integer), lua_rotate(lua_State *, int, int);
extern void *lua_newuserdatauv(lua_State *, size_t, int);
extern void lua_pushnil(lua_State *);
extern int lua_setiuservalue(lua_State *, int, int);
extern const void *lua_topointer(lua_State *, int);
extern void *lua_touserdata(lua_State *, int);
extern void lua_setwarnf(lua_State *, void (*)(void *, const char *, int), void *);
extern void lua_warning(lua_State *, const char *, int);
extern void luaL_setfuncs(lua_State *, const luaL_Reg *, int);
extern void *lua_tothread(lua_State *, int);
extern void lua_setglobal(lua_State *, const char *);
extern int lua_resume(lua_State *, lua_State *, int, int *), lua_status(lua_State *);
extern int lua_resetthread(lua_State *);
extern void lua_toclose(lua_State *, int);
extern lua_CFunction lua_tocfunction(lua_State *, int);
extern int lua_rawequal(lua_State *, int, int);
extern void lua_seti(lua_State *, int, lua_Integer), lua_rawset(lua_State *, int);
extern void lua_settable(lua_State *, int);

#define REGISTRY (-1001000)
#define pop(L, n) lua_settop(L, -(n) - 1)

/* An allocator with a limit, which is 4 MB higher for blocks up to the size `small`, and which
   checks the sizes that it is given. */
typedef struct Memory {
  size_t used, limit, most, calls, wrong, small;
} Memory;

static void *limited(void *data, void *block, size_t old, size_t size) {
  Memory *m = data;
  size_t *head = block ? (size_t *)block - 2 : NULL;
  m->calls++;
  if (!block) old = 0;
  else if (*head != old) m->wrong++;
  if (size == 0) {
    m->used -= old;
    free(head);
    return NULL;
  }
  if (size > old && m->used - old + size > m->limit + (size > m->small ? 0 : 4 << 20)) return NULL;
  head = realloc(head, size + 16);
  if (!head) return NULL;
  *head = size;
  m->used += size - old;
  if (m->used > m->most) m->most = m->used;
  return head + 2;
}

/* Runs code in a state with so many bytes: the status and the result, or its error. */
static int in_memory(lua_State *L) {
  Memory m = {0, 0, 0, 0, 0, 0};
  const char *code = luaL_checklstring(L, 2, NULL);
  void *data;
  lua_State *other;
  int status;
  m.limit = (size_t)luaL_checkinteger(L, 1);
  other = lua_newstate(limited, &m);
  if (!other) {
    lua_pushstring(L, m.used ? "memory is lost" : "no state");
    return 1;
  }
  if (lua_getallocf(other, &data) != limited || data != &m) luaL_error(L, "another allocator");
  luaL_openlibs(other);
  status = luaL_loadstring(other, code);
  if (status == 0) status = lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushinteger(L, status);
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_close(other);
  if (m.used || m.wrong || !m.calls) luaL_error(L, "%d bytes are lost", (int)m.used);
  lua_pushboolean(L, m.most <= m.limit);
  return 3;
}

static size_t made;

static int take(lua_State *L) {
  size_t size = (size_t)luaL_checkinteger(L, 1);
  int i;
  Memory *m = lua_touserdata(L, -1001001);
  if (!m) lua_getallocf(L, (void **)&m);
  m->limit = m->small ? m->used : 1;
  lua_pushnil(L);
  for (i = 0; i < 1000000; i++) {
    /* each has the one before as its user value */
    lua_newuserdatauv(L, size, 1);
    lua_rotate(L, -2, 1);
    lua_setiuservalue(L, -2, 1);
    made++;
  }
  return 0;
}

/* Makes userdata of so many bytes when the state can get no more memory, but some for blocks up to
   another size, until one is refused: the status, the error, the result of a program when there is
   memory again, and whether any was made. */
static int userdata_without_memory(lua_State *L) {
  Memory m = {0, (size_t)1 << 30, 0, 0, 0, 0};
  lua_State *other = lua_newstate(limited, &m);
  int i, status;
  m.small = (size_t)luaL_checkinteger(L, 2);
  made = 0;
  luaL_openlibs(other);
  lua_pushcclosure(other, take, 0);
  lua_pushinteger(other, luaL_checkinteger(L, 1));
  status = lua_pcallk(other, 1, 0, 0, 0, NULL);
  lua_pushinteger(L, status);
  lua_pushstring(L, status ? lua_tolstring(other, -1, NULL) : "");
  lua_settop(other, 0);
  m.limit = (size_t)1 << 30;
  luaL_loadstring(other, "local t = {} for i = 1, 1000 do t[i] = {i} end return #t .. ''");
  status = lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushstring(L, status ? "failed" : lua_tolstring(other, -1, NULL));
  lua_pushboolean(L, made > 0);
  for (i = 0; i < 2; i++) lua_gc(other, 2);
  lua_close(other);
  if (m.used || m.wrong) luaL_error(L, "%d bytes are lost", (int)m.used);
  return 4;
}

static int replaced_allocator(lua_State *L) {
  Memory first = {0, (size_t)1 << 30, 0, 0, 0, 0}, second = first;
  lua_State *other = lua_newstate(limited, &first);
  size_t calls;
  luaL_openlibs(other);
  second.used = first.used;
  lua_setallocf(other, limited, &second);
  calls = first.calls;
  luaL_loadstring(other, "local t = {} for i = 1, 1e5 do t[i] = {} end");
  lua_pcallk(other, 0, 0, 0, 0, NULL);
  lua_close(other);
  lua_pushboolean(L, first.calls == calls && second.calls > 0 && second.used == 0);
  return 1;
}

static int handler(lua_State *L) {
  luaL_traceback(L, L, lua_tolstring(L, 1, NULL), 1);
  return 1;
}

/* Runs code with a traceback from a program that no Lua code has called. */
static int traceback(lua_State *L) {
  const char *code = luaL_checklstring(L, 1, NULL);
  lua_State *other = luaL_newstate();
  char record[200];
  luaL_openlibs(other);
  if (lua_getstack(other, 0, record)) luaL_error(L, "there is a level");
  lua_pushcclosure(other, handler, 0);
  luaL_loadstring(other, code);
  lua_pcallk(other, 0, 1, 1, 0, NULL);
  if (lua_getstack(other, 0, record)) luaL_error(L, "there is a level still");
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_close(other);
  return 1;
}

/* Gives a state another table of globals, in one of five ways. */
static int other_globals(lua_State *L) {
  lua_State *other = luaL_newstate();
  luaL_openlibs(other);
  lua_pushinteger(other, 2);
  lua_createtable(other, 0, 1);
  lua_getglobal(other, "load");
  lua_setfield(other, -2, "load");
  lua_pushstring(other, "of the new table");
  lua_setfield(other, -2, "x");
  switch (luaL_checkinteger(L, 1)) {
    case 1: lua_rawseti(other, REGISTRY, 2); break;
    case 2: lua_seti(other, REGISTRY, 2); break;
    case 3: lua_rawset(other, REGISTRY); break;
    case 4: lua_settable(other, REGISTRY); break;
    default:
      luaL_loadstring(other, "debug.getregistry()[2] = ...");
      lua_rotate(other, -2, 1);
      lua_pcallk(other, 1, 0, 0, 0, NULL);
  }
  lua_gc(other, 2);
  luaL_loadstring(other, "y = load 'return x'() return y");
  lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_getglobal(other, "y");
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_pushboolean(L, lua_getglobal(other, "print") == 0);
  lua_close(other);
  return 2;
}

static void warn(void *data, const char *message, int more) {
  strcat(strcat(data, message), more ? "+" : ";");
}

static int warnings(lua_State *L) {
  char text[200] = "";
  lua_State *other = luaL_newstate();
  luaL_openlibs(other);
  lua_setwarnf(other, warn, text);
  lua_warning(other, "a", 1);
  lua_warning(other, "b", 0);
  luaL_loadstring(other, "warn('c', 'd', 'e') warn '@on' warn ''");
  lua_pcallk(other, 0, 0, 0, 0, NULL);
  lua_close(other);
  lua_pushstring(L, text);
  return 1;
}

static void refuse(void *data, const char *message, int more) {
  (void)more;
  luaL_error(data, "%s is refused", message);
}

/* Runs code in a state whose function for warnings raises errors. */
static int refused_warnings(lua_State *L) {
  const char *code = luaL_checklstring(L, 1, NULL);
  lua_State *other = luaL_newstate();
  luaL_openlibs(other);
  lua_setwarnf(other, refuse, other);
  luaL_loadstring(other, code);
  lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_close(other);
  return 1;
}

/* Runs code in a state, opens the libraries again, and returns what other code returns. */
static int opened_again(lua_State *L) {
  lua_State *other = luaL_newstate();
  luaL_openlibs(other);
  luaL_loadstring(other, luaL_checklstring(L, 1, NULL));
  lua_pcallk(other, 0, 0, 0, 0, NULL);
  luaL_openlibs(other);
  luaL_loadstring(other, luaL_checklstring(L, 2, NULL));
  lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_close(other);
  return 1;
}

static char records[200];

static int record(lua_State *L) {
  const char *text = luaL_checklstring(L, 1, NULL);
  strncat(records, text, sizeof records - strlen(records) - 1);
  return 0;
}

/* Marks two values that code returns to be closed, and returns the records of their functions. */
static int closed(lua_State *L) {
  lua_State *other = luaL_newstate();
  records[0] = 0;
  luaL_openlibs(other);
  lua_pushcclosure(other, record, 0);
  lua_setglobal(other, "record");
  luaL_loadstring(other, luaL_checklstring(L, 1, NULL));
  lua_pcallk(other, 0, 2, 0, 0, NULL);
  lua_toclose(other, 1);
  lua_toclose(other, 2);
  lua_close(other);
  lua_pushstring(L, records);
  return 1;
}

static int notes;

static int note(lua_State *L) {
  (void)L;
  notes++;
  return 0;
}

/* Resumes code as the main coroutine of a state, up to a number of times: the last status, the
   texts that each time gave, what another program returns if it has ended, and how often the code
   has called `note` when the state is closed. */
static int resumed_main(lua_State *L) {
  lua_State *other = luaL_newstate();
  int n = 42, status, most = (int)luaL_checkinteger(L, 2), ended;
  char text[200] = "";
  notes = 0;
  luaL_openlibs(other);
  lua_pushcclosure(other, note, 0);
  lua_setglobal(other, "note");
  if (lua_resume(other, L, 0, &n) != 2 || n != 42) luaL_error(L, "nothing was resumed");
  lua_settop(other, 0);
  luaL_loadstring(other, luaL_checklstring(L, 1, NULL));
  do {
    lua_pushinteger(other, most);
    status = lua_resume(other, L, 1, &n);
    strncat(text, lua_tolstring(other, -1, NULL), sizeof text - strlen(text) - 1);
    strcat(text, ";");
    if (status == 1) lua_settop(other, -n - 1);
  } while (status == 1 && --most > 0);
  ended = status != 1;
  lua_pushinteger(L, status);
  lua_pushstring(L, text);
  if (status > 1) {
    if (lua_status(other) != status || lua_resume(other, L, 0, &n) != 2)
      luaL_error(L, "an error is lost");
    if (lua_resetthread(other) != status) luaL_error(L, "the status is lost");
  }
  if (ended) {
    lua_settop(other, 0);
    luaL_loadstring(other, "return 6 * 7 .. tostring(select(2, coroutine.running()))");
    lua_pcallk(other, 0, 1, 0, 0, NULL);
    lua_pushstring(L, lua_tolstring(other, -1, NULL));
  } else {
    lua_pushnil(L);
  }
  lua_close(other);
  lua_pushinteger(L, notes);
  return 4;
}

/* A state, code to be run in it, and whether by lua_resume; then what it has returned. */
typedef struct Run {
  lua_State *in;
  const char *code;
  int resumes;
  char text[200];
} Run;

static void *run_code(void *data) {
  Run *run = data;
  int n, status;
  lua_State *in = run->resumes ? lua_newthread(run->in) : run->in;
  luaL_loadstring(in, run->code);
  status = run->resumes ? lua_resume(in, NULL, 0, &n) : lua_pcallk(in, 0, 1, 0, 0, NULL);
  run->text[0] = '0' + status;
  strncpy(run->text + 1, lua_tolstring(in, -1, NULL), sizeof run->text - 2);
  lua_settop(run->in, 0);
  return NULL;
}

/* Resumes code in a state that was last used by another thread, and then on that other thread. */
static int on_other_thread(lua_State *L) {
  Run run = {luaL_newstate(), "return ''", 0, ""};
  pthread_t thread;
  luaL_openlibs(run.in);
  pthread_create(&thread, NULL, run_code, &run);
  pthread_join(thread, NULL);
  run.code = luaL_checklstring(L, 1, NULL);
  run.resumes = 1;
  run_code(&run);
  lua_pushstring(L, run.text);
  pthread_create(&thread, NULL, run_code, &run);
  pthread_join(thread, NULL);
  lua_pushstring(L, run.text);
  lua_close(run.in);
  return 2;
}

static Run *on_stack;

static void run_on_stack(void) { run_code(on_stack); }

/* Runs code on a native stack that no thread has, by lua_pcall and then by lua_resume. */
static int on_own_stack(lua_State *L) {
  static ucontext_t here, there;
  const size_t size = 1 << 20;
  Run run = {luaL_newstate(), luaL_checklstring(L, 1, NULL), 0, ""};
  char *stack = malloc(size);
  luaL_openlibs(run.in);
  on_stack = &run;
  for (; run.resumes < 2; run.resumes++) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = size;
    there.uc_link = &here;
    makecontext(&there, run_on_stack, 0);
    swapcontext(&here, &there);
    lua_pushstring(L, run.text);
  }
  free(stack);
  lua_close(run.in);
  return 2;
}

/* Whether the address of a userdata is that of its memory, also as a text. */
static int address(lua_State *L) {
  void *memory = lua_newuserdatauv(L, 100, 1);
  char *end;
  const char *text = strstr(luaL_tolstring(L, -1, NULL), "0x");
  lua_pushboolean(L, lua_topointer(L, -2) == memory);
  lua_pushboolean(L, text && strtoull(text, &end, 16) == (size_t)memory && *end == 0);
  lua_pushvalue(L, -4);
  lua_rotate(L, -3, 1);
  return 3;
}

/* Passes the address of a function to another state: whether the function that code returns there
   has the same address, whether it is equal to the function made of the address, and what the
   latter returns for a text. */
static int in_another_state(lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 1);
  const char *text = luaL_checklstring(L, 3, NULL);
  lua_State *other = luaL_newstate();
  luaL_openlibs(other);
  luaL_loadstring(other, luaL_checklstring(L, 2, NULL));
  lua_pcallk(other, 0, 1, 0, 0, NULL);
  lua_pushcclosure(other, f, 0);
  lua_pushboolean(L, lua_rawequal(other, -1, -2));
  lua_pushboolean(L, lua_tocfunction(other, -2) == f);
  lua_pushstring(other, text);
  lua_pcallk(other, 1, 1, 0, 0, NULL);
  lua_pushstring(L, lua_tolstring(other, -1, NULL));
  lua_close(other);
  return 3;
}

static const luaL_Reg functions[] = {{"in_another_state", in_another_state},
    {"in_memory", in_memory},
    {"userdata_without_memory", userdata_without_memory},
    {"replaced_allocator", replaced_allocator}, {"traceback", traceback},
    {"other_globals", other_globals}, {"warnings", warnings},
    {"refused_warnings", refused_warnings}, {"address", address}, {"resumed_main", resumed_main},
    {"opened_again", opened_again}, {"closed", closed}, {"on_other_thread", on_other_thread},
    {"on_own_stack", on_own_stack}, {NULL, NULL}};

int luaopen_states(lua_State *L) {
  lua_createtable(L, 0, 8);
  luaL_setfuncs(L, functions, 0);
  return 1;
}
