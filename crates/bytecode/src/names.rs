//! Names of functions, from the code that makes them: for listings and profiles, where a line
//! number alone says little.
//!
//! A function has no name of its own; it is called after what its closure is first stored into.

use crate::opcode::Op;
use crate::proto::{Constant, Proto};
use crate::symbolic::register_name;

/// Names of the functions defined directly inside, by number; `None` where one is passed on without
/// a name.
pub fn inner_names(proto: &Proto) -> Vec<Option<String>> {
    let mut names = vec![None; proto.protos.len()];
    for (pc, instr) in proto.code.iter().enumerate() {
        if instr.op() == Op::Closure
            && let Some(name @ None) = names.get_mut(instr.bx())
        {
            *name = destination(proto, pc, instr.a()).map(|n| clean(&n));
        }
    }
    names
}

/// Returns where a function is defined, as messages say it: `file.lua:12`; for a main function the
/// source alone.
pub fn place(proto: &Proto) -> String {
    let source = match &proto.source {
        Some(source) => perilune_syntax::chunkid(source),
        None => b"?".to_vec(),
    };
    match proto.line_defined {
        0 => clean(&source),
        line => format!("{}:{line}", clean(&source)),
    }
}

/// Returns what the closure that the instruction at `pc` makes in register `r` goes to.
fn destination(proto: &Proto, pc: usize, r: usize) -> Option<Vec<u8>> {
    if let Some(name) = local_name(proto, pc + 1, r) {
        return Some(name);
    }
    let next = proto.code.get(pc + 1)?;
    let key = |k: usize| match proto.constants.get(k) {
        Some(Constant::Str(name)) => Some(proto.str(*name).to_vec()),
        _ => None,
    };
    match next.op() {
        Op::SetTabUp if next.c() == r => key(next.b()),
        Op::SetField if next.c() == r => {
            let field = key(next.b())?;
            match register_name(proto, pc, next.a()) {
                Some((_, table)) => Some([&table[..], b".", &field].concat()),
                None => Some(field),
            }
        }
        Op::SetUpval if next.a() == r => {
            proto.upvalues.get(next.b()).and_then(|u| u.name).map(|name| proto.str(name).to_vec())
        }
        Op::Move if next.b() == r => local_name(proto, pc + 1, next.a()),
        _ => None,
    }
}

/// Returns the variable that lives in register `r` at `pc`.
fn local_name(proto: &Proto, pc: usize, r: usize) -> Option<Vec<u8>> {
    let here = |l: &&crate::LocalDesc| {
        usize::from(l.register) == r && (l.start_pc as usize..l.end_pc as usize).contains(&pc)
    };
    let local = proto.locals.iter().rfind(here)?;
    let name = proto.str(local.name);
    (name.first() != Some(&b'(')).then(|| name.to_vec())
}

/// Text in one line.
fn clean(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "?")
}

#[cfg(test)]
mod tests {
    use super::{inner_names, place};

    #[test]
    fn after_what_they_are_stored_into() {
        let source = b"local function f() end
            local g = function() end
            g = function() end
            function h() end
            Account = {}
            function Account.new() end
            function Account:deposit() end
            local M = {}
            M.x = function() end
            local t = {field = function() end, function() end}
            local function up() h2 = function() end; f = function() end end
            print(function() end)
            return function() end";
        let proto = crate::compile_source(source, b"@names.lua", 0).ok().expect("it compiles");
        let names = inner_names(&proto);
        let names: Vec<&str> = names.iter().map(|n| n.as_deref().unwrap_or("-")).collect();
        let expect = [
            "f",
            "g",
            "g",
            "h",
            "Account.new",
            "Account.deposit",
            "M.x",
            "field",
            "-",
            "up",
            "-",
            "-",
        ];
        assert_eq!(names, expect);
        let up = &proto.protos[9];
        assert_eq!(inner_names(up), [Some("h2".to_owned()), Some("f".to_owned())]);
        assert_eq!((place(up), place(&proto)), ("names.lua:11".into(), "names.lua".into()));
    }
}
