//! Programs about tables: constructors and constructor functions with up to 200 fields, nested
//! ones, sites that see many layouts, environments.
//!
//! Unlike the templates of [`crate::hot`], these are generated field by field, so that they hit
//! every limit that determines which path a table takes, exactly and by one more and one less: the
//! number of fields that fit into one allocation, of layouts that fit into an inline cache, and of
//! constants that fit into an operand.

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// Values of fields; `a`, `b` and `c` are the parameters of the constructor function.
const VALUES: &[&str] = &[
    "a",
    "a",
    "b",
    "b",
    "c",
    "a + 1",
    "b or 0",
    "{}",
    "{x = a}",
    "{a, b}",
    "{x = {y = {z = b}}}",
    "{{x = a}, {x = b, y = c}}",
    "{x = {a, b}, y = {n = c}, 3}",
    "{[a] = 1, n = b}",
    "{a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a + 9}",
    "setmetatable({v = a}, {__index = {w = b}})",
    "nil",
    "true",
    "false",
    "1.5",
    "a + 0.5",
    "-0.0",
    "1 << 40",
    "'s'",
    "'s' .. a",
    "function() return a end",
    "function() a = a + 1 return b end",
    "not b",
    "a == b",
    "#c",
    "c:upper()",
    "(string.byte(''))",
    "select('#', a, b)",
    "math.floor(a)",
    "ID",
];

/// The uses of a finished record `r` in the loop; `$f` and `$g` are fields, `i` counts, `v` changes
/// its type.
const USES: &[&str] = &[
    "acc = r.$f x = r.$g",
    "acc = r.$f r.$f = i x = r.$f",
    "r.$f = v acc = r.$g r.$g = r.$f",
    "r.$f = nil acc = r.$f r.$f = v",
    "if i % 5 == 0 then r.$f = nil r.$g = nil r.fresh = i end acc = r.fresh x = r.$g",
    "r.$f, r.$g = r.$g, r.$f acc = r.$g",
    "r[i] = v acc = r[i] r[1] = i x = r[1]",
    "r['$f'] = i acc = rawget(r, '$f') x = r['$' .. 'f1']",
    "for k in pairs(r) do r[k] = nil end r.$f = i acc = r.$f x = next(r)",
    "for k, e in pairs(r) do if k ~= '$g' then r[k] = e end end acc = r.$g",
    "local q = {} for k, e in next, r do q[k] = e end acc = q.$f q.$f = 1 x = r.$f",
    "local n = 0 for _ in pairs(r) do n = n + 1 end acc = n r.$f = n",
    "setmetatable(r, i % 2 == 0 and M or nil) acc = r.$f x = r.missing",
    "setmetatable(r, {__index = keep[1]}) acc = r.$f r.$g = nil x = r.$g",
    "setmetatable(r, {__index = function(_, k) return k end}) r.$f = nil acc = r.$f x = r.other",
    "setmetatable(r, {__newindex = function(e, k, w) rawset(e, k, w or k) end}) r.$f = i r.n1 = \
     v acc = r.n1",
    "keep[i % 3 + 1] = r acc = keep[1] and keep[1].$f x = keep[2] and keep[2].$g",
    "keep[i % 3 + 1] = r keep[1].$f = v if i % 9 == 0 then keep = {{}, {}, {}} end x = keep[1].$f",
    "local function get(e) return e.$f end acc = get(r) x = get({$f = i, z = 1}) acc = get({$g = \
     1, $f = 2})",
    "acc = read(r) x = read({$g = i, $f = x})",
    "acc = r.$f == r.$g and 1 or 2 x = type(r.$f)",
    "acc = type(r.$f) == 'table' and (r.$f.x or r.$f[1] or r.$f.v or r.$f.w) or r.$f",
    "if type(r.$f) == 'table' then r.$f.x = v r.$f[1] = i acc = r.$f.x x = #r.$f == 1 or r.$f[2] \
     end",
    "if type(r.$f) == 'function' then acc = r.$f() x = r.$f() end",
    "write(r, i, v) acc = r.$f x = read(r)",
    "write(r, v, i) write(keep[1], i, v) acc = keep[1].$g",
    "if S(r) then acc = #r r[#r + 1] = v x = r[1] end",
    "if S(r) then table.insert(r, 1, i) acc = table.remove(r) x = #r == 0 or r[1] end",
    "collectgarbage('step') acc = r.$f x = keep[1].$f",
];

