//! The trees of small chunks, as S-expressions.
//!
//! Locals print as `name.number`, upvalues as `^index`, globals as `@name` (`@name:env` when `_ENV`
//! is a local or shadowed), labels as `name#number`.

use perilune_syntax::ast::*;
use perilune_syntax::{Arena, parse, with_arena};

struct Printer<'c> {
    chunk: &'c Chunk<'c>,
    function: &'c Function<'c>,
}

impl Printer<'_> {
    fn local(&self, id: LocalId) -> String {
        let local = &self.function.locals[id.0 as usize];
        let mut text = format!("{}.{}", self.chunk.names.text(local.name), id.0);
        text += match local.attrib {
            Attrib::Regular => "",
            Attrib::Const => "<const>",
            Attrib::Close => "<close>",
        };
        text
    }

    fn locals(&self, ids: &[LocalId]) -> String {
        ids.iter().map(|&id| self.local(id)).collect::<Vec<_>>().join(" ")
    }

    fn label(&self, id: LabelId) -> String {
        let label = &self.function.labels[id.0 as usize];
        format!(
            "{}#{}{}",
            self.chunk.names.text(label.name),
            id.0,
            if label.used { "" } else { "?" }
        )
    }

    fn block(&self, block: &Block<'_>) -> String {
        format!(
            "[{}]",
            block.stmts.iter().map(|stmt| self.stmt(stmt)).collect::<Vec<_>>().join(" ")
        )
    }

    fn exprs(&self, ids: &[ExprId]) -> String {
        ids.iter().map(|&id| self.expr(id)).collect::<Vec<_>>().join(" ")
    }

    fn stmt(&self, stmt: &Stmt<'_>) -> String {
        match &stmt.kind {
            StmtKind::Local { locals, values } => {
                format!("(local {} = {})", self.locals(locals), self.exprs(values))
            }
            StmtKind::Assign { targets, values } => {
                format!("(set {} = {})", self.exprs(targets), self.exprs(values))
            }
            StmtKind::Call(call) => self.expr(*call),
            StmtKind::Do(body) => format!("(do {})", self.block(body)),
            StmtKind::While { cond, body, end } => {
                format!("(while {} {} {})", self.expr(*cond), self.block(body), self.label(*end))
            }
            StmtKind::Repeat { body, cond, end, .. } => {
                format!("(repeat {} {} {})", self.block(body), self.expr(*cond), self.label(*end))
            }
            StmtKind::If { arms, otherwise } => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|a| format!("{} {}", self.expr(a.cond), self.block(&a.body)))
                    .collect();
                let otherwise = otherwise
                    .as_ref()
                    .map_or(String::new(), |block| format!(" else {}", self.block(block)));
                format!("(if {}{otherwise})", arms.join(" "))
            }
            StmtKind::NumericFor(numeric) => {
                let NumericFor { state, var, start, limit, step, body, end, .. } = numeric;
                let bounds: Vec<_> = [*start, *limit].into_iter().chain(*step).collect();
                let (state, var, bounds) =
                    (self.locals(state), self.local(*var), self.exprs(&bounds));
                format!("(for {state} {var} = {bounds} {} {})", self.block(body), self.label(*end))
            }
            StmtKind::GenericFor(generic) => {
                let GenericFor { state, vars, values, body, end, .. } = generic;
                let (state, vars, values) =
                    (self.locals(state), self.locals(vars), self.exprs(values));
                format!(
                    "(for {state} {vars} in {values} {} {})",
                    self.block(body),
                    self.label(*end)
                )
            }
            StmtKind::Function { target, value } => {
                format!("(function {} = {})", self.expr(*target), self.expr(*value))
            }
            StmtKind::LocalFunction { local, func } => {
                format!("(local function {} = {})", self.local(*local), func.0)
            }
            StmtKind::Return { values } => format!("(return {})", self.exprs(values)),
            StmtKind::Goto(goto) => {
                format!("(goto {})", self.label(self.function.gotos[goto.0 as usize].label))
            }
            StmtKind::Label { label, at_block_end } => {
                format!("::{}{}::", self.label(*label), if *at_block_end { " end" } else { "" })
            }
        }
    }

    fn expr(&self, id: ExprId) -> String {
        match &self.chunk.exprs[id].kind {
            ExprKind::Nil => "nil".into(),
            ExprKind::True => "true".into(),
            ExprKind::False => "false".into(),
            ExprKind::Integer(value) => value.to_string(),
            ExprKind::Float(value) => format!("{value:?}"),
            ExprKind::Str(text) => format!("'{}'", text.escape_ascii()),
            ExprKind::Vararg => "...".into(),
            ExprKind::Function(function) => format!("function{}", function.0),
            ExprKind::Local(local) => self.local(*local),
            ExprKind::Upvalue(index) => format!("^{index}"),
            ExprKind::Global { env, name } => {
                let env = match self.expr(*env) {
                    env if env == "^0" => String::new(),
                    env => format!(":{env}"),
                };
                format!("@{}{env}", self.chunk.names.text(*name))
            }
            ExprKind::Index { object, key } => {
                format!("(. {} {})", self.expr(*object), self.expr(*key))
            }
            ExprKind::Call { callee, args } => {
                format!("(call {} [{}])", self.expr(*callee), self.exprs(args))
            }
            ExprKind::MethodCall { object, call } => {
                format!(
                    "(call {}:{} [{}])",
                    self.expr(*object),
                    self.chunk.names.text(call.name),
                    self.exprs(call.args)
                )
            }
            ExprKind::Paren(inner) => format!("(paren {})", self.expr(*inner)),
            ExprKind::Unary { op, operand } => format!("({op:?} {})", self.expr(*operand)),
            ExprKind::Binary { op, left, right } => {
                format!("({op:?} {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Table { items, .. } => {
                let items: Vec<_> = items
                    .iter()
                    .map(|item| match item {
                        TableItem::Positional(value) => self.expr(*value),
                        TableItem::Keyed { key, value } => {
                            format!("{}={}", self.expr(*key), self.expr(*value))
                        }
                    })
                    .collect();
                format!("{{{}}}", items.join(" "))
            }
        }
    }

    /// Header of a function, and what is known of its variables, then its body.
    fn function(&self) -> String {
        let function = self.function;
        let mut text = format!(
            "({}{})",
            self.locals(&function.params),
            if function.is_vararg { " ..." } else { "" }
        );
        for upvalue in function.upvalues {
            let source = match upvalue.source {
                UpvalueSource::ParentLocal(local) => format!("local {}", local.0),
                UpvalueSource::ParentUpvalue(index) => format!("^{index}"),
            };
            text += &format!(" {}={source}", self.chunk.names.text(upvalue.name));
        }
        let flags = |kind: &str, test: fn(&LocalVar) -> bool| {
            let marked = function.locals.iter().enumerate().filter(|(_, local)| test(local));
            let marked: Vec<_> = marked.map(|(index, _)| index.to_string()).collect();
            if marked.is_empty() { String::new() } else { format!(" {kind}: {}", marked.join(" ")) }
        };
        text += &flags("captured", |local| local.captured);
        text += &flags("reassigned", |local| local.reassigned);
        format!("{text} {}", self.block(&function.body))
    }
}

