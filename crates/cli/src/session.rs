//! One run of the command: the state is created, the options are carried out in order, and the
//! script runs.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;

use perilune::native::{Cx, NativeResult, Raised, Val};
use perilune::stdlib::base::{load_file, set_warnings};
use perilune::stdlib::io::read_line;
use perilune::syntax::skip_preamble;
use perilune::{Lua, listing, listings_of, report_now};

use crate::call::{Caller, message_handler, push_global, set_global};
use crate::explain::Explain;
use crate::jit_options;
use crate::mode::Mode;
use crate::native::with_cx;
use crate::options::{Action, Options};
use crate::{repl, text};

/// The reason why a run ends early.
enum Stop {
    /// An error that was reported.
    Failed,
    /// An error that was raised outside all chunks and is not reported yet.
    Raised(Raised),
}

impl From<Raised> for Stop {
    fn from(r: Raised) -> Stop {
        Stop::Raised(r)
    }
}

type Result<T = ()> = std::result::Result<T, Stop>;

/// The remaining work at the end of the command line.
#[derive(PartialEq, Eq)]
enum End {
    Done,
    Interactive,
}

struct Session<'a> {
    args: &'a [Vec<u8>],
    options: &'a Options,
    caller: Caller,
    engine: &'a perilune::Engine,
}

/// Carries out the command line and closes the state at the end. Returns whether it succeeded.
pub(crate) fn run(args: &[Vec<u8>], options: &Options, name: &[u8]) -> bool {
    if options.banner {
        text::write(text::BANNER.as_bytes());
    }
    let engine = options.jit.engine(options.mode);
    let lua = Lua::without_libraries(&engine);
    if options.ignore_environment {
        with_cx(&lua, |cx| cx.registry().set_name(cx, "LUA_NOENV", Val::bool(true)));
    }
    lua.open_libraries();
    allow_c_modules(&lua);
    match options.mode {
        Mode::Default
        | Mode::Off
        | Mode::BaselineSync
        | Mode::Unprofiled
        | Mode::Tier2Sync
        | Mode::MixedTiers
        | Mode::Background
        | Mode::CheckValues => {}
        Mode::Portable => lua.set_portable_interpreter(true),
        Mode::GcStress => lua.set_gc_stress(true),
        Mode::GcPhases | Mode::Tier2GcPhases => lua.set_gc_phases(jit_options::chaos_seed()),
        Mode::SmallStack => lua.set_small_stack(true),
        Mode::Tier2GcStress => {
            lua.set_gc_stress(true);
            lua.set_small_stack(true);
        }
        Mode::ExitStress => lua.set_exit_stress(jit_options::chaos_seed()),
        Mode::Chaos | Mode::BaselineChaos => lua.set_chaos(jit_options::chaos_seed()),
    }
    if let Some(portable) = options.portable {
        lua.set_portable_interpreter(portable);
    }
    let explain = Explain::new(options.explain);
    let caller = Caller::new(&lua.interrupt_handle(), name, explain);
    let session = Session { args, options, caller, engine: &engine };
    let end = with_cx(&lua, |cx| {
        // as in PUC, where a C function runs the command
        cx.set_host_function(cx.func(host, &[]));
        cx.push(cx.func(message_handler, &[]).val());
        session.main(cx).map_err(|stop| {
            if let Stop::Raised(_) = stop {
                cx.push(cx.error_value());
                session.caller.report(cx);
            }
        })
    });
    if let Ok(End::Interactive) = end {
        repl::run(&lua, session.caller);
    }
    report_now();
    let ok = end.is_ok();
    drop(lua);
    if !options.jit.shows() {
        // do not wait for code that is still being compiled, as it is not needed
        std::mem::forget(engine);
    }
    ok
}

/// The function of the host's frame; programs may find it, but have no use for it.
fn host(cx: &mut Cx) -> NativeResult {
    cx.ret(0)
}

