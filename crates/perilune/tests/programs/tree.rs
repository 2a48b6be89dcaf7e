//! The tree of a generated program: text with statements and expressions marked, so that it can be
//! made smaller.

/// The kind of a node, which says what may replace it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A list of statements.
    Block,
    /// A statement: may be left out, or replaced with the statements in it.
    Stmt,
    /// An expression: may be replaced with a simpler one, or with one in it.
    Expr,
    /// Text that is not changed.
    Fixed,
}

/// A piece of a node.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Program text.
    Text(String),
    /// A node.
    Node(Node),
}

/// A marked piece of the program.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The kind of the node.
    pub(crate) kind: Kind,
    /// The pieces of the node in order.
    pub(crate) parts: Vec<Part>,
}

impl Node {
    pub(crate) fn new(kind: Kind, parts: Vec<Part>) -> Node {
        Node { kind, parts }
    }

    pub(crate) fn text(kind: Kind, text: impl Into<String>) -> Node {
        Node { kind, parts: vec![Part::Text(text.into())] }
    }

    /// Returns the program text.
    pub(crate) fn render(&self) -> String {
        let mut out = String::new();
        self.render_to(&mut out);
        out
    }

    fn render_to(&self, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(t) => out.push_str(t),
                Part::Node(n) => n.render_to(out),
            }
        }
    }

    /// Returns the length of the program text.
    pub(crate) fn length(&self) -> usize {
        let of = |part: &Part| match part {
            Part::Text(t) => t.len(),
            Part::Node(n) => n.length(),
        };
        self.parts.iter().map(of).sum()
    }

    /// Returns the nearest nodes of a kind below this one: those with no other node of the kind in
    /// between.
    pub(crate) fn nearest(&self, kind: Kind) -> Vec<&Node> {
        let mut found = Vec::new();
        self.collect_nearest(kind, &mut found);
        found
    }

    fn collect_nearest<'a>(&'a self, kind: Kind, found: &mut Vec<&'a Node>) {
        for part in &self.parts {
            if let Part::Node(n) = part {
                if n.kind == kind {
                    found.push(n);
                } else {
                    n.collect_nearest(kind, found);
                }
            }
        }
    }

    /// Returns the node at `path`.
    pub(crate) fn at_mut(&mut self, path: &[usize]) -> &mut Node {
        let mut node = self;
        for &i in path {
            let Part::Node(n) = &mut node.parts[i] else { unreachable!("a path leads to nodes") };
            node = n;
        }
        node
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Part {
        Part::Text(text.to_owned())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Part {
        Part::Text(text)
    }
}

impl From<Node> for Part {
    fn from(node: Node) -> Part {
        Part::Node(node)
    }
}
