//! Code that must not verify, with the reasons.

use std::sync::Arc;

use super::verify;
use crate::instr::Instr;
use crate::opcode::Op;
use crate::proto::{Constant, Proto, Text, UpvalDesc};

fn abc(op: Op, a: u8, b: u8, c: u8) -> Instr {
    Instr::abc(op, a, b, c)
}

fn abx(op: Op, a: u8, bx: u16) -> Instr {
    Instr::abx(op, a, bx)
}

fn jmp(distance: i32) -> Instr {
    Instr::sj(Op::Jmp, distance)
}

const RETURN: Instr = abc_const(Op::Return0);

const fn abc_const(op: Op) -> Instr {
    Instr::abc(op, 0, 0, 0)
}

fn upvalue(in_stack: bool, index: u8) -> UpvalDesc {
    UpvalDesc { name: None, in_stack, index, constant: false, itself: false }
}

fn text(len: usize) -> Text {
    Text::place(0, len).expect("a short text")
}

fn function(code: &[Instr]) -> Proto {
    Proto {
        code: code.into(),
        constants: [].into(),
        protos: [].into(),
        upvalues: Default::default(),
        lines: Default::default(),
        locals: [].into(),
        text: [b'x'; 41][..].into(),
        source: None,
        line_defined: 0,
        last_line: 0,
        num_params: 0,
        is_vararg: false,
        max_stack: 10,
        method: Default::default(),
    }
}

/// Returns a function with two parameters; constants 1, "x" and a string too long for a field name;
/// an upvalue; and an inner function that captures R1.
fn sample(code: &[Instr]) -> Proto {
    let mut inner = function(&[RETURN]);
    inner.upvalues = [upvalue(true, 1)][..].into();
    Proto {
        constants: [
            Constant::Integer(1),
            Constant::Str(text(1)),
            Constant::Str(text(41)),
            Constant::Float(1.5),
        ]
        .into(),
        upvalues: [upvalue(true, 0)][..].into(),
        protos: [Arc::new(inner)].into(),
        num_params: 2,
        ..function(code)
    }
}

fn check(code: &[Instr], expect: &str) {
    check_proto(&sample(code), expect);
}

fn check_proto(proto: &Proto, expect: &str) {
    let found = match verify(proto) {
        Ok(()) => String::from("verifies"),
        Err(e) => e.to_string(),
    };
    assert_eq!(found, expect);
}

#[test]
fn operands_exist() {
    check(&[RETURN], "verifies");
    check(&[Instr(0xff), RETURN], "no such opcode at instruction 0");
    check(&[abc(Op::Move, 10, 0, 0), RETURN], "register out of range at instruction 0");
    check(&[abc(Op::LoadNil, 8, 2, 0), RETURN], "register out of range at instruction 0");
    check(&[abc(Op::Call, 9, 1, 1), RETURN], "register out of range at instruction 0");
    check(&[abc(Op::Call, 0, 1, 12), RETURN], "register out of range at instruction 0");
    check(&[abc(Op::SelfK, 8, 0, 1), RETURN], "register out of range at instruction 0");
    check(&[abc(Op::GetUpval, 2, 1, 0), RETURN], "upvalue out of range at instruction 0");
    check(&[abx(Op::LoadK, 2, 4), RETURN], "constant out of range at instruction 0");
    check(&[abc(Op::AddK, 2, 0, 1), RETURN], "constant of the wrong type at instruction 0");
    check(&[abc(Op::BAndK, 2, 0, 3), RETURN], "constant of the wrong type at instruction 0");
    check(&[abc(Op::GetField, 2, 0, 2), RETURN], "constant of the wrong type at instruction 0");
    check(&[abc(Op::GetField, 2, 0, 1), RETURN], "verifies");
    check(&[abx(Op::Closure, 2, 1), RETURN], "function out of range at instruction 0");
    check(&[abc(Op::Concat, 0, 1, 0), RETURN], "bad operand at instruction 0");
    check(&[abc(Op::VarArg, 2, 0, 2), RETURN], "no extra arguments here at instruction 0");
}

