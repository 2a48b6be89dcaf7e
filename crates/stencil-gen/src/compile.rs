//! Compiles the functions to machine code for x86-64.

use std::ops::Range;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedRelocTarget};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use perilune_semantics::{COLD, Emitter, Exits as _, Runtime, define};

use crate::handler::{Handler, signature};
use crate::symbol::Symbol;

/// A reference to another function.
#[derive(Clone, Copy)]
pub(crate) struct Reference {
    /// The position of its four bytes.
    pub(crate) at: usize,
    /// The symbol that is referred to.
    pub(crate) to: Symbol,
}

/// A compiled function.
pub(crate) struct Compiled {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// The references to other functions.
    pub(crate) references: Vec<Reference>,
    /// The ranges of bytes with a source location, in ascending order, and whether they are cold.
    pub(crate) places: Vec<(Range<usize>, bool)>,
}

/// Returns the compiler. Its code is for any processor with the instruction set, and is the same on
/// every host.
pub(crate) fn compiler() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let options = [
        ("opt_level", "speed"),
        ("enable_verifier", "true"),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("is_pic", "true"),
    ];
    for (name, value) in options {
        flags.set(name, value).map_err(|e| format!("{name}: {e}"))?;
    }
    let builder = isa::lookup_by_name("x86_64-unknown-linux-gnu").map_err(|e| e.to_string())?;
    builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())
}

/// Compiles a function of the interpreter.
pub(crate) fn compile(isa: &OwnedTargetIsa, symbol: Symbol) -> Result<Compiled, String> {
    compile_function(isa, &symbol.label(), |func| build(func, symbol, isa))
}

/// Compiles the function that `build` creates.
pub(crate) fn compile_function(
    isa: &OwnedTargetIsa,
    label: &str,
    build: impl FnOnce(&mut Function),
) -> Result<Compiled, String> {
    let mut context = Context::new();
    build(&mut context.func);
    let code = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|e| format!("{label}: {:?}\n{}", e.inner, e.func))?;
    let bytes = code.buffer.data().to_vec();
    let relocations = code.buffer.relocs().to_vec();
    let located = code.buffer.get_srclocs_sorted().iter().filter(|l| !l.loc.is_default());
    let places =
        located.map(|l| (l.start as usize..l.end as usize, l.loc.bits() == COLD)).collect();
    let names = context.func.params.user_named_funcs();
    let mut references = Vec::new();
    for r in relocations {
        let known = matches!(r.kind, Reloc::X86CallPCRel4 | Reloc::X86GOTPCRel4);
        let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = r.target else {
            return Err(format!("{label}: refers to {:?}", r.target));
        };
        let name = &names[name];
        let to = Symbol::from_external(name.namespace, name.index);
        match to {
            Some(to) if known && r.addend == -4 => {
                references.push(Reference { at: r.offset as usize, to });
            }
            _ => return Err(format!("{label}: relocation {:?} {name}", r.kind)),
        }
    }
    Ok(Compiled { bytes, references, places })
}

fn build(func: &mut Function, symbol: Symbol, isa: &OwnedTargetIsa) {
    func.signature = signature();
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(func, &mut context);
    let handler = Handler::new(&mut b, symbol);
    let mut e = Emitter::new(b, handler, define);
    match symbol {
        Symbol::Handler(op, part) => define(&mut e, op, part),
        // The loop finds the instruction to execute at the stored position.
        Symbol::Step(f) => call_and_reload(&mut e, i64::from(f == Runtime::Single), f),
        Symbol::Poll => call_and_reload(&mut e, 0, Runtime::Poll),
        Symbol::Continue => e.form.continue_on_top(&mut e.b),
        Symbol::Enter => e.form.begin_function(&mut e.b),
        Symbol::Return => e.form.return_here(&mut e.b),
        Symbol::Stitch => {
            let status = e.call(Runtime::Stitch, &[])[0];
            e.form.reload(&mut e.b, status);
        }
        Symbol::Resume => e.form.resume_stitched(&mut e.b),
        Symbol::Interpret | Symbol::Runtime(_) | Symbol::Target(_) => {
            unreachable!("it is not generated")
        }
    }
    e.finish(isa.frontend_config());
}

/// Stores a position, calls a function of the runtime, and continues with the frame on top.
fn call_and_reload(e: &mut Emitter<'_, Handler>, back: i64, function: Runtime) {
    e.form.store_position(&mut e.b, back);
    let status = e.call(function, &[])[0];
    e.form.reload(&mut e.b, status);
}
