//! Members of userdata in inline caches: changes to cached members take effect at once, in machine
//! code and in the interpreter.

use perilune::{
    Engine, JitOptions, Lua, MetaMethod, Result, UserData, UserDataFields, UserDataMethods, Value,
};

/// A type with methods only.
struct Plain(i64);

impl UserData for Plain {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(this.0));
        methods.add_method("name", |_, _, ()| Ok("plain"));
    }
}

/// A type with computed fields.
struct Fields(i64);

impl UserData for Fields {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("half", |_, this| Ok(this.0 / 2));
        fields.add_field("unit", "m");
    }
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(-this.0));
        methods.add_method("name", |_, _, ()| Ok("fields"));
    }
}

/// A type whose `__index` is a function of the host.
struct Indexed(i64);

impl UserData for Indexed {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(this.0 * 10));
        methods.add_meta_method(MetaMethod::Index, |lua, this, name: String| {
            let n = this.0;
            if name == "name" {
                return Ok(Value::Function(lua.create_function(|_, _: Value| Ok("indexed"))?));
            }
            Ok(Value::Integer(n))
        });
    }
}

/// Runs `program` with one userdata of each type, interpreted and (not under Miri) compiled from
/// the start.
fn same_everywhere(program: &str) -> Result<String> {
    let run = |engine: &Engine| -> Result<String> {
        let lua = Lua::with_engine(engine);
        lua.load(program).call((Plain(1), Fields(8), Indexed(3)))
    };
    let plain = run(&Engine::interpreter())?;
    if cfg!(miri) {
        return Ok(plain);
    }
    let sync = JitOptions { threshold: 1, loop_threshold: 1, sync: true, ..JitOptions::default() };
    assert_eq!(run(&Engine::with_jit(sync))?, plain);
    Ok(plain)
}

#[test]
fn one_place_calls_methods_of_several_types() -> Result<()> {
    let out = same_everywhere(
        "local all = {...}
        all[4], all[5] = 'text', setmetatable({}, {__index = {get = function() return 5 end, name \
        = function() return 'table' end}})
        string.get = function(s) return #s end
        string.name = function(s) return s end
        local sum, names = 0, {}
        for round = 1, 30 do
          for i, one in ipairs(all) do
            sum = sum + one:get() * i
            names[i] = one:name()
          end
        end
        return sum .. ' ' .. table.concat(names, ' ')",
    )?;
    assert_eq!(out, "3480 plain fields indexed text table");
    Ok(())
}

#[test]
fn what_a_debugger_changes_is_seen_at_once() -> Result<()> {
    let program = "local plain, fields, indexed = ...
        local out = {}
        local function try(u) local ok, v = pcall(function() return u:get() end) return ok and \
        tostring(v) or 'error' end
        local function look(u) local ok, v = pcall(function() return u.more end) return ok and \
        type(v) or 'error' end
        local function note(what)
          for round = 1, 3 do
            out[#out + 1] = table.concat({what, try(plain), try(fields), try(indexed), \
            look(plain), look(fields), look(indexed)}, ' ')
          end
        end
        note 'at first'
        local mt = debug.getmetatable(plain)
        local methods = mt.__index
        if type(methods) == 'table' then
          local get = methods.get
          methods.get = function(u) return get(u) + 100 end
          note 'method replaced'
          methods.more = true
          note 'member added'
          methods.more, methods.get = nil, nil
          note 'members taken away'
          setmetatable(methods, {__index = {get = get}})
          note 'found further along'
          setmetatable(methods, nil)
        end
        mt.__index = function(u, name) return name == 'get' and function() return 'by function' \
        end or nil end
        note '__index replaced'
        mt.__index = {get = function() return 'by another table' end, more = 1}
        note '__index replaced again'
        debug.setmetatable(plain, debug.getmetatable(fields))
        note 'metatable of another type'
        debug.setmetatable(plain, nil)
        note 'no metatable'
        local calls = 0
        debug.sethook(function() calls = calls + 1 end, 'c')
        try(fields)
        debug.sethook()
        for i = 1, ROUNDS do local m = debug.setmetatable(plain, {__index = {get = function() \
        return i end}}) collectgarbage() out[#out + 1] = try(plain) end
        return table.concat(out, '\\n') .. calls";
    same_everywhere(&program.replace("ROUNDS", if cfg!(miri) { "3" } else { "50" }))?;
    Ok(())
}

#[test]
fn what_computed_fields_are_looked_up_in_cannot_be_replaced() -> Result<()> {
    let out = same_everywhere(
        "local _, fields = ...
        local function get() return fields:get() end
        local out = {}
        local function note() for round = 1, 20 do out[#out + 1] = tostring(get()) end end
        note()
        local handler, found, replaced = debug.getmetatable(fields).__index, false, false
        for i = 1, 4 do
          local _, t = debug.getupvalue(handler, i)
          if type(t) == 'table' and rawget(t, 'get') then
            found = true
            local another = {get = function() return 'another' end}
            replaced = debug.setupvalue(handler, i, another) or replaced
          end
        end
        note()
        return tostring(found) .. ' ' .. tostring(replaced) .. ' ' .. table.concat(out, ' ')",
    )?;
    assert_eq!(out, format!("true false{}", " -8".repeat(40)));
    Ok(())
}