/// Compares the chunk's functions, one a line; the main function's header is left out where it is
/// plain.
fn check(source: &str, expect: &str) {
    let arena = Arena::new();
    let chunk = parse(&arena, source.as_bytes(), b"=chunk")
        .unwrap_or_else(|e| panic!("{}", e.message.escape_ascii()));
    let functions =
        chunk.functions.iter().map(|function| Printer { chunk: &chunk, function }.function());
    let text = functions.collect::<Vec<_>>().join("\n");
    let text = text.strip_prefix("( ...) _ENV=^0 ").unwrap_or(&text);
    assert_eq!(text, expect, "{source}");
}

#[test]
fn literals() {
    check("return nil, true, false, 1, 1.0, 0x10, 1e2", "[(return nil true false 1 1.0 16 100.0)]");
    check("return 'a\\n\\65\\x41\\z  b', [[\nx\r\ny]]", "[(return 'a\\nAAb' 'x\\ny')]");
    check(
        "return '\\u{7fffffff}', \"'\\\"\", '\\\r\nx'",
        "[(return '\\xfd\\xbf\\xbf\\xbf\\xbf\\xbf' '\\'\\\"' '\\nx')]",
    );
    check("return [==[]]]=]]==], [[]]", "[(return ']]]=]' '')]");
    check("--[==[\n]]]==] return --x\n1 --", "[(return 1)]");
    check("return {1, a=2, ['b']=3; 4, f(), ...}", "[(return {1 'a'=2 'b'=3 4 (call @f []) ...})]");
}

