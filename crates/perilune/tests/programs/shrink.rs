//! Reducing a program: the shrinking side of the proptest strategy.

use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::generate::Generator;
use crate::tree::{Kind, Node, Part};

/// A change that makes the tree smaller.
#[derive(Clone, Debug)]
enum Edit {
    /// Leaves out parts `from..to` of the block.
    Remove(usize, usize),
    /// Leaves out the statement.
    Drop,
    /// Replaces the statement with the statements in it.
    Unwrap,
    /// Replaces the expression with the `n`th expression in it.
    Inner(usize),
    /// Replaces the expression with this text.
    Literal(&'static str),
    /// Joins the program into one line.
    Join,
}

/// A program and the changes that are still to be tried.
#[derive(Debug)]
pub(crate) struct ProgramTree {
    now: Node,
    before: Node,
    edits: Vec<(Vec<usize>, Edit)>,
    next: usize,
    /// Whether this round of changes has made the program smaller.
    progress: bool,
    phase: u8,
}

impl ProgramTree {
    fn new(now: Node) -> ProgramTree {
        let edits = edits_of(&now);
        ProgramTree { before: now.clone(), now, edits, next: 0, progress: false, phase: 0 }
    }

    /// Applies the next change that changes anything.
    fn step(&mut self) -> bool {
        loop {
            let phase = self.edits.get(self.next).map(|(_, edit)| edit.phase());
            if phase.is_none() || self.progress && phase != Some(self.phase) {
                if !self.progress {
                    return false;
                }
                self.progress = false;
                self.edits = edits_of(&self.now);
                self.next = 0;
                continue;
            }
            let (path, edit) = self.edits[self.next].clone();
            self.phase = edit.phase();
            self.next += 1;
            let mut smaller = self.now.clone();
            if apply(&mut smaller, &path, &edit) && smaller.length() < self.now.length() {
                self.before = std::mem::replace(&mut self.now, smaller);
                return true;
            }
        }
    }
}

impl ValueTree for ProgramTree {
    type Value = String;

    fn current(&self) -> String {
        self.now.render()
    }

    /// Called when the program still fails: lists its changes again from the same place.
    fn simplify(&mut self) -> bool {
        if self.next > 0 {
            self.progress = true;
            self.edits = edits_of(&self.now);
            self.next -= 1;
        }
        self.step()
    }

    /// Called when the last change lost the failure.
    fn complicate(&mut self) -> bool {
        self.now = self.before.clone();
        self.step()
    }
}

fn edits_of(root: &Node) -> Vec<(Vec<usize>, Edit)> {
    let mut edits = Vec::new();
    let mut path = Vec::new();
    walk(root, &mut path, &mut edits);
    // Larger pieces are tried first.
    edits.sort_by_key(|(path, edit)| (edit.phase(), path.len()));
    edits
}

impl Edit {
    /// Returns the phase of the change: statements are removed before expressions are changed.
    fn phase(&self) -> u8 {
        match self {
            Edit::Remove(..) | Edit::Drop | Edit::Unwrap => 0,
            Edit::Literal(_) | Edit::Inner(_) => 1,
            Edit::Join => 2,
        }
    }
}

fn walk(node: &Node, path: &mut Vec<usize>, edits: &mut Vec<(Vec<usize>, Edit)>) {
    match node.kind {
        Kind::Block => {
            let n = node.parts.len();
            let mut size = n / 2;
            while size > 1 {
                for from in (0..n).step_by(size).rev() {
                    edits.push((path.clone(), Edit::Remove(from, (from + size).min(n))));
                }
                size /= 2;
            }
        }
        Kind::Stmt => {
            if node.length() == 0 {
                return;
            }
            edits.push((path.clone(), Edit::Drop));
            edits.push((path.clone(), Edit::Unwrap));
        }
        Kind::Expr => {
            let text = node.render();
            for literal in ["nil", "1", "{}", "''"] {
                if text == literal {
                    break;
                }
                if text.len() > literal.len() {
                    edits.push((path.clone(), Edit::Literal(literal)));
                }
            }
            for i in 0..node.nearest(Kind::Expr).len() {
                edits.push((path.clone(), Edit::Inner(i)));
            }
        }
        Kind::Fixed => {}
    }
    if node.parts.iter().any(|p| matches!(p, Part::Text(t) if t == "\n")) {
        edits.push((path.clone(), Edit::Join));
    }
    for (i, part) in node.parts.iter().enumerate() {
        if let Part::Node(n) = part {
            path.push(i);
            walk(n, path, edits);
            path.pop();
        }
    }
}

/// Makes the change. Returns false if there is nothing to change.
fn apply(root: &mut Node, path: &[usize], edit: &Edit) -> bool {
    let node = root.at_mut(path);
    match edit {
        Edit::Remove(from, to) => {
            node.parts.drain(from..to);
        }
        Edit::Drop => node.parts.clear(),
        Edit::Unwrap => {
            let inner: Vec<Part> =
                node.nearest(Kind::Stmt).into_iter().cloned().map(Part::Node).collect();
            if inner.is_empty() {
                return false;
            }
            node.parts = inner;
        }
        Edit::Inner(i) => {
            let inner = node.nearest(Kind::Expr)[*i].clone();
            *node = inner;
        }
        Edit::Literal(text) => node.parts = vec![Part::Text((*text).to_owned())],
        Edit::Join => node.parts.retain(|p| !matches!(p, Part::Text(t) if t == "\n")),
    }
    true
}

/// Random programs.
#[derive(Debug)]
pub(crate) struct Programs;

impl Strategy for Programs {
    type Tree = ProgramTree;
    type Value = String;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Programs> {
        Ok(ProgramTree::new(Generator::program(runner.new_rng())))
    }
}
