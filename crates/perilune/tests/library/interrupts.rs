//! Checks that calls of the string library stop after an interrupt and do not overflow the stack,
//! even with expensive patterns.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use perilune::{Interrupt, Lua};

use super::random::Random;

/// The time after which an expensive call is interrupted.
const PATIENCE: Duration = Duration::from_millis(50);
/// The time after the interrupt within which the call must end. It is long because other tests use
/// the processor as well.
const GRACE: Duration = Duration::from_secs(5);

/// Calls that practically never end.
const ENDLESS: &[&str] = &[
    "find(a(1e5), '.-.-.-.-x')",
    "find(a(1e5), 'a*a*a*a*a*b')",
    "match(a(1e5), '(a*)(a*)(a*)(a*)%4%3%2%1b')",
    "match(a(1e5), '^(.-)(.-)(.-)%1%2%3$')",
    "find(a(1e5), '[ab]*[ab]*[ab]*[^ab]')",
    "find(a(1e5), ('a?'):rep(60) .. ('a'):rep(1e5 - 20) .. 'b')",
    "gsub(a(1e5), '.-.-.-.-x', '')",
    "gsub(a(1e5), 'a*a*a*b', {})",
    "gsub(a(1e5), 'a-a-a-b', print)",
    "for x in gmatch(a(1e5), '(.-)(.-)(.-)x') do end",
    "find(('('):rep(1e6), '%b()')  repeat find(('('):rep(1e5), '%b()') until false",
    "find(('('):rep(3e6), '%b()')",
    "find(a(3e6), 'a-b')",
    "find(a(3e6), '.*b.*c')",
    "find(a(3e6), '%a+%d')",
    "find(a(2e6), '(a*)%1b')",
    "find(a(4e6), '.' .. a(2e6) .. 'b')",
    "find(a(4e6), '[a]?' .. a(2e6) .. 'b')",
    "find(a(4e6), '%f[^a].*b') repeat find(a(1e5), '%f[a].-%f[b]') until false",
    "gsub(a(3e6), '()', '%1') gsub(a(3e6), 'a-b', '%0')",
    "gsub(a(1e6), '.', function() while true do end end)",
    "gsub(a(1e5), '.', function(c) return find(a(1e5), 'a*a*a*b') end)",
    "gsub(a(1e5), '.', setmetatable({}, { __index = function() find(a(1e5), 'a*a*a*b') end }))",
    "repeat until find(a(1e6), 'b', 1, true)",
    // each caught interrupt ends one of the searches
    "for _ = 1, 20 do pcall(find, a(1e5), 'a*a*a*a*b') end",
    "coroutine.wrap(function() find(a(1e5), 'a*a*a*a*b') end)()",
    "table.sort({1, 2, 3}, function() return find(a(1e5), 'a*a*a*a*b') end)",
];

const DRIVER: &str = "find, match, gmatch, gsub = string.find, string.match, string.gmatch, \
                      string.gsub \
    function a(n) return ('a'):rep(n // 1 | 0) end";

/// The handle of the running call, and the time of its interrupt in milliseconds since the start (0
/// for none).
struct Watch {
    start: Instant,
    due: AtomicU64,
    hangs: AtomicU64,
}

static WATCH: std::sync::OnceLock<Watch> = std::sync::OnceLock::new();
static HANDLE: std::sync::Mutex<Option<Interrupt>> = std::sync::Mutex::new(None);

fn watch() -> &'static Watch {
    WATCH.get_or_init(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(Duration::from_millis(2));
                let Some(watch) = WATCH.get() else { continue };
                let (due, now) =
                    (watch.due.load(Ordering::SeqCst), watch.start.elapsed().as_millis() as u64);
                if due == 0 || now < due {
                    continue;
                }
                if let Some(handle) = HANDLE.lock().expect("nothing panics with it").as_ref() {
                    handle.request();
                }
                if now > due + 60_000 {
                    let number = watch.hangs.load(Ordering::SeqCst);
                    let _ = writeln!(std::io::stderr(), "call {number} cannot be interrupted");
                    std::process::abort();
                }
            }
        });
        Watch { start: Instant::now(), due: AtomicU64::new(0), hangs: AtomicU64::new(0) }
    })
}

