//! The functions that code refers to by name: runtime functions, which its module imports, and the
//! other functions of its module.

use std::collections::HashMap;

use cranelift_codegen::ir::{FuncRef, Function, Signature};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use perilune_runtime::native::Builtin;
use perilune_runtime::tier::RuntimeCalls;

macro_rules! runtime_functions {
    ($($name:ident)*) => {
        /// Returns the functions and the table that machine code refers to, by name; those of the
        /// library come last. Their
        /// addresses differ from run to run.
        pub(crate) fn runtime_functions(calls: &RuntimeCalls) -> Vec<(&'static str, u64)> {
            let table = ("builtins", calls.builtins.as_ptr() as u64);
            let leaves = calls.builtins.map(|leaf| leaf as usize as u64);
            let leaves = Builtin::NAMES.iter().copied().zip(leaves);
            [table, $((stringify!($name), calls.$name as usize as u64)),*]
                .into_iter()
                .chain(leaves)
                .collect()
        }

        /// The number of fields of the table of calls that have a name.
        #[cfg(test)]
        const RUNTIME_FUNCTIONS: usize = ["builtins", $(stringify!($name)),*].len();
    };
}

runtime_functions! {
    one get_field set_field deoptimize_after deoptimize_loop deoptimize_before
    deoptimize_virtual call call_iterator poll tail_call close_return vararg_prep move_values
    new_table closure field_more set_more fill_global rely_on_global grow_fields get_str
    note_metatable renew get_int set_int set_str for_next get_any set_any concat for_prep
    set_list var_arg for_each_prep close next_to_close mark_to_close end_protected equal
    compare_strings set_class handler index_handler store_by_handler barrier float_mod pow
    acos asin atan cos exp fmod log sin tan
    verify_register verify_closure verify_entry verify_lookup verify_variable preserving_one
    preserving_get_field preserving_set_field preserving_poll preserving_quiet_poll
    preserving_quiet_poll_to preserving_for_next preserving_new_table preserving_virtuals
    preserving_leaf interpret resume
}

/// The symbols that modules import.
pub(crate) struct Symbols {
    addresses: HashMap<&'static str, usize>,
    names: HashMap<usize, &'static str>,
}

impl Symbols {
    pub(crate) fn new(calls: &RuntimeCalls) -> Symbols {
        let all = runtime_functions(calls);
        Symbols {
            addresses: all.iter().map(|&(name, at)| (name, at as usize)).collect(),
            names: all.iter().map(|&(name, at)| (at as usize, name)).collect(),
        }
    }

    /// Returns the address of a symbol.
    pub(crate) fn address(&self, name: &str) -> Option<*const u8> {
        self.addresses.get(name).map(|&at| at as *const u8)
    }
}

/// Declares the functions that a function calls by name, in its module and in its Cranelift IR.
pub(crate) struct Callees<'a> {
    pub(crate) module: &'a mut JITModule,
    pub(crate) members: &'a [FuncId],
    pub(crate) symbols: &'a Symbols,
    /// The functions of the runtime that the function being translated calls, by address.
    imported: HashMap<usize, FuncRef>,
}

impl<'a> Callees<'a> {
    /// Returns callees for another attempt at the same function.
    pub(crate) fn again(&mut self) -> Callees<'_> {
        Callees::new(self.module, self.members, self.symbols)
    }

    pub(crate) fn new(
        module: &'a mut JITModule,
        members: &'a [FuncId],
        symbols: &'a Symbols,
    ) -> Callees<'a> {
        Callees { module, members, symbols, imported: HashMap::new() }
    }

    /// Returns a reference to member `n` of the module.
    pub(crate) fn member(&mut self, n: u32, func: &mut Function) -> FuncRef {
        self.module.declare_func_in_func(self.members[n as usize], func)
    }

    /// Returns a reference to the function of the runtime at `address`.
    ///
    /// # Panics
    /// Panics if there is none, or if it was declared with another signature.
    pub(crate) fn runtime(
        &mut self,
        address: usize,
        signature: impl FnOnce(&Function) -> Signature,
        func: &mut Function,
    ) -> FuncRef {
        *self.imported.entry(address).or_insert_with(|| {
            let name = self.symbols.names[&address];
            let id = self.module.declare_function(name, Linkage::Import, &signature(func));
            self.module.declare_func_in_func(id.expect("it has one signature"), func)
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_functions_of_the_runtime_have_names() {
        let functions = size_of::<perilune_runtime::tier::RuntimeCalls>() / size_of::<usize>();
        assert_eq!(super::RUNTIME_FUNCTIONS, functions, "add the new ones to the list");
    }
}
