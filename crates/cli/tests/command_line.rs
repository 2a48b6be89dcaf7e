//! The command line: options, `arg`, environment variables, exit codes, messages. The expected
//! behavior is that of PUC's `lua` 5.4.8, apart from Perilune's own options.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A folder of files for one test.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, files: &[(&str, &str)]) -> Files {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command-line").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        for (file, text) in files {
            std::fs::write(folder.join(file), text).expect("a file");
        }
        Files(folder)
    }

    /// Runs the command under the name `lua`. Returns its output, its messages and its exit code.
    fn run(&self, args: &[&str], input: &str, variables: &[(&str, &str)]) -> (String, String, i32) {
        use std::os::unix::process::CommandExt;
        let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
            .arg0("lua")
            .args(args)
            .current_dir(&self.0)
            .env_clear()
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // A command that does not read its input may be gone already.
        let _ = child.stdin.take().expect("input").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the command ends");
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
    }

    fn check(&self, args: &[&str], expect: (&str, &str, i32)) {
        self.check_all(args, "", &[], expect);
    }

    fn check_all(
        &self,
        args: &[&str],
        input: &str,
        variables: &[(&str, &str)],
        (output, messages, code): (&str, &str, i32),
    ) {
        let found = self.run(args, input, variables);
        assert_eq!(found, (output.into(), messages.into(), code), "{args:?} {variables:?}");
    }
}

#[test]
fn scripts_and_their_arguments() {
    let show = "for i = -4, 4 do io.write(i, '=', tostring(arg[i]), ' ') end print(#arg, ...)";
    let f = Files::new("scripts", &[("args.lua", show), ("mod.lua", "print(...) return {v = 7}")]);
    f.check(
        &["-e", "a = 1", "args.lua", "x", "y"],
        ("-4=nil -3=lua -2=-e -1=a = 1 0=args.lua 1=x 2=y 3=nil 4=nil 2\tx\ty\n", "", 0),
    );
    f.check_all(&["-", "a"], "print(arg[0], ...)", &[], ("-\ta\n", "", 0));
    f.check_all(&[], "print(#arg, arg[0])", &[], ("0\tlua\n", "", 0));
    f.check(&["-l", "mod", "-e", "print(mod.v)"], ("mod\t./mod.lua\n7\n", "", 0));
    f.check(&["-lg=mod", "-e", "print(g.v, mod)"], ("mod\t./mod.lua\n7\tnil\n", "", 0));
    f.check(&["--", "-x"], ("", "lua: cannot open -x: No such file or directory\n", 1));
    let bad = "lua: 'arg' is not a table\n";
    f.check(&["-e", "arg = 1", "args.lua"], ("", bad, 1));
}

#[test]
fn errors_and_exit_codes() {
    let files = [
        ("error.lua", "local function f() error('no') end\nf()"),
        ("object.lua", "error(setmetatable({}, {__tostring = function() return 'obj' end}))"),
        ("table.lua", "error({})"),
        ("zero.lua", "error('a\\0b', 0)"),
        ("syntax.lua", "x = = 1"),
        ("exit.lua", "os.exit(3)"),
        ("deep.lua", "local function f(n) if n == 0 then error('no') end f(n - 1) end\nf(50)"),
    ];
    let f = Files::new("errors", &files);
    let trace = "lua: error.lua:1: no
stack traceback:
\t[C]: in function 'error'
\terror.lua:1: in local 'f'
\terror.lua:2: in main chunk
\t[C]: in ?
";
    f.check(&["error.lua"], ("", trace, 1));
    f.check(&["object.lua"], ("", "lua: obj\n", 1));
    let (_, message, _) = f.run(&["table.lua"], "", &[]);
    assert!(message.starts_with("lua: (error object is a table value)\nstack traceback:\n"));
    let (_, message, _) = f.run(&["zero.lua"], "", &[]);
    assert!(message.starts_with("lua: a\nstack traceback:\n"));
    let (_, message, _) = f.run(&["deep.lua"], "", &[]);
    assert!(message.contains("\n\t...\t(skipping 32 levels)\n"), "{message}");
    f.check(&["syntax.lua"], ("", "lua: syntax.lua:1: unexpected symbol near '='\n", 1));
    f.check(&["exit.lua"], ("", "", 3));
    f.check(&["-e", "x ="], ("", "lua: (command line):1: unexpected symbol near <eof>\n", 1));
    f.check_all(
        &[],
        "error('x', 0)",
        &[],
        (
            "",
            "lua: x\nstack traceback:\n\t[C]: in function \
                                                 'error'\n\tstdin:1: in main chunk\n\t[C]: in \
                                                 ?\n",
            0,
        ),
    );
    for (option, what) in [
        ("-x", "unrecognized option '-x'"),
        ("-vv", "unrecognized option '-vv'"),
        ("-e", "'-e' needs argument"),
        ("--explode", "unrecognized option '--explode'"),
    ] {
        let (_, message, code) = f.run(&[option], "", &[]);
        let first = message.lines().next().map(str::to_owned);
        assert_eq!((first, code), (Some(format!("lua: {what}")), 1));
    }
}

