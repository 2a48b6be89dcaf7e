//! Forks: a server that forks its workers in the middle of hot code, while its compile threads
//! work.
#![cfg(all(unix, not(miri)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering::Relaxed};

use perilune::{Engine, EngineOptions, Function, JitOptions, Lua};

const PROGRAM: &str = r#"
local function sum(n, one)
  local s = one - one
  for i = 1, n do s = s + one * i end
  return s
end
local function fields(n, t)
  for i = 1, n do
    t.x = t.x + i
    t.count = (t.count or 0) + 1
  end
  return t.x .. "/" .. t.count
end
local function pieces(n, piece)
  local t = {}
  for i = 1, n do t[#t + 1] = piece .. i end
  return #table.concat(t)
end
local P = setmetatable({}, {
  __sub = function() return 0 end,
  __mul = function(_, i) return i % 7 end,
})

-- What is served depends on the kind: operands of other types, tables of other shapes.
function serve(kind, rounds)
  local ones = { [0] = 1, 1.5, "2", P, 3 }
  local out = {}
  for r = 1, rounds do
    local t = { x = kind % 2 == 0 and r or r + 0.5 }
    if kind > 1 then t = { [kind] = 1, y = 2, x = r } end
    out[#out + 1] = sum(40 + r, ones[kind % 5])
    out[#out + 1] = fields(30 + r, t)
    out[#out + 1] = pieces(10 + r, kind % 3 == 0 and "p" or kind)
  end
  return table.concat(out, " ")
end

-- The frame that forks is in hot code before and after.
function prefork(kind)
  local s = 0
  for i = 1, 20000 do
    s = s + i
    if i == 15000 then kind = fork(kind) end
  end
  return s, kind
end
"#;

fn lua(engine: &Engine) -> Lua {
    let lua = Lua::with_engine(engine);
    lua.load(PROGRAM).exec().expect("it loads");
    lua
}

fn serve(lua: &Lua, kind: i64, rounds: i64) -> String {
    let serve: Function = lua.globals().get("serve").expect("it is defined");
    serve.call((kind, rounds)).expect("it runs")
}

#[test]
fn a_prefork_server() {
    serve_in_children(JitOptions {
        threshold: 4,
        loop_threshold: 64,
        workers: 2,
        ..JitOptions::eager()
    });
}

/// Stitched code is evicted before and after the forks, on both sides.
#[test]
fn a_prefork_server_with_little_room_for_stitched_code() {
    let options = JitOptions { budget: 6 << 10, share: None, ..JitOptions::eager_baseline() };
    let engine = serve_in_children(options);
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let metrics = engine.jit_metrics();
        let evicted = metrics.iter().find(|(name, _)| *name == "placements evicted");
        assert!(evicted.is_some_and(|&(_, n)| n > 20), "{metrics:?}");
    }
}

/// Serves requests in children of this process and here, and compares what is served with that of
/// the interpreter.
fn serve_in_children(jit: JitOptions) -> Engine {
    let reference = lua(&Engine::interpreter());
    let expected: Vec<String> = (0..6).map(|kind| serve(&reference, kind, 60)).collect();

    let engine = EngineOptions::new().jit(jit).build();
    let lua = lua(&engine);
    // `next` is not 0 in a child: the kind of request that it serves.
    let (next, pid) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI32::new(0)));
    let (children, child) = (next.clone(), pid.clone());
    let fork = lua
        .create_function(move |_, kind: i64| {
            // SAFETY: the child continues with this thread only; the test checks that this works.
            let pid = unsafe { libc::fork() };
            child.store(pid, Relaxed);
            Ok(if pid == 0 { children.load(Relaxed) } else { kind })
        })
        .expect("a function");
    lua.globals().set("fork", fork).expect("it is set");
    let prefork: Function = lua.globals().get("prefork").expect("it is defined");

    let mut pids = Vec::new();
    for round in 0..12 {
        next.store(round % 6, Relaxed);
        let (sum, kind): (i64, i64) = prefork.call(-1).expect("it runs");
        assert_eq!(sum, 200_010_000);
        if pid.load(Relaxed) == 0 {
            let serves = || {
                for turn in 0..4 {
                    let kind = (kind + turn) % 6;
                    assert_eq!(serve(&lua, kind, 60), expected[kind as usize], "kind {kind}");
                }
                // A state that the child creates.
                let second = self::lua(&engine);
                assert_eq!(serve(&second, kind, 60), expected[kind as usize]);
                // Waits for threads of this process only.
                second.gc_collect().expect("it collects");
            };
            run_child(serves);
        }
        assert_eq!(kind, -1);
        pids.push(pid.load(Relaxed));
        let kind = round % 5;
        assert_eq!(serve(&lua, kind, 60), expected[kind as usize], "parent, kind {kind}");
    }
    pids.into_iter().for_each(join);
    for (kind, expected) in (0..).zip(&expected) {
        assert_eq!(&serve(&lua, kind, 60), expected, "parent, kind {kind}");
    }
    engine
}

/// Forks a child that runs `f`.
fn in_child(f: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child continues with this thread only; the tests check that this works.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "it can fork");
    if pid == 0 {
        run_child(f);
    }
    pid
}

