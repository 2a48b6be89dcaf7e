//! Programs of recursive functions, all of whose results are used.
//!
//! Compilers inline a recursive function once, and after that only its early returns: those that it
//! reaches through tests, before it calls anything. Most functions here have such returns, and are
//! often too long to be inlined as a whole. How many results a call has depends on the depth, on
//! extra arguments, and on functions that are replaced later. The outermost call has loops that run
//! long enough to be compiled while they run.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// Calls of function `$g` with a smaller `n`. `$v` is a variable, `$w` a variable or a constant,
/// and `$a` the arguments after the first.
const CALLS: &[&str] = &[
    "$v = $g(n - 1, $a)",
    "$v, $v = $g(n - 1, $a)",
    "$v, $v = count($g(n - 1, $a))",
    "$v = count($g(n - 1, $a))",
    "$v = $w + count($w, $g(n - 1, $a))",
    "$v = count(count($g(n - 1, $a)))",
    "local t = {$g(n - 1, $a)} $v = #t",
    "local t = {n, $g(n - 1, $a)} $v = t[2] or 1",
    "$v = select('#', $g(n - 1, $a))",
    "$v = math.max($w, $g(n - 1, $a))",
    "$v, $v = two($g(n - 1, $a))",
    "$v, $v = f($g(n - 1, $a))",
    "$v, $v = pass($g(n - 1, $a))",
    "$v, $v = $g($g(n - 2, $a), $a)",
    "for j = 1, 2 do $v = count($g(n - 2, $a)) end",
    "for j = 1, 2 do $v = $g(n - 2, $a) $s end",
    "o.v = $g(n - 1, $a)",
    "local k, r, q = pcall($g, n - 1, $a) if k then $v, $v = r, q end",
    "$g(n - 1, $a) $g(n - 2, $a)",
    "while $c do $v = count($g(n - 2, $a)) break end",
    "for j = 1, n == top and 40 or 1 do $v = count($g(n - 1, $a)) end",
    "for j = 1, n == top and 40 or 1 do $v, $v = count($g(n - 1, $a)) $s end",
    "for j = 1, n == top and 40 or 1 do $v, $v = count(self(n - 1, $a)) end",
    "for j = 1, n == top and 40 or 1 do $v, z = count(self(n - 1, $a)) s = s + z end",
    "$v, $v = w(n, $a)",
    "o.c = o.c + 1 $v, $v = w(n, $a) if n <= o.at then o.c = o.c + 0.5 end o.v = o.c",
    "o.c = o.c + 1 $v, $v = w(n, $a) if n <= o.at then o.c = o.c + 0.5 end o.v = o.c",
    "$v = count(w(n, $a))",
];

/// Loops: over lists, and in loops, with a callee that changes between the rounds of the outer one.
const LOOPS: &[&str] = &[
    "for k, v in pairs(o.list) do s = s + k $s end",
    "for k, v in next, o.list do $v = v $s end",
    "local h = $h for j = 1, 2 do for k = 1, j == 1 and 40 or 3 do s = s + count(h(k)) end h = $h \
     end",
    "local h = $h for j = 1, 2 do for k = 1, j == 1 and 40 or 3 do $v, $v = count(h(k)) end h = $h \
     end",
];

/// Bodies of the function `w`, which passes its extra arguments on and calls the others.
const PASSED_ON: &[&str] = &[
    "$g(n - 1, $a) return ...",
    "$g(n - 1, $a) return ...",
    "local k = $g(n - 1, $a) return k, ...",
    "local k = $g(n - 1, $a) if k then return ... end return k",
    "return count($g(n - 1, $a), ...)",
];

/// The results with which the recursion ends.
const EARLY: &[&str] = &["n", "n", "n", "$w", "x", "", "nil", "o.c", "n, $w"];

const STATEMENTS: &[&str] = &[
    "o.c = o.c + 1",
    "o.c = o.c + $w",
    "if n <= o.at then o.c = o.c + 0.5 end",
    "if n <= o.at then o.c = o.c + 0.5 end",
    "o.v = o.c",
    "if n == at then o.new = n end",
    "if n == at then o.c = 's' end",
    "$v = $w",
    "$v = $w + $w",
    "$v = ($w * 3) % 64",
    "$v = o.v",
    "$v = o.list[n % 3 + 1]",
    "o.list[n % 3 + 1] = $w",
    "if n == at then o.list[1] = 0.5 end",
    "last = $w",
    "$v = last",
    "$v = o:get($w)",
    "s = s + $w",
];

