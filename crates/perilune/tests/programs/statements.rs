//! The generation of statements.

use crate::generate::{Function, Generator};
use crate::templates as t;
use crate::tree::{Kind, Node, Part};

type Make = fn(&mut Generator, usize) -> Node;

/// How a statement is generated.
enum How {
    /// From this template.
    By(&'static str),
    /// By this function.
    Of(Make),
}

use How::{By, Of};

const STATEMENTS: &[(usize, How)] = &[
    (14, By("P($E)")),
    (14, Of(Generator::local)),
    (12, Of(Generator::assignment)),
    (3, By("$w*, $w* = $E")),
    (1, By("$vd.$F, $wi = $E")),
    (1, By("$wi, $vd[$Q], $w* = $vc($A)")),
    (1, By("if S($vq) then $@[1], $@[2] = $@[2], $@[1] end")),
    (1, By("$vq[ $i], $wi = $i, $i")),
    (5, By("$vd.$F = $*")),
    (2, By("$vd[$Q] = $*")),
    (2, By("$vo.$F = $*")),
    (2, By("$v*.$F = $*")),
    (2, By("$v*[ $*] = $*")),
    (2, By("$vq[ $i] = $*")),
    (2, By("if S($vq) then $@[#$@ + 1] = $* end")),
    (2, By("$vd.$F = nil")),
    (3, By("$vc($A)")),
    (2, By("$vo:$F($A)")),
    (1, By("$v*($A)")),
    (1, By("$vd.$F($A)")),
    (1, By("$vc{$E}")),
    (1, By("$vc'text'")),
    (1, By(";($U)($A)")),
    (4, By("if $b then\n$Bend")),
    (3, By("if $b then\n$Belse\n$Bend")),
    (2, By("if $* then\n$Belseif $b then\n$Belseif $* then\n$Belse\n$Bend")),
    (1, By("if not $* then $B end")),
    (3, By("do\n$Bend")),
    (6, Of(Generator::numeric_for)),
    (6, Of(Generator::generic_for)),
    (4, Of(Generator::while_loop)),
    (3, Of(Generator::repeat_loop)),
    (2, Of(Generator::goto_loop)),
    (2, Of(Generator::goto_out)),
    (3, Of(Generator::leave)),
    (6, Of(Generator::function_statement)),
    (4, Of(Generator::coroutine)),
    (2, Of(Generator::loaded)),
    (1, Of(Generator::soup)),
    (4, Of(Generator::class)),
    (3, By("P(pcall($U, $A))")),
    (2, By("P(pcall($c, $A))")),
    (1, By("P(pcall(error, $E))")),
    (1, By("P(pcall(pcall, $c, $E))")),
    (1, By("P(pcall(select, $i, $E))")),
    (1, By("P(pcall(string.rep, $s, N($i), $s))")),
    (1, By("P(pcall(setmetatable, $*, $*))")),
    (
        2,
        By("P(xpcall($U, $<function(m) return select(2, pcall($<function() return $* end$>)) \
             end$>, $A))"),
    ),
    (1, By("P(xpcall($U, $<function(m) P('handler', m) return m, 1 end$>, $A))")),
    (1, By("P(xpcall($U, math.abs, $A))")),
    (1, By("P(xpcall($U, type, $A))")),
    (1, By("P(xpcall($U, function(m) return m.x.y end, $A))")),
    (1, By("P(xpcall($U, function(m) error({m}, 2) end, $A))")),
    (1, By("P(xpcall($c, function(m) return m end, $A))")),
    (
        1,
        By("P(xpcall($U, $<function(m) if type(m) ~= 'string' then return m end return \
             (debug.traceback('m', 1):match('^[^\\n]*\\n[^\\n]*\\n[^\\n]*\\n[^\\n]*')) end$>))"),
    ),
    (1, By("error($*)")),
    (1, By("error($s, $i)")),
    (1, By("assert($E)")),
    (2, By("if S($vq) then table.insert($@, $*) end")),
    (1, By("if S($vq) then table.insert($@, N($i), $*) end")),
    (1, By("if S($v*) then table.insert($@, $A) end")),
    (2, By("if S($vq) then P(table.remove($@)) end")),
    (1, By("if S($vq) then P(table.remove($@, N($i))) end")),
    (1, By("if S($vq) then P(table.unpack($@, N($i), N($i))) end")),
    (1, By("if S($vq) then P(table.unpack($@)) end")),
    (2, By("if O($vq) then table.sort($@) P($@) end")),
    (1, By("if O($vq) then table.sort($@, $<function(a, b) return a > b end$>) P($@) end")),
    (
        1,
        By("if O($v*) then table.sort($@, $<function(a, b) return tostring(a) < tostring(b) \
             end$>) P($@) end"),
    ),
    (1, By("if S($vq) then P(table.move($@, N($i), N($i), N($i), {})) end")),
    (1, By("if S($vq, true) then P(#$@, rawlen($@)) end")),
    (
        1,
        By("do local m = getmetatable($vo) if type(m) == 'table' then m.__add, m.__call = $U, \
             $U end end"),
    ),
    (1, By("do local m = getmetatable($vo) if type(m) == 'table' then m.__index = $* end end")),
    (
        1,
        By("do local m = getmetatable($vo) if type(m) == 'table' then m.__lt, m.__le, m.__eq = \
             $U, $U, $U end end"),
    ),
    (
        1,
        By("do local m = getmetatable($vo) if type(m) == 'table' then m.__newindex, m.__concat \
             = $U, nil end end"),
    ),
    (
        1,
        By("do local m = debug.getmetatable('') m.__index = $* P(pcall($<function() return \
             ($s):upper() end$>)) m.__index = string end"),
    ),
    (
        1,
        By("do local m = debug.getmetatable('') m.__call, m.__unm = $U, $U P(pcall($<function() \
             return - $s, ($s)($A) end$>)) m.__call, m.__unm = nil, nil end"),
    ),
    (
        1,
        By("do debug.setmetatable(1, {__index = $o, __call = $U, __len = $<function() return 3 \
             end$>}) P(pcall($<function() local n = $i return n.x, n($A) end$>)) \
             debug.setmetatable(1, nil) end"),
    ),
    (
        1,
        By("do debug.setmetatable(nil, {__index = $<function(v, k) B() return k end$>, __add = \
             $U}) P(pcall($<function() return undefined.x, nil + $i end$>)) \
             debug.setmetatable(nil, nil) end"),
    ),
    (
        1,
        By("do debug.setmetatable(print, {__index = $d, __concat = $<function(a, b) B() return \
             $s end$>}) P(pcall($<function() return type.x, type .. $s end$>)) \
             debug.setmetatable(print, nil) end"),
    ),
    (1, By("do local _ENV = {P = P, B = B, G1 = $*, x = $*} P(G1, x, y) G2 = $* P(G2) end")),
    (
        1,
        By("do local _ENV <const> = setmetatable({}, {__index = _ENV}) G1 = $* P(G1, _G.G1) $B \
             end"),
    ),
    (1, By(";($<function(_ENV, P) P(x, y, _ENV) z = $i P(z) end$>)($d, P)")),
    (1, By("P(pcall(load('return x, y', '=env', 't', $d)))")),
    (
        1,
        By("do local fs = {} for i = 1, 3 do L() local j = $* fs[i] = $<function(d) j, i = d, i \
             + 1 return i, j end$> end P(fs[1]($A)) P(fs[1]($A)) P(fs[3]($A)) end"),
    ),
    (
        1,
        By("do local fs = {} local i = 1 while i < 4 do L() local j = i fs[i] = function(d) j = \
             j + d return j, i end i = i + 1 end P(fs[1](1), fs[2](2)) P(fs[1](3)) end"),
    ),
    (
        1,
        By("do local get, set do local v <const>, u = $*, $* get = $<function() return u, v \
             end$> set = $<function(w) u = w end$> end set($*) P(get()) end"),
    ),
    (
        1,
        By("do local a <close>, b <const> = setmetatable({}, {__close = $<function(v, e) B() \
             P('close', e) $B end$>}), $*\n$Bend"),
    ),
    (1, By("do local a <close> = $o $B local b <close> = $o P($E) end")),
    (1, By("do local v <close> = $*\n$Bend")),
    (1, By("collectgarbage()")),
    (1, By("collectgarbage('step')")),
    (1, By("P(string.find($s, $P))")),
    (1, By("P(string.find($s, $s, $i, $b))")),
    (1, By("P(string.match($s, $P, $i))")),
    (1, By("P(string.gsub($s, $P, $s, $i))")),
    (1, By("P(string.gsub($s, $P, $*))")),
    (1, By("P(string.byte($s, N($i), N($i)))")),
    (1, By("P(string.unpack('<i2z', $s, $i))")),
    (1, By("P(pcall(string.format, $s, A($*)))")),
    (1, By("P(utf8.codepoint($s, $i))")),
    (1, By("P(math.modf($n))")),
    (
        1,
        By("$<local function deep(n) B() if n < 1 then return $* end return n, deep(n - 1) \
             end$> P(deep($i & 31))"),
    ),
    (
        1,
        By("$<local function tail(n, a) B() if n < 1 then return a end return tail(n - 1, $*) \
             end$> P(tail($i & 63))"),
    ),
    (1, By("P((debug.traceback('message', 1):match('^[^\\n]*\\n[^\\n]*\\n[^\\n]*')))")),
];

/// Recursion to the end of the stack, which is slow.
const DEEP: &[&str] = &[
    "do local function r(n) return 1 + r(n + 1) end local ok, m = pcall(r, 1) P(ok, \
     (tostring(m):match('stack overflow'))) end",
    "do local function r(...) return select('#', r(1, ...)) end local ok, m = pcall(r) P(ok, \
     (tostring(m):match('stack overflow'))) end",
    "do local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end \
     local ok, m = pcall(function() return t.x end) P(ok, (tostring(m):match('stack overflow'))) \
     end",
];

/// Statements that reach limits.
const RARE: &[&str] = &[
    "do local t = setmetatable({}, {}) getmetatable(t).__index = t P(pcall(function() return t.x \
     end)) end",
    "do local s = ('a'):rep(2000) P(pcall(string.find, s, ('a?'):rep(6) .. 'b'), #s) end",
    "P(pcall(string.find, ('('):rep(100), ('('):rep(100))) P(pcall(string.match, ('a'):rep(250), \
     ('a-'):rep(230)))",
    "P(select('#', table.unpack({}, 1, 5000)), pcall(table.unpack, {}, 1, 1e8), \
     pcall(table.unpack, {}, 1, math.maxinteger))",
    "P(pcall(string.rep, 'x', 1 << 62), pcall(string.rep, 'abc', math.maxinteger, 'x'))",
    "do local t = {} for i = 1, 200 do t[i] = i end P(#t, select('#', table.unpack(t)), \
     (table.concat(t, ','):sub(-20))) end",
    "do local e = '0' for i = 1, 60 do e = '(' .. e .. '+' .. i .. ')' end P(load('return ' .. \
     e)()) end",
    "P(load('return ' .. ('('):rep(250) .. '1' .. (')'):rep(250)))",
    "do local s = 'local a0' for i = 1, 250 do s = s .. ',a' .. i end P(load(s)) end",
    "do local c = coroutine.wrap(function() return pcall(function() for i = 1, 3 do \
     coroutine.yield(i) end error({}) end) end) P(c()) P(c()) P(c()) P(c()) P(pcall(c)) end",
];

impl Generator {
    /// Generates a statement of the main function. Most are guarded, so that the program continues
    /// after an error.
    pub(crate) fn top_statement(&mut self) -> Node {
        match self.range(0, 100) {
            0..16 => {
                let ty = self.pick(b"ifsqdooccck") as char;
                self.safe_local(ty)
            }
            16..19 => {
                let statement = self.statement(3);
                Node::new(Kind::Stmt, vec!["R() ".into(), statement.into()])
            }
            19..20 => {
                let list = if self.chance(6) { DEEP } else { RARE };
                Node::text(Kind::Stmt, format!("R() {}\n", self.pick(list)))
            }
            _ => {
                let vararg = self.chance(50);
                let mark = self.vars.len();
                self.functions.push(Function { vararg, loops: 0, coroutine: false });
                let body = self.statements(4, 6);
                let result = if self.chance(50) {
                    Some(self.expand(Kind::Stmt, "return $E ", 2))
                } else {
                    None
                };
                self.functions.pop();
                self.vars.truncate(mark);
                let head =
                    if vararg { "R() P(pcall(function(...)\n" } else { "R() P(pcall(function()\n" };
                let mut parts: Vec<Part> = vec![head.into(), body.into()];
                parts.extend(result.map(Part::from));
                parts.push("end".into());
                parts.push(self.expand(Kind::Fixed, ", $A))\n", 1).into());
                Node::new(Kind::Stmt, parts)
            }
        }
    }

