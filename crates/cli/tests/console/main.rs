//! The console in a pseudo-terminal: the tests type keys and check what the screen shows.

mod terminal;

use std::path::Path;

use terminal::{Terminal, folder};

/// Starts a terminal and waits for its first prompt.
fn start(name: &str) -> Terminal {
    let t = Terminal::new(name);
    t.ends("leave\n>");
    t
}

#[test]
fn values_and_statements() {
    let mut t = start("values");
    t.keys("1 + 1\r");
    t.ends("> 1 + 1\n2\n>");
    t.keys("x = 'a\\tb'\r");
    t.ends("'a\\tb'\n>");
    t.keys("x, nil, {1, k = {}}\r");
    t.ends("\"a\\tb\", nil, {1, k = {}}\n>");
    t.keys("print(x, {} ~= nil)\r");
    t.ends("\na       b       true\n>");
    t.keys("= 3\r");
    t.ends("\n3\n>");
    t.keys("return\r");
    t.ends("> return\n>");
}

#[test]
fn tables_fit_the_width() {
    let mut t = start("width");
    t.keys("t = {} for i = 1, 30 do t[i] = i * 100 end t.t = t\r");
    t.keys("t\r");
    t.ends(
        "> t
<1>{
  100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400,
  1500, 1600, 1700, 1800, 1900, 2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700,
  2800, 2900, 3000,
  t = <table 1>
}
>",
    );
}

#[test]
fn objects_say_what_they_are() {
    let mut t = start("objects");
    t.keys("o = setmetatable({}, {__tostring = function() return 'an object' end})\r");
    t.keys("{o, o}\r");
    t.ends("{an object, an object}\n>");
    t.keys("getmetatable(o).__tostring = function() error('no', 0) end\r");
    t.keys("o, 1\r");
    t.ends("<error in __tostring: no>, 1\n>");
}

#[test]
fn entries_of_several_lines() {
    let mut t = start("lines");
    t.keys("for i = 1, 2 do\r");
    t.keys("print(i)\r");
    t.ends("> for i = 1, 2 do\nprint(i)");
    t.keys("end\r");
    t.ends("> for i = 1, 2 do\nprint(i)\nend\n1\n2\n>");
    // the whole entry is recalled, and edited as one
    t.keys("\x1b[A");
    t.ends("> for i = 1, 2 do\nprint(i)\nend");
    t.keys("\r");
    t.ends("end\n1\n2\n>");
}

#[test]
fn errors_show_their_place() {
    let mut t = start("errors");
    t.keys("local a <const> = 1; a = 2\r");
    t.ends(
        "stdin:1: attempt to assign to const variable 'a'
 --> stdin:1:24
  |
1 | local a <const> = 1; a = 2
  |                        ^ attempt to assign to const variable 'a'
>",
    );
    t.keys("x = 'open\r");
    t.ends("1 | x = 'open\n  |     ^^^^^ unfinished string near ''open'\n>");
    t.keys("x = \u{e4}\r");
    t.ends("1 | x = \u{e4}\n  |     ^ unexpected symbol near '<\\195>'\n>");
    t.keys("\u{1f600}\r");
    t.ends("1 | \u{1f600}\n  | ^^ unexpected symbol near '<\\240>'\n>");
    t.keys("error('at run time')\r");
    t.shows("stdin:1: at run time\nstack traceback:\n        [C]: in function 'error'");
}

#[test]
fn completion() {
    let mut t = start("completion");
    t.keys("string.rev\t");
    t.ends("> string.reverse");
    t.keys("('abc')\r");
    t.ends("\"cba\"\n>");
    t.keys("text = 'x' object = {field = {inner_one = 1, inner_two = 2}}\r");
    t.keys("text:upp\t()\r");
    t.ends("\"X\"\n>");
    t.keys("object.field.inn\t\t");
    t.ends("inner_one  inner_two\n> object.field.inner_");
    t.keys("t\t\r");
    t.ends("> object.field.inner_two\n2\n>");
    t.keys("whi\t");
    t.ends("> while");
    t.keys("\x03");
    t.ends("> while\n>");
    t.keys("x = '\u{e4}' local inner = \u{e4} inn\t");
    t.ends("> x = '\u{e4}' local inner = \u{e4} inner");
    t.keys("\x03");
    t.ends("inner\n>");
    t.keys(".ti\t os.clo\t() < 0\r");
    t.shows("> .time os.clock() < 0\nfalse\n");
}

#[test]
fn hints() {
    let mut t = start("hints");
    t.keys("string.rep(");
    t.ends("> string.rep(s, n [, sep])");
    t.colour("s, n", Some(8));
    t.keys("'ab', 2)\r");
    t.ends("> string.rep('ab', 2)\n\"abab\"\n>");
    t.keys("str");
    t.ends("> string.rep('ab', 2)");
    t.keys("\x1b[C\r");
    t.ends("\"abab\"\n> string.rep('ab', 2)\n\"abab\"\n>");
}

#[test]
fn colours() {
    let mut t = start("colours");
    t.keys("return nil, 'word', 12345 -- remark");
    t.colour("return", Some(4));
    t.colour("'word'", Some(2));
    t.colour("12345", Some(6));
    t.colour("-- remark", Some(8));
    t.keys("\r");
    t.colour("\"word\"", Some(2));

    let home = folder("no-colours");
    let mut t = Terminal::start(&home, &["-i"], &[("NO_COLOR", "1")]);
    t.ends(">");
    t.keys("return 'word'");
    t.shows("return 'word'");
    t.colour("return", None);
    t.keys("\r");
    t.shows("\"word\"");
    t.colour("\"word\"", None);
}

