//! Programs whose branches change late: code that was compiled when some paths had never been taken
//! takes them, with variables that closures share, inlined functions whose registers are in the
//! same slots, and tables and closures that are allocated only then.
//!
//! Blocks come and go, so that the registers of one block are those of the next, and those of the
//! functions that it calls.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// What all functions of a program use. `late` grows from 0 to 9 while the program runs.
const HEAD: &str = "
local late, T, OUT = 0, {3, 1, 4, 1}, {}
local function new(x, y) return {x = x, y = y} end
local function id(e) return e end
local function early(a, b) if a > b then return a end local c, d = a - b, b return d, c end
local function many(a, b) local c, d, e = a, b, a + b do local f = c c = d d = f end
  return c - d + e end
local function each(t, f) for i = 1, #t do f(t[i], i) end end
local function fold(f, r) local s = 1 for i = 1, 3 do r = f(r, i) & 1023 end return r + s end
local C = {} C.__index = C
function C.get(o) return o.x end
function C.move(o, d) o.x = o.x + d return o end
C.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y}, C) end
local function make(x) return setmetatable({x = x, y = 1}, C) end
";

/// Variables in the blocks around a place.
struct Scopes {
    blocks: Vec<Vec<String>>,
    count: usize,
    loops: usize,
}

impl Scopes {
    fn declare(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    fn add(&mut self, names: impl IntoIterator<Item = String>) {
        self.blocks.last_mut().expect("there is a block").extend(names);
    }
}

impl Generator {
    /// Generates a program whose branches change late.
    pub(crate) fn late_program(&mut self) -> Node {
        self.size -= 20;
        let mut parts: Vec<Part> = vec!["R() P(pcall(function(...)\n".into(), HEAD.into()];
        for _ in 0..self.range(1, 4) {
            parts.push("do local function f(a, b)\n".into());
            let mut scopes =
                Scopes { blocks: vec![vec!["a".to_owned(), "b".to_owned()]], count: 0, loops: 0 };
            for _ in 0..self.range(3, 10) {
                let text = self.late_statement(&mut scopes, 2);
                parts.push(Node::text(Kind::Stmt, text + "\n").into());
            }
            let results = [(); 3].map(|()| self.late_variable(&scopes));
            parts.push(format!("return {} end\n", results.join(", ")).into());
            let last = self.pick(&[20, 40, 60]);
            let second = self.pick(&["k % 4", "k", "late > 7 and 0.5 or k"]);
            parts.push(format!("for k = 1, {last} do R() late = k * 10 // {}", last + 1).into());
            parts.push(format!(" P(k, pcall(f, k, {second})) end end\n").into());
        }
        parts.push("for k, o in pairs(OUT) do P(type(o) == 'function' and o(1) or o) end\n".into());
        parts.push("end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    /// Returns a variable, mostly of an inner block.
    fn late_variable(&mut self, scopes: &Scopes) -> String {
        let all: Vec<&String> = scopes.blocks.iter().flatten().collect();
        let from = if self.chance(70) { all.len().saturating_sub(5) } else { 0 };
        all[self.range(from, all.len())].clone()
    }

    fn late_value(&mut self, scopes: &Scopes, depth: usize) -> String {
        let v = self.late_variable(scopes);
        if depth == 0 {
            return v;
        }
        let w = self.late_value(scopes, depth - 1);
        match self.range(0, 12) {
            0 => format!("({v} - {w})"),
            1 => format!("({v} + {w}) % 31"),
            2 => format!("id({v}) + {w}"),
            3 => format!("many({v}, {w})"),
            4 => format!("(early({v}, {w}))"),
            5 => format!("new({v}, {w}).x"),
            6 => format!("({v} < {w} and {v} or 2)"),
            7 => format!("make({v}):move({w}):get()"),
            8 => format!("(make({v}) + make({w})).x"),
            9 => self.range(0, 9).to_string(),
            _ => v,
        }
    }

    fn late_condition(&mut self, scopes: &Scopes) -> String {
        let (v, w) = (self.late_variable(scopes), self.late_variable(scopes));
        match self.range(0, 4) {
            0 => format!("{v} < {w}"),
            1 => format!("{v} == {w}"),
            _ => format!("late > {}", self.range(3, 9)),
        }
    }

    fn late_block(&mut self, scopes: &mut Scopes, names: Vec<String>, depth: usize) -> String {
        scopes.blocks.push(names);
        let count = self.range(1, 5);
        let texts: Vec<String> = (0..count).map(|_| self.late_statement(scopes, depth)).collect();
        scopes.blocks.pop();
        texts.join(" ")
    }

    fn late_statement(&mut self, scopes: &mut Scopes, depth: usize) -> String {
        let v = self.late_variable(scopes);
        let value = self.late_value(scopes, 1);
        match self.range(0, 20) {
            0..=2 => {
                let names: Vec<String> = (0..self.range(1, 5)).map(|_| scopes.declare()).collect();
                let values: Vec<String> =
                    names.iter().map(|_| self.late_value(scopes, 1)).collect();
                let text = format!("local {} = {}", names.join(", "), values.join(", "));
                scopes.add(names);
                text
            }
            3 => format!("do {} end", self.late_block(scopes, Vec::new(), depth.saturating_sub(1))),
            4 | 5 if depth > 0 => {
                let condition = self.late_condition(scopes);
                let then = self.late_block(scopes, Vec::new(), depth - 1);
                format!("if {condition} then {then} end")
            }
            6..=8 if depth > 0 => self.late_loop(scopes, depth - 1),
            9 => {
                let (name, other) = (scopes.declare(), self.late_value(scopes, 1));
                let late = self.range(3, 9);
                let what = self.pick(&["", "", "OUT[#OUT % 5 + 1] = F", "X = F(X)"]);
                let what = what.replace('F', &name).replace('X', &v);
                format!(
                    "local function {name}(e) {v} = {other} + e return {value} end if late > \
                     {late} then {what} end {v} = {name}(1)"
                )
            }
            10 => format!("each(T, function(e) {v} = {value} + e end)"),
            11 => {
                let w = self.late_variable(scopes);
                format!("{v} = fold(function(r, e) {w} = {w} + e return r + {value} end, 1)")
            }
            12 | 13 => self.late_object(scopes),
            14 => {
                let (name, w) = (scopes.declare(), self.late_variable(scopes));
                let text = format!(
                    "local {name} = {value} local function get() return {name} end local \
                     function set(e) {name} = e return e end {v} = set({w}) - get()"
                );
                scopes.add([name]);
                text
            }
            15 => format!("if late > {} then return {v}, {value} end", self.range(5, 10)),
            16 => {
                let w = self.late_variable(scopes);
                format!("{v}, {w} = {w}, {value}")
            }
            17 if scopes.loops > 0 => format!("if {} then break end", self.late_condition(scopes)),
            18 => format!("{v} = select(2, pcall(function(e) {v} = e return {value} end, 3)) or 1"),
            _ => format!("{v} = {value}"),
        }
    }

    fn late_loop(&mut self, scopes: &mut Scopes, depth: usize) -> String {
        let (i, e) = (scopes.declare(), scopes.declare());
        let (head, names) = match self.range(0, 4) {
            0 => (format!("for {i}, {e} in ipairs(T) do"), vec![i, e]),
            1 => (format!("for {i} = 3, 1, -1 do"), vec![i]),
            2 => (format!("for {i}, {e} in next, T do"), vec![i, e]),
            _ => (format!("for {i} = 1, 4 do"), vec![i]),
        };
        scopes.loops += 1;
        let block = self.late_block(scopes, names, depth);
        scopes.loops -= 1;
        // the block may end with a statement that must be the last one
        format!("{head} do {block} end end")
    }

    /// Generates an object that escapes late, if at all.
    fn late_object(&mut self, scopes: &mut Scopes) -> String {
        let (o, v) = (scopes.declare(), self.late_variable(scopes));
        let [x, y] = [(); 2].map(|()| self.late_value(scopes, 1));
        let made = match self.range(0, 4) {
            0 => format!("{{x = {x}, y = {y}}}"),
            1 => format!("make({x})"),
            2 => format!("{{x = {x}, y = {y}, f = function() return {v} end}}"),
            _ => format!("new({x}, {y})"),
        };
        let late = self.range(3, 9);
        let what = self.pick(&[
            "OUT[#OUT % 5 + 1] = O",
            "return O.x, V",
            "V = O.x + (O.f and O.f() or 1)",
            "O.x = O.y O.z = 1",
            "local p = O p.x = V if p == O then V = O.x end",
        ]);
        let what = what.replace('O', &o).replace(&format!("{o}UT"), "OUT").replace('V', &v);
        let text =
            format!("local {o} = {made} {v} = {o}.x + {o}.y if late > {late} then {what} end");
        scopes.add([format!("{o}.x")]);
        text
    }
}