#[test]
fn control_stays_in_the_code() {
    check(&[abc(Op::LoadTrue, 2, 0, 0)], "code ends without a return at instruction 0");
    check(&[jmp(1), RETURN], "bad jump target at instruction 0");
    check(&[jmp(-3), RETURN], "bad jump target at instruction 0");
    check(&[jmp(-1)], "verifies");
    check(&[abc(Op::LFalseSkip, 2, 0, 0), RETURN], "bad jump target at instruction 0");
    check(&[abc(Op::Test, 0, 0, 0), RETURN, RETURN], "test without a JMP at instruction 0");
    check(&[abc(Op::Test, 0, 0, 0), jmp(0), RETURN], "verifies");
    check(&[jmp(1), abc(Op::Test, 0, 0, 0), jmp(0), RETURN], "bad jump target at instruction 0");
}

#[test]
fn pairs_are_whole() {
    let extra = |n| Instr::ax(Op::ExtraArg, n);
    check(&[abx(Op::LoadKX, 2, 0), extra(1), RETURN], "verifies");
    check(&[abx(Op::LoadKX, 2, 0), extra(9), RETURN], "constant out of range at instruction 0");
    check(&[abx(Op::LoadKX, 2, 0), RETURN, RETURN], "LOADKX without an EXTRAARG at instruction 0");
    check(&[extra(0), RETURN], "EXTRAARG without its instruction at instruction 0");
    check(&[jmp(1), abx(Op::LoadKX, 2, 0), extra(1), RETURN], "bad jump target at instruction 0");
    check(&[abc(Op::TailCall, 0, 1, 0), RETURN], "TAILCALL without its RETURN at instruction 0");
    check(&[abc(Op::TailCall, 0, 1, 0), abc(Op::Return, 0, 0, 0)], "verifies");
}

#[test]
fn multiple_values_are_used_at_once() {
    check(&[abc(Op::Call, 0, 1, 0), RETURN], "a multiple value is not used at instruction 0");
    check(&[abc(Op::Return, 0, 0, 0)], "no multiple value here at instruction 0");
    check(&[abc(Op::Call, 0, 1, 0), abc(Op::Return, 0, 0, 0)], "verifies");
    check(
        &[abc(Op::Call, 0, 1, 0), abc(Op::Return, 1, 0, 0)],
        "no multiple value here at instruction 1",
    );
    check(
        &[abc(Op::Call, 1, 1, 0), abc(Op::Call, 0, 0, 1), RETURN],
        "no multiple value here at instruction 1",
    );
}

#[test]
fn registers_are_written_before_they_are_read() {
    let dead = |pc| format!("register read before it is written at instruction {pc}");
    check(&[abc(Op::Return1, 2, 0, 0)], &dead(0));
    check(&[abc(Op::Return1, 1, 0, 0)], "verifies");
    // On one path only.
    check(
        &[abc(Op::Test, 0, 0, 0), jmp(1), abc(Op::LoadTrue, 2, 0, 0), abc(Op::Return1, 2, 0, 0)],
        &dead(3),
    );
    // TESTSET sets its register only where it jumps.
    check(&[abc(Op::TestSet, 2, 0, 0), jmp(1), RETURN, abc(Op::Return1, 2, 0, 0)], "verifies");
    check(&[abc(Op::TestSet, 2, 0, 0), jmp(0), abc(Op::Return1, 2, 0, 0)], &dead(2));
    // The header of a call, and registers that the creation of a table below them releases.
    check(&[abc(Op::Call, 0, 1, 1), abc(Op::Return1, 1, 0, 0)], &dead(1));
    check(&[abc(Op::NewTable, 0, 0, 0), abc(Op::Return1, 1, 0, 0)], &dead(1));
    // The first pass through a loop finds R2 written, the second does not.
    check(
        &[abc(Op::LoadTrue, 2, 0, 0), abc(Op::Move, 3, 2, 0), abc(Op::NewTable, 1, 0, 0), jmp(-3)],
        &dead(1),
    );
}

#[test]
fn captured_registers_are_closed() {
    let capture = abx(Op::Closure, 2, 0);
    check(&[capture, RETURN], "return without close at instruction 1");
    check(&[capture, abc(Op::Return, 2, 2, 0)], "return without close at instruction 1");
    check(&[capture, abc(Op::Return, 2, 2, 1)], "verifies");
    check(&[capture, abc(Op::Close, 1, 0, 0), RETURN], "verifies");
    check(&[capture, abc(Op::Close, 2, 0, 0), RETURN], "return without close at instruction 2");
    check(
        &[capture, abc(Op::NewTable, 0, 0, 0), abc(Op::Return, 0, 1, 1)],
        "a captured register is released at instruction 1",
    );
    check(
        &[abc(Op::Tbc, 1, 0, 0), abc(Op::Tbc, 0, 0, 0), abc(Op::Return, 0, 1, 1)],
        "variables to be closed are out of order at instruction 1",
    );
    check(
        &[abc(Op::Tbc, 1, 0, 0), abc(Op::TailCall, 0, 1, 1), abc(Op::Return, 0, 0, 1)],
        "a captured register is released at instruction 1",
    );
}