#[test]
fn operators() {
    check("return 1+2*3^4^-5", "[(return (Add 1 (Mul 2 (Pow 3 (Pow 4 (Neg 5))))))]");
    check("return -2^2, not 1 == 2", "[(return (Neg (Pow 2 2)) (Eq (Not 1) 2))]");
    check("return 1 ..2 ..3", "[(return (Concat 1 (Concat 2 3)))]");
    check("return a or b and c < d", "[(return (Or @a (And @b (Lt @c @d))))]");
    check("return 1|2~3&4<<5+6", "[(return (BOr 1 (BXor 2 (BAnd 3 (Shl 4 (Add 5 6))))))]");
    check("return 1-2-3, 7//2%3/4", "[(return (Sub (Sub 1 2) 3) (Div (Mod (IDiv 7 2) 3) 4))]");
    check(
        "return a<b<c, #a..~b, 1>>2",
        "[(return (Lt (Lt @a @b) @c) (Concat (Len @a) (BNot @b)) (Shr 1 2))]",
    );
    check("return a>b, a>=b, a<=b, a~=b", "[(return (Gt @a @b) (Ge @a @b) (Le @a @b) (Ne @a @b))]");
}

#[test]
fn chains() {
    check(
        "a.b['c'].d:e(1):f'x'{}()",
        "[(call (call (call (call (. (. (. @a 'b') 'c') 'd'):e [1]):f ['x']) [{}]) [])]",
    );
    check(
        "return (a), ((a.b)), (f()), (1), (...), ((f)())",
        "[(return (paren @a) (paren (. @a 'b')) (paren (call @f [])) 1 (paren ...) (paren (call \
         (paren @f) [])))]",
    );
    check("return (a + b)(c)", "[(return (call (Add @a @b) [@c]))]");
    check("f(g(), (h()))", "[(call @f [(call @g []) (paren (call @h []))])]");
    check("('x'):rep(3)", "[(call 'x':rep [3])]");
}

#[test]
fn statements() {
    check("local a, b <const>, c <close> = 1, a", "[(local a.0 b.1<const> c.2<close> = 1 @a)]");
    check("local a = a local a = a", "[(local a.0 = @a) (local a.1 = a.0)]");
    check("a, b.c, d[1] = f()", "[(set @a (. @b 'c') (. @d 1) = (call @f []))]");
    check("do local a end a = 1; ;", "[(do [(local a.0 = )]) (set @a = 1)]");
    check("while a do break end", "[(while @a [(goto break#0)] break#0)]");
    check("repeat local a until a", "[(repeat [(local a.0 = )] a.0 break#0?)]");
    check(
        "if a then elseif b then f() else g() end",
        "[(if @a [] @b [(call @f [])] else [(call @g [])])]",
    );
    check("if a then break_ = 1 end", "[(if @a [(set @break_ = 1)])]");
    check(
        "for i = 1, 2 do local x = i end",
        "[(for (for state).0 (for state).1 (for state).2 i.3 = 1 2 [(local x.4 = i.3)] break#0?)]",
    );
    check(
        "for i = i, 2, 3 do end",
        "[(for (for state).0 (for state).1 (for state).2 i.3 = @i 2 3 [] break#0?)]",
    );
    check(
        "for k, v in k, v do if v then break; end end",
        "[(for (for state).0 (for state).1 (for state).2 (for state).3 k.4 v.5 in @k @v [(if v.5 \
         [(goto break#0)])] break#0)]",
    );
    check("return", "[(return )]");
    check("return f();", "[(return (call @f []))]");
}

#[test]
fn functions_and_upvalues() {
    check(
        "local function f() return f end",
        "captured: 0 [(local function f.0 = 1)]\n() f=local 0 [(return ^0)]",
    );
    check(
        "local f = function() return f end",
        "[(local f.0 = function1)]\n() _ENV=^0 [(return @f)]",
    );
    check(
        "function a.b:c(x, ...) return self, x, ... end",
        "[(function (. (. @a 'b') 'c') = function1)]\n(self.0 x.1 ...) [(return self.0 x.1 ...)]",
    );
    check(
        "local a, b, c function f() b = 1 return function() return c, a, b, x end end",
        "captured: 0 1 2 reassigned: 1 [(local a.0 b.1 c.2 = ) (function @f = function1)]\n\
         () b=local 1 c=local 2 a=local 0 _ENV=^0 [(set ^0 = 1) (return function2)]\n\
         () c=^1 a=^2 b=^0 _ENV=^3 [(return ^0 ^1 ^2 @x:^3)]",
    );
    check(
        "local x local function g() x = 1 end local function h() return function() x = 2 end end x \
         = g",
        "captured: 0 reassigned: 0 [(local x.0 = ) (local function g.1 = 1) (local function h.2 = \
         2) (set x.0 = g.1)]\n\
         () x=local 0 [(set ^0 = 1)]\n() x=local 0 [(return function3)]\n() x=^0 [(set ^0 = 2)]",
    );
    check(
        "local f function f() end",
        "reassigned: 0 [(local f.0 = ) (function f.0 = function1)]\n() []",
    );
    check(
        "local x, y; x = 1 y.z = 1",
        "reassigned: 0 [(local x.0 y.1 = ) (set x.0 = 1) (set (. y.1 'z') = 1)]",
    );
}

