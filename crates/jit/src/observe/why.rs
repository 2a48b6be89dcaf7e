//! Explains why the code of a function is slower than it could be.

use std::fmt::Write as _;

use perilune_bytecode::feedback::{access, operands};
use perilune_bytecode::{Feedback, Op, Proto, disassemble_instruction};

use crate::feedback::snapshot::{CalleeSeen, FieldPath, FieldSnapshot, Snapshot};
use crate::policy::hotness::Loops;

/// Returns the instructions of a function whose code is slower than that of others of their kind,
/// each with the reason.
pub(crate) fn text(proto: &Proto, snapshot: &Snapshot) -> String {
    let mut out = String::new();
    if snapshot.general {
        out.push_str("the code speculates on nothing, as it has exited too often\n");
    }
    lines(&mut out, proto, snapshot, 0);
    if out.is_empty() {
        out.push_str("nothing is known that makes it slow\n");
    }
    out
}

fn lines(out: &mut String, proto: &Proto, snapshot: &Snapshot, depth: usize) {
    let loops = Loops::of(&proto.code);
    for pc in 0..proto.code.len() {
        let reasons = reasons(proto, snapshot, pc, loops.contain(pc as u32));
        let mut inner = String::new();
        for inlinee in snapshot.inlinees.get(&(pc as u32)).into_iter().flatten() {
            if let Some(proto) = inlinee.proto.upgrade() {
                lines(&mut inner, &proto, &inlinee.snapshot, depth + 1);
            }
        }
        if reasons.is_empty() && inner.is_empty() {
            continue;
        }
        let reasons = match reasons.is_empty() {
            true => "is inlined".to_owned(),
            false => reasons.join("; "),
        };
        let instruction = disassemble_instruction(proto, pc);
        let _ = writeln!(out, "{:indent$}{instruction:<44} # {reasons}", "", indent = 2 * depth);
        out.push_str(&inner);
    }
}

/// Returns why an instruction is slow.
fn reasons(proto: &Proto, snapshot: &Snapshot, pc: usize, in_loop: bool) -> Vec<String> {
    let op = proto.code[pc].op();
    let cell = snapshot.cells[pc];
    let mut found = Vec::new();
    if snapshot.failed.contains(&(pc as u32)) {
        found.push("code has exited here, and does not speculate any more".to_owned());
    }
    match op.feedback() {
        Feedback::Field => {
            if let Some(field) = snapshot.fields.get(cell as usize) {
                found.extend(of_field(field));
                let why = "looks the name up in tables that have no shape";
                found.extend(field.dictionaries.then(|| why.to_owned()));
            }
        }
        Feedback::Callee => match snapshot.callees.get(cell as usize) {
            Some(CalleeSeen::LuaFirst | CalleeSeen::Several) => {
                let inlined = snapshot.inlinees.get(&(pc as u32)).map_or(0, Vec::len);
                found.push(match inlined {
                    0 => "has called more than one function".to_owned(),
                    _ => {
                        format!("has called more than one function, of which {inlined} are inlined")
                    }
                });
                let why = snapshot.not_inlined.get(pc as u32);
                found.extend(why.map(|why| format!("one is not inlined: {why}")));
            }
            Some(CalleeSeen::Lua) => {
                let instr = proto.code[pc];
                let is_inlined = snapshot.inlinees.contains_key(&(pc as u32));
                let is_open = op == Op::Call && (instr.b() == 0 || instr.c() == 0) && !is_inlined;
                let open = is_open.then_some("values vary in number");
                let why = snapshot.not_inlined.get(pc as u32).or(open);
                found.extend(why.map(|why| format!("is not inlined: {why}")));
                let mut inlined = snapshot.inlinees.get(&(pc as u32)).into_iter().flatten();
                if inlined.any(|inlinee| inlinee.is_early) {
                    found.push("only the early returns are inlined".to_owned());
                }
            }
            Some(CalleeSeen::Object) if !snapshot.inlinees.contains_key(&(pc as u32)) => {
                found.push("calls an object with __call".to_owned());
            }
            Some(CalleeSeen::Native) => found.push("calls a native function".to_owned()),
            _ => {}
        },
        Feedback::Operands if cell & operands::OTHER != 0 => {
            let is_inlined = snapshot.inlinees.contains_key(&(pc as u32));
            if !is_inlined {
                found.push("has met operands that are not numbers".to_owned());
            }
        }
        Feedback::Operands if cell & operands::INT != 0 && cell & operands::FLOAT != 0 => {
            found.push("has met integers and floats".to_owned());
        }
        Feedback::Access
            if cell & (access::ARRAY | access::INTEGRAL) == 0 && cell & access::ALL != 0 =>
        {
            found.push("looks keys up in the hash part, or asks metatables".to_owned());
        }
        _ => {}
    }
    if snapshot.handlers.contains_key(&(pc as u32)) {
        let why = snapshot.not_inlined.get(pc as u32);
        found.extend(why.map(|why| format!("the metamethod is not inlined: {why}")));
    }
    if in_loop && matches!(op, Op::NewTable | Op::Closure | Op::Concat | Op::VarArg) {
        found.push("allocates in a loop".to_owned());
    }
    found
}