/// Runs `f` in a child and ends it. A child that takes too long is stopped.
fn run_child(f: impl FnOnce()) -> ! {
    // SAFETY: a system call on this process.
    unsafe { libc::alarm(60) };
    let failed = catch_unwind(AssertUnwindSafe(f)).is_err();
    // SAFETY: nothing of the test harness runs in the child.
    unsafe { libc::_exit(failed.into()) }
}

fn join(pid: libc::pid_t) {
    let mut status = 0;
    // SAFETY: the process is a child of this one, and is waited for once.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((waited, status), (pid, 0), "a child failed");
}

/// Creates fields and shapes that no other call with another name creates, and machine code if the
/// function is called often.
const NEW: &str = r#"
local calls = ...
local function add(t, i)
  t.NAMEa, t.NAMEb, t.NAMEc = i, i, i
  t.NAME = i
  return t.NAME
end
local s = 0
for i = 1, calls do s = s + add({}, i) end
return s
"#;

fn make_new(lua: &Lua, name: &str, calls: i64) {
    let sum: i64 = lua.load(NEW.replace("NAME", name)).call(calls).expect("it runs");
    assert_eq!(sum, calls * (calls + 1) / 2);
}

/// Threads that hold locks of the engine, such as those of its symbols, its shapes and the
/// compiler's data, do not exist in a child, which must find these locks free.
#[test]
fn forking_while_others_take_locks() {
    const FORKS: usize = 300;
    const COLD: i64 = 2;
    const HOT: i64 = 20;
    // Threads wait for the compiler, so that the queue does not grow.
    let jit = JitOptions { threshold: 16, workers: 2, sync: true, ..JitOptions::default() };
    let engine = EngineOptions::new().jit(jit).build();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (engine, stop) = (&engine, &stop);
            scope.spawn(move || {
                for round in 0.. {
                    // New states reuse chunks of memory that others have freed.
                    let lua = Lua::with_engine(engine);
                    for turn in 0..20 {
                        if stop.load(Relaxed) {
                            return;
                        }
                        let calls = if turn == thread { HOT } else { COLD };
                        make_new(&lua, &format!("parent{thread}_{round}_{turn}_"), calls);
                    }
                }
            });
        }
        let work = || {
            let lua = Lua::with_engine(&engine);
            for round in 0..FORKS {
                join(in_child(|| {
                    make_new(&lua, &format!("child{round}_"), COLD);
                    make_new(&Lua::with_engine(&engine), &format!("child{round}_"), HOT);
                }));
            }
        };
        let done = catch_unwind(AssertUnwindSafe(work));
        stop.store(true, Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
}

/// A thread that was requesting an interrupt at the fork does not exist in the child, so the end of
/// the state must not wait for it.
#[test]
fn states_end_in_a_child_while_others_request_interrupts() {
    const FORKS: usize = 20;
    let mut lua = Some(lua(&Engine::new()));
    let handle = lua.as_ref().expect("it is there").interrupt_handle();
    let stop = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    handle.request();
                }
            });
        }
        let work = || {
            for _ in 0..FORKS {
                join(in_child(|| {
                    handle.request();
                    drop(lua.take());
                    handle.request();
                }));
            }
        };
        let done = catch_unwind(AssertUnwindSafe(work));
        stop.store(true, Relaxed);
        done
    });
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// The thread that watches time limits does not exist in a child, which starts its own.
#[test]
fn time_limits_hold_in_a_child() {
    let lua = lua(&Engine::new());
    let spin = || {
        let limit = std::time::Duration::from_millis(20);
        lua.set_time_limit(Some(limit)).expect("there is a thread that rings");
        lua.load("while true do end").exec().expect_err("it takes too long");
    };
    spin();
    join(in_child(spin));
}

/// Commands are run by `posix_spawn` or by a fork in the standard library.
#[test]
fn commands_of_the_library() {
    let lua = lua(&Engine::new());
    let text: String = lua
        .load(
            r#"
            for i = 1, 20 do serve(i % 6, 30) end
            local p = assert(io.popen("echo a b"))
            local text = p:read("a")
            assert(p:close())
            assert(os.execute("exit 0"))
            return text
            "#,
        )
        .eval()
        .expect("it runs");
    assert_eq!(text, "a b\n");
}