/// Allows programs to load C modules, as PUC's command does.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[allow(unsafe_code)] // the only place in this crate
fn allow_c_modules(lua: &Lua) {
    // SAFETY: C3: the user of the command is responsible for the installed modules, as for all
    // installed programs.
    unsafe { perilune_capi::CModules::allow_c_modules(lua) }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn allow_c_modules(_: &Lua) {}

impl Session<'_> {
    fn main(&self, cx: &mut Cx) -> Result<End> {
        let o = self.options;
        self.make_arg_table(cx);
        if !o.ignore_environment && o.action == Action::Run {
            self.run_init(cx)?;
        }
        self.carry_out_options(cx)?;
        if o.script > 0 {
            self.run_script(cx)?;
        }
        if o.action == Action::Run && o.interactive {
            return Ok(End::Interactive);
        }
        if o.script == 0 && !o.executes && !o.banner {
            if o.action == Action::Run && std::io::stdin().is_terminal() {
                text::write(text::BANNER.as_bytes());
                return Ok(End::Interactive);
            }
            // As in PUC, a failure of a script that is read this way is not a failure of the
            // command.
            let _ = self.run_file(cx, None);
        }
        Ok(End::Done)
    }

    /// Creates the global `arg`: the script's name is at 0, the words after it are above, those
    /// before it below.
    fn make_arg_table(&self, cx: &Cx) {
        let script = self.options.script;
        let t = cx.table(self.args.len() - script, script);
        for (i, word) in self.args.iter().enumerate() {
            t.set_int(cx, i as i64 - script as i64, cx.str(word).val());
        }
        cx.globals().set_name(cx, "arg", t.val());
    }

    /// Runs the contents of `LUA_INIT_5_4` or `LUA_INIT`: code, or `@` and the name of a file.
    fn run_init(&self, cx: &mut Cx) -> Result {
        use std::os::unix::ffi::OsStringExt;
        for name in ["LUA_INIT_5_4", "LUA_INIT"] {
            if let Some(init) = std::env::var_os(name) {
                let init = init.into_vec();
                return match init.strip_prefix(b"@") {
                    Some(file) => self.run_file(cx, Some(file)),
                    None => self.run_string(cx, &init, &format!("={name}")),
                };
            }
        }
        Ok(())
    }

    /// Carries out `-e`, `-l` and `-W`, in their order.
    fn carry_out_options(&self, cx: &mut Cx) -> Result {
        let end = if self.options.script > 0 { self.options.script } else { self.args.len() };
        let mut words = self.args[1..end].iter();
        while let Some(word) = words.next() {
            match word.get(1) {
                Some(b'W') => set_warnings(cx, true),
                Some(option @ (b'e' | b'l')) => {
                    let own = &word[2..];
                    let argument =
                        if own.is_empty() { words.next().map_or(own, |w| w) } else { own };
                    if *option == b'e' {
                        self.run_string(cx, argument, "=(command line)")?;
                    } else if self.options.action == Action::Run {
                        self.require(cx, argument)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn run_string(&self, cx: &mut Cx, code: &[u8], name: &str) -> Result {
        self.caller.explain.remember(name.as_bytes(), code);
        self.run_chunk(cx, |cx| cx.load(code, name.as_bytes(), b"bt", None), |_| Ok(0))
    }

    fn run_file(&self, cx: &mut Cx, name: Option<&[u8]>) -> Result {
        self.run_chunk(cx, |cx| self.load_file(cx, name), |_| Ok(0))
    }

    fn run_script(&self, cx: &mut Cx) -> Result {
        let script = self.options.script;
        let name = &self.args[script];
        let is_stdin = name == b"-" && self.args[script - 1] != b"--";
        let name = (!is_stdin).then_some(&name[..]);
        self.run_chunk(cx, |cx| self.load_file(cx, name), push_arguments)
    }

    /// Loads a file, or the standard input. Its text is stored if errors are explained.
    fn load_file<'cx>(
        &self,
        cx: &'cx Cx,
        name: Option<&[u8]>,
    ) -> std::result::Result<Val<'cx>, Vec<u8>> {
        if !self.options.explain {
            return load_file(cx, name, b"bt", None);
        }
        if let Some(name) = name {
            // under the name as given, since messages shorten long names
            if let Ok(text) = std::fs::read(OsStr::from_bytes(name)) {
                self.caller.explain.remember(&[b"@", name].concat(), skip_preamble(&text));
            }
            return load_file(cx, Some(name), b"bt", None);
        }
        let lines: Vec<Vec<u8>> = std::iter::from_fn(read_line).collect();
        let text = lines.concat();
        let source = skip_preamble(&text);
        self.caller.explain.remember(b"=stdin", source);
        cx.load(source, b"=stdin", b"bt", None)
    }

    /// Runs the chunk that `load` compiles with the arguments that `push` pushes, or lists it.
    fn run_chunk(
        &self,
        cx: &mut Cx,
        load: impl FnOnce(&Cx) -> std::result::Result<Val<'_>, Vec<u8>>,
        push: impl FnOnce(&mut Cx) -> std::result::Result<usize, Raised>,
    ) -> Result {
        match load(cx) {
            Ok(f) if self.options.action == Action::Dump => {
                self.list(f);
                return Ok(());
            }
            Ok(f) => {
                cx.push_callee(f);
                if let Some(f) = f.as_func()
                    && self.options.jit.precompile
                {
                    self.engine.precompile_function(cx, f);
                }
            }
            Err(message) => {
                self.caller.message(&message);
                return Err(Stop::Failed);
            }
        }
        let n = push(cx)?;
        match self.caller.call(cx, n) {
            Ok(n) => {
                cx.pop(n);
                Ok(())
            }
            Err(()) => {
                self.caller.report(cx);
                Err(Stop::Failed)
            }
        }
    }

    /// Lists the requested parts of a function and those inside it.
    fn list(&self, f: Val<'_>) {
        for request in &self.options.jit.dump {
            let listing = f.as_func().and_then(|f| match &request.of {
                None => listing(f),
                Some(_) => listings_of(f, request),
            });
            text::write(listing.unwrap_or_default().as_bytes());
        }
    }

    /// Carries out `-l name`: requires a module and assigns it to a global. `g=mod` names both;
    /// otherwise a version after `-` is not part of the global's name.
    fn require(&self, cx: &mut Cx, argument: &[u8]) -> Result {
        let at = |byte: u8| argument.iter().position(|b| *b == byte);
        let (global, module) = match (at(b'='), at(b'-')) {
            (Some(i), _) => (&argument[..i], &argument[i + 1..]),
            (None, Some(i)) => (&argument[..i], argument),
            (None, None) => (argument, argument),
        };
        let kept = cx.top();
        push_global(cx, b"require")?;
        // the header slot of the call
        cx.push(Val::NIL);
        cx.push(cx.str(module).val());
        match self.caller.call(cx, 1) {
            Ok(n) => {
                cx.set_top(kept + n.min(1));
                cx.set_top(kept + 1);
                set_global(cx, global)?;
                Ok(())
            }
            Err(()) => {
                self.caller.report(cx);
                Err(Stop::Failed)
            }
        }
    }
}

/// Pushes `arg[1]`, `arg[2]`, …
fn push_arguments(cx: &mut Cx) -> std::result::Result<usize, Raised> {
    let at = cx.top();
    push_global(cx, b"arg")?;
    if cx.get(at).as_table().is_none() {
        return Err(cx.error("'arg' is not a table"));
    }
    let n = cx.length(at)?.max(0) as usize;
    cx.reserve(n + 3).map_err(|_| cx.error("stack overflow (too many arguments to script)"))?;
    for i in 1..=n as i64 {
        let v = cx.get(at).as_table().map_or(Val::NIL, |t| t.get_int(i));
        cx.push(v);
    }
    cx.remove(at);
    Ok(n)
}
