
/* A program that runs a file with these functions as `T`, in a state with the allocator above. */

static int nothing (lua_State *L) { (void)L; return 0; }
static const luaL_Reg tests_funcs[] = {
  {"checkmemory", nothing}, {"closestate", closestate}, {"d2s", d2s}, {"doonnewstack",
  doonnewstack}, {"doremote", doremote}, {"getref", getref}, {"log2", log2_aux}, {"loadlib",
  loadlib}, {"checkpanic", checkpanic}, {"newstate", newstate}, {"newuserdata", newuserdata},
  {"num2int", num2int}, {"pushuserdata", pushuserdata}, {"ref", tref}, {"resume", coresume},
  {"s2d", s2d}, {"sethook", sethook}, {"testC", testC}, {"makeCfunc", makeCfunc}, {"totalmem",
  mem_query}, {"alloccount", alloc_count}, {"allocfailnext", alloc_failnext}, {"udataval",
  udataval}, {"unref", unref}, {"upvalue", upvalue}, {NULL, NULL}
};
int luaB_opentests (lua_State *L) {
  lua_atpanic(L, &tpanic);
  lua_setwarnf(L, &warnf, L);
  lua_pushboolean(L, 0);
  lua_setglobal(L, "_WARN");
  regcodes(L);
  luaL_newlib(L, tests_funcs);
  return 1;
}
static int handler (lua_State *L) { luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1); return 1; }
static int pmain (lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "T", luaB_opentests, 1);
  lua_pushcfunction(L, handler);
  if (luaL_loadfile(L, argv[1]) || lua_pcall(L, 0, 0, -2)) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 0;
  }
  lua_pushboolean(L, 1);
  return 1;
}
int main (int argc, char **argv) {
  lua_State *L = lua_newstate(debug_realloc, &l_memcontrol);
  int ok;
  (void)argc;
  lua_pushcfunction(L, pmain);
  lua_pushlightuserdata(L, argv);
  ok = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_toboolean(L, -1);
  if (!ok && lua_isstring(L, -1)) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return !ok;
}
