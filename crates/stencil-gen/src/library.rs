//! Writes the stencils of all opcodes as a table in Rust, with a listing.
//!
//! An opcode whose definition needs a native frame, or which has no definition, gets a stencil that
//! leaves the instruction to its handler.

use std::fmt::Write as _;

use cranelift_codegen::ir::Function;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use perilune_bytecode::Op;
use perilune_bytecode::flow::is_test;
use perilune_semantics::{
    Condition, Emitter, Field, Jump, Speculation, carried, carries, condition, define, parts,
    speculations,
};

use crate::compile::{Compiler, compile, compile_function};
use crate::compiled::Compiled;
use crate::extracted::{Extracted, Part, Patch};
use crate::stencil::{Hole, Stencil, Variant};
use crate::symbol::{Route, Symbol};

/// The subject of a stencil.
#[derive(Clone, Debug)]
enum Subject {
    /// An instruction that is executed by its definition.
    Defined {
        op: Op,
        variant: Variant,
        /// Whether those parts of the definition that need no native frame are emitted in place.
        whole: bool,
    },
    /// An instruction that is left to its handler.
    Left(Op),
    /// The beginning of a function.
    Prologue,
}

impl Subject {
    fn variant(&self) -> Variant {
        match self {
            Subject::Defined { variant, .. } => variant.clone(),
            Subject::Left(_) | Subject::Prologue => Variant::GENERAL,
        }
    }

    /// Returns the jump that can be left out at the end of the code.
    fn falls(&self) -> Option<Jump> {
        match self {
            // The jump after a test is emitted elsewhere.
            Subject::Defined { op, .. } if is_test(*op) => Some(Jump::Skip),
            Subject::Defined { .. } | Subject::Left(_) => Some(Jump::Next),
            // The offsets of the code lie between the prologue and the first instruction.
            Subject::Prologue => None,
        }
    }
}

/// Returns the parts of a definition, except the first, that need no native frame.
fn frameless(compiler: &Compiler, op: Op) -> Vec<usize> {
    let needs_none = |&part: &usize| {
        compile(compiler, Symbol::Handler(op, part)).is_ok_and(|c| !compiler.target.needs_frame(&c))
    };
    (1..parts(op)).filter(needs_none).collect()
}

fn build(
    func: &mut Function,
    compiler: &Compiler,
    subject: &Subject,
    frameless: &[usize],
    raised: Option<(Hole, i32)>,
) {
    let variant = subject.variant();
    func.signature = variant.signature();
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(func, &mut context);
    let op = match *subject {
        Subject::Defined { op, .. } | Subject::Left(op) => Some(op),
        Subject::Prologue => None,
    };
    let form = Stencil::new(&mut b, op, variant, frameless.to_vec(), raised, compiler.target);
    let mut e = Emitter::new(b, form, define);
    match *subject {
        Subject::Defined { op, .. } => define(&mut e, op, 0),
        Subject::Left(op) => e.form.leave(&mut e.b, Route::Handler(op, 0)),
        Subject::Prologue => e.form.prologue(&mut e.b),
    }
    e.finish(compiler.isa.frontend_config());
}

fn stencil(
    compiler: &Compiler,
    label: &str,
    subject: &Subject,
) -> Result<Option<Extracted>, String> {
    let frameless = match *subject {
        Subject::Defined { op, whole: true, .. } => frameless(compiler, op),
        _ => Vec::new(),
    };
    let compile = |raised| -> Result<Compiled, String> {
        compile_function(compiler, label, |func| build(func, compiler, subject, &frameless, raised))
    };
    compiler.target.extract(label, subject.falls(), &compile)
}

/// Returns the general stencil of an instruction, which contains the part of its definition that
/// needs no native frame.
fn general(compiler: &Compiler, op: Op, variant: &Variant) -> Result<Extracted, String> {
    let mut subjects = vec![Subject::Left(op)];
    if parts(op) > 0 {
        subjects.extend([false, true].map(|whole| Subject::Defined {
            op,
            variant: variant.clone(),
            whole,
        }));
    }
    for subject in subjects.iter().rev() {
        if let Some(found) = stencil(compiler, op.name(), subject)? {
            return Ok(found);
        }
    }
    Err(format!("{}: a frame to leave by", op.name()))
}

