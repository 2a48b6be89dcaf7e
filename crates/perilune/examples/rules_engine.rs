//! Rules that are evaluated on a pool of threads: the program is compiled once, to bytecode and to
//! machine code, and each thread runs it in a separate state.
//!
//!     cargo run --release -p perilune --example rules_engine

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use perilune::{Engine, Function, IntoLua, Lua, Program, Result, Value};

/// The subject of a decision.
#[derive(Clone, Debug)]
struct Order {
    id: i64,
    customer: &'static str,
    country: &'static str,
    cents: i64,
}

/// Orders become tables whose fields the rules use.
impl IntoLua for Order {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        let t = lua.create_table_with_capacity(0, 4)?;
        t.raw_set("id", self.id)?;
        t.raw_set("customer", self.customer)?;
        t.raw_set("country", self.country)?;
        t.raw_set("cents", self.cents)?;
        Ok(Value::Table(t))
    }
}

/// The rules: the first whose condition holds decides.
const RULES: &str = r#"
    local risky = { XX = true, YY = true }
    local rules = {
        { name = "blocked",  decide = "refuse", when = function(o) return risky[o.country] end },
        { name = "large",    decide = "review", when = function(o) return o.cents > 100000 end },
        { name = "checksum", decide = "review", when = function(o)
            local sum = 0
            for digit in tostring(o.id):gmatch("%d") do sum = (sum * 3 + tonumber(digit)) % 97 end
            return sum == 0
        end },
    }
    return function(order)
        for _, rule in ipairs(rules) do
            if rule.when(order) then return rule.decide, rule.name end
        end
        return "accept", "default"
    end"#;

/// The results of a thread.
#[derive(Default, Debug, PartialEq)]
struct Tally {
    accepted: usize,
    reviewed: usize,
    refused: usize,
}

/// Does the work of one thread: a state of the shared engine processes orders until there are none.
fn work(engine: &Engine, program: &Program, orders: &Mutex<Receiver<Vec<Order>>>) -> Result<Tally> {
    // A state stays on its thread; all threads share the engine and the program.
    let lua = Lua::with_engine(engine);
    let decide: Function = lua.load_program(program).eval()?;
    let mut tally = Tally::default();
    loop {
        let batch = match orders.lock().expect("no thread panics with it").recv() {
            Ok(batch) => batch,
            Err(_) => return Ok(tally),
        };
        for order in batch {
            let (decision, _rule): (String, String) = decide.call(order)?;
            match decision.as_str() {
                "accept" => tally.accepted += 1,
                "review" => tally.reviewed += 1,
                _ => tally.refused += 1,
            }
        }
    }
}

pub(crate) fn main() -> Result<()> {
    let engine = Engine::new();
    let program = engine.compile(RULES, "=rules")?;

    let (sender, orders) = channel();
    let orders = Mutex::new(orders);
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let (engine, program, orders) = (&engine, &program, &orders);
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(move || work(engine, program, orders))).collect();
        for batch in 0..200 {
            let order = |i: i64| Order {
                id: batch * 100 + i,
                customer: "a customer",
                country: if i == 7 { "XX" } else { "DE" },
                cents: (batch * 7919 + i * 104_729) % 110_000,
            };
            let _ = sender.send((0..100).map(order).collect());
        }
        // once the sender is dropped, the threads end after the last order
        drop(sender);
        threads.into_iter().map(|t| t.join().expect("rules do not panic")).collect::<Result<_>>()
    })?;

    let mut total = Tally::default();
    for (number, tally) in tallies.iter().enumerate() {
        println!("thread {number}: {tally:?}");
        total.accepted += tally.accepted;
        total.reviewed += tally.reviewed;
        total.refused += tally.refused;
    }
    println!("together: {total:?}");
    engine.wait_for_compiler();
    for (name, metric) in engine.jit_metrics() {
        if matches!(name, "compiles begun" | "versions live" | "bytes live") {
            println!("{name}: {metric}");
        }
    }

    // check the outcome
    assert_eq!(total.accepted + total.reviewed + total.refused, 20_000);
    assert_eq!(total.refused, 200);
    Ok(())
}