impl Generator {
    /// Returns a number of fields, usually near one of the limits.
    fn width(&mut self) -> usize {
        match self.range(0, 20) {
            0..6 => self.range(0, 8),
            6..12 => self.range(8, 20),
            12..16 => self.range(20, 40),
            16..18 => self.range(60, 70),
            _ => self.range(100, 201),
        }
    }

    /// Generates a program about records.
    pub(crate) fn record_program(&mut self) -> Node {
        self.size -= 20;
        let count = match self.range(0, 10) {
            0..4 => 1,
            4..7 => self.range(2, 5),
            _ => self.range(5, 13),
        };
        let fields = self.width().max(2);
        let mut parts: Vec<Part> = vec![
            "R() P(pcall(function(...)\n".into(),
            "local acc, x, keep, makers, r = 0, 0, {{}, {}, {}}, {}\n".into(),
        ];
        for line in [
            "local M = {__index = function(t, k) return k end, __len = function() return 3 end}\n",
            "local V = {1, 2.5, 's', {}, nil, true}\n",
            "local ID = debug.upvalueid(function() return V end, 1)\n",
        ] {
            parts.push(line.into());
        }
        for n in 1..=count {
            let own = if n == 1 || self.chance(40) { fields } else { self.width().max(2) };
            parts.push(self.maker(n, own).into());
        }
        let names: Vec<String> = (0..self.range(1, 6)).map(|_| self.field(fields)).collect();
        let read = names.iter().map(|f| format!("e.{f}")).collect::<Vec<_>>().join(", ");
        parts.push(format!("local function read(e) return {read} end\n").into());
        parts.push("local function write(e, a, b) ".into());
        for _ in 0..self.range(1, 8) {
            let (field, value) = (self.field(fields), self.pick(&["a", "b", "a", "1", "nil"]));
            parts.push(Node::text(Kind::Stmt, format!("e.{field} = {value} ")).into());
        }
        parts.push("end\n".into());
        let last = self.pick(&[24, 40, 70, 130]);
        let slow = if count > 6 || fields > 60 { 40 } else { last };
        let change = self.pick(&["i // 9 % 6", "i % 6", "0", "i // 20 % 2"]);
        parts.push(format!("for i = 1, {slow} do R() local v = V[{change} + 1]\n").into());
        let turn = self.pick(&["i", "i // 7", "i * i"]);
        let argument = self.pick(&["i, v, 's'", "i, v, s", "v, i, 's'", "i, i + 0.5, 'x'", "i"]);
        parts.push(format!("local r = makers[{turn} % {count} + 1]({argument})\n").into());
        for _ in 0..self.range(1, 5) {
            let (f, g) = (self.field(fields), self.field(fields));
            let text = self.pick(USES).replace("$f", &f).replace("$g", &g);
            let text = match self.range(0, 5) {
                0 => format!("pcall(function() {text} end)\n"),
                1 => format!("if i % {} == 0 then {text} end\n", self.range(2, 12)),
                _ => format!("do {text} end\n"),
            };
            parts.push(Node::text(Kind::Stmt, text).into());
        }
        parts.push("if i % 16 == 3 then P(acc, x, r) end end\n".into());
        parts.push(
            format!(
                "for j = 1, {count} do P(pcall(makers[j], j, 2, 's')) P(pcall(makers[j], \
                1.5, nil, 's')) end\n"
            )
            .into(),
        );
        parts.push("return acc, x, keep end))\n".into());
        Node::new(Kind::Stmt, parts)
    }

    /// Returns the name of one of `fields` fields, or rarely of one more.
    fn field(&mut self, fields: usize) -> String {
        format!("f{}", self.range(1, fields + 2))
    }

    fn value(&mut self, n: usize) -> String {
        if n > 1 && self.chance(4) {
            return format!("makers[{}](a, b, c)", self.range(1, n));
        }
        match self.range(0, 12) {
            // many constants: operands that do not fit into an instruction
            0 => self.range(0, 1000).to_string(),
            1 => format!("{}.25", self.range(0, 1000)),
            2 => format!("'v{}'", self.range(0, 300)),
            3..6 => self.pick(&["a", "b", "c"]).to_owned(),
            _ => self.pick(VALUES).to_owned(),
        }
    }

