//! Programs of small functions with loops, jumps and early returns, which hot loops call.
//!
//! Compilers inline such functions. What a caller knows about its values before the call holds on
//! all paths through the inlined function, and what the function finds out about them holds after
//! the call only if it is found out on all of these paths.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// Parts of a function: `$s` is a statement, `$v` a variable, `$w` a variable or a constant, `$c` a
/// condition, `$r` results, `$g` a function, `$n` a small number; `$L` makes labels unique.
const FORMS: &[&str] = &[
    "$s",
    "if $c then return $r end",
    "if $c then $s else $s end",
    // loops with two entries
    "s = 0 if $c then goto B$L end $s ::A$L:: s = s + 1 if s > $n then return $r end $s ::B$L:: \
     s = s + 2 $s goto A$L",
    "s = 0 if $c then goto B$L end $s ::A$L:: s = s + 1 if s > $n then goto E$L end $s ::B$L:: \
     s = s + 2 $s goto A$L ::E$L::",
    "s = 0 if $c then goto A$L end if $c then goto B$L end $s ::A$L:: $s ::B$L:: s = s + 1 if s > \
     $n then goto E$L end if $c then goto A$L end $s goto B$L ::E$L::",
    "for j = 1, $n do s = j if $c then goto B$L end ::A$L:: $s ::B$L:: s = s + 1 if s < $n then \
     goto A$L end end",
    // with one entry
    "s = 0 ::A$L:: s = s + 1 $s if s < $n then goto A$L end",
    "s = 0 ::A$L:: s = s + 1 if s > $n then goto E$L end if $c then goto A$L end $s goto A$L \
     ::E$L::",
    "for j = 1, $n do if $c then goto C$L end $s ::C$L:: end",
    "for j = 1, $n do for k = j, $n do if $c then goto D$L end $s end end ::D$L::",
    "for j = 1, $n do for k = j, $n do if $c then goto C$L end $s end ::C$L:: $s end",
    "s = 0 repeat s = s + 1 local q = $w $s until q == $w or s > $n",
    "s = 0 repeat s = s + 1 local q = $w if $c then break end $s until q == $w or s > $n",
    "s = 0 while $c do s = s + 1 if s > $n then break end $s end",
    "for j = 1, $n do if $c then return $r end $s end",
    // calls
    "$v, $v = $g($l)",
    "$v = $g($l)",
    "do local o, r, q = pcall($g, $l) if o then $v = r else last = r end end",
    "$v = f($w)",
    "$v, $v = f($w)",
    "do local o, r = pcall(f, $w) if o then $v = r end end",
];

/// Parts of a function with extra arguments.
const EXTRAS: &[&str] = &[
    "$v, $v = ...",
    "$v = select('#', ...)",
    "$v = (select($n, ...)) or $w",
    "for j = 1, select('#', ...) do if $c then goto C$L end $v = (select(j, ...)) ::C$L:: end",
    "$v, $v = $g($l, ...)",
    "do local t = {...} $v = #t end",
    "if $c then return ... end",
];

/// Statements. `a` is a table, and the other variables are numbers, unless the last calls of the
/// program pass other values.
const STATEMENTS: &[&str] = &[
    "$v = $v + a.x",
    "$v = a.x",
    "$v = a.y",
    "a.x = $w",
    "$v = ($w * 3 + $w) % 1009",
    "$v = $w",
    "$v = $w - $w",
    "$v = $v + 1",
    "$v = up",
    "up = $w",
    "up = (up + $w) % 1009",
    "$v = ITEMS",
    "$v = $v + K",
    "$v = list[$w % 5 + 1]",
    "list[$w % 5 + 1] = $w",
    "$v = #list",
    "$v = kept.x",
    "kept = a",
    "a = kept",
    "$v = $w // 2",
    "a = {x = $w, y = $w}",
    "$v = a[1]",
    "$v = a:get($w)",
];

const CONDITIONS: &[&str] = &[
    "e",
    "not e",
    "e",
    "$w % 2 == 0",
    "$w % 3 == 1",
    "$w < $w",
    "$w == $w",
    "a.x > $w",
    "a == kept",
    "s % 2 == 0",
    "up % 3 == 0",
    "a",
    "$v",
];

const RESULTS: &[&str] = &[
    "c, d", "d, c", "c, a.x", "b, c", "c", "d, c, b", "$w, $w", "f(c), d", "$g($l)", "c, f(d)",
    "a.x, a.y", "",
];

const LISTS: &[&str] = &["a, $w, e, f", "a, $w, not e, f", "kept, $w, e, f", "a, $w, $w == $w, f"];

const OPERANDS: &[&str] = &["b", "c", "d", "s", "b", "c", "d", "1", "2", "7"];

/// Functions that are passed as `f`.
const PASSED: &[&str] = &[
    "function(v) return v + 1 end",
    "function(v) return v, 2 end",
    "function(v) if v == 3 then return 5 end return v end",
    "function(v) for j = 1, 3 do if j == v then goto c end v = v + j ::c:: end return v end",
    "function(v) up = up + 1 return v end",
    "function(v) return v + M end",
    "function(...) return ... end",
    "math.floor",
    "math.abs",
];

