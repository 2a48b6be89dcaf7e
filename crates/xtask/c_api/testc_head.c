/* What the functions of PUC's ltests.c need that follow, in terms of the public headers. */

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"
#define lua_assert assert
#define lua_longassert(c) assert(c)
#define cast(t, x) ((t)(x))
#define cast_void(x) ((void)(x))
#define cast_int(x) ((int)(x))
#define cast_num(x) ((lua_Number)(x))
#define cast_charp(x) ((char *)(x))
#define cast_uchar(x) ((unsigned char)(x))
#define cast_sizet(x) ((size_t)(x))
#define cast_voidp(x) ((void *)(x))
#define lisdigit isdigit
#define LUA_NUMTAGS 9
#define MEMERRMSG "not enough memory"
#define lua_lock(L) ((void)0)
#define lua_unlock(L) ((void)0)
#define UNUSED(x) ((void)(x))
typedef struct Memcontrol {
  int failnext;
  unsigned long numblocks, total, maxmem, memlimit, countlimit, objcount[LUA_NUMTAGS];
} Memcontrol;
extern Memcontrol l_memcontrol;
int luaB_opentests (lua_State *L);
static const char *const ttypename[] = {"nil", "boolean", "userdata", "number", "string", "table",
  "function", "userdata", "thread"};
#define ttypename(i) ttypename[i]
static int luaO_ceillog2(unsigned x) { int l = 0; x--; while (x) { l++; x >>= 1; } return l; }
