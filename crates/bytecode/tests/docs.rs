//! `docs/bytecode.md` lists each opcode, and its description matches the code.

use std::collections::HashMap;
use std::path::Path;

use perilune_bytecode::{Op, metamethod_event};

/// Returns the items of the page that begin with a name in backticks, each on one line.
fn items(page: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut in_item = false;
    for line in page.lines() {
        if let Some(item) = line.strip_prefix("- ") {
            in_item = item.starts_with('`');
            if in_item {
                items.push(item.to_owned());
            }
        } else if let (true, Some(more)) = (in_item, line.strip_prefix("  ")) {
            let item = items.last_mut().expect("it has begun");
            item.push(' ');
            item.push_str(more);
        } else {
            in_item = false;
        }
    }
    items
}

/// Returns the word after a mark such as `*Event*`, without the full stop.
fn after_mark<'a>(item: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = item.split_once(mark)?;
    rest.split_whitespace().next().map(|word| word.trim_end_matches('.'))
}

#[test]
fn every_opcode_is_described() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bytecode.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    let mut described = HashMap::new();
    for item in items(&page) {
        let (name, text) = item[1..].split_once('`').expect("the name ends");
        assert!(text.len() > 3, "{name} has no meaning");
        assert!(described.insert(name.to_owned(), item.clone()).is_none(), "{name} twice");
    }
    for &op in Op::ALL {
        let name = op.name();
        let item = described.remove(name).unwrap_or_else(|| panic!("{name} is missing"));
        let feedback = after_mark(&item, "*Feedback*").unwrap_or("None");
        assert_eq!(feedback, format!("{:?}", op.feedback()), "feedback of {name}");
        assert_eq!(after_mark(&item, "*Event*"), metamethod_event(op), "event of {name}");
    }
    assert!(described.is_empty(), "not opcodes: {:?}", described.keys());
}