#[test]
fn loops_are_whole() {
    let load = |a| Instr::asbx(Op::LoadI, a, 1);
    let numeric = |body: &[Instr]| {
        let n = body.len() as u16;
        let mut code = vec![load(2), load(3), load(4), abx(Op::ForPrep, 2, n)];
        code.extend(body);
        code.extend([abx(Op::ForLoop, 2, n + 1), RETURN]);
        code
    };
    check(&numeric(&[abc(Op::Move, 6, 5, 0)]), "verifies");
    check(
        &numeric(&[abc(Op::Move, 3, 5, 0)]),
        "the state of a loop is overwritten at instruction 4",
    );
    check(
        &numeric(&[abc(Op::Call, 1, 1, 1)]),
        "the state of a loop is overwritten at instruction 4",
    );
    let mut into = numeric(&[RETURN]);
    into[0] = jmp(3);
    check(&into, "jump into a loop at instruction 0");
    let mut other = numeric(&[RETURN]);
    other[5] = abx(Op::ForLoop, 3, 2);
    check(&other, "FORPREP without its FORLOOP at instruction 3");
    check(
        &[load(2), load(3), load(4), abx(Op::ForLoop, 2, 1), RETURN],
        "FORLOOP without its FORPREP at instruction 3",
    );
    check(
        &[abc(Op::LoadNil, 2, 3, 0), abx(Op::TForPrep, 2, 0), RETURN],
        "TFORPREP without its loop at instruction 1",
    );
}

#[test]
fn the_position_of_a_loop_is_not_read() {
    // for R[6] in R[2], R[3], R[4], R[5] do <body> end
    let generic = |body: &[Instr], after: &[Instr]| {
        let n = body.len() as u16;
        let mut code = vec![abc(Op::LoadNil, 2, 3, 0), abx(Op::TForPrep, 2, n)];
        code.extend(body);
        code.extend([abc(Op::TForCall, 2, 0, 1), abx(Op::TForLoop, 2, n + 2)]);
        code.extend([abc(Op::Close, 2, 0, 0)]);
        code.extend(after);
        code.push(RETURN);
        code
    };
    check(&generic(&[abc(Op::Move, 7, 6, 0)], &[]), "verifies");
    let unread = "register read before it is written at instruction";
    check(&generic(&[abc(Op::Move, 7, 5, 0)], &[]), &format!("{unread} 2"));
    check(&generic(&[], &[abc(Op::Move, 7, 5, 0)]), &format!("{unread} 5"));
    check(&generic(&[abc(Op::Return1, 5, 0, 0)], &[]), &format!("{unread} 2"));
    // for R[4] in R[0], R[1], R[2], R[3], where a function captures R[1]
    let captured = [
        abc(Op::LoadNil, 2, 1, 0),
        abx(Op::Closure, 7, 0),
        abx(Op::TForPrep, 0, 0),
        abc(Op::TForCall, 0, 0, 1),
        abx(Op::TForLoop, 0, 2),
        abc(Op::Close, 0, 0, 0),
        RETURN,
    ];
    check(&captured, "the state of a loop is captured at instruction 2");
}

#[test]
fn tables_fit_the_code() {
    check_proto(&function(&[]), "no code");
    let mut proto = sample(&[RETURN]);
    proto.num_params = 11;
    check_proto(&proto, "more parameters than registers");
    let mut proto = sample(&[RETURN]);
    proto.lines = [1, 2][..].into();
    check_proto(&proto, "bad line table");
    let mut proto = sample(&[RETURN]);
    proto.is_vararg = true;
    check_proto(&proto, "VARARGPREP does not match the function at instruction 0");
    let mut proto = sample(&[RETURN]);
    let mut inner = function(&[RETURN]);
    inner.upvalues = [upvalue(false, 1)][..].into();
    proto.protos = [Arc::new(inner)].into();
    check_proto(&proto, "bad upvalue source");
    let mut deep = function(&[RETURN]);
    for _ in 0..230 {
        let mut outer = function(&[RETURN]);
        outer.protos = [Arc::new(deep)].into();
        deep = outer;
    }
    check_proto(&deep, "functions nest too deeply");
}