/// Values that late calls pass as `a` and `b`.
const LATE: &[&str] = &[
    "1",
    "2.5",
    "'7'",
    "'s'",
    "nil",
    "{}",
    "{x = 1.5}",
    "{x = 's', y = 2}",
    "odd",
    "true",
    "setmetatable({x = 2}, {__index = odd})",
    "setmetatable({}, {__index = function() return 4 end})",
    "{get = f, x = 1, y = 2}",
    "0/0",
    "math.maxinteger",
];

impl Generator {
    /// Generates small functions, and hot loops that call them.
    pub(crate) fn inlined_program(&mut self) -> Node {
        self.size -= 50;
        let mut parts: Vec<Part> = vec![
            "R() P(pcall(function(...)\n".into(),
            "local up, last, list, ITEMS, K, M = 0, 0, {1, 2, 3, 4, 5}, 3, 2, 4\n".into(),
            "local C = {z = 1} C.__index = C function C:get(k) return self.x + k end\n".into(),
            "local odd = setmetatable({x = 1, y = 2, 3}, {__add = function(p, q) return 7 end, \
             __lt = function() return true end, __index = C})\n"
                .into(),
            "local kept = setmetatable({x = 4, y = 5, 6}, C)\n".into(),
            "local function g0(a, b) return b, 1 end\n".into(),
        ];
        let count = self.range(1, 4);
        for n in 1..=count {
            self.small_function(&mut parts, n);
        }
        parts.push("P(up, last, list, kept) end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    /// Generates function number `n`, which calls those before it, and loops that call it.
    fn small_function(&mut self, parts: &mut Vec<Part>, n: usize) {
        let is_vararg = self.chance(30);
        let extra = if is_vararg { ", ..." } else { "" };
        let head = format!("local function g{n}(a, b, e, f{extra}) local c, d, s = b, 1, 0\n");
        parts.push(head.into());
        for _ in 0..self.range(1, 4) {
            let list = if is_vararg && self.chance(40) { EXTRAS } else { FORMS };
            let text = self.inlined_text(list, n);
            parts.push(Node::text(Kind::Stmt, text + "\n").into());
        }
        let results = self.inlined_text(RESULTS, n);
        parts.push(format!("do return {results} end end\n").into());
        let arguments = self.pick(&["a, b, e, f", "a, i % 5, i % 2 == 0, f", "a, b, e, f, i, d"]);
        parts
            .push(format!("local function run{n}(m, a, b, e, f) local c, d, s = 0, 1, 0\n").into());
        parts.push("for i = 1, m do e = (i + m) % 3 == 0\n".into());
        self.caller_statements(parts, n);
        let results = self.pick(&["c, d", "c", "d", "s, c", "c, d, s", "local p, q"]);
        parts.push(format!("{results} = g{n}({arguments})\n").into());
        self.caller_statements(parts, n);
        parts.push("c, d, s, b = c or 1, d or 2, s or 0, i % 7 end return c, d, s, a end\n".into());
        let passed = self.pick(PASSED);
        parts.push(
            format!("do local f, o = {passed}, setmetatable({{x = 1, y = 2, 3}}, C)\n").into(),
        );
        for m in [150, 70] {
            parts.push(format!("R() P(pcall(run{n}, {m}, o, 1, true, f))\n").into());
        }
        for _ in 0..self.range(1, 4) {
            let (a, b) = match self.chance(60) {
                true => (self.pick(LATE), "3"),
                false => ("o", self.pick(LATE)),
            };
            let (f, e) = (self.pick(&["f", "f", "f", "type", "nil", "g0"]), self.chance(50));
            let m = self.range(2, 5);
            let text = match self.chance(50) {
                true => format!("P(pcall(run{n}, {m}, {a}, {b}, {e}, {f}))\n"),
                false => format!("P(pcall(g{n}, {a}, {b}, {e}, {f}, 1, 2))\n"),
            };
            parts.push(Node::text(Kind::Stmt, text).into());
        }
        parts.push("end\n".into());
    }

    /// Generates statements around the call of function number `n`.
    fn caller_statements(&mut self, parts: &mut Vec<Part>, n: usize) {
        for _ in 0..self.range(0, 3) {
            let text = self.inlined_text(STATEMENTS, n);
            parts.push(Node::text(Kind::Stmt, text + "\n").into());
        }
    }

    /// Returns a text with its parts chosen, which calls only the first `functions` functions.
    fn inlined_text(&mut self, list: &[&'static str], functions: usize) -> String {
        let text = self.pick(list);
        self.labels += 1;
        let text = text.replace("$L", &self.labels.to_string());
        self.filled(&text, |g, letter| match letter {
            b's' => g.pick(STATEMENTS).to_owned(),
            b'c' => g.pick(CONDITIONS).to_owned(),
            b'r' => g.pick(RESULTS).to_owned(),
            b'l' => g.pick(LISTS).to_owned(),
            b'v' => g.pick(&["b", "c", "d"]).to_owned(),
            b'w' => g.pick(OPERANDS).to_owned(),
            b'g' => format!("g{}", g.range(0, functions)),
            _ => g.range(1, 6).to_string(),
        })
    }
}