    /// Generates a local variable of the main function whose value raises no error.
    pub(crate) fn safe_local(&mut self, ty: char) -> Node {
        let name = self.new_name(ty);
        let value = match ty {
            'c' => self.function_expr(3),
            'o' => {
                let object = self.object(3);
                Node::new(
                    Kind::Expr,
                    vec![
                        "select(2, pcall(function(...) return ".into(),
                        object.into(),
                        " end))".into(),
                    ],
                )
            }
            'k' => {
                let body = self.coroutine_body(3);
                Node::new(Kind::Expr, vec!["coroutine.create(".into(), body.into(), ")".into()])
            }
            ty => {
                let mut node = self.expr(ty, 0);
                if node.render() == "..." {
                    node = Node::text(Kind::Expr, "{}");
                }
                node
            }
        };
        self.declare(name, ty, false);
        Node::new(Kind::Stmt, vec![format!("local {name} = ").into(), value.into(), "\n".into()])
    }

    /// Generates up to `most` statements, whose declarations stay in scope.
    pub(crate) fn statements(&mut self, depth: usize, most: usize) -> Node {
        let mut parts = Vec::new();
        for _ in 0..self.range(1, most + 1) {
            if depth > 1 && self.chance(25) {
                // Continues after an error.
                let mark = self.vars.len();
                let outer = *self.function();
                self.functions.push(Function { vararg: false, loops: 0, ..outer });
                let statement = self.statement(depth - 1);
                self.functions.pop();
                self.vars.truncate(mark);
                parts.push(
                    Node::new(
                        Kind::Stmt,
                        vec!["P(pcall(function() ".into(), statement.into(), "end))\n".into()],
                    )
                    .into(),
                );
            } else {
                parts.push(self.statement(depth).into());
            }
            if self.size <= 0 {
                break;
            }
        }
        Node::new(Kind::Block, parts)
    }

