//! `cargo xtask generate`: writes the generated files, or, with `--sizes`, prints the number of
//! instructions of each function.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use perilune_stencil_gen::{generate, root, sizes};

fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        Some("--sizes") => sizes().map(|sizes| {
            for (label, count, has_frame) in sizes {
                println!("{count:5} {label}{}", if has_frame { " (frame)" } else { "" });
            }
        }),
        _ => write(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stencil-gen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write() -> Result<(), String> {
    for output in generate()? {
        let path = root().join(&output.path);
        std::fs::write(&path, output.text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}
