//! Programs with loops made with `goto`, most of which have several entries.
//!
//! Structured programs have no such loops, so nothing else tests what compilers know about the
//! blocks before them.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// The variables of the function, which numbers are assigned to.
const VARIABLES: &[&str] = &["a", "b", "c"];

/// Statements; `$v` is a variable, `$w` a variable or a number. They keep integers.
const STATEMENTS: &[&str] = &[
    "$v = ($w + $w) % 1009",
    "$v = ($w - $w) % 1009",
    "$v = ($w * $w) % 1009",
    "sum = (sum * 31 + $v) % 1000003",
    "$v = f($v)",
    "for i = 1, 3 do $v = ($v + i) % 1009 end",
    "for i = $v % 4, 4.5 do $v = ($v + i) % 1009 end",
];

/// Statements that put values of other types into the variables, or share them with closures.
const OTHERS: &[&str] = &[
    "$v = ($v * 0.5 + $w) % 1009 // 1",
    "$v = ($w + 0.5) % 1009",
    "list[$v % 5 + 1] = $w",
    "$v = list[$v % 5 + 1]",
    "list = {$w, $w, $w, 4, 5}",
    "record.x = $w",
    "record.y = record.x + $w",
    "$v = record.y",
    "record = {x = $w, y = $w}",
    "do local kept = $v last = function() return kept + $w end end",
    "$v = last() % 1009",
];

/// Conditions; some always hold, or never.
const CONDITIONS: &[&str] = &[
    "$v % $n == $k",
    "$v % $n < $k",
    "$v % $n > $k",
    "$v % $n ~= $k",
    "b % $n < $k",
    "steps % $n == 0",
    "$v < $w",
];

impl Generator {
    /// Generates functions that consist of labels and jumps between them.
    pub(crate) fn jump_program(&mut self) -> Node {
        self.size -= 20;
        let mut parts: Vec<Part> = vec![
            "R() P(pcall(function(...)\n".into(),
            "local sum, list, record = 0, {1, 2, 3, 4, 5}, {x = 1, y = 2}\n".into(),
            "local function f(x) return (x * 3 + 1) % 1009 end\n".into(),
            "local function last() return 1 end\n".into(),
        ];
        for _ in 0..self.range(1, 4) {
            self.function_of_jumps(&mut parts);
        }
        parts.push("P(sum, list, record, last()) end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    fn function_of_jumps(&mut self, parts: &mut Vec<Part>) {
        let labels = self.range(2, 7);
        let others_share = self.pick(&[0, 0, 10, 40]);
        parts.push("do local function g(a, b, limit) local c, steps = a, 0\n".into());
        if self.chance(60) {
            parts.push(self.jump(labels));
        }
        for label in 0..labels {
            // each jump passes a label, so the function ends
            let guard = "steps = steps + 1 if steps > limit then return a, b, c, steps end";
            parts.push(format!("::l{label}:: {guard}\n").into());
            for _ in 0..self.range(0, 4) {
                let list = if self.chance(others_share) { OTHERS } else { STATEMENTS };
                let text = self.jump_text(list);
                parts.push(Node::text(Kind::Stmt, text + "\n").into());
            }
            for _ in 0..self.range(0, 3) {
                parts.push(self.jump(labels));
            }
            if self.chance(25) {
                let (condition, text) = (self.jump_text(CONDITIONS), self.jump_text(STATEMENTS));
                let to = self.range(0, labels);
                let body = format!("if {condition} then goto l{to} end {text}");
                let text = format!("for k = 1, 3 do {body} end\n");
                parts.push(Node::text(Kind::Stmt, text).into());
            }
            if self.chance(30) {
                let to = self.range(0, labels);
                parts.push(Node::text(Kind::Stmt, format!("do goto l{to} end\n")).into());
            }
        }
        let (times, limit) = (self.pick(&[12, 24, 40]), self.pick(&[1, 5, 50]));
        parts.push("return c, b, a end\n".into());
        parts.push(format!("for i = 1, {times} do R() P(pcall(g, i, i % 7, i % 13 * ").into());
        parts.push(format!("{limit})) end P(pcall(g, 3, 4, 300)) end\n").into());
    }

    fn jump(&mut self, labels: usize) -> Part {
        let (condition, to) = (self.jump_text(CONDITIONS), self.range(0, labels));
        Node::text(Kind::Stmt, format!("if {condition} then goto l{to} end\n")).into()
    }

    fn jump_text(&mut self, list: &[&'static str]) -> String {
        let mut text = self.pick(list).to_owned();
        while text.contains("$w") {
            let operand = self.pick(&["a", "b", "c", "1", "3", "7"]);
            text = text.replacen("$w", operand, 1);
        }
        let v = self.pick(VARIABLES);
        let (n, k) = (self.range(2, 7).to_string(), self.range(0, 5).to_string());
        text.replace("$v", v).replace("$n", &n).replace("$k", &k)
    }
}
