//! Names of functions, derived from the code that creates them, for listings and profiles, where a
//! line number alone says little.
//!
//! Lua functions are anonymous; a function is named after the variable or field into which its
//! closure is first stored.

use crate::opcode::Op;
use crate::proto::{Constant, Proto};
use crate::symbolic::register_name;

/// Returns the names of the functions defined directly inside, by number; `None` for a function
/// that is passed on without a name.
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

/// Returns where a function is defined, as messages show it: `file.lua:12`, or the source alone for
/// a main function.
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

/// Returns the name of the place into which the closure that the instruction at `pc` makes in
/// register `r` is stored.
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
                Some((_, table)) => Some([table, b".", &field].concat()),
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

/// Returns the name of the variable in register `r` at `pc`.
fn local_name(proto: &Proto, pc: usize, r: usize) -> Option<Vec<u8>> {
    let here = |l: &&crate::LocalDesc| {
        usize::from(l.register) == r && (l.start_pc as usize..l.end_pc as usize).contains(&pc)
    };
    let local = proto.locals.iter().rfind(here)?;
    let name = proto.str(local.name);
    (name.first() != Some(&b'(')).then(|| name.to_vec())
}

/// Returns text as a single line.
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
