//! Dumps of the stages of compilation, for the functions for which they are requested.

use std::fmt::Write as _;
use std::str::FromStr;

use perilune_bytecode::{Feedback, Proto, disassemble_instruction};

use super::label::Label;
use crate::feedback::snapshot::{FieldPath, Snapshot};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A stage of compiling that can be dumped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DumpKind { $($(#[$doc])* $name,)* }

        impl DumpKind {
            /// All kinds.
            pub const ALL: &'static [DumpKind] = &[$(DumpKind::$name,)*];

            /// Returns the name of the kind, as options give it.
            pub fn name(self) -> &'static str {
                match self { $(DumpKind::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// The listing of the bytecode.
    Bytecode = "bytecode",
    /// The feedback of the interpreter.
    Feedback = "feedback",
    /// The instructions that are slower than they could be, and why.
    Why = "why",
    /// The intermediate representation of tier 2, after all passes.
    Ssa = "ssa",
    /// The exits of the code, with their frame states.
    Exits = "exits",
    /// Cranelift IR as translated.
    Clif = "clif",
    /// Cranelift IR as optimized.
    ClifOpt = "clif-opt",
    /// Cranelift's listing of the machine code, with its blocks.
    Vcode = "vcode",
    /// The stencils of stitched code.
    Stencils = "stencils",
    /// The machine code as placed, with the bytecode in between.
    Asm = "asm",
}

impl std::fmt::Display for DumpKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A request for dumps of all functions or of some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRequest {
    /// The kind of dump.
    pub kind: DumpKind,
    /// The functions: a name (`fib`, `Account.deposit`, `deposit`, `main`) or a place
    /// (`fib.lua:12`). `None` means all.
    pub of: Option<String>,
}

impl DumpRequest {
    /// Returns whether the request covers the function of this name, defined at this place.
    pub fn matches(&self, name: &str, place: &str) -> bool {
        let Some(of) = &self.of else { return true };
        let is_last = |whole: &str, separator: char| {
            whole.strip_suffix(of.as_str()).is_some_and(|rest| rest.ends_with(separator))
        };
        name == of || is_last(name, '.') || place == of || is_last(place, '/')
    }
}

impl FromStr for DumpRequest {
    type Err = String;

    /// Parses `KIND` or `KIND:FUNCTION`.
    fn from_str(text: &str) -> Result<DumpRequest, String> {
        let (kind, of) = match text.split_once(':') {
            Some((kind, of)) => (kind, Some(of)),
            None => (text, None),
        };
        if of == Some("") {
            return Err(format!("'{text}' names no function"));
        }
        match DumpKind::ALL.iter().find(|k| k.name() == kind) {
            Some(&kind) => Ok(DumpRequest { kind, of: of.map(str::to_owned) }),
            None => {
                let all: Vec<&str> = DumpKind::ALL.iter().map(|k| k.name()).collect();
                Err(format!("there is no dump '{kind}' (there are {})", all.join(", ")))
            }
        }
    }
}

/// All requests of an engine.
pub(crate) struct Dumps(Box<[DumpRequest]>);

impl Dumps {
    pub(crate) fn new(requests: &[DumpRequest]) -> Dumps {
        Dumps(requests.into())
    }

    pub(crate) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(crate) fn wants(&self, kind: DumpKind, label: &Label) -> bool {
        self.0.iter().any(|r| r.kind == kind && r.matches(&label.name, &label.place))
    }
}

/// Returns the feedback of each instruction that has some, as text.
pub(crate) fn feedback(proto: &Proto, snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for (pc, instr) in proto.code.iter().enumerate() {
        let cell = snapshot.cells[pc];
        let seen = match instr.op().feedback() {
            kind @ (Feedback::Operands | Feedback::Access) => kind.describe(cell),
            Feedback::Field => match snapshot.fields.get(cell as usize) {
                Some(field) => {
                    let dictionaries = field.dictionaries.then(|| "dictionaries".to_owned());
                    let megamorphic = field.megamorphic.then(|| "megamorphic".to_owned());
                    let all = field.paths.iter().map(path).chain(dictionaries).chain(megamorphic);
                    all.collect::<Vec<_>>().join(", ")
                }
                None => continue,
            },
            Feedback::Count => format!("{cell} times"),
            Feedback::None | Feedback::Global | Feedback::Callee | Feedback::Site => continue,
        };
        let seen = if seen.is_empty() { "nothing" } else { &seen };
        let _ = writeln!(out, "{:<40} # {seen}", disassemble_instruction(proto, pc));
    }
    out
}

/// Describes an entry of a field's inline cache.
fn path(path: &FieldPath) -> String {
    let holder = |dictionary| if dictionary { "a dictionary" } else { "an object" };
    match *path {
        FieldPath::Own { shape, slot, .. } => format!("shape {shape} slot {slot}"),
        FieldPath::Absent { shape, .. } => format!("shape {shape} without it"),
        FieldPath::Chain { shape, dictionary, method, .. } => {
            let what = if method { "a Lua function " } else { "" };
            format!("shape {shape}, {what}in {} along the metatables", holder(dictionary))
        }
        FieldPath::Method { dictionary, native, .. } => {
            let what = if native { ", a native function" } else { "" };
            format!("a method of strings{what}, in {}", holder(dictionary))
        }
        FieldPath::Member { dictionary, .. } => {
            format!("a member of userdata, in {}", holder(dictionary))
        }
        FieldPath::Gain { shape, slot, .. } => format!("shape {shape} gains slot {slot}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{DumpKind, DumpRequest};

    #[test]
    fn requests() {
        let request = |text: &str| text.parse::<DumpRequest>();
        let of = |of: &str| Some(of.to_owned());
        assert_eq!(request("asm"), Ok(DumpRequest { kind: DumpKind::Asm, of: None }));
        let clif = request("clif-opt:a.lua:3").expect("it is well-formed");
        assert_eq!(clif, DumpRequest { kind: DumpKind::ClifOpt, of: of("a.lua:3") });
        assert!(clif.matches("f", "a.lua:3") && clif.matches("f", "dir/a.lua:3"));
        assert!(!clif.matches("f", "a.lua:30") && !clif.matches("f", "ba.lua:3"));
        let named = DumpRequest { kind: DumpKind::Asm, of: of("deposit") };
        assert!(named.matches("deposit", "") && named.matches("Account.deposit", ""));
        assert!(!named.matches("redeposit", ""));
        assert!(request("asm:").is_err() && request("x").is_err() && request("").is_err());
    }
}
