//! Programs of short vararg functions that pass their extra arguments on to each other.
//!
//! Compilers inline such functions, and then know how many values each `...` stands for. The calls
//! of a program have different numbers of arguments and results, including more than a function has
//! registers.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// Statements of a vararg function: `$v` is a variable, `$w` a variable or a constant, `$f` a
/// function, `$l` a list of values, `$n` a small number.
const STATEMENTS: &[&str] = &[
    "x, y = ...",
    "x = ...",
    "y, x, z = $w, ...",
    "x, y, z = $f($l)",
    "$v = $f($l)",
    "$v = (select($n, ...))",
    "$v = select($n, $l)",
    "$v = select('#', ...)",
    "$v = select('#', $l)",
    "$v = (select(n(x) % 3 + 1, ...))",
    "for i = 1, select('#', ...) do y = n(y) + n((select(i, ...))) end",
    "$v = #{...}",
    "do local t = {$l} $v = t[$n] end",
    "do local t = {$w, ...} x, y = #t, t[$n] end",
    "$v = n($w) + n($w)",
    "$v = n($w) * 0.5",
    "if $w == $w then return $l end",
    "if n($w) % 3 == $n then $v = $f($l) end",
    "if not busy then busy = true object[1] = $w $v = object[1] busy = false end",
    "if not busy then busy = true $v = object + $w busy = false end",
    "if not busy then busy = true $v = #object busy = false end",
    "if not busy then busy = true $v, x = object($l) busy = false end",
    "if not busy then busy = true x = (function(o) return o(1) end)(object) busy = false end",
    "if not busy then busy = true $v = object[n($w) + 10] busy = false end",
    "sum = (n(sum) + n($w)) % 1009",
    "if not busy then busy = true $v = $w + $w busy = false end",
    "do local c = 0 for p, q in $f, $w do c, x, y = c + 1, p, q if c > 4 then break end end end",
    "for p, q in up, $n do x, y = q, $f(p, x) end",
    "for p, q in counter($n, ...) do x = q y = n(y) + p end",
    "for p, q in pairs({$l}) do x, y = q, p end",
    "for p, q in ipairs({$w, $w}) do x = q y = n(y) + p end",
    "last = function() return $w end",
    "if n($w) % 7 == $n then error($w, 0) end",
    "if n(sum) % 7 == $n then x = missing($w) end",
    "z, x = pcall($f, $l)",
    "x, y = select(2, pcall($f, $l))",
];

/// Lists of values.
const LISTS: &[&str] = &[
    "...",
    "(...)",
    "$w",
    "$w, ...",
    "$w, $w, ...",
    "..., $w",
    "$f(...)",
    "$f($w, ...)",
    "$w, $f(...)",
    "$f($w, $w)",
    "$f(), $w",
    "select($n, ...)",
    "select('#', ...)",
    "$w, select($n, ...)",
    "$w, $w, $w",
    "eight(...)",
    "$w, eight($w)",
    "f0()",
];

const OPERANDS: &[&str] = &[
    "a", "b", "x", "y", "z", "x", "y", "1", "2", "0.5", "nil", "'s'", "{}", "sum", "true", "a", "b",
];

impl Generator {
    /// Generates vararg functions, and loops that call them.
    pub(crate) fn spread_program(&mut self) -> Node {
        self.size -= 20;
        let mut parts: Vec<Part> = vec![
            "R() P(pcall(function(...)\n".into(),
            "local sum, last, object, busy = 0, function() end, {}, false\n".into(),
            "local function n(v) return math.type(v) and v == v and v % 1009 or 1 end\n".into(),
            "local function eight(v) return v, 2, 3, 4, 5, 6, 7, v end\n".into(),
            "local function f0(...) return ... end\n".into(),
            "local function up(m, i) i = (i or 0) + 1 if i <= m then return i, i / 2 end end\n"
                .into(),
            "local function counter(m, ...) local i, t = 0, {...} return function()\n".into(),
            "i = i + 1 if i <= m then return i, t[i] end end end\n".into(),
        ];
        let count = self.range(2, 6);
        for n in 1..=count {
            self.vararg_function(&mut parts, n);
            if self.chance(20) {
                let event = self.pick(&["index", "newindex", "add", "len", "call"]);
                let text = format!("setmetatable(object, {{__{event} = f{n}}})\n");
                parts.push(Node::text(Kind::Stmt, text).into());
            }
        }
        parts.push("P(sum, last()) end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    /// Generates function number `n`, which calls those before it, and loops that call it.
    fn vararg_function(&mut self, parts: &mut Vec<Part>, n: usize) {
        let params = self.pick(&["...", "a, ...", "a, b, ...", "a, ...", "a, b"]);
        parts.push(format!("local f{n} do local a, b = 3, 4\n").into());
        parts.push(format!("function f{n}({params}) local x, y, z = b, a\n").into());
        let is_vararg = params.ends_with("...");
        for _ in 0..self.range(0, 4) {
            let text = self.spread_text(STATEMENTS, n, is_vararg);
            parts.push(Node::text(Kind::Stmt, text + "\n").into());
        }
        let returned = self.spread_text(LISTS, n, is_vararg);
        parts.push(format!("return {returned} end end\n").into());
        let list = self.pick(&["i", "i, 2", "i, nil, s", "i, s, 3, 4", "", "i, 'k', {}"]);
        let times = self.pick(&[12, 30, 60]);
        let separator = if list.is_empty() { "" } else { ", " };
        let results = match self.chance(50) {
            true => format!("local _, p, q, r = pcall(f{n}{separator}{list})"),
            false => format!("local p, q, r = f{n}({list})"),
        };
        let call = format!("{results} s = (n(s) + n(p) + n(q) * 3) % 1009");
        let odd =
            self.pick(&["", "if i % 11 == 0 then s = 's' end", "if i % 7 == 0 then s = s / 2 end"]);
        let body = format!("{call} {odd}");
        parts.push(format!("local function run(m, s) for i = 1, m do {body} end ").into());
        parts.push(format!("return s, f{n}(s, m) end\n").into());
        parts.push(format!("R() P(pcall(run, {times}, 1)) P(pcall(run, 3, 0.5))\n").into());
    }

    /// Returns a text in which functions below `n` are called.
    fn spread_text(&mut self, list: &[&'static str], n: usize, is_vararg: bool) -> String {
        let text = self.pick(list);
        let mut lists = 0;
        let text = self.filled(text, |g, letter| match letter {
            b'v' => g.pick(&["x", "y", "z"]).to_owned(),
            b'w' => g.pick(OPERANDS).to_owned(),
            b'n' => g.range(1, 4).to_string(),
            b'f' => format!("f{}", g.range(0, n)),
            _ => {
                lists += 1;
                g.pick(if lists < 3 { LISTS } else { &["..."] }).to_owned()
            }
        });
        // the lists of other functions are shorter
        match is_vararg {
            true => text,
            false => text.replace("(...)", "(a)").replace("...", "a, b"),
        }
    }
}
