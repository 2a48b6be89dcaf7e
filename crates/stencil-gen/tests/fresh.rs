//! Checks that the checked-in files match those that are generated from the definitions.

use perilune_stencil_gen::{generate, root};

#[test]
fn generated_files_are_fresh() {
    for output in generate().expect("the definitions compile") {
        let path = root().join(&output.path);
        let found = std::fs::read_to_string(&path).expect("the file is there");
        let differs = found.lines().zip(output.text.lines()).position(|(a, b)| a != b);
        assert!(
            found == output.text,
            "{}: line {} is not what is generated; run `cargo xtask generate`",
            output.path,
            differs.map_or(found.lines().count(), |n| n + 1)
        );
    }
}
