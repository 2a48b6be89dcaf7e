//! Programs that assign to few variables again and again, with values from every kind of fast path.
//! The previous value of a register, and whether it was stored, differ at each instruction.
//!
//! The templates of [`crate::hot`] rarely assign to one variable twice before something stores it.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// The values that are assigned; `$v` and `$w` are variables, `$f` is a field, `$a` an operand.
const VALUES: &[&str] = &[
    "#T",
    "#Q",
    "T[1]",
    "T[2]",
    "T[i]",
    "T[i % 3 + 1]",
    "Q[i % 3 + 1]",
    "E.$f",
    "GD.$f",
    "GE",
    "U",
    "$v",
    "$a",
    "$a",
    "none($v)",
    "id($v)",
    "id(i, $v)",
    "two($v)",
    "type($v)",
    "($v or $a)",
    "($v and $a)",
    "not $v",
    "$v == $w",
    "select('#', $v, $w)",
    "{$v, x = $w}",
    "{$v, $w}",
    "#{$v, 1, $w, 's'}",
    "D.$f",
    "next(Q)",
    "getmetatable(M)",
    "K($v) == $v",
];

const OPERANDS: &[&str] =
    &["$v", "$w", "1", "2", "0.5", "'s'", "nil", "{}", "true", "i", "T", "GE", "U"];

const NUMBERS: &[&str] = &["i", "1", "#T", "0.5", "n", "m"];

const CONDITIONS: &[&str] = &["i % 3 == 0", "$v", "$v == $w", "n < m", "not $v", "i > 9"];

impl Generator {
    /// Generates a program of dense assignments.
    pub(crate) fn dense_program(&mut self) -> Node {
        self.size -= 20;
        let mut parts: Vec<Part> = vec![
            "R() P(pcall(function(...)\n".into(),
            "local function none(e) return nil end local function two(e) local z = e return z, e \
             end\n"
                .into(),
            "local function id(e) return e end local U, log = 3, {}\n".into(),
            "GE, GD = 1, {x = 1, y = {}} local T, Q, E = {1, {}, 'x'}, {1, 2, 3}, {x = 1}\n".into(),
            "local D = {x = 1} for k = 1, 12 do D['k' .. k] = k end\n".into(),
            "local M = setmetatable({}, {__index = D})\n".into(),
        ];
        if self.chance(50) {
            parts.push("none, id = none, id function GN(e) return nil end none = GN\n".into());
        }
        for _ in 0..self.range(2, 7) {
            parts.push("do local function f(i, a, b) local c, d, n, m = 1, nil, 0, 1\n".into());
            for _ in 0..self.range(3, 16) {
                let text = self.dense_statement(2);
                parts.push(Node::text(Kind::Stmt, text + "\n").into());
            }
            parts.push("return a, b, c, d, n, m end\n".into());
            let last = self.pick(&[12, 24, 40]);
            let second = self.pick(&["i % 2 == 0 and i or nil", "i", "i > 8 and 's' or i", "T"]);
            let show = self.pick(&["P", "if i > 9 then P(i) end log[1] = table.pack"]);
            parts.push(format!("for i = 1, {last} do R() {show}").into());
            parts.push(format!("(pcall(f, i, {second}, i % 5 == 0 and 0.5 or T)) ").into());
            parts.push("if i % 4 == 0 then P(log) end end end\n".into());
        }
        parts.push("P(GE, GD, U, E, #log, T, Q) end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    fn dense(&mut self, list: &[&'static str]) -> String {
        let mut text = self.pick(list).to_owned();
        if text.contains("$a") {
            let operand = self.pick(OPERANDS);
            text = text.replace("$a", operand);
        }
        let field = self.pick(&["x", "y", "z"]);
        let (v, w) = (self.pick(&["a", "b", "c", "d"]), self.pick(&["a", "b", "c", "d"]));
        text.replace("$f", field).replace("$v", v).replace("$w", w)
    }

    fn dense_block(&mut self, depth: usize) -> String {
        let count = self.range(1, 5);
        (0..count).map(|_| self.dense_statement(depth)).collect::<Vec<_>>().join(" ")
    }

    fn dense_statement(&mut self, depth: usize) -> String {
        let (v, value) = (self.dense(&["$v"]), self.dense(VALUES));
        match self.range(0, 20) {
            0 => {
                let table = self.pick(&["GD", "GD", "D", "M"]);
                format!("{table}.{} = {value}", self.pick(&["x", "y", "z"]))
            }
            1 => format!("GE = {value}"),
            2 => format!("E.{} = {value}", self.pick(&["x", "y", "z", "w"])),
            3 => format!("U = {value}"),
            4 => {
                let [p, q, r] = [(); 3].map(|()| self.pick(NUMBERS));
                let (first, second) = (self.pick(&["+", "-", "*"]), self.pick(&["+", "-"]));
                format!("n = {p} {first} {q} m = n {second} {r}")
            }
            5 if depth > 0 => {
                let (condition, then) = (self.dense(CONDITIONS), self.dense_block(depth - 1));
                format!("if {condition} then {then} else {} end", self.dense_block(depth - 1))
            }
            6 if depth > 0 => {
                let to = self.pick(&["2", "3", "i % 4", "i / 4"]);
                format!("for j = 1, {to} do {} end", self.dense_block(depth - 1))
            }
            7 if depth > 0 => {
                let all = self.pick(&["pairs(Q)", "ipairs(Q)", "next, Q"]);
                let what = self.pick(&["k", "w"]);
                format!("for k, w in {all} do {v} = {what} {} end", self.dense_block(depth - 1))
            }
            8 => format!("{v}, {} = {value}, {}", self.dense(&["$v"]), self.dense(VALUES)),
            9 => format!("log[#log + 1] = {value} if #log > 5 then log = {{}} end"),
            10 => {
                let element = self.pick(&["i", "{}", "0.5", "'q'", "a", "T"]);
                format!("Q[i % 3 + 1] = {element} or 1")
            }
            _ => format!("{v} = {value}"),
        }
    }
}
