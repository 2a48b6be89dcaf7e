//! The pipeline from functions to the bytes of a module.

use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CompiledCode, Context, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use perilune_bytecode::Proto;
use perilune_code::Refusal;

use super::cold;
use super::input::Input;
use super::loops;
use super::passes;
use super::sink::sink;
use super::spill::spill;
use super::staging::Staging;
use super::symbols::{Callees, Symbols};
use super::targets;
use crate::observe::observation::Observation;
use crate::testing::fault::Stage;
use crate::{codegen, tier2};

/// The maximum number of Cranelift IR instructions of a function whose buffers are kept for the
/// next function. Buffers take about a kilobyte for each instruction.
const KEPT: usize = 1500;

/// The data that a compile thread keeps from job to job.
pub(crate) struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    control: ControlPlane,
    staging: Staging,
}

/// A module that is being compiled: its functions are declared, and defined one after the other.
///
/// It lives until its code is relocated. Only the bytes that [`Assembly::finish`] returns are
/// published; no module or IR outlives publication.
pub(crate) struct Assembly<'a> {
    compiler: &'a mut Compiler,
    module: JITModule,
    members: Vec<FuncId>,
    symbols: Arc<Symbols>,
    /// Sizes of the members defined so far.
    sizes: Vec<usize>,
}

/// The relocated code of a module.
pub(crate) struct Linked {
    pub(crate) bytes: Vec<u8>,
    /// The range of each member's code.
    pub(crate) bodies: Vec<Range<usize>>,
}

impl Compiler {
    /// Creates a compiler for this machine.
    ///
    /// # Errors
    /// Returns an error if Cranelift does not support it.
    pub(crate) fn new() -> Result<Compiler, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "none"),
            ("enable_pinned_reg", "true"),
            ("preserve_frame_pointers", "true"),
            ("enable_verifier", "false"),
            ("unwind_info", "false"),
            ("enable_probestack", "false"),
            ("is_pic", "false"),
        ] {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        let isa = cranelift_native::builder()
            .map_err(String::from)?
            .finish(settings::Flags::new(flags))
            .map_err(|e| e.to_string())?;
        Ok(Compiler {
            isa,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            control: ControlPlane::default(),
            staging: Staging::default(),
        })
    }

    /// Begins a module with this number of functions, whose code takes less than `largest` bytes.
    ///
    /// # Errors
    /// Returns an error if there is no memory.
    pub(crate) fn assemble(
        &mut self,
        symbols: &Arc<Symbols>,
        members: usize,
        largest: usize,
    ) -> Result<Assembly<'_>, Refusal> {
        self.staging.prepare(largest).map_err(backend)?;
        let mut builder = JITBuilder::with_isa(self.isa.clone(), default_libcall_names());
        builder.memory_provider(Box::new(self.staging.clone()));
        let imported = symbols.clone();
        builder.symbol_lookup_fn(Box::new(move |name| imported.address(name)));
        let mut module = JITModule::new(builder);
        let signature = codegen::entry_signature();
        let declare = |_| module.declare_anonymous_function(&signature).map_err(reported);
        let members = (0..members).map(declare).collect::<Result<_, _>>()?;
        Ok(Assembly {
            compiler: self,
            module,
            members,
            symbols: symbols.clone(),
            sizes: Vec::new(),
        })
    }

    /// Takes back memory that [`Assembly::finish`] returned.
    pub(crate) fn recycle(&self, code: Linked) {
        self.staging.recycle(code.bytes);
    }

    /// Frees the memory that is kept from function to function.
    pub(crate) fn rest(&mut self) {
        self.context = Context::new();
        self.builder = FunctionBuilderContext::new();
    }
}

