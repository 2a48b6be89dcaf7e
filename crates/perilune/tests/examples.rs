//! Runs the examples, which check their own results.

#[path = "../examples/game_host.rs"]
mod game_host;
#[path = "../examples/plugin_sandbox.rs"]
mod plugin_sandbox;
#[path = "../examples/rules_engine.rs"]
mod rules_engine;

#[test]
fn game_host_runs() {
    game_host::main().expect("it runs");
}

#[test]
fn rules_engine_runs() {
    rules_engine::main().expect("it runs");
}

#[test]
#[cfg_attr(miri, ignore = "measures time")]
fn plugin_sandbox_runs() {
    plugin_sandbox::main().expect("it runs");
}