/// Runs a call and interrupts it after [`PATIENCE`]. Returns how long it continued, and whether the
/// interrupt ended it.
fn interrupted(lua: &Lua, number: u64, source: &str) -> (Duration, bool) {
    let watch = watch();
    *HANDLE.lock().expect("nothing panics with it") = Some(lua.interrupt_handle());
    let start = Instant::now();
    watch.hangs.store(number, Ordering::SeqCst);
    watch.due.store((watch.start.elapsed() + PATIENCE).as_millis() as u64, Ordering::SeqCst);
    let end = lua.load(source).set_name("=call").exec();
    watch.due.store(0, Ordering::SeqCst);
    let late = start.elapsed().saturating_sub(PATIENCE);
    (late, end.is_err_and(|error| error.to_string().contains("interrupted!")))
}

/// Generates a pattern that matches a long subject of few letters in many ways.
fn expensive(random: &mut Random) -> String {
    let mut pattern = String::from(if random.one_in(4) { "^" } else { "" });
    let mut open = 0;
    for _ in 0..2 + random.below(12) {
        match random.below(10) {
            0 if open < 9 => {
                pattern += "(.-)";
                open += 1;
            }
            1 if open > 0 => pattern += &format!("%{}", 1 + random.below(open)),
            2 => pattern += "%b()",
            3 => pattern += ["%f[a]", "%f[^a]"][random.below(2)],
            _ => {
                pattern += ["a", ".", "[ab]", "%a", "[^c]", "(a)", "b"][random.below(5)];
                pattern += ["*", "-", "+", "?", ""][random.below(5)];
            }
        }
    }
    pattern + ["c", "%d", "()$b", "$"][random.below(4)]
}

/// Checks the calls in [`ENDLESS`] and `count` generated ones.
pub(crate) fn patterns_stop(count: u64) {
    let mut longest = Duration::ZERO;
    let state = || {
        let lua = Lua::with_engine(&perilune::Engine::interpreter());
        lua.load(DRIVER).exec().expect("the driver is a program");
        lua
    };
    let mut interrupts = 0;
    for (number, source) in ENDLESS.iter().enumerate() {
        let (late, by_interrupt) = interrupted(&state(), number as u64, source);
        assert!(late < GRACE, "runs on for {late:?}: {source}");
        interrupts += u64::from(by_interrupt);
        longest = longest.max(late);
    }
    // some calls end by themselves on a fast machine
    assert!(interrupts > ENDLESS.len() as u64 / 2, "{interrupts} ended by an interrupt");
    let first = super::random::variable("PERILUNE_LIBRARY_SEED").unwrap_or(1);
    let mut stopped = 0;
    let mut lua = state();
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let pattern = expensive(&mut random);
        let subject = ["a(1e6)", "a(300) .. '(' .. a(2e5)", "('ab'):rep(1e5)", "('a('):rep(1e6)"];
        let call =
            ["find(%, '%')", "match(%, '%')", "gsub(%, '%', '')", "for x in gmatch(%, '%') do end"];
        let mut parts = call[random.below(call.len())].split('%');
        let mut source = parts.next().unwrap_or("").to_owned();
        source += subject[random.below(subject.len())];
        source += parts.next().unwrap_or("");
        source += &pattern;
        source += parts.next().unwrap_or("");
        let (late, by_interrupt) = interrupted(&lua, seed, &source);
        assert!(late < GRACE, "seed {seed} runs on for {late:?}: {source}");
        stopped += u64::from(by_interrupt);
        longest = longest.max(late);
        if by_interrupt {
            lua = state();
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{stopped} of {count} generated calls were interrupted, the slowest {longest:?} after it \
         was asked to stop"
    );
}
