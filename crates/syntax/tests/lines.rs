//! Lines of expressions equal the lines on which PUC reports their run-time errors.
//!
//! Each chunk fails at run time in the one expression that mentions `bad`: an index by that name
//! (of nil), a call of it, or an operator on it.

use mlua::Lua;
use perilune_syntax::ast::{Chunk, Expr, ExprId, ExprKind};
use perilune_syntax::{Arena, parse};

fn is_bad(chunk: &Chunk<'_>, id: ExprId) -> bool {
    match &chunk.exprs[id].kind {
        ExprKind::Global { name, .. } => chunk.names.text(*name) == "bad",
        ExprKind::Str(text) => *text == b"bad",
        ExprKind::Paren(inner) => is_bad(chunk, *inner),
        _ => false,
    }
}

fn fails(chunk: &Chunk<'_>, expr: &Expr<'_>) -> bool {
    match &expr.kind {
        ExprKind::Index { key, .. } => is_bad(chunk, *key),
        ExprKind::Call { callee, .. } => is_bad(chunk, *callee),
        ExprKind::MethodCall { call, .. } => chunk.names.text(call.name) == "bad",
        ExprKind::Unary { operand, .. } => is_bad(chunk, *operand),
        ExprKind::Binary { left, right, .. } => is_bad(chunk, *left) || is_bad(chunk, *right),
        _ => false,
    }
}

fn check(source: &str) {
    let message = Lua::new().load(source).set_name("=chunk").exec().unwrap_err().to_string();
    let expect =
        message.split("chunk:").nth(1).and_then(|rest| rest.split(':').next()).unwrap().to_owned();
    let arena = Arena::new();
    let chunk = parse(&arena, source.as_bytes(), b"=chunk").unwrap();
    let lines: Vec<_> = chunk
        .exprs
        .iter()
        .filter(|expr| fails(&chunk, expr))
        .map(|expr| match expr.kind {
            ExprKind::Index { .. } => expr.value_line.to_string(),
            _ => expr.line.to_string(),
        })
        .collect();
    assert_eq!(lines, [expect], "{source:?}: {message}");
}

#[test]
fn lines_of_runtime_errors() {
    for source in [
        "x = n.bad",
        "x = n\n.bad",
        "x = n\n.\nbad\n",
        "x =\nn\n.bad\n+ 1",
        "x = n.bad\n+\n1",
        "x = 1\n+\nn.bad\n",
        "x = n.bad\n.c",
        "x = n['bad'\n]",
        "x = n['bad'\n]\n",
        "x = (n.bad\n)",
        "x = (n.bad\n).c",
        "x = tostring(n.bad\n)",
        "x = tostring(n.bad\n, 1)",
        "x = tostring(1, n.bad\n\n)",
        "x = {n.bad\n}",
        "x = {n.bad\n,\n}",
        "x = {n.bad\n; 1}",
        "x = {a = n.bad\n}",
        "x = {a = n.bad\n, b = 1}",
        "x = {[n.bad\n] = 1}",
        "x = {n.bad\n,\na = 2}",
        "if n.bad\nthen end",
        "if x then elseif n.bad\nthen end",
        "while n.bad\ndo end",
        "repeat until n.bad\n",
        "for i = n.bad\n, 1 do end",
        "for i = 1, n.bad\n do end",
        "for k in n.bad\n do end",
        "return n.bad\n",
        "return n.bad\n, 1",
        "return 1, n.bad\n;",
        "local x = n.bad\n",
        "local x = n.bad\n, 1",
        "local x = not\nn.bad\n",
        "local x = n.bad\nand 1",
        "local x = y\nor\nn.bad\n",
        "local x = n.bad\n..\n'a'",
        "local x = n.bad\n==\n1",
        "bad()",
        "bad\n(\n1\n)",
        "bad\n'a'",
        "bad\n\n{\n1\n}",
        "x = bad\n\n[[\na\n]]",
        "(bad)\n(\n)",
        "t = {} t:bad\n()",
        "t = {}\nt\n:\nbad(\n)",
        "x = 1\n+\nbad",
        "x = bad\n+\n1",
        "x = -\nbad",
        "x = #\n\nbad",
        "x = ~\nbad",
        "x = 'a'\n..\nbad\n..\n'b'",
        "x = bad\n<\n1\n",
        "x = 1 <\nbad",
        "x = 2\n^\nbad",
        "function n\n.bad:c\n()\nend\n",
        "function f()\nreturn n\n.bad\nend\nf()",
        "x = n.bad\nx = 1",
        "x = n.bad\n;",
        "f = n.bad\n(1)",
        "x = n.bad\n'a'",
        "x = n.bad\n:c()",
        "x = n.bad:\nc()",
    ] {
        check(source);
    }
}