/// Results, of which the last ones make tail calls.
const RESULTS: &[&str] = &[
    "n",
    "n",
    "$w",
    "n, $w",
    "",
    "o.c",
    "nil",
    "{n}",
    "count(n)",
    "math.abs(n)",
    "math.abs(x)",
    "math.abs(n)",
    "f(n)",
    "f($w)",
    "two(n)",
    "pass(n, $w)",
    "$g(n - 1, $a)",
    "o:get(n)",
];

/// Results of functions with extra arguments.
const EXTRAS: &[&str] = &["...", "...", "n, ...", "(...)", "count(...)", "f(...)", "pass(...)"];

const CONDITIONS: &[&str] =
    &["n % 2 == 0", "n % 3 == 0", "$w < $w", "o.c > 3", "s % 2 == 0", "n == at", "o.flag"];

const OPERANDS: &[&str] = &["x", "y", "z", "n", "1", "2.5", "x", "y"];

/// What a program changes after the functions are compiled.
const CHANGES: &[&str] = &[
    "at = 2",
    "at = 1",
    "o.at = 3",
    "o.at = 3",
    "o.at = 2",
    "o.at = 2",
    "o.at = 1",
    "o = new() o.extra = 1",
    "o = setmetatable({c = 1, v = 2, at = -1, list = {1.5, 2, 3}}, C)",
    "o.list = {'a', 'b', 'c'}",
    "o.flag = true",
    "math.abs = function(v) return v, v, v end",
    "math.abs = function(v) return v, v end",
    "math.abs = function() end",
    "math.abs = function(v) if v % 2 == 0 then return v, v end end",
    "math.max = function(...) return ... end",
    "function C:get(v) return v, self.c end",
    "function C:get() end",
    "count = function(...) return ... end",
    "two = function(a) return a end",
    "pass = setmetatable({}, {__call = function(_, ...) return select('#', ...), ... end})",
    "f = function() return 1, 2, 3 end",
    "f = setmetatable({}, {__call = function(_, a) return a, a end})",
    "f = math.abs",
    "f = nil",
];

/// Values that are called in loops.
const CALLED: &[&str] = &[
    "f",
    "two",
    "pass",
    "function(a) return a end",
    "math.abs",
    "setmetatable({}, {__call = function(_, a) return a, a end})",
    "setmetatable({}, {__call = function(_, a) return a, a end})",
    "setmetatable({}, {__call = function() end})",
];

/// Functions that are passed as `self` in place of the function itself.
const OTHERS: &[&str] = &[
    "setmetatable({}, {__call = function(_, n, o) return n, o.c end})",
    "function(n) return n end",
    "function() end",
    "function(...) return ... end",
    "math.abs",
    "nil",
];

/// Loads a function again without debug information, with the same upvalues.
const STRIP: &str = "local function stripped(f) local g, i = load(string.dump(f, true), '=s', \
                     'b'), 1 while debug.getupvalue(f, i) do debug.upvaluejoin(g, i, f, i) \
                     i = i + 1 end return g end\n";

impl Generator {
    /// Generates recursive functions, and calls of them before and after some changes.
    pub(crate) fn recursive_program(&mut self) -> Node {
        self.size -= 50;
        let mut parts: Vec<Part> = vec![
            "R() do local abs, max = math.abs, math.max P(pcall(function(...)\n".into(),
            "local last, calls, at, top, f, o = 0, 0, -1, 0, function(a) return a end\n".into(),
            "local function count(...) return select('#', ...), ... end\n".into(),
            "local function two(a) return a, 2 end local function pass(...) return ... end\n"
                .into(),
            "local C = {} C.__index = C function C:get(v) return v end\n".into(),
            "local function new() return setmetatable({c = 1, v = 2, at = -1, list = {1, 2, 3}}, \
             C) end\n"
                .into(),
            "local r1, r2, r3, w, vx, vy, vz, vs o = new()\n".into(),
        ];
        let functions = self.range(1, 4);
        for n in 1..=functions {
            self.recursive_function(&mut parts, n, functions);
        }
        let body = self.pick(PASSED_ON);
        let body = self.recursive_text(body, 1, functions);
        parts.push(format!("function w(n, o, self, ...) {body} end\n").into());
        if self.chance(30) {
            parts.push(STRIP.into());
            for n in 1..=functions {
                parts.push(format!("r{n} = stripped(r{n})\n").into());
            }
        }
        for _ in 0..self.range(1, 5) {
            for n in 1..=functions {
                self.rounds(&mut parts, n);
            }
            let text = format!("{}\n", self.pick(CHANGES));
            parts.push(Node::text(Kind::Stmt, text).into());
        }
        for n in 1..=functions {
            self.rounds(&mut parts, n);
        }
        parts.push("P(last, o) end)) math.abs, math.max = abs, max end\n".into());
        Node::new(Kind::Stmt, parts)
    }

