/* Files that C code makes for the methods of the library `io`, and output by the C library. The
   prototypes are those of the manual, so that no headers are needed. */

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct lua_State lua_State;
typedef int (*lua_CFunction)(lua_State *);
typedef struct luaL_Reg {
  const char *name;
  lua_CFunction func;
} luaL_Reg;
typedef struct luaL_Stream {
  FILE *f;
  lua_CFunction closef;
} luaL_Stream;

extern void lua_createtable(lua_State *, int, int), lua_pushinteger(lua_State *, long long);
extern const char *lua_pushstring(lua_State *, const char *);
extern void *lua_newuserdatauv(lua_State *, size_t, int);
extern void luaL_setfuncs(lua_State *, const luaL_Reg *, int);
extern void luaL_setmetatable(lua_State *, const char *);
extern const char *luaL_checklstring(lua_State *, int, size_t *);
extern long long luaL_checkinteger(lua_State *, int);
extern void *luaL_checkudata(lua_State *, int, const char *);
extern int luaL_fileresult(lua_State *, int, const char *);
extern int luaL_loadfilex(lua_State *, const char *, const char *);
extern void lua_rotate(lua_State *, int, int);
extern unsigned long long lua_rawlen(lua_State *, int);

static int closed;

static int close_file(lua_State *L) {
  luaL_Stream *p = luaL_checkudata(L, 1, "FILE*");
  closed++;
  fclose(p->f);
  lua_pushstring(L, "closed by C");
  lua_pushinteger(L, closed);
  return 2;
}

static luaL_Stream *new_file(lua_State *L) {
  luaL_Stream *p = lua_newuserdatauv(L, sizeof(luaL_Stream), 0);
  p->closef = NULL;
  luaL_setmetatable(L, "FILE*");
  return p;
}

/* open(name, mode): a file with a buffer of the C library */
static int open_file(lua_State *L) {
  const char *name = luaL_checklstring(L, 1, NULL), *mode = luaL_checklstring(L, 2, NULL);
  luaL_Stream *p = new_file(L);
  p->f = fopen(name, mode);
  p->closef = close_file;
  return p->f ? 1 : luaL_fileresult(L, 0, name);
}

/* load_file(text): the status and the message of loading a file with a name like a message */
static int load_file(lua_State *L) {
  const char *text = luaL_checklstring(L, 1, NULL), *name = "cannot be";
  char folder[] = "/tmp/perilune-XXXXXX", before[4096];
  FILE *f = NULL;
  int status;
  if (getcwd(before, sizeof before) && mkdtemp(folder) && chdir(folder) == 0)
    f = fopen(name, "w");
  if (!f) return luaL_fileresult(L, 0, folder);
  fputs(text, f);
  fclose(f);
  status = luaL_loadfilex(L, name, NULL);
  remove(name);
  lua_pushinteger(L, luaL_loadfilex(L, name, NULL));
  lua_rotate(L, -2, 1);
  lua_pushinteger(L, status);
  lua_rotate(L, -4, 1);
  return chdir(before) == 0 && rmdir(folder) == 0 ? 4 : 0;
}

/* pipe(): the ends of a pipe */
static int make_pipe(lua_State *L) {
  int ends[2], i;
  if (pipe(ends) != 0) return luaL_fileresult(L, 0, NULL);
  for (i = 0; i < 2; i++) {
    luaL_Stream *p = new_file(L);
    p->f = fdopen(ends[i], i == 0 ? "r" : "w");
    p->closef = close_file;
  }
  return 2;
}

static int never_opened(lua_State *L) {
  new_file(L);
  return 1;
}

/* next_byte(file): what C code reads from a file */
static int next_byte(lua_State *L) {
  lua_pushinteger(L, fgetc(((luaL_Stream *)luaL_checkudata(L, 1, "FILE*"))->f));
  return 1;
}

static int count_closed(lua_State *L) {
  lua_pushinteger(L, closed);
  return 1;
}

static int print(lua_State *L) {
  fputs(luaL_checklstring(L, 1, NULL), stdout);
  return 0;
}

/* fork(): the number of a child process, or 0 in the child */
static int make_child(lua_State *L) {
  lua_pushinteger(L, fork());
  return 1;
}

/* wait(child): its status when it has ended */
static int wait_for(lua_State *L) {
  int status = -1;
  waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0);
  lua_pushinteger(L, status);
  return 1;
}

static int raw_length(lua_State *L) {
  lua_pushinteger(L, (long long)lua_rawlen(L, 1));
  return 1;
}

static const luaL_Reg functions[] = {{"open", open_file}, {"pipe", make_pipe},
    {"never_opened", never_opened}, {"next_byte", next_byte}, {"count_closed", count_closed},
    {"load_file", load_file},
    {"raw_length", raw_length},
    {"print", print}, {"fork", make_child}, {"wait", wait_for}, {NULL, NULL}};

int luaopen_files(lua_State *L) {
  lua_createtable(L, 0, 8);
  luaL_setfuncs(L, functions, 0);
  return 1;
}