/// Returns the stencil of a variant that speculates.
fn speculative(compiler: &Compiler, op: Op, variant: &Variant) -> Result<Extracted, String> {
    let subject = Subject::Defined { op, variant: variant.clone(), whole: false };
    let found = stencil(compiler, op.name(), &subject)?;
    found.ok_or_else(|| format!("{}: a frame for {variant:?}", op.name()))
}

/// The variants of an instruction that differ in its jump: by the direction, and by operand C of a
/// test.
const JUMPING: [(bool, bool, &str); 4] =
    [(false, false, ""), (true, false, "_BACK"), (false, true, "_IF"), (true, true, "_IF_BACK")];

/// Writes the stencils of one variant for all kinds of jumps. Returns the list of them.
fn family(
    out: &mut String,
    name: &str,
    op: Op,
    new: impl Fn(bool, bool) -> Result<Extracted, String>,
) -> Result<String, String> {
    let mut written: Vec<(String, String)> = Vec::new();
    let mut list = Vec::new();
    for (backwards, wanted, suffix) in JUMPING {
        let varies = is_test(op) || (op == Op::Jmp && !wanted);
        if suffix.is_empty() || varies {
            let text = text(&new(backwards, wanted)?)?;
            if let Some((name, _)) = written.iter().find(|(_, other)| *other == text) {
                list.push(name.clone());
                continue;
            }
            let name = format!("{name}{suffix}");
            item(out, &name, &text);
            written.push((name.clone(), text));
            list.push(name);
        } else {
            // The same as without this operand.
            let same = if op == Op::Jmp { usize::from(backwards) } else { 0 };
            list.push(list[same].clone());
        }
    }
    let list: Vec<String> = list.iter().map(|name| format!("&{name}")).collect();
    Ok(format!("[{}]", list.join(", ")))
}

/// Returns the sets of operands whose values may be in the machine register.
fn carrying(op: Op, speculation: Speculation) -> Vec<Vec<Field>> {
    let fields = carried(op, speculation);
    let mut sets = vec![Vec::new()];
    sets.extend(fields.iter().map(|&field| vec![field]));
    if fields.len() > 1 && !is_test(op) {
        sets.push(fields.to_vec());
    }
    sets
}

/// Returns the table as the text of a module.
pub(crate) fn library(compiler: &Compiler) -> Result<String, String> {
    let mut out = format!(
        "// The stencils for {}. Generated by `cargo xtask generate` from the definitions in\n\
         // crates/semantics; do not edit.\n\n",
        compiler.target.title()
    );
    let mut leaving = String::new();
    let (mut general_variants, mut speculative_variants) = (String::new(), String::new());
    for &op in Op::ALL {
        let list = family(&mut out, op.name(), op, |backwards, wanted| {
            general(compiler, op, &Variant { backwards, wanted, ..Variant::GENERAL })
        })?;
        let _ = writeln!(general_variants, "    {list},");
        let _ = writeln!(speculative_variants, "    &[");
        if !speculations(op).is_empty() || compiler.target.has_small_holes() {
            let left = stencil(compiler, op.name(), &Subject::Left(op))?;
            let left = left.ok_or_else(|| format!("{}: a frame to leave by", op.name()))?;
            item(&mut out, &format!("{}_LEFT", op.name()), &text(&left)?);
            let _ = writeln!(leaving, "    &{}_LEFT,", op.name());
        }
        for &speculation in speculations(op) {
            for fields in carrying(op, speculation) {
                let variant = write_speculative(&mut out, compiler, op, speculation, &fields)?;
                speculative_variants.push_str(&variant);
            }
        }
        let _ = writeln!(speculative_variants, "    ],");
    }
    let prologue = stencil(compiler, "PROLOGUE", &Subject::Prologue)?;
    item(&mut out, "PROLOGUE", &text(&prologue.ok_or("PROLOGUE: a frame")?)?);
    let _ = writeln!(
        out,
        "/// By opcode: the general variants, for jumps ahead and back while operand C is 0, and\n\
         /// while it is 1.\n\
         pub(in crate::baseline) static STENCILS: [[&Stencil; 4]; {}] = [\n{general_variants}];\n",
        Op::COUNT
    );
    let _ = writeln!(
        out,
        "/// By opcode: the variants that speculate.\n\
         pub(in crate::baseline) static SPECULATIVE: [&[Speculative]; {}] = \
         [\n{speculative_variants}];",
        Op::COUNT
    );
    if compiler.target.has_small_holes() {
        let _ = writeln!(
            out,
            "\n/// By opcode, for operands that do not fit into the holes of the other stencils.\n\
             pub(in crate::baseline) static LEAVING: [&Stencil; {}] = [\n{leaving}];",
            Op::COUNT
        );
    }
    Ok(out)
}

