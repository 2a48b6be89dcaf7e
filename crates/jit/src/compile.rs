//! From a function to bytes: one pipeline, a line per stage.

use std::collections::HashMap;
use std::sync::Arc;

use cranelift_codegen::Context;
use cranelift_codegen::FinalizedRelocTarget;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::ExternalName;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use perilune_bytecode::Proto;
use perilune_runtime::tier::RuntimeCalls;

use crate::fault::{Fault, Stage};
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
    /// The code checks what it holds of registers and tables.
    pub(crate) verify_values: bool,
    /// What the translation is to do wrong, for tests.
    pub(crate) fault: Option<Fault>,
    /// The code counts instructions.
    pub(crate) counts: bool,
    /// Calls whose callee is, as far as one can tell, in the same module.
    pub(crate) direct: &'a HashMap<u32, Direct>,
}

/// The callee that a call has in all likelihood.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    /// Its number among the functions of the module.
    pub(crate) member: u32,
    /// The address of its slot, by which it is recognized; whoever compiles keeps its method alive as long as the code.
    pub(crate) slot: usize,
    /// It is the function that is being compiled.
    pub(crate) is_self: bool,
}

/// Machine code of a function.
pub(crate) struct Code {
    pub(crate) bytes: Vec<u8>,
    /// Where distances to other functions of the module are to be filled in, and to which.
    pub(crate) calls: Vec<(usize, u32)>,
}

impl Code {
    /// Fills in the distances of code that lies at `start` of a module whose functions lie at `starts`.
    pub(crate) fn link(&mut self, start: usize, starts: &[usize]) {
        for &(at, member) in &self.calls {
            // relative to the end of the instruction, which is that of the distance
            let distance = starts[member as usize] as i64 - (start + at + 4) as i64;
            let distance = i32::try_from(distance).expect("modules are small");
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
    }
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

    /// Translates and compiles; the code refers to itself and to functions of its module only relatively, and to everything else by address.
    ///
    /// # Errors
    /// What Cranelift says.
    pub(crate) fn compile(
        &mut self,
        input: &Input<'_>,
        seen: &mut Observation<'_>,
    ) -> Result<Code, String> {
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
        let names = self.context.func.params.user_named_funcs();
        let mut calls = Vec::new();
        for reloc in code.buffer.relocs() {
            match (reloc.kind, &reloc.target) {
                (
                    Reloc::X86CallPCRel4,
                    FinalizedRelocTarget::ExternalName(ExternalName::User(name)),
                ) if reloc.addend == -4 => calls.push((reloc.offset as usize, names[*name].index)),
                _ => return Err(format!("relocation: {reloc:?}")),
            }
        }
        Ok(Code { bytes: code.buffer.data().to_vec(), calls })
    }
}
