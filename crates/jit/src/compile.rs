//! From a function to bytes: one pipeline, a line per stage.

use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use perilune_bytecode::Proto;
use perilune_runtime::tier::RuntimeCalls;

use crate::fault::Stage;
use crate::snapshot::Snapshot;
use crate::tier1;
use crate::watch::Observation;

/// What a compile thread keeps from job to job.
pub(crate) struct Compiler {
    isa: OwnedTargetIsa,
    context: Context,
    builder: FunctionBuilderContext,
    control: ControlPlane,
}

/// What is to be translated.
pub(crate) struct Input<'a> {
    pub(crate) proto: &'a Arc<Proto>,
    pub(crate) snapshot: &'a Snapshot,
    /// The pc of the loop that is entered; none: the function is.
    pub(crate) entry: Option<usize>,
    /// The id that its frames carry.
    pub(crate) id: u32,
    pub(crate) calls: &'a RuntimeCalls,
    /// Runs Cranelift's verifier.
    pub(crate) verify: bool,
}

impl Compiler {
    /// For this machine.
    ///
    /// # Errors
    /// When Cranelift does not know it.
    pub(crate) fn new() -> Result<Compiler, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
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
        })
    }

    /// Translates and compiles; the code refers to itself only relatively, and to everything else by address.
    ///
    /// # Errors
    /// What Cranelift says.
    pub(crate) fn compile(
        &mut self,
        input: &Input<'_>,
        seen: &mut Observation<'_>,
    ) -> Result<Vec<u8>, String> {
        self.context.clear();
        seen.stage(Stage::Translate);
        tier1::translate(&mut self.context.func, &mut self.builder, &*self.isa, input);
        seen.translated(&mut self.context.func);
        seen.stage(Stage::Verify);
        if input.verify {
            self.context.verify(&*self.isa).map_err(|e| format!("verifier: {e}"))?;
        }
        seen.stage(Stage::Compile);
        self.context.set_disasm(seen.wants_vcode());
        self.context
            .compile(&*self.isa, &mut self.control)
            .map_err(|e| format!("{:?}", e.inner))?;
        let code = self.context.compiled_code().expect("it was compiled");
        seen.compiled(&self.context.func, code);
        if !code.buffer.relocs().is_empty() {
            return Err(format!("relocations: {:?}", code.buffer.relocs()));
        }
        Ok(code.buffer.data().to_vec())
    }
}