    /// Generates a block, whose declarations go out of scope at its end.
    pub(crate) fn block(&mut self, depth: usize, most: usize) -> Node {
        let mark = self.vars.len();
        let node = self.statements(depth.saturating_sub(1), most);
        self.vars.truncate(mark);
        node
    }

    fn statement(&mut self, depth: usize) -> Node {
        self.size -= 1;
        if depth == 0 || self.size <= 0 {
            return self.expand(Kind::Stmt, "P($E)\n", 1);
        }
        let total = STATEMENTS.iter().map(|(w, _)| w).sum();
        let mut n = self.range(0, total);
        for (weight, how) in STATEMENTS {
            if n < *weight {
                let mut node = match how {
                    By(template) => self.expand(Kind::Stmt, template, depth - 1),
                    Of(make) => make(self, depth - 1),
                };
                node.parts.push("\n".into());
                return node;
            }
            n -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    fn local(&mut self, depth: usize) -> Node {
        let count = self.pick(&[1, 1, 1, 1, 2, 3]);
        let mut names = Vec::new();
        let mut values = Vec::new();
        for i in 0..count {
            let ty = self.any_type();
            let name = self.new_name(ty);
            let constant = self.chance(12);
            names.push((name, ty, constant));
            if i == 0 || self.chance(85) {
                if i > 0 {
                    values.push(", ".into());
                }
                values.push(self.expr(ty, depth.min(3)).into());
            }
        }
        let list: Vec<String> = names
            .iter()
            .map(|(name, _, constant)| format!("{name}{}", if *constant { " <const>" } else { "" }))
            .collect();
        let mut parts: Vec<Part> = vec![format!("local {}", list.join(", ")).into()];
        if !self.chance(4) {
            parts.push(" = ".into());
            parts.extend(values);
        }
        for (name, ty, constant) in names {
            self.declare(name, ty, constant);
        }
        Node::new(Kind::Stmt, parts)
    }

    fn assignment(&mut self, depth: usize) -> Node {
        let ty = self.pick(b"iiiffssbqdoc") as char;
        let template = match ty {
            'i' => self
                .pick(&["$wi = $i", "$wi = $@ + 1", "$wi = $@ * $i", "$wi = $@ - $i", "$wi = $i"])
                .to_owned(),
            's' => self.pick(&["$ws = $s", "$ws = K($@ .. $s)", "$ws = K($s .. $@)"]).to_owned(),
            ty => format!("$w{ty} = ${ty}"),
        };
        self.expand(Kind::Stmt, &template, depth)
    }

    /// Generates the body of a loop, with `break` and `continue`.
    fn loop_body(&mut self, depth: usize, may_continue: bool) -> Vec<Part> {
        let mark = self.vars.len();
        self.function().loops += 1;
        let mut parts: Vec<Part> = vec![" L()\n".into()];
        let label = if may_continue && self.chance(20) {
            self.labels += 1;
            let label = format!("continue{}", self.labels);
            parts
                .push(self.expand(Kind::Stmt, &format!("if $b then goto {label} end\n"), 1).into());
            Some(label)
        } else {
            None
        };
        parts.push(self.statements(depth, 4).into());
        if let Some(label) = label {
            parts.push(format!("::{label}:: ").into());
        }
        self.function().loops -= 1;
        self.vars.truncate(mark);
        parts
    }

    fn numeric_for(&mut self, depth: usize) -> Node {
        let head = self.pick(&[
            "1, $i & 7",
            "1, 3",
            "$i & 3, $i & 7",
            "3, 1, -1",
            "1, 10, 3",
            "$i, $i",
            "$i, $i, $i",
            "$n, $n, $n",
            "math.maxinteger - 2, math.maxinteger",
            "math.mininteger, math.mininteger + 2",
            "math.mininteger + 1, math.mininteger, -1",
            "1, 2, 0.5",
            "1.0, 3",
            "1, math.huge",
            "3, -math.huge, -1",
            "1, $n",
            "$*, $*",
            "1, $*",
            "$*, 3",
            "1, 3, $*",
            "math.maxinteger, math.maxinteger * 1.0",
            "1, #$s",
            "0.1, 0.5, 0.1",
            "1, 0",
            "-1, -3, -2",
            "1, 3, 0",
            "'1', 2",
            "1, (0/0)",
            "1, 2.9",
        ]);
        let name = self.new_name('i');
        let mut parts: Vec<Part> = vec![
            format!("for {name} = ").into(),
            self.expand(Kind::Fixed, head, depth.min(1)).into(),
            " do".into(),
        ];
        let mark = self.vars.len();
        self.declare(name, 'i', false);
        parts.extend(self.loop_body(depth, true));
        self.vars.truncate(mark);
        parts.push("end".into());
        Node::new(Kind::Stmt, parts)
    }

    fn generic_for(&mut self, depth: usize) -> Node {
        if self.chance(25) {
            // The order is unspecified, so the output must not depend on it.
            let template = self.pick(&[
                "do local c, s = 0, 0 for k, v in pairs($*) do L() c = c + 1 if math.type(v) == \
                 'integer' then s = s + v end end P(c, s) end",
                "do local c, s = 0, 0 for k, v in next, $* do L() c = c + 1 if math.type(v) == \
                 'integer' then s = s ~ v end end P(c, s) end",
                "do local c, t = 0, $vd for k in pairs(t) do L() t[k] = nil c = c + 1 end P(c, \
                 (next(t))) end",
                "do local c, t = 0, $vd for k, v in pairs(t) do L() rawset(t, k, $i) c = c + \
                 #type(v) end P(c, t) end",
                "do local u = {} for k, v in pairs($d) do L() u[k] = v end P(u) end",
            ]);
            return self.expand(Kind::Stmt, template, depth.min(2));
        }
        let (head, types) = self.pick(&[
            ("ipairs($vq)", "i*"),
            ("ipairs($q)", "i*"),
            ("ipairs($*)", "i*"),
            ("ipairs($o)", "i*"),
            ("string.gmatch($s, $P)", "ss"),
            ("($s):gmatch($P)", "ss"),
            ("coroutine.wrap($U)", "**"),
            (
                "coroutine.wrap($<function() for i = 1, 3 do L() coroutine.yield(i, $*) end \
                 end$>)",
                "i*",
            ),
            ("$c", "**"),
            ("$vc, $*, $*", "**"),
            ("$E", "**"),
            ("$vo", "**"),
            ("$vc($A)", "**"),
            ("$<function(s, c) B() if c < 3 then return c + 1, s end end$>, $*, 0", "i*"),
            (
                "(function(n) return function() B() n = n - 1 if n > 0 then return n end end \
                 end)(4)",
                "ii",
            ),
            (
                "$<function(s, c) B() if c < 3 then return c + 1, $* end end$>, $*, 0, \
                 setmetatable({}, {__close = $<function(v, e) B() P('closed', e) end$>})",
                "i*",
            ),
            ("utf8.codes($s)", "ii"),
            ("$c, $*, $*, $o", "**"),
            ("$<function(s, c) B() return $* end$>", "**"),
            ("next, {$*}", "i*"),
            ("pairs({[$Q] = $*})", "**"),
            ("pairs({$F = $*})", "s*"),
            ("next, {}", "**"),
        ]);
        let types: Vec<char> = types.chars().collect();
        let count = self.range(1, 4);
        let mut names: Vec<&str> = Vec::new();
        for i in 0..count {
            let ty = *types.get(i).unwrap_or(&'z');
            names.push(self.new_name(ty));
        }
        let mut parts: Vec<Part> = vec![
            format!("for {} in ", names.join(", ")).into(),
            self.expand(Kind::Fixed, head, depth.min(2)).into(),
            " do".into(),
        ];
        let mark = self.vars.len();
        for (i, name) in names.iter().enumerate() {
            let ty = *types.get(i).unwrap_or(&'z');
            self.declare(name, ty, false);
        }
        parts.extend(self.loop_body(depth, true));
        self.vars.truncate(mark);
        parts.push("end".into());
        Node::new(Kind::Stmt, parts)
    }

    fn while_loop(&mut self, depth: usize) -> Node {
        if self.chance(50) {
            let mut parts: Vec<Part> = vec!["do local i = 0 while i < 4".into()];
            if self.chance(40) {
                parts.push(self.expand(Kind::Fixed, " and $*", depth.min(2)).into());
            }
            parts.push(" do i = i + 1".into());
            let mark = self.vars.len();
            self.declare("i", 'i', false);
            parts.extend(self.loop_body(depth, true));
            self.vars.truncate(mark);
            parts.push("end end".into());
            return Node::new(Kind::Stmt, parts);
        }
        let mut parts: Vec<Part> =
            vec!["while ".into(), self.expr('b', depth.min(2)).into(), " do".into()];
        parts.extend(self.loop_body(depth, true));
        parts.push("end".into());
        Node::new(Kind::Stmt, parts)
    }

    fn repeat_loop(&mut self, depth: usize) -> Node {
        let mark = self.vars.len();
        self.function().loops += 1;
        let mut parts: Vec<Part> = vec!["repeat L()\n".into(), self.statements(depth, 4).into()];
        self.function().loops -= 1;
        parts.push("until ".into());
        parts.push(self.expr('b', depth.min(2)).into());
        self.vars.truncate(mark);
        Node::new(Kind::Stmt, parts)
    }

    fn goto_loop(&mut self, depth: usize) -> Node {
        self.labels += 1;
        let label = format!("top{}", self.labels);
        let mark = self.vars.len();
        self.declare("i", 'i', false);
        let mut parts: Vec<Part> =
            vec![format!("do local i = 0 ::{label}:: L() i = i + 1\n").into()];
        parts.push(self.block(depth, 3).into());
        if self.chance(50) {
            // A closure over a variable of each iteration.
            parts.push("local j = i G1 = function() j = j + 1 return j, i end P(G1())\n".into());
        }
        parts.push(
            self.expand(Kind::Fixed, &format!("if i < 3 and $b then goto {label} end end"), 1)
                .into(),
        );
        self.vars.truncate(mark);
        Node::new(Kind::Stmt, parts)
    }

    fn goto_out(&mut self, depth: usize) -> Node {
        self.labels += 1;
        let label = format!("out{}", self.labels);
        let mut parts: Vec<Part> = vec!["do for i = 1, 3 do L() for j = 1, 2 do L()\n".into()];
        let mark = self.vars.len();
        self.declare("i", 'i', false);
        self.declare("j", 'i', false);
        parts.push(self.block(depth, 3).into());
        parts.push(
            self.expand(
                Kind::Fixed,
                &format!("if $b then goto {label} end end end P('through') ::{label}:: end"),
                1,
            )
            .into(),
        );
        self.vars.truncate(mark);
        Node::new(Kind::Stmt, parts)
    }

    /// Generates a `break` or `return` from inside a block.
    fn leave(&mut self, depth: usize) -> Node {
        if self.function().loops > 0 && self.chance(70) {
            let template =
                self.pick(&["if $b then break end", "do break end", "if $* then P($E) break end"]);
            return self.expand(Kind::Stmt, template, depth.min(1));
        }
        let template = self.pick(&[
            "if $b then return $E end",
            "if $b then return end",
            "do return $E end",
            "if $b then return $vc($A) end",
        ]);
        self.expand(Kind::Stmt, template, depth.min(2))
    }

    fn function_statement(&mut self, depth: usize) -> Node {
        let coroutine = self.function().coroutine;
        if self.chance(60) {
            let name = self.new_name('c');
            self.declare(name, 'c', false);
            let mut parts: Vec<Part> = vec![format!("local function {name}(").into()];
            parts.extend(self.function_rest(depth, None, coroutine));
            return Node::new(Kind::Stmt, parts);
        }
        let object = self.variable('d');
        let global = self.pick(t::GLOBALS);
        let (a, b) = (self.pick(t::FIELDS), self.pick(t::FIELDS));
        let (head, this) = match self.range(0, 4) {
            0 => (format!("function {global}("), None),
            1 => (format!("function {object}.{a}("), None),
            2 => (format!("function {object}.{a}.{b}("), None),
            _ => (format!("function {object}:{a}("), Some('d')),
        };
        let mut parts: Vec<Part> = vec![head.into()];
        parts.extend(self.function_rest(depth, this, coroutine));
        Node::new(Kind::Stmt, parts)
    }

    fn coroutine_body(&mut self, depth: usize) -> Node {
        let mut parts: Vec<Part> = vec!["function(".into()];
        parts.extend(self.function_rest(depth + 1, None, true));
        Node::new(Kind::Expr, parts)
    }

    fn coroutine(&mut self, depth: usize) -> Node {
        let wrap = self.chance(35);
        let body = self.coroutine_body(depth);
        let name = self.new_name(if wrap { 'c' } else { 'k' });
        let make = if wrap { "wrap" } else { "create" };
        self.declare(name, if wrap { 'c' } else { 'k' }, false);
        let mut parts: Vec<Part> =
            vec![format!("local {name} = coroutine.{make}(").into(), body.into(), ")\n".into()];
        for _ in 0..self.range(1, 5) {
            let template = if wrap {
                self.pick(&["P(pcall($, $A))\n", "P($($A))\n"])
            } else {
                self.pick(&[
                    "P(coroutine.resume($, $A))\n",
                    "P(coroutine.resume($, $A))\n",
                    "P(coroutine.resume($, $A))\n",
                    "P(coroutine.status($))\n",
                    "P(coroutine.close($))\n",
                    "P(coroutine.isyieldable($))\n",
                    "P(pcall(coroutine.close, $), coroutine.status($))\n",
                ])
            };
            // `$` alone stands for the coroutine here.
            let template = template
                .replace("$)", &format!("{name})"))
                .replace("$,", &format!("{name},"))
                .replace("$(", &format!("{name}("));
            parts.push(self.expand(Kind::Stmt, &template, depth.min(1)).into());
        }
        Node::new(Kind::Stmt, parts)
    }

    /// Generates a program in a string.
    fn loaded(&mut self, depth: usize) -> Node {
        if self.loads > 1 {
            return self.expand(Kind::Stmt, "P(load(tostring(A($s))))", 1);
        }
        self.loads += 1;
        let equals = "=".repeat(self.loads + 2);
        let vars = std::mem::take(&mut self.vars);
        let coroutine = self.function().coroutine;
        self.functions.push(Function { vararg: true, loops: 0, coroutine });
        let body = self.block(depth, 4);
        self.functions.pop();
        self.vars = vars;
        self.loads -= 1;
        let name = self.pick(&["'=loaded'", "'@loaded.lua'", "'text'", "nil"]);
        let parts: Vec<Part> = vec![
            format!("P(pcall(assert(load([{equals}[\nlocal B, L, R, P, K, N, S, O, I, A = ...\n")
                .into(),
            body.into(),
            format!("]{equals}], {name})), B, L, R, P, K, N, S, O, I, A))").into(),
        ];
        Node::new(Kind::Stmt, parts)
    }

    /// Generates words in random order, to compare the message of the compiler.
    fn soup(&mut self, _: usize) -> Node {
        const WORDS: &[&str] = &[
            "and",
            "break",
            "do",
            "else",
            "elseif",
            "end",
            "false",
            "for",
            "function",
            "goto",
            "if",
            "in",
            "local",
            "nil",
            "not",
            "or",
            "repeat",
            "return",
            "then",
            "true",
            "until",
            "while",
            "+",
            "-",
            "*",
            "/",
            "%",
            "^",
            "#",
            "&",
            "~",
            "|",
            "<<",
            ">>",
            "//",
            "==",
            "~=",
            "<=",
            ">=",
            "<",
            ">",
            "=",
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            "::",
            ";",
            ":",
            ",",
            ".",
            "..",
            "...",
            "a",
            "b",
            "x",
            "f",
            "1",
            "2.5",
            "0x",
            "1e",
            "3x",
            "\"s\"",
            "\"",
            "::a::",
            "goto a",
            "local x <const> = 1",
            "<close>",
            "x = 1",
            "f()",
            "local a",
            "if x then",
            "end",
            "\\n",
            "return 1",
            "[[",
            "]]",
            "--",
            "'",
            "\\\\",
            "@",
            "$",
            "!",
        ];
        let mut text = String::new();
        for _ in 0..self.range(1, 9) {
            let word = self.pick(WORDS);
            text.push_str(&word.replace('\'', "\\'"));
            text.push_str(self.pick(&[" ", " ", " ", "", "\\n"]));
        }
        Node::text(Kind::Stmt, format!("P(load('{text}'))"))
    }

    /// Generates an object: a table with its own metatable.
    pub(crate) fn object(&mut self, depth: usize) -> Node {
        if depth == 0 || self.size <= 0 {
            return Node::text(Kind::Expr, self.variable('o'));
        }
        if self.chance(8) {
            return self.expand(Kind::Expr, "setmetatable({}, {__index = $vd})", 0);
        }
        let mut parts: Vec<Part> =
            vec!["setmetatable(".into(), self.expand(Kind::Expr, "$T", 1).into(), ", {".into()];
        for _ in 0..self.range(0, 7) {
            let template = self.weighted(t::METHODS);
            let mut item = self.expand(Kind::Stmt, template, (depth - 1).min(2));
            item.parts.push(", ".into());
            parts.push(item.into());
        }
        parts.push("})".into());
        Node::new(Kind::Expr, parts)
    }

    /// Generates a class with methods, perhaps a subclass, and an instance.
    fn class(&mut self, depth: usize) -> Node {
        let coroutine = self.function().coroutine;
        let mut parts: Vec<Part> = vec!["local C = {x = 1} C.__index = C\n".into()];
        self.declare("C", 'd', false);
        parts.push(
            self.expand(
                Kind::Stmt,
                "$<function C.new(x) B() return setmetatable({y = x, count = $i}, C) end$>\n",
                0,
            )
            .into(),
        );
        for _ in 0..self.range(1, 4) {
            let name = self
                .pick(&["m", "f", "next", "__add", "__concat", "__call", "__eq", "__unm", "__sub"]);
            let mut method: Vec<Part> = vec![format!("function C:{name}(").into()];
            method.extend(self.function_rest(depth.min(2), Some('o'), coroutine));
            method.push("\n".into());
            parts.push(Node::new(Kind::Stmt, method).into());
        }
        if self.chance(40) {
            parts.push(
                Node::text(
                    Kind::Stmt,
                    "C = setmetatable({name = 'sub'}, {__index = C, \
                __call = function(c, x) B() return c.new(x) end}) C.__index = C\n",
                )
                .into(),
            );
        }
        let name = self.pick(&["obj", "a", "b"]);
        parts.push(self.expand(Kind::Fixed, &format!("local {name} = C.new($*)"), 1).into());
        self.declare(name, 'o', false);
        Node::new(Kind::Stmt, parts)
    }
}
