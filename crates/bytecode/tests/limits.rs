//! Deep chains, large functions, limits of the instruction format.

mod support;

use std::sync::Arc;

use perilune_syntax::{parse, with_arena};

/// Runs with less native stack than any thread of a program has.
fn with_small_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(f);
    thread.expect("a thread").join().expect("no panic");
}

fn error(source: &str) -> String {
    with_arena(|arena| {
        let chunk = parse(arena, source.as_bytes(), b"=test").expect("source parses");
        match perilune_bytecode::compile(&chunk, Arc::from(&b"=test"[..])) {
            Ok(_) => panic!("compiles"),
            Err(e) => e.to_string(),
        }
    })
}

#[test]
fn chains_of_a_megabyte_need_no_stack() {
    with_small_stack(|| {
        let chain = |first: &str, rest: &str| {
            let source = format!("return {first}{}", rest.repeat(1_000_000 / rest.len()));
            support::compile(source.as_bytes(), "chain")
        };
        // Folded to one constant.
        assert_eq!(chain("1", "+1").code.len(), 4);
        chain("x", "+x");
        chain("x", "-1.5");
        chain("a", ".b");
        chain("a", "[1]");
        chain("f", "()");
        chain("o", ":m(1)");
        chain("f", "{}");
        chain("a", " and a");
        chain("a", " or a");
        chain("a", "==a");
    });
}

#[test]
fn concatenations_nest_as_deep_as_the_parser_allows() {
    with_small_stack(|| {
        let source = format!("return x{}", "..x".repeat(180));
        let proto = support::compile(source.as_bytes(), "concat");
        assert_eq!(proto.max_stack, 181);
        let parens = format!("return {}x{}", "(".repeat(180), ")".repeat(180));
        support::compile(parens.as_bytes(), "parens");
        let tables = format!("return {}{}", "{".repeat(180), "}".repeat(180));
        support::compile(tables.as_bytes(), "tables");
        let functions = format!("{}{}", "return function() ".repeat(60), " end".repeat(60));
        support::check_round_trip(&support::compile(functions.as_bytes(), "functions"));
    });
}

#[test]
fn many_statements() {
    with_small_stack(|| {
        let gotos = format!("while x do {} end", "if a then break end ".repeat(20_000));
        support::compile(gotos.as_bytes(), "breaks");
        let arms = format!("if a then {} end", "elseif a then b() ".repeat(50_000));
        support::compile(arms.as_bytes(), "arms");
    });
}

#[test]
fn more_than_65536_constants() {
    let mut source = String::from("local t = {\n");
    for i in 0..70_000 {
        source.push_str(&format!("{}.5,\n", i));
    }
    source.push_str("} return t.a, t:b(), c, -t");
    let proto = support::compile(source.as_bytes(), "constants");
    assert_eq!(proto.constants.len(), 70_003);
    support::check_round_trip(&proto);
}

#[test]
fn too_many_registers() {
    let args = "a, ".repeat(260);
    assert_eq!(
        error(&format!("\nf({args}a)")),
        "test:2: function or expression needs too many registers"
    );
    let locals: String = (0..200).map(|i| format!("local a{i} ")).collect();
    assert_eq!(
        error(&format!("{locals}\nreturn f({}1)", "1, ".repeat(60))),
        "test:2: function or expression needs too many registers"
    );
}

#[test]
fn too_long_a_loop() {
    let body = "a = 1 ".repeat(70_000);
    assert_eq!(error(&format!("for i = 1, 2 do {body} end")), "test:1: control structure too long");
    support::compile(format!("while x do {body} end").as_bytes(), "while");
    for head in ["for i = 1, 2 do", "for k in x do"] {
        let source = format!("{head}\n{body}\nif x then end\n\nend\n");
        let error = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0).err();
        let message = error.expect("too long").message;
        assert_eq!(message, b"test:5: control structure too long near 'end'");
    }
}

/// Returns a function that uses `count` outer variables with the attribute `const` and this value.
fn uses_constants(count: usize, value: &str) -> String {
    let variables = |range: std::ops::Range<usize>| -> String {
        range.map(|i| format!("local a{i} <const> = {value} ")).collect()
    };
    let uses: String = (0..count).map(|i| format!("+ a{i} ")).collect();
    format!(
        "{}return function() {}return function() return 0 {uses}end end",
        variables(0..150),
        variables(150..count)
    )
}

#[test]
fn constants_are_no_upvalues() {
    let proto = support::compile(uses_constants(300, "1").as_bytes(), "constants");
    assert_eq!(proto.protos[0].protos[0].upvalues.len(), 0);
    let proto = support::compile(uses_constants(255, "#''").as_bytes(), "variables");
    assert_eq!(proto.protos[0].protos[0].upvalues.len(), 255);
    assert_eq!(error(&uses_constants(256, "#''")), "test:1: too many upvalues (limit is 255)");
}
