//! `docs/bytecode.md` has a row for each opcode, and its columns say what the code says.

use std::collections::HashMap;
use std::path::Path;

use perilune_bytecode::{Op, metamethod_event};

#[test]
fn every_opcode_has_a_row() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bytecode.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    let mut rows = HashMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let line = line.replace("\\|", "/");
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        assert_eq!(cells.len(), 7, "{line}");
        let name = cells[1].trim_matches('`').to_owned();
        assert!(rows.insert(name, cells).is_none(), "two rows: {line}");
    }
    for &op in Op::ALL {
        let cells = rows.remove(op.name()).unwrap_or_else(|| panic!("no row for {}", op.name()));
        assert_eq!(cells[3], format!("{:?}", op.feedback()), "feedback of {}", op.name());
        assert_eq!(cells[4], metamethod_event(op).unwrap_or_default(), "event of {}", op.name());
        assert!(!cells[2].is_empty() && !cells[5].is_empty(), "{}", op.name());
    }
    assert!(rows.is_empty(), "rows without an opcode: {:?}", rows.keys());
}
