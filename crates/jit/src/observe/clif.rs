//! Cranelift IR as text, with names in place of addresses and offsets.
//!
//! The names make a dump readable and identical in every run, so that golden tests can compare it.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::Function;
use cranelift_codegen::ir::immediates::Imm64;
use cranelift_module::Module;
use perilune_runtime::layout::state;
use perilune_runtime::tier::RuntimeCalls;

use crate::pipeline::input::Direct;
use crate::pipeline::symbols::runtime_functions;

/// Returns the name of the field at an offset in the state.
pub(super) fn state_name(offset: u64) -> Option<&'static str> {
    state::NAMES.iter().find(|(_, at)| *at as u64 == offset).map(|(name, _)| *name)
}

/// Returns the text of a function of `module`. Direct calls go to the callees in `direct`.
pub(super) fn text(
    func: &Function,
    module: &dyn Module,
    calls: &RuntimeCalls,
    direct: &HashMap<u32, Direct>,
) -> String {
    let text = name_functions(func.display().to_string(), module);
    let text = name_addresses(text, calls, direct);
    name_fields(&text)
}

/// Names the functions that are called.
fn name_functions(mut text: String, module: &dyn Module) -> String {
    for (id, declaration) in module.declarations().get_functions() {
        let name = match &declaration.name {
            Some(name) => format!("runtime.{name}"),
            None => format!("member{}", id.as_u32()),
        };
        let number = format!(" u0:{} sig", id.as_u32());
        text = text.replace(&number, &format!(" {name} sig"));
    }
    text
}

/// Names the addresses of functions and slots.
fn name_addresses(mut text: String, calls: &RuntimeCalls, direct: &HashMap<u32, Direct>) -> String {
    let slots = direct.values().map(|d| (format!("slot.member{}", d.member), d.slot as u64));
    let functions = runtime_functions(calls).into_iter();
    let functions = functions.map(|(name, address)| (format!("runtime.{name}"), address));
    for (name, address) in functions.chain(slots) {
        text = text.replace(&Imm64::new(address as i64).to_string(), &name);
    }
    text
}

/// Names the fields of the state, whose address is in the pinned register.
fn name_fields(text: &str) -> String {
    let pinned = |line: &str| {
        let (value, instruction) = line.split_once(" = ")?;
        instruction.starts_with("get_pinned_reg").then(|| value.trim().to_owned())
    };
    // the pc of an instruction precedes its results
    let value = |text: String| text.rsplit(' ').next().map(str::to_owned);
    let states: HashSet<String> = text.lines().filter_map(pinned).filter_map(value).collect();
    let mut out = String::with_capacity(text.len());
    for token in text.split_inclusive([' ', '\n']) {
        let word = token.trim_end();
        let field = word.split_once('+').filter(|(value, _)| states.contains(*value));
        let name = field.and_then(|(_, offset)| state_name(offset.parse().ok()?));
        match (field, name) {
            (Some((value, _)), Some(name)) => {
                out.push_str(&format!("{value}+state.{name}{}", &token[word.len()..]));
            }
            _ => out.push_str(token),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_state_have_names() {
        let text = format!(
            "@0003    v5 = get_pinned_reg.i64 \n    v8 = load.i64 v5+{}\n    store v8, v5+{}\n    \
             v9 = load.i64 v8+{}\n",
            state::LIMIT,
            state::POLL,
            state::POLL
        );
        let named = name_fields(&text);
        assert!(named.contains("load.i64 v5+state.LIMIT\n"), "{named}");
        assert!(named.contains("store v8, v5+state.POLL\n"), "{named}");
        assert!(named.contains(&format!("load.i64 v8+{}\n", state::POLL)), "{named}");
    }
}