    /// Generates `makers[n] = function(a, b, c) .. end`: a constructor of some fields, and stores
    /// of the others.
    fn maker(&mut self, n: usize, fields: usize) -> Node {
        // Values are often simple, since other expressions in a constructor end the path that is
        // tested here.
        let plain = self.chance(50);
        let mut order: Vec<usize> = (1..=fields).collect();
        if self.chance(30) {
            for k in (1..order.len()).rev() {
                let other = self.range(0, k + 1);
                order.swap(k, other);
            }
        }
        let in_constructor = match self.range(0, 4) {
            0 => 0,
            1 => fields,
            _ => self.range(0, fields + 1),
        };
        let (x, y) = (self.range(1, fields + 1), self.range(1, fields + 1));
        let mut parts: Vec<Part> = vec![
            format!("local function set{n}(o, v, w) o.f{x} = v o.f{y} = w end\n").into(),
            format!("makers[{n}] = function(a, b, c, ...) ").into(),
        ];
        if self.chance(30) {
            parts.push(Node::text(Kind::Stmt, "keep.v = a ").into());
        }
        let meta_at = if self.chance(25) { self.range(0, fields + 1) } else { fields + 1 };
        parts.push("local r = {".into());
        for field in &order[..in_constructor] {
            let value = if plain { self.pick(&["a", "b", "c", "1", "nil"]) } else { "" };
            let value = if plain { value.to_owned() } else { self.value(n) };
            let item = match self.range(0, 30) {
                0 => format!("['f{field}'] = {value}, "),
                1 => format!("{value}, "),
                2 => format!("['f {field}'] = {value}, "),
                3 if !plain => format!("[{}] = {value}, ", self.pick(&["2.5", "true", "-1", "99"])),
                _ => format!("f{field} = {value}, "),
            };
            parts.push(Node::text(Kind::Stmt, item).into());
        }
        if self.chance(12) {
            for _ in 0..self.range(40, 120) {
                let value = if self.chance(30) { "a".to_owned() } else { self.value(n) };
                parts.push(Node::text(Kind::Stmt, format!("{value}, ")).into());
            }
        }
        if self.chance(10) {
            parts.push(Node::text(Kind::Stmt, self.pick(&["...", "(...)", "a, ..."])).into());
        }
        parts.push("} ".into());
        for (at, field) in order[in_constructor..].iter().enumerate() {
            if at + in_constructor == meta_at {
                let meta = self.pick(&[
                    "setmetatable(r, M) ",
                    "setmetatable(r, {__index = keep}) ",
                    "setmetatable(r, {__newindex = function(t, k, w) rawset(t, k, w) end}) ",
                ]);
                parts.push(Node::text(Kind::Stmt, meta).into());
            }
            let value = if plain {
                self.pick(&["a", "b", "c", "a", "1"]).to_owned()
            } else {
                self.value(n)
            };
            let other = self.range(1, fields + 1);
            let store = match self.range(0, 40) {
                0 => format!("if b then r.f{field} = {value} end "),
                1 => format!("if a % 3 == 0 then r.f{field} = {value} else r.f{other} = b end "),
                2 => format!("r['f' .. {field}] = {value} "),
                3 => format!("r.f{field} = r.f{other} "),
                4 => format!("r.f{other} = nil "),
                5 => format!("for j = 1, 3 do r['f' .. j + {other}] = j end "),
                6 => format!("if S(r) then r[#r + 1] = {value} end "),
                7 => format!("r.f{field}, r.f{other} = {value}, a "),
                8 => "if a == 17 then return r, 1 end ".to_owned(),
                9 => format!("local q = r q.f{field} = {value} "),
                10 => format!("(function() r.f{field} = {value} end)() "),
                11 => format!("rawset(r, 'f{field}', {value}) "),
                12..=16 => format!("set{n}(r, {value}, a) "),
                17 => format!("if b then set{n}(r, {value}, a) end "),
                18 => format!("(function(o) o.f{field} = {value} end)(r) "),
                _ => format!("r.f{field} = {value} "),
            };
            parts.push(Node::text(Kind::Stmt, store).into());
        }
        let end = self.pick(&["return r", "return r", "return r, a", "keep[1] = r return r"]);
        parts.push(format!("{end} end\n").into());
        Node::new(Kind::Fixed, parts)
    }
}
