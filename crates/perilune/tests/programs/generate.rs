//! The generator: scopes, and the expansion of templates to trees.
//!
//! A template is program text in which `$x` stands for a generated piece. The letter specifies its
//! kind:
//!
//! | letter | stands for |
//! |---|---|
//! | `i f n s b z` | expression: integer, float, number, string, boolean, nil |
//! | `q d o c k *` | expression: sequence, other table, object, function, coroutine, anything |
//! | `v` + one of these | name of a variable of that type (`$@` repeats the name) |
//! | `w` | a variable that can be assigned to |
//! | `E A` | one to three expressions; none to three |
//! | `F` | a field name |
//! | `Q` | a quoted key |
//! | `U` | a function expression |
//! | `P M` | a string pattern; a format with its arguments |
//! | `T` | a table constructor |
//! | `B` | statements |
//! | `y` | a call of `coroutine.yield` |
//! | `< >`, `[ >` | nothing: the text between is a function, in the second form one with `...` |
//!
//! Types are hints: a variable keeps its hint when it gets another value, and any expression may be
//! of another type.

use proptest::prelude::Rng;
use proptest::test_runner::TestRng;

use crate::hot::{self, Subject};
use crate::templates as t;
use crate::tree::{Kind, Node, Part};

/// A name in scope.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) ty: char,
    pub(crate) constant: bool,
}

/// The context inside the function that is being generated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub(crate) vararg: bool,
    /// The number of enclosing loops inside the function.
    pub(crate) loops: usize,
    pub(crate) coroutine: bool,
}

/// Generates one program.
pub(crate) struct Generator {
    rng: TestRng,
    pub(crate) vars: Vec<Var>,
    pub(crate) functions: Vec<Function>,
    /// The number of nodes that may still be generated; after that, only leaves are.
    pub(crate) size: i32,
    pub(crate) labels: usize,
    pub(crate) loads: usize,
    /// A further file of bodies of hot functions, besides [`hot::BODIES`].
    more: &'static str,
    /// The name that `$@` repeats.
    pub(crate) last: String,
}

/// The types from which a random one is chosen for `*`.
const TYPES: &[u8] = b"iiiiffnnssssbbzqqdooockk";

impl Generator {
    /// Generates a whole program.
    pub(crate) fn program(rng: TestRng) -> Node {
        let mut g = Generator {
            rng,
            vars: Vec::new(),
            functions: vec![Function { vararg: true, loops: 0, coroutine: false }],
            size: 0,
            labels: 0,
            loads: 0,
            more: hot::HOOKED,
            last: String::new(),
        };
        if g.chance(50) {
            g.more = hot::HOSTED;
        }
        g.size = g.range(60, 400) as i32;
        // half of the programs are about hot code
        let hot_share = if g.chance(60) { 80 } else { 0 };
        let records_share = g.pick(&[0, 10, 40, 90]);
        let dense_share = g.pick(&[0, 10, 40, 90]);
        let late_share = g.pick(&[0, 0, 10, 40]);
        let jump_share = g.pick(&[0, 10, 40]);
        let spread_share = g.pick(&[0, 10, 40]);
        let inlined_share = g.pick(&[0, 10, 40]);
        let recursive_share = g.pick(&[0, 10, 40]);
        let mut parts = Vec::new();
        for ty in ['i', 'f', 's', 'q', 'd', 'o', 'c'] {
            if g.chance(80) {
                parts.push(Part::Node(g.safe_local(ty)));
            }
        }
        let count = g.range(4, 22);
        for _ in 0..count {
            if g.size <= 0 {
                break;
            }
            let statement = if let Some(subject) = hot::only_subject() {
                match subject {
                    Subject::Bodies(_) => g.hot_function(),
                    Subject::Inlined => g.inlined_program(),
                    Subject::Recursive => g.recursive_program(),
                }
            } else if hot_share == 0 || !g.chance(hot_share) {
                g.top_statement()
            } else if g.chance(records_share) {
                g.record_program()
            } else if g.chance(dense_share) {
                g.dense_program()
            } else if g.chance(late_share) {
                g.late_program()
            } else if g.chance(jump_share) {
                g.jump_program()
            } else if g.chance(spread_share) {
                g.spread_program()
            } else if g.chance(inlined_share) {
                g.inlined_program()
            } else if g.chance(recursive_share) {
                g.recursive_program()
            } else {
                g.hot_function()
            };
            parts.push(Part::Node(statement));
        }
        if g.chance(30) {
            let tail = g.expand(Kind::Stmt, "R() return $E\n", 2);
            parts.push(Part::Node(tail));
        }
        Node::new(
            Kind::Fixed,
            vec![
                "local B, L, R, P, K, N, S, O, I, A, H = ...\n".into(),
                Node::new(Kind::Block, parts).into(),
            ],
        )
    }