/// Writes the stencils of a variant that speculates and whose operands `fields` are in the machine
/// register. Returns its entry in the table.
fn write_speculative(
    out: &mut String,
    compiler: &Compiler,
    op: Op,
    speculation: Speculation,
    fields: &[Field],
) -> Result<String, String> {
    let suffix: String = fields.iter().map(|field| format!("_{field:?}")).collect();
    let name = format!("{}_{}{suffix}", op.name(), format!("{speculation:?}").to_uppercase());
    let stencils = family(out, &name, op, |backwards, wanted| {
        let carried = fields.to_vec();
        speculative(compiler, op, &Variant { backwards, wanted, speculation, carried })
    })?;
    let Condition { mask, seen, constant } = condition(op, speculation);
    let constant = match constant {
        Some((field, tag)) => format!("Some((Constant{field:?}, {}))", tag.0),
        None => "None".to_owned(),
    };
    let carried = [Field::A, Field::B, Field::C].map(|field| fields.contains(&field));
    let lines = [
        format!("mask: {mask:#x}"),
        format!("seen: {seen:#x}"),
        format!("constant: {constant}"),
        format!("carried: {carried:?}"),
        format!("carries: {}", carries(op, speculation)),
        format!("stencils: {stencils}"),
        format!("otherwise: &{}_LEFT", op.name()),
    ];
    let lines: String = lines.iter().map(|line| format!("            {line},\n")).collect();
    Ok(format!("        Speculative {{\n{lines}        }},\n"))
}

fn item(out: &mut String, name: &str, fields: &str) {
    let _ = writeln!(
        out,
        "pub(in crate::baseline) static {name}: Stencil = Stencil {{\n    name: \"{name}\",\n\
         {fields};\n"
    );
}

/// Returns the fields of a stencil, except its name, and the brace after them.
fn text(stencil: &Extracted) -> Result<String, String> {
    let mut out = String::new();
    for (name, part) in [("hot", &stencil.hot), ("cold", &stencil.cold)] {
        write_part(&mut out, name, part).map_err(|e| e.to_string())?;
    }
    let falls = stencil.falls.map_or("None".to_owned(), |jump| format!("Some({jump:?})"));
    let _ = writeln!(out, "    falls: {falls},");
    out.push('}');
    Ok(out)
}

fn write_part(out: &mut String, name: &str, part: &Part) -> std::fmt::Result {
    if part.bytes.is_empty() {
        return writeln!(out, "    {name}: Part {{ code: &[], patches: &[] }},");
    }
    writeln!(out, "    {name}: Part {{\n        code: &[")?;
    let mut start = 0;
    for (end, listing) in &part.listing {
        let bytes: Vec<String> =
            part.bytes[start..*end].iter().map(|b| format!("{b:#04x}")).collect();
        let bytes = bytes.join(", ") + ",";
        writeln!(out, "            {bytes:<60} // {listing}")?;
        start = *end;
    }
    writeln!(out, "        ],\n        patches: &[")?;
    for place in &part.places {
        let (kind, addend) = (kind(place.patch), place.addend);
        writeln!(out, "            Patch {{ at: {}, kind: {kind}, addend: {addend} }},", place.at)?;
    }
    writeln!(out, "        ],\n    }},")
}

fn kind(patch: Patch) -> String {
    match patch {
        Patch::Hole(Hole::Register(field)) => format!("Register{field:?}"),
        Patch::Hole(Hole::Constant(field @ (Field::B | Field::C | Field::Bx))) => {
            format!("Constant{field:?}")
        }
        Patch::Hole(Hole::Constant(_)) => "ConstantExtra".to_owned(),
        Patch::Hole(Hole::Immediate(field)) => format!("Immediate{field:?}"),
        Patch::Hole(hole) => format!("{hole:?}"),
        Patch::Jump(jump) => format!("{jump:?}"),
        Patch::Cold => "Cold".to_owned(),
        Patch::Hot => "Hot".to_owned(),
    }
}