/// Returns why an access to a field is slow.
fn of_field(field: &FieldSnapshot) -> Option<String> {
    let is_dictionary = |path: &FieldPath| {
        matches!(
            path,
            FieldPath::Chain { dictionary: true, .. }
                | FieldPath::Method { dictionary: true, .. }
                | FieldPath::Member { dictionary: true, .. }
        )
    };
    if field.is_megamorphic() {
        return Some("is megamorphic".to_owned());
    }
    match &*field.paths {
        [] => None,
        [path] if is_dictionary(path) => Some("finds the field in a dictionary".to_owned()),
        [_] => None,
        paths => Some(format!("is polymorphic: {} shapes", paths.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;
    use crate::feedback::snapshot::Slot;

    #[test]
    fn reasons_are_given_where_they_hold() {
        let proto = listing::compile("local f, t = ... for i = 1, 2 do t.x = f{} end return t.x");
        let mut snapshot = Snapshot::before_run(&proto);
        let none = "nothing is known that makes it slow\n";
        assert_ne!(text(&proto, &snapshot), none, "it allocates");
        let at = |op| proto.code.iter().position(|i| i.op() == op).expect("it is there");
        let field = snapshot.cells[at(Op::GetField)] as usize;
        let own = |shape| FieldPath::Own {
            shape,
            slot: Slot { number: 0, is_inline: true },
            absent: None,
        };
        snapshot.fields[field].paths = vec![own(1), own(2)];
        snapshot.callees[snapshot.cells[at(Op::Call)] as usize] = CalleeSeen::Lua;
        snapshot.not_inlined.note(at(Op::Call) as u32, "the function is too long");
        snapshot.failed.insert(at(Op::SetField) as u32);
        let lines = text(&proto, &snapshot);
        let reason = |op: &str| {
            let mut lines = lines.lines().filter(|line| line.contains(op));
            Some(lines.next()?.split_once("# ")?.1.to_owned())
        };
        assert_eq!(reason("NEWTABLE").as_deref(), Some("allocates in a loop"));
        assert_eq!(reason("GETFIELD").as_deref(), Some("is polymorphic: 2 shapes"));
        let inlined = reason("CALL");
        assert_eq!(inlined.as_deref(), Some("is not inlined: the function is too long"));
        let failed = reason("SETFIELD");
        assert_eq!(
            failed.as_deref(),
            Some("code has exited here, and does not speculate any more")
        );
        let quiet = listing::compile("local a, b = ... return a + b");
        assert_eq!(text(&quiet, &Snapshot::before_run(&quiet)), none);
    }
}