    /// Returns a number in `from..to`.
    pub(crate) fn range(&mut self, from: usize, to: usize) -> usize {
        from + (self.rng.next_u64() >> 16) as usize % (to - from)
    }

    /// Returns true in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.range(0, 100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.range(0, list.len())]
    }

    /// Returns a text in which each `$` and the letter after it are replaced by what `piece` makes
    /// of the letter, which may contain more of them.
    pub(crate) fn filled(
        &mut self,
        text: &str,
        mut piece: impl FnMut(&mut Generator, u8) -> String,
    ) -> String {
        let mut text = text.to_owned();
        while let Some(at) = text.find('$') {
            let piece = piece(self, text.as_bytes()[at + 1]);
            text.replace_range(at..at + 2, &piece);
        }
        text
    }

    /// Returns an element of a list of elements with weights.
    pub(crate) fn weighted(&mut self, list: &[(usize, &'static str)]) -> &'static str {
        let total = list.iter().map(|(w, _)| w).sum();
        let mut n = self.range(0, total);
        for (weight, item) in list {
            if n < *weight {
                return item;
            }
            n -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    pub(crate) fn function(&mut self) -> &mut Function {
        self.functions.last_mut().expect("the main function is always there")
    }

    pub(crate) fn any_type(&mut self) -> char {
        self.pick(TYPES) as char
    }

    pub(crate) fn declare(&mut self, name: &str, ty: char, constant: bool) {
        self.vars.push(Var { name: name.to_owned(), ty, constant });
    }

    pub(crate) fn new_name(&mut self, ty: char) -> &'static str {
        self.pick(t::names(ty))
    }

    /// Returns the name of a visible variable of a type, or of any type when there is none.
    pub(crate) fn variable(&mut self, ty: char) -> String {
        if self.chance(3) {
            return self.pick(t::GLOBALS).to_owned();
        }
        let fits = |v: &Var| match ty {
            '*' => true,
            'n' => matches!(v.ty, 'i' | 'f' | 'n'),
            'd' => matches!(v.ty, 'd' | 'o'),
            _ => v.ty == ty,
        };
        let fitting: Vec<&Var> = self.vars.iter().filter(|v| fits(v)).collect();
        let list: Vec<&Var> = if fitting.is_empty() { self.vars.iter().collect() } else { fitting };
        if list.is_empty() {
            return self.pick(t::GLOBALS).to_owned();
        }
        // Inner variables are preferred to outer ones.
        let names: Vec<String> = list.iter().rev().map(|v| v.name.clone()).collect();
        let n = self.range(0, names.len());
        let m = self.range(0, names.len());
        names[n.min(m)].clone()
    }

    /// Returns a variable that may be assigned to: a constant would keep the whole program from
    /// compiling.
    fn assignable(&mut self, ty: char) -> String {
        for _ in 0..4 {
            let name = self.variable(ty);
            let constant =
                self.vars.iter().rev().find(|v| v.name == name).is_some_and(|v| v.constant);
            if !constant {
                return name;
            }
        }
        self.pick(t::GLOBALS).to_owned()
    }

    /// Generates an expression that usually has this type.
    pub(crate) fn expr(&mut self, ty: char, depth: usize) -> Node {
        self.size -= 1;
        let ty = if ty == '*' || self.chance(2) { self.any_type() } else { ty };
        if depth == 0 || self.size <= 0 || self.chance(12) {
            return self.leaf(ty);
        }
        let list = match ty {
            'i' => t::INTEGERS,
            'f' => t::FLOATS,
            'n' => t::NUMBERS,
            's' => t::STRINGS,
            'b' => t::BOOLEANS,
            'z' => t::NILS,
            'q' => t::SEQUENCES,
            'd' => t::TABLES,
            'o' => return self.object(depth),
            'c' => t::FUNCTIONS,
            _ => t::COROUTINES,
        };
        let template =
            if self.chance(16) { self.weighted(t::ANYTHING) } else { self.weighted(list) };
        let node = self.expand(Kind::Expr, template, depth - 1);
        if t::is_operation(template) && self.chance(70) {
            Node::new(
                Kind::Expr,
                vec!["(".into(), Node { kind: Kind::Fixed, ..node }.into(), ")".into()],
            )
        } else {
            node
        }
    }

    fn leaf(&mut self, ty: char) -> Node {
        if self.chance(65) && (self.vars.iter().any(|v| v.ty == ty) || self.chance(15)) {
            return Node::text(Kind::Expr, self.variable(ty));
        }
        if self.function().vararg && self.chance(6) {
            return Node::text(Kind::Expr, "...");
        }
        let text = match ty {
            'i' if self.chance(60) => self.range(0, 12).to_string(),
            'i' => self.pick(t::INTEGER_LITERALS).to_owned(),
            'f' | 'n' => self.pick(t::FLOAT_LITERALS).to_owned(),
            's' => self.pick(t::STRING_LITERALS).to_owned(),
            'b' => self.pick(&["true", "false"]).to_owned(),
            'z' => "nil".to_owned(),
            'q' => self.pick(t::SEQUENCE_LITERALS).to_owned(),
            'd' | 'o' => self.pick(t::TABLE_LITERALS).to_owned(),
            'c' => self.pick(t::FUNCTION_NAMES).to_owned(),
            _ => "(coroutine.running())".to_owned(),
        };
        Node::text(Kind::Expr, text)
    }

    /// Generates expressions separated by commas.
    fn list(&mut self, from: usize, to: usize, depth: usize) -> Node {
        let n = self.range(from, to + 1);
        let mut parts = Vec::new();
        for i in 0..n {
            if i > 0 {
                parts.push(", ".into());
                self.maybe_newline(&mut parts);
            }
            parts.push(self.expr('*', depth).into());
        }
        Node::new(Kind::Fixed, parts)
    }

    /// Adds a line break now and then, as positions in messages are compared as well.
    fn maybe_newline(&mut self, parts: &mut Vec<Part>) {
        if self.chance(2) {
            parts.push("\n".into());
        }
    }

    /// Expands a template.
    pub(crate) fn expand(&mut self, kind: Kind, template: &str, depth: usize) -> Node {
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        let mut chars = template.chars();
        while let Some(c) = chars.next() {
            if c != '$' {
                text.push(c);
                continue;
            }
            if !text.is_empty() {
                let breaks = kind == Kind::Expr && text.ends_with(['(', ' ', ',']);
                parts.push(std::mem::take(&mut text).into());
                if breaks {
                    self.maybe_newline(&mut parts);
                }
            }
            let letter = chars.next().expect("a letter follows $");
            match letter {
                'v' => {
                    let ty = chars.next().expect("a type follows $v");
                    self.last = self.variable(ty);
                    text.push_str(&self.last);
                }
                'w' => {
                    let ty = chars.next().expect("a type follows $w");
                    self.last = self.assignable(ty);
                    text.push_str(&self.last);
                }
                '<' | '[' => {
                    let coroutine = self.function().coroutine;
                    self.functions.push(Function { vararg: letter == '[', loops: 0, coroutine });
                }
                '>' => drop(self.functions.pop()),
                '@' => text.push_str(&self.last),
                'E' => parts.push(self.list(1, 3, depth).into()),
                'A' => {
                    // After a comma there must be an expression.
                    let comma = parts.iter().rev().find_map(|p| match p {
                        Part::Text(t) if t == "\n" => None,
                        Part::Text(t) => Some(t.ends_with(", ")),
                        Part::Node(_) => Some(false),
                    });
                    let least = usize::from(comma == Some(true));
                    parts.push(self.list(least, 3, depth).into());
                }
                'F' => text.push_str(self.pick(t::FIELDS)),
                'Q' => text.push_str(self.pick(t::QUOTED_KEYS)),
                'U' => parts.push(self.function_expr(depth).into()),
                'P' => text.push_str(&self.pattern()),
                'M' => parts.push(self.format(depth).into()),
                'T' => parts.push(self.constructor(depth).into()),
                'B' => parts.push(self.block(depth, 4).into()),
                'y' => parts.push(self.expand(Kind::Expr, "coroutine.yield($A)", depth).into()),
                ty => {
                    let last = self.last.clone();
                    parts.push(self.expr(ty, depth).into());
                    self.last = last;
                }
            }
        }
        if !text.is_empty() {
            parts.push(text.into());
        }
        Node::new(kind, parts)
    }

    /// Returns the text with one alternative of each group chosen.
    fn choose(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('«') {
            out.push_str(before);
            let (mut depth, mut from, mut end) = (0, 0, 0);
            let mut alternatives = Vec::new();
            for (at, c) in after.char_indices() {
                match c {
                    '«' => depth += 1,
                    '¦' if depth == 0 => {
                        alternatives.push(&after[from..at]);
                        from = at + c.len_utf8();
                    }
                    '»' if depth == 0 => {
                        alternatives.push(&after[from..at]);
                        end = at + c.len_utf8();
                        break;
                    }
                    '»' => depth -= 1,
                    _ => {}
                }
            }
            assert!(end > 0, "a choice has no end: {template}");
            let alternative = self.pick(&alternatives);
            out.push_str(&self.choose(alternative));
            rest = &after[end..];
        }
        out + rest
    }

    /// Returns a template of a file with its choices made.
    fn template_of(&mut self, file: &'static str) -> String {
        let templates = hot::templates(file);
        let n = self.range(0, templates.len());
        self.choose(&templates[n])
    }

    /// Generates a function with a hot loop.
    fn hot_function(&mut self) -> Node {
        let mark = self.vars.len();
        self.functions.push(Function { vararg: true, loops: 1, coroutine: false });
        let mut parts: Vec<Part> = vec!["R() P(pcall(function(...)\n".into()];
        for template in hot::templates(hot::HEAD) {
            let statement = self.choose(&template);
            parts.push(Node::text(Kind::Stmt, statement + "\n").into());
        }
        for (name, ty) in
            [("acc", 'n'), ("x", 'f'), ("y", 'f'), ("s", 's'), ("t", 'd'), ("o", 'd'), ("V", 'd')]
        {
            self.declare(name, ty, false);
        }
        let inner = self.vars.len();
        parts.push((self.template_of(hot::LOOPS) + "\n").into());
        self.declare("i", 'i', true);
        self.declare("v", '*', false);
        // bodies of one subject use each other's tables and functions
        let (_, subject) = self.pick(hot::BODIES);
        for _ in 0..self.range(1, 6) {
            let file = match self.range(0, 10) {
                0..5 => subject,
                5 => self.more,
                _ => self.pick(hot::BODIES).1,
            };
            let file = match hot::only_subject() {
                Some(Subject::Bodies(file)) => file,
                _ => file,
            };
            let template = self.template_of(file);
            self.size -= 4;
            let body = self.expand(Kind::Fixed, &template, 2);
            let parts_of_body: Vec<Part> = match self.range(0, 10) {
                0..5 => vec!["do ".into(), body.into(), " end\n".into()],
                5..8 => vec!["pcall(function(...) ".into(), body.into(), " end)\n".into()],
                8 => vec!["P(pcall(function(...) ".into(), body.into(), " end, i, v))\n".into()],
                _ => vec!["if i > 18 then ".into(), body.into(), " end\n".into()],
            };
            parts.push(Node::new(Kind::Stmt, parts_of_body).into());
        }
        parts.push("end\n".into());
        self.vars.truncate(inner);
        parts.push((self.template_of(hot::TAIL) + "\n").into());
        self.functions.pop();
        self.vars.truncate(mark);
        Node::new(Kind::Stmt, parts)
    }

    /// Generates a function expression.
    pub(crate) fn function_expr(&mut self, depth: usize) -> Node {
        let mut parts: Vec<Part> = vec!["function(".into()];
        let inside = self.function().coroutine;
        parts.extend(self.function_rest(depth, None, inside));
        Node::new(Kind::Expr, parts)
    }

    /// Generates parameters, body and `end` of a function.
    pub(crate) fn function_rest(
        &mut self,
        depth: usize,
        this: Option<char>,
        coroutine: bool,
    ) -> Vec<Part> {
        let mark = self.vars.len();
        if let Some(ty) = this {
            self.declare("self", ty, false);
        }
        let mut names = Vec::new();
        for _ in 0..self.range(0, 4) {
            let ty = self.any_type();
            let name = self.new_name(ty);
            self.declare(name, ty, false);
            names.push(name);
        }
        let vararg = self.chance(30);
        if vararg {
            names.push("...");
        }
        self.functions.push(Function { vararg, loops: 0, coroutine });
        let mut parts: Vec<Part> = vec![names.join(", ").into(), ") B() ".into()];
        let locals = self.vars.len();
        if depth > 0 && self.chance(60) {
            parts.push("\n".into());
            let most = if coroutine { 5 } else { 3 };
            parts.push(self.statements(depth - 1, most).into());
        }
        if self.chance(85) {
            let template = self.weighted(t::RETURNS);
            parts.push(self.expand(Kind::Stmt, template, depth.saturating_sub(1)).into());
        }
        self.vars.truncate(locals);
        self.functions.pop();
        self.vars.truncate(mark);
        parts.push(" end".into());
        parts
    }

    fn constructor(&mut self, depth: usize) -> Node {
        let mut parts: Vec<Part> = vec!["{".into()];
        for _ in 0..self.range(0, 6) {
            let template = self.weighted(t::ITEMS);
            parts.push(self.expand(Kind::Fixed, template, depth.min(1)).into());
            let separator = self.pick(&[", ", ", ", "; "]);
            parts.push(separator.into());
            self.maybe_newline(&mut parts);
        }
        if self.function().vararg && self.chance(15) {
            parts.push("...".into());
        }
        parts.push("}".into());
        Node::new(Kind::Expr, parts)
    }

    /// Generates a pattern in quotes with few repetitions, as matching must end soon.
    fn pattern(&mut self) -> String {
        let mut out = String::new();
        let mut captures = 0;
        let mut open = 0;
        let mut repeats = 0;
        if self.chance(12) {
            out.push('^');
        }
        for _ in 0..self.range(0, 6) {
            match self.range(0, 24) {
                0..3 if captures < 4 => {
                    out.push('(');
                    open += 1;
                    captures += 1;
                }
                3..5 if open > 0 => {
                    out.push(')');
                    open -= 1;
                }
                5 => out.push_str("()"),
                6 => out.push_str(self.pick(&["%b()", "%b{}", "%f[%w]", "%f[%W]", "%f[%z]"])),
                7 if self.chance(40) => {
                    out.push_str(self.pick(&["%1", "%2", "%", "[a", "(", ")", "%f", "%b", "[^"]))
                }
                _ => {
                    out.push_str(self.pick(t::CHARACTER_CLASSES));
                    if repeats < 2 && self.chance(45) {
                        repeats += 1;
                        out.push_str(self.pick(&["*", "+", "-", "?"]));
                    }
                }
            }
        }
        for _ in 0..open {
            out.push(')');
        }
        if self.chance(10) {
            out.push('$');
        }
        format!("\"{out}\"")
    }

    /// Generates a format string and arguments that usually fit.
    fn format(&mut self, depth: usize) -> Node {
        let mut text = String::from("\"");
        let mut arguments: Vec<Part> = Vec::new();
        for _ in 0..self.range(1, 4) {
            if self.chance(30) {
                text.push_str(self.pick(&["x", " ", "%%", "ab", "=", "\\n"]));
            }
            let (spec, argument) = self.pick(t::FORMATS);
            text.push_str(spec);
            arguments.push(", ".into());
            arguments.push(self.expand(Kind::Fixed, argument, depth.min(2)).into());
        }
        if self.chance(4) {
            text.push_str(self.pick(&[
                "%", "%y", "%123d", "%5.123f", "%d", "%0+-# 0d", "%#i", "%.3c", "%.20s", "%010s",
                "%.3q",
            ]));
        }
        text.push('"');
        arguments.insert(0, text.into());
        Node::new(Kind::Fixed, arguments)
    }
}