    /// Generates function number `n`, which calls itself or one of the others.
    fn recursive_function(&mut self, parts: &mut Vec<Part>, n: usize, functions: usize) {
        let is_vararg = self.chance(20);
        let extra = if is_vararg { ", ..." } else { "" };
        parts.push(
            format!("function r{n}(n, o, self{extra}) local x, y, z, s = n, 1, 2, 0\n").into(),
        );
        if self.chance(15) {
            parts.push(Node::text(Kind::Stmt, "o.c = o.c + 1\n".to_owned()).into());
        }
        // the recursion ends here
        let early = self.pick(EARLY);
        let early = self.recursive_text(early, n, functions);
        // only tests without calls lead to early returns that are inlined
        let test = if self.chance(80) { "" } else { "type(n) ~= 'number' or " };
        parts.push(format!("if {test}n < 1 then return {early} end\n").into());
        if self.chance(30) {
            let early = self.recursive_results(is_vararg, n, functions);
            let text = format!("if $c then return {early} end\n");
            let text = self.recursive_text(&text, n, functions);
            parts.push(Node::text(Kind::Stmt, text).into());
        }
        parts.push("calls = calls + 1 if calls > 1200 then error('budget', 0) end\n".into());
        if self.chance(60) {
            let padding: String = (1..=self.pick(&[6, 14, 40, 40]))
                .map(|i| format!("s = (s * 3 ~ {i}) & 255 "))
                .collect();
            parts.push(Node::text(Kind::Stmt, padding + "\n").into());
        }
        for _ in 0..self.range(1, 3) {
            for (list, chance) in [(STATEMENTS, 60), (CALLS, 80), (STATEMENTS, 60), (LOOPS, 25)] {
                if self.chance(chance) {
                    let text = self.pick(list);
                    let text = self.recursive_text(text, n, functions);
                    parts.push(Node::text(Kind::Stmt, format!("do {text} end\n")).into());
                }
            }
        }
        let results = self.recursive_results(is_vararg, n, functions);
        // the outermost call comes last, and its variables are shown
        parts.push(format!("vx, vy, vz, vs = x, y, z, s do return {results} end end\n").into());
    }

    /// Generates calls of function number `n`.
    fn rounds(&mut self, parts: &mut Vec<Part>, n: usize) {
        let depth = self.range(1, 6);
        let own = if self.chance(80) { format!("r{n}") } else { self.pick(OTHERS).to_owned() };
        let extra = self.pick(&["", "", ", 7", ", 7, 8", ", nil, 9"]);
        let rounds = self.pick(&[1, 3, 30, 60]);
        // fields have the same types at the beginning of all calls, or keep those of the last call
        let reset = self.pick(&["", "o.c = 0 ", "o.c = 0 "]);
        let call = format!("r{n}({depth}, o, own{extra})");
        let text = format!(
            "R() calls, top = 0, {depth} do local own = {own} P(pcall(function() local n, m, k = 0 \
             for i = 1, {rounds} do {reset}n = n + count({call}) end m, k = {call} return n, m, k \
             end)) calls = 0 P(pcall(function() return {call} end)) P(vx, vy, vz, vs) end\n"
        );
        parts.push(text.into());
    }

    /// Returns a list of results for function number `n`.
    fn recursive_results(&mut self, is_vararg: bool, n: usize, functions: usize) -> String {
        let list = if is_vararg && self.chance(60) { EXTRAS } else { RESULTS };
        let text = self.pick(list);
        self.recursive_text(text, n, functions)
    }

    /// Returns a text with its parts chosen, for the function number `own`.
    fn recursive_text(&mut self, text: &str, own: usize, functions: usize) -> String {
        self.filled(text, |g, letter| match letter {
            b's' => g.pick(STATEMENTS).to_owned(),
            b'c' => g.pick(CONDITIONS).to_owned(),
            b'h' => g.pick(CALLED).to_owned(),
            b'v' => g.pick(&["x", "y", "z"]).to_owned(),
            b'w' => g.pick(OPERANDS).to_owned(),
            b'a' => g
                .pick(&["o, self", "o, self", "o, self, x", "o, self, x, y", "o, self, n, 2"])
                .to_owned(),
            _ => match g.range(0, 10) {
                0..=1 => "self".to_owned(),
                2..=3 => format!("r{}", g.range(1, functions + 1)),
                _ => format!("r{own}"),
            },
        })
    }
}