#[test]
fn environments() {
    check("local _ENV = {} x = y", "[(local _ENV.0 = {}) (set @x:_ENV.0 = @y:_ENV.0)]");
    check(
        "local _ENV = {} function f() return x end",
        "captured: 0 [(local _ENV.0 = {}) (function @f:_ENV.0 = function1)]\n() _ENV=local 0 \
         [(return @x)]",
    );
    check(
        "function f(_ENV) return x end",
        "[(function @f = function1)]\n(_ENV.0) [(return @x:_ENV.0)]",
    );
    check("return _ENV, _ENV.x", "[(return ^0 (. ^0 'x'))]");
    check("_ENV = 1", "[(set ^0 = 1)]");
}

#[test]
fn jumps() {
    check("goto a ::a::", "[(goto a#0) ::a#0 end::]");
    check("::a:: goto a", "[::a#0:: (goto a#0)]");
    check("::a:: ::b:: ; ::c:: goto b", "[::a#2?:: ::b#1:: ::c#0?:: (goto b#1)]");
    check(
        "do goto a; local x ::a:: ; ::b:: end",
        "[(do [(goto a#1) (local x.0 = ) ::a#1 end:: ::b#0? end::])]",
    );
    check("repeat local x ::a:: until x", "[(repeat [(local x.0 = ) ::a#0?::] x.0 break#1?)]");
    check(
        "while a do while b do break end break end",
        "[(while @a [(while @b [(goto break#0)] break#0) (goto break#1)] break#1)]",
    );
    check(
        "while a do if b then goto c end ::c:: end",
        "[(while @a [(if @b [(goto c#0)]) ::c#0 end::] break#1?)]",
    );
    check("do ::a:: end do ::a:: goto a end", "[(do [::a#0? end::]) (do [::a#1:: (goto a#1)])]");
}

#[test]
fn lines_of_functions() {
    let arena = Arena::new();
    let chunk = parse(
        &arena,
        b"\nlocal function\nf\n()\n\nend\nfunction g\n()\nend x = function\n(\n)\nend\n\n\n",
        b"=chunk",
    )
    .unwrap();
    let lines: Vec<_> =
        chunk.functions.iter().map(|f| (f.line_defined, f.last_line, f.end_line)).collect();
    assert_eq!(lines, [(0, 0, 12), (4, 6, 6), (7, 9, 9), (10, 12, 12)]);
    let parents: Vec<_> = chunk.functions.iter().map(|f| f.parent.map(|id| id.0)).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(0)]);
}

#[test]
fn spans_and_incompleteness() {
    let source = b"x = f(a . b) + (1)";
    let arena = Arena::new();
    let chunk = parse(&arena, source, b"=chunk").unwrap();
    let text = |expr: &Expr<'_>| {
        std::str::from_utf8(&source[expr.span.start as usize..expr.span.end as usize]).unwrap()
    };
    let calls = chunk
        .exprs
        .iter()
        .filter(|e| matches!(e.kind, ExprKind::Call { .. } | ExprKind::Index { .. }));
    assert_eq!(calls.map(text).collect::<Vec<_>>(), ["a . b", "f(a . b)"]);
    let sum = chunk.exprs.iter().find(|e| matches!(e.kind, ExprKind::Binary { .. })).unwrap();
    assert_eq!(text(sum), "f(a . b) + (1)");

    let incomplete = |source: &[u8]| {
        with_arena(|arena| parse(arena, source, b"=stdin").err().unwrap().incomplete)
    };
    for source in
        ["x = ", "if x then", "x = [[", "f(", "x = 'a", "--[[", "goto", "for i = 1, 2 do\n"]
    {
        assert!(incomplete(source.as_bytes()), "{source}");
    }
    for source in ["x = )", "x = 'a\n", "break", "goto x", "x = 3x", "x = '<eof>' '", "x = '\\q"] {
        let expect = source.ends_with(" '");
        assert_eq!(incomplete(source.as_bytes()), expect, "{source}");
    }
}