impl Assembly<'_> {
    /// Translates and compiles the next member.
    ///
    /// # Errors
    /// Returns the error that Cranelift or one of the verifiers reports.
    pub(crate) fn define(
        &mut self,
        input: &Input<'_>,
        observation: &mut Observation<'_>,
    ) -> Result<(), Refusal> {
        let Compiler { isa, context, builder, control, .. } = &mut *self.compiler;
        let id = self.members[self.sizes.len()];
        let callees = Callees::new(&mut self.module, &self.members, &self.symbols);
        context.clear();
        observation.stage(Stage::Translate);
        let func = &mut context.func;
        let translated = tier2::compile(func, builder, &**isa, input, callees).map_err(|e| {
            // drop the unfinished function
            *builder = FunctionBuilderContext::new();
            verifier(e)
        })?;
        observation.translated(&mut context.func, &translated, &self.module, input);
        drop(translated);
        cold::mark(&mut context.func);
        sink(&mut context.func);
        loops::find(context, &**isa).map_err(|e| verifier(e.to_string()))?;
        targets::order(context);
        spill(context);
        observation.stage(Stage::Verify);
        if input.verify {
            context.verify(&**isa).map_err(|e| verifier(e.to_string()))?;
        }
        observation.stage(Stage::Compile);
        context.set_disasm(observation.wants_vcode());
        let instructions = context.func.dfg.num_insts();
        passes::watched(instructions, || {
            let defined = self.module.define_function_with_control_plane(id, context, control);
            defined.map_err(reported)
        })?;
        let code = context.compiled_code().expect("it was compiled");
        check_relocations(&self.module, &context.func, code)?;
        observation.compiled(&context.func, code, &self.module, input);
        self.sizes.push(code.code_buffer().len());
        // Lists that are kept are as large as the largest function needed, and add to the memory
        // use of the other parts of the next compile.
        if instructions > KEPT {
            self.compiler.rest();
        } else {
            self.compiler.context.clear();
        }
        Ok(())
    }

    /// Relocates the code and drops the module.
    ///
    /// # Errors
    /// Returns the error that the module reports.
    pub(crate) fn finish(mut self) -> Result<Linked, Refusal> {
        self.module.finalize_definitions().map_err(reported)?;
        let staging = &self.compiler.staging;
        let origin = staging.address();
        let body = |(&id, &size): (&FuncId, &usize)| {
            let start = self.module.get_finalized_function(id) as usize - origin;
            start..start + size
        };
        let bodies = self.members.iter().zip(&self.sizes).map(body).collect();
        drop(self.module);
        Ok(Linked { bytes: staging.take(), bodies })
    }
}

/// Returns an upper bound of the size of a function's code in bytes. Staging memory beyond the
/// actual code is never touched.
pub(super) fn largest_size(proto: &Proto, verify_values: bool) -> usize {
    const PER_BYTECODE: usize = 4096;
    /// Code that verifies values may compare every register at each instruction.
    const PER_REGISTER: usize = 256;
    let registers = if verify_values { usize::from(proto.max_stack) } else { 0 };
    proto.code.len() * (PER_BYTECODE + registers * PER_REGISTER)
}

/// Checks that code does not depend on its address, so that it can be moved after relocation: it
/// refers to its own module by relative addresses, and to everything else by absolute addresses.
fn check_relocations(
    module: &JITModule,
    func: &Function,
    code: &CompiledCode,
) -> Result<(), Refusal> {
    let names = func.params.user_named_funcs();
    for reloc in code.buffer.relocs() {
        let is_member = match &reloc.target {
            FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                let id = FuncId::from_u32(names[*name].index);
                module.declarations().get_function_decl(id).linkage != Linkage::Import
            }
            FinalizedRelocTarget::ExternalName(_) => false,
            FinalizedRelocTarget::Func(_) => true,
        };
        match reloc.kind {
            Reloc::X86CallPCRel4 | Reloc::X86PCRel4 | Reloc::Arm64Call if is_member => {}
            Reloc::Abs8 if !is_member => {}
            _ => return Err(backend(format!("relocation: {reloc:?}"))),
        }
    }
    Ok(())
}

/// Returns the refusal for an error of a module, without the text of the function.
fn reported(error: ModuleError) -> Refusal {
    backend(match error {
        ModuleError::Compilation(error) => format!("{error:?}"),
        error => error.to_string(),
    })
}

/// Returns the refusal for an error of a verifier.
fn verifier(message: String) -> Refusal {
    Refusal::Verifier(message.into())
}

/// Returns the refusal for any other reason.
fn backend(message: String) -> Refusal {
    Refusal::Backend(message.into())
}