#[test]
fn interrupts() {
    let mut t = start("interrupts");
    t.keys("some text\x03");
    t.ends("> some text\n>");
    t.keys("print'on' while true do end\r");
    t.ends("\non");
    t.keys("\x03");
    t.shows("interrupted!\nstack traceback:");
    t.keys("1 + 1\r");
    t.ends("\n2\n>");
    t.keys("\x04");
    assert!(t.exit().success());
}

#[test]
fn second_interrupt_ends_the_process() {
    let mut t = start("kill");
    t.keys("while true do local ok = pcall(function() print'on' while true do end end) end\r");
    t.ends("\non");
    t.keys("\x03");
    t.ends("\non\n^Con");
    t.keys("\x03");
    assert!(!t.exit().success());
}

#[test]
fn scripts_are_interrupted() {
    let home = folder("script-interrupt");
    let mut t = Terminal::start(&home, &["-e", "print'on' while true do end"], &[]);
    t.ends("on");
    t.keys("\x03");
    t.shows("perilune: (command line):1: interrupted!\nstack traceback:");
    assert_eq!(t.exit().exit_code(), 1);
}

#[test]
fn text_that_is_not_utf8_is_discarded() {
    let mut t = start("invalid");
    t.keys(b"x = 'caf\xe9'");
    t.shows("the line was discarded: it is not valid UTF-8");
    t.keys("\r1 + 1\r");
    t.ends("> 1 + 1\n2\n>");
}

#[test]
fn output_without_a_line_feed_stays() {
    let mut t = start("output");
    t.keys("do io.write('here') end\r");
    t.ends("\nhere%\n>");
    t.keys("io.write('there') and 7\r");
    t.ends("\nthere%\n7\n>");
}

#[test]
fn history_is_kept() {
    let home = folder("history");
    let run = |variables: &[(&str, &str)], keys: &str, end: &str| {
        let mut t = Terminal::start(&home, &[], variables);
        t.ends("leave\n>");
        t.keys(keys);
        t.ends(end);
        // the text on the line is deleted first
        t.keys("\x15\x04");
        assert!(t.exit().success());
    };
    run(&[], "first = 1\r\r second = 2\r", "second = 2\n>");
    assert!(home.join(".local/state/perilune/history").exists());
    run(&[], "\x1b[A", "> first = 1");
    let state = home.join("state");
    let state = [("XDG_STATE_HOME", state.to_str().expect("a path"))];
    run(&state, "third = 3\r", "third = 3\n>");
    assert!(home.join("state/perilune/history").exists());
    let own = [("PERILUNE_HISTORY", "own")];
    run(&own, "fourth = 4\r", "fourth = 4\n>");
    let text = std::fs::read_to_string(home.join("own")).expect("a history");
    assert!(text.ends_with("fourth = 4\n"), "{text}");
    run(&[("PERILUNE_HISTORY", "")], "\x1b[A", ">");
}

#[test]
fn prompts() {
    let mut t = start("prompts");
    t.keys("_PROMPT = 'lua: '\r");
    t.ends("> _PROMPT = 'lua: '\nlua:");
    t.keys(
        "n = 0 _PROMPT = setmetatable({}, {__tostring = function() n = n + 1 return n .. '# ' \
            end})\r",
    );
    t.ends("\n1#");
    t.keys("_PROMPT2 = '   more: '\r");
    t.ends("\n2#");
    t.keys("do\r");
    t.ends("\n2# do\n   more:");
    t.keys("print('x')\rend\r");
    t.ends("2# do\n   more: print('x')\n   more: end\nx\n3#");
    t.keys("do\rsome\x03");
    t.ends("3# do\n   more: some\n4#");
}

#[test]
fn commands() {
    let home = folder("commands");
    std::fs::write(home.join("some file.lua"), "loaded = (loaded or 0) + 1").expect("a file");
    let mut t = Terminal::start(&home, &[], &[]);
    t.ends("leave\n>");
    t.keys(".help\r");
    t.shows(".load FILE            run a file");
    t.keys(".load some file.lua\rloaded\r");
    t.ends("\n1\n>");
    t.keys(".load missing.lua\r");
    t.ends("cannot open missing.lua: No such file or directory\n>");
    t.keys(".time 6 * 7\r");
    t.shows("> .time 6 * 7\n42\n");
    t.ends("s\n>");
    t.keys("function double(x) return 2 * x end\r");
    t.keys(".dump double\r");
    t.shows("function <stdin:1,1>");
    t.keys(".dump print\r");
    t.ends("print: a function of the host, without bytecode\n>");
    t.keys(".dump x = =\r");
    t.ends("unexpected symbol near '='\n>");
    t.keys(".what\r");
    t.ends(".what: no such command (.help lists them)\n>");
    t.keys("os.exit(3)\r");
    assert_eq!(t.exit().exit_code(), 3);
}

#[test]
fn scripts_come_first() {
    let home = folder("script");
    std::fs::write(home.join("s.lua"), "from_script = ...").expect("a file");
    let mut t = Terminal::start(&home, &["-i", "s.lua", "word"], &[]);
    t.ends("leave\n>");
    t.keys("from_script\r");
    t.ends("\n\"word\"\n>");
}

/// A terminal that cannot move its cursor gets PUC's interactive mode.
#[test]
fn plain_terminals() {
    let home = folder("dumb");
    let mut t = Terminal::start(&home, &[], &[("TERM", "dumb")]);
    t.ends("PUC-Rio\n>");
    t.keys("'text'\r");
    t.ends("> 'text'\ntext\n>");
    t.keys("do\r");
    t.ends("> do\n>>");
    t.keys("end\r");
    t.ends("> do\n>> end\n>");
    assert!(!Path::new(&home).join(".local").exists());
    t.keys("\x04");
    assert!(t.exit().success());
}