#[test]
fn environment_variables() {
    let f = Files::new("environment", &[("init.lua", "print('file')")]);
    let one = &["-e", "print(1)"];
    f.check_all(one, "", &[("LUA_INIT", "print(0)")], ("0\n1\n", "", 0));
    f.check_all(one, "", &[("LUA_INIT", "@init.lua")], ("file\n1\n", "", 0));
    let both = [("LUA_INIT", "print(0)"), ("LUA_INIT_5_4", "print(5.4)")];
    f.check_all(one, "", &both, ("5.4\n1\n", "", 0));
    f.check_all(&["-E", "-e", "print(1)"], "", &both, ("1\n", "", 0));
    f.check_all(
        one,
        "",
        &[("LUA_INIT", "x =")],
        ("", "lua: LUA_INIT:1: unexpected symbol near <eof>\n", 1),
    );
    let paths = &["-e", "print(package.path, package.cpath)"];
    let own = [("LUA_PATH", "a"), ("LUA_CPATH", "b")];
    f.check_all(paths, "", &own, ("a\tb\n", "", 0));
    let newer =
        [("LUA_PATH", "a"), ("LUA_PATH_5_4", "c"), ("LUA_CPATH", "b"), ("LUA_CPATH_5_4", "d")];
    f.check_all(paths, "", &newer, ("c\td\n", "", 0));
}

#[test]
fn warnings() {
    let script = "warn('a') warn('@on') warn('b', 'c') warn('@off') warn('d')";
    let f = Files::new("warnings", &[("w.lua", script)]);
    f.check(&["w.lua"], ("", "Lua warning: bc\n", 0));
    f.check(&["-W", "w.lua"], ("", "Lua warning: a\nLua warning: bc\n", 0));
}

#[test]
fn warnings_of_bytes() {
    let f = Files::new("warnings-of-bytes", &[]);
    let warned = |program, expect| f.check(&["-e", program], ("", expect, 0));
    // The parts are C strings.
    let program =
        r#"warn("@on\0 off") warn("a\0b", "c") warn("@off", "\0") warn("@off\0x") warn("d")"#;
    warned(program, "Lua warning: ac\nLua warning: @off\n");
    // While warnings are off, the last part alone is the control message.
    warned(
        r#"warn("a", "@on") warn("b", "@off") warn("c")"#,
        "Lua warning: b@off\nLua warning: c\n",
    );
    let program = r#"warn("@on")
        setmetatable({}, {__gc = function() error("a\0b", 0) end}) collectgarbage()"#;
    warned(program, "Lua warning: error in __gc (a)\n");
}

#[test]
fn finalizers_that_cannot_be_called() {
    let f = Files::new("finalizers", &[]);
    let program = "setmetatable({}, {__gc = 5}) collectgarbage()
        setmetatable({}, {__gc = setmetatable({}, {__call = print})}) collectgarbage()";
    let (output, messages, code) = f.run(&["-W", "-e", program], "", &[]);
    let expect = "attempt to call a number value (metamethod '__gc')";
    assert_eq!(messages, format!("Lua warning: error in __gc ({expect})\n"));
    assert!(output.starts_with("table: 0x") && code == 0, "{output}");
}

#[test]
fn commands_of_debug() {
    let f = Files::new("debug", &[]);
    let program = "print(xpcall(debug.debug, function(m) return 'handled: ' .. m end))";
    let input = "error('a', 0)
error(setmetatable({}, {__tostring = function() error('b', 0) end}))
";
    let expect = ("false\thandled: b\n", "lua_debug> a\nlua_debug> ", 0);
    f.check_all(&["-e", program], input, &[], expect);
}

#[test]
fn names_of_libraries_are_c_strings() {
    let f = Files::new("libraries", &[]);
    let program = r"print(select(2, package.loadlib('./none\0sense', 'f')))";
    let (output, _, _) = f.run(&["-e", program], "", &[]);
    assert!(output.contains("./none") && !output.contains("sense"), "{output}");
    let program = r"print(package.loadlib('./none', '*\0f'))";
    assert!(f.run(&["-e", program], "", &[]).0.ends_with("\topen\n"));
}

