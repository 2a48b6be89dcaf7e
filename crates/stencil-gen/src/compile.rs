//! Compiles the functions to machine code.

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedRelocTarget};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use perilune_semantics::{COLD, Emitter, Exits as _, Runtime, define};

use crate::compiled::{Compiled, Reference};
use crate::handler::{Handler, signature};
use crate::symbol::Symbol;
use crate::target::Target;

/// A compiler for a target.
pub(crate) struct Compiler {
    /// The target.
    pub(crate) target: &'static dyn Target,
    /// Cranelift for the target.
    pub(crate) isa: OwnedTargetIsa,
}

/// Returns the compiler for a target. Its code is for any processor with the instruction set, and
/// is the same on every host.
pub(crate) fn compiler(target: &'static dyn Target) -> Result<Compiler, String> {
    let mut flags = settings::builder();
    let options = [
        ("opt_level", "speed"),
        ("enable_verifier", "true"),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", if target.keeps_frame_pointers() { "true" } else { "false" }),
        ("enable_probestack", "false"),
        ("unwind_info", "false"),
        ("is_pic", "true"),
    ];
    for (name, value) in options {
        flags.set(name, value).map_err(|e| format!("{name}: {e}"))?;
    }
    let builder = isa::lookup_by_name(target.triple()).map_err(|e| e.to_string())?;
    let isa = builder.finish(settings::Flags::new(flags)).map_err(|e| e.to_string())?;
    Ok(Compiler { target, isa })
}

/// Compiles a function of the interpreter.
pub(crate) fn compile(compiler: &Compiler, symbol: Symbol) -> Result<Compiled, String> {
    compile_function(compiler, &symbol.label(), |func| build(func, symbol, &compiler.isa))
}

/// Compiles the function that `build` creates.
pub(crate) fn compile_function(
    compiler: &Compiler,
    label: &str,
    build: impl FnOnce(&mut Function),
) -> Result<Compiled, String> {
    let mut context = Context::new();
    build(&mut context.func);
    let code = context
        .compile(&*compiler.isa, &mut ControlPlane::default())
        .map_err(|e| format!("{label}: {:?}\n{}", e.inner, e.func))?;
    let bytes = code.buffer.data().to_vec();
    let relocations = code.buffer.relocs().to_vec();
    let located = code.buffer.get_srclocs_sorted().iter().filter(|l| !l.loc.is_default());
    let places =
        located.map(|l| (l.start as usize..l.end as usize, l.loc.bits() == COLD)).collect();
    let names = context.func.params.user_named_funcs();
    let mut references = Vec::new();
    for r in relocations {
        let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = r.target else {
            return Err(format!("{label}: refers to {:?}", r.target));
        };
        let name = &names[name];
        let to = Symbol::from_external(name.namespace, name.index);
        match to {
            Some(to) if compiler.target.accepts(r.kind, r.addend) => {
                references.push(Reference { at: r.offset as usize, kind: r.kind, to });
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
