//! The two sides of a comparison: a state of PUC Lua and one of Perilune, each with the driver.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mlua::{Lua as Puc, LuaOptions, StdLib};
use perilune::Lua;

use super::faults::same;
use super::value::Call;

const DRIVER: &str = include_str!("driver.lua");

/// The states in which batches run.
pub(crate) struct Sides {
    puc: Puc,
    lua: Lua,
}

/// The results of a batch, in the order of its calls.
pub(crate) type Results = Vec<Vec<u8>>;

/// Splits the output of the driver.
fn split(mut bytes: &[u8]) -> Results {
    let mut results = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (result, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        results.push(result.to_vec());
        bytes = rest;
    }
    results
}

fn written(calls: &[Call]) -> Vec<u8> {
    let mut data = Vec::new();
    for call in calls {
        call.write(&mut data);
    }
    data
}

impl Sides {
    /// Creates new states. `number` selects the mode of the state of Perilune.
    pub(crate) fn new(number: u64) -> Sides {
        let puc = Puc::new_with(StdLib::ALL_SAFE, LuaOptions::new()).expect("PUC has a state");
        puc.load(DRIVER).set_name("=driver").exec().expect("the driver is a program");
        let lua = Lua::with_engine(&perilune::Engine::interpreter());
        lua.load(DRIVER).set_name("=driver").exec().expect("the driver is a program");
        lua.set_small_stack(number % 4 == 1);
        lua.set_gc_stress(number % 50 == 40);
        Sides { puc, lua }
    }

    fn puc(&self, data: &[u8]) -> Vec<u8> {
        let batch: mlua::Function = self.puc.globals().get("batch").expect("the driver has it");
        let data = self.puc.create_string(data).expect("there is memory");
        let results: mlua::LuaString = batch.call(data).expect("the driver catches errors");
        results.as_bytes().to_vec()
    }

    fn perilune(&self, data: &[u8]) -> Vec<u8> {
        // SAFETY: there is one state, and the function asks nothing of its caller.
        unsafe {
            self.lua.with(|cx| {
                let batch = cx.globals().get_name(cx, "batch");
                cx.push_callee(batch);
                let data = cx.str(data).val();
                cx.push(data);
                match cx.call_protected(1) {
                    Ok(n) if n > 0 => cx.get(cx.top() - n).as_str().map(|s| s.bytes().to_vec()),
                    _ => None,
                }
                .unwrap_or_else(|| b"\x11\0\0\0the driver raised".to_vec())
            })
        }
    }

    /// Returns whether the calls have the same results on both sides.
    pub(crate) fn agree(&self, calls: &[Call]) -> bool {
        let data = written(calls);
        let perilune = catch_unwind(AssertUnwindSafe(|| self.perilune(&data)));
        let (Ok(perilune), puc) = (perilune, self.puc(&data)) else { return false };
        perilune == puc || {
            let (perilune, puc) = (split(&perilune), split(&puc));
            perilune.len() == puc.len()
                && calls
                    .iter()
                    .zip(puc.iter().zip(&perilune))
                    .all(|(call, (a, b))| same(call, a, b))
        }
    }

    /// Returns the results of both sides.
    pub(crate) fn results(&self, calls: &[Call]) -> (Results, Results) {
        let data = written(calls);
        let perilune = catch_unwind(AssertUnwindSafe(|| self.perilune(&data)));
        let perilune = perilune.unwrap_or_else(|_| b"\x06\0\0\0panics".to_vec());
        (split(&self.puc(&data)), split(&perilune))
    }
}