#[test]
fn interactive_without_a_terminal() {
    let f = Files::new("interactive", &[]);
    let banner = format!(
        "Lua 5.4 (Perilune {}), compatible with Lua 5.4.8 of Lua.org, PUC-Rio\n",
        env!("CARGO_PKG_VERSION")
    );
    let input = "1, 'a'\n= {} ~= nil\nx =\n2\nx\nx = = 1\n";
    let output = format!(
        "{banner}> 1, 'a'\n1\ta\n> = {{}} ~= nil\ntrue\n> x =\n>> 2\n> x\n2\n> x = = 1\n> \n"
    );
    let messages = "stdin:1: unexpected symbol near '='\n";
    f.check_all(&["-i"], input, &[], (&output, messages, 0));
    let prompts = "_PROMPT = 'A' _PROMPT2 = 'B'";
    let output = format!("{banner}Ado\nBend\nA\n");
    f.check_all(&["-i", "-e", prompts], "do\nend\n", &[], (&output, "", 0));
}

#[test]
fn explained_errors() {
    let files = [
        ("syntax.lua", "#!/usr/bin/env lua\nif x then\n  y()\n"),
        ("error.lua", "print(1)\n  local x = nil + 1\n"),
        ("main.lua", "require 'broken'"),
        ("broken.lua", "\n\nlocal = 5"),
    ];
    let f = Files::new("explain", &files);
    f.check(
        &["--explain", "syntax.lua"],
        (
            "",
            "lua: syntax.lua:4: 'end' expected (to close 'if' at line 2) near <eof>
 --> syntax.lua:3:6
  |
2 | if x then
  | -- opened here
3 |   y()
  |      ^ 'end' expected (to close 'if' at line 2) near <eof>
",
            1,
        ),
    );
    f.check(
        &["--explain", "error.lua"],
        (
            "1\n",
            "lua: error.lua:2: attempt to perform arithmetic on a nil value
stack traceback:
\terror.lua:2: in main chunk
\t[C]: in ?
 --> error.lua:2:3
  |
2 |   local x = nil + 1
  |   ^^^^^^^^^^^^^^^^^ attempt to perform arithmetic on a nil value
",
            1,
        ),
    );
    let (_, message, _) = f.run(&["--explain", "main.lua"], "", &[]);
    let module = " --> ./broken.lua:3:7
  |
3 | local = 5
  |       ^ <name> expected near '='
";
    assert!(message.ends_with(module), "{message}");
    let place = " --> (command line):1:5
  |
1 | x = = 1
  |     ^ unexpected symbol near '='
";
    let (_, message, _) = f.run(&["--explain", "-e", "x = = 1"], "", &[]);
    assert!(message.ends_with(place), "{message}");
    let (_, message, _) = f.run(&["--explain", "-"], "x = = 1", &[]);
    assert!(message.ends_with(&place.replace("(command line)", "stdin")), "{message}");

    // characters that no token begins with
    let source = "x = \u{1f600} + 1";
    let place = " --> (command line):1:5
  |
1 | x = \u{1f600} + 1
  |     ^^ unexpected symbol near '<\\240>'
";
    let (_, message, _) = f.run(&["--explain", "-e", source], "", &[]);
    assert!(message.ends_with(place), "{message}");
    let (_, message, _) = f.run(&["--explain", "-"], source, &[]);
    assert!(message.ends_with(&place.replace("(command line)", "stdin")), "{message}");
}

#[test]
fn own_options() {
    let f = Files::new("own", &[("s.lua", "print(1 + x)")]);
    let (output, _, code) = f.run(&["--help"], "", &[]);
    for option in
        ["-W", "--dump=", "--explain", "--jit=", "--mode=", "--perf", "--version", "--help"]
    {
        assert!(output.contains(&format!("\n  {option}")), "{option} in\n{output}");
    }
    assert_eq!(code, 0);
    let (output, _, code) = f.run(&["--dump=bytecode", "s.lua"], "", &[]);
    assert!(code == 0 && output.contains("ADD"), "{output}");
}

/// `command | head` ends the command.
#[test]
fn broken_pipes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["-e", "while true do print(1) end"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("the command ends").code().is_none());
}

/// Starts a search that does not end, after it has printed a line.
fn start_long_search() -> std::process::Child {
    let script = "print'on' string.find(string.rep('a', 100000), '.-.-.-b')";
    let mut child = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(["-e", script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut line = [0; 3];
    child.stdout.as_mut().expect("output").read_exact(&mut line).expect("a line");
    std::thread::sleep(Duration::from_millis(100));
    child
}

fn send_interrupt(child: &std::process::Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.expect("a command that sends signals").success());
}

#[test]
fn a_second_interrupt_ends_a_search() {
    use std::os::unix::process::ExitStatusExt;
    let mut child = start_long_search();
    send_interrupt(&child);
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().expect("a process").is_none(), "the first one must leave it time");
    send_interrupt(&child);
    assert_eq!(child.wait().expect("it ends").signal(), Some(2));
}

#[test]
fn one_interrupt_stops_a_search_in_the_end() {
    let child = start_long_search();
    send_interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(messages.contains("interrupted!\nstack traceback:"), "{messages}");
    assert_eq!(output.status.code(), Some(1));
}
