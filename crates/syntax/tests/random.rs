//! Random programs with random damage are accepted, or rejected with the same message, as in PUC.
//!
//! `PERILUNE_RANDOM_CHUNKS` sets the number of programs, `PERILUNE_RANDOM_SEED` the first seed.

mod oracle;

use fastrand::Rng;
use oracle::{Oracle, is_from_code_generator, own_error, show};

/// Random choices: the same seed gives the same programs everywhere.
struct Random(Rng);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit)
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

const NAMES: &[&str] = &["a", "b", "c", "x", "f", "_ENV", "self"];
const LABELS: &[&str] = &["l", "m", "continue"];
const LITERALS: &[&str] = &[
    "nil",
    "true",
    "false",
    "1",
    "2.5",
    "0x1p4",
    "1e3",
    "'s'",
    "\"q\\n\\\"\"",
    "[[long]]",
    "[==[\nl]]\n]==]",
    "'\\u{20ac}\\z  x'",
];
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "^", "..", "==", "~=", "<", ">", "<=", ">=", "and", "or", "&",
    "|", "~", "<<", ">>",
];
const UNARY: &[&str] = &["-", "not", "#", "~"];
/// Tokens that break a program when they are put in.
const JUNK: &[&str] = &[
    "and",
    "break",
    "do",
    "else",
    "elseif",
    "end",
    "false",
    "for",
    "function",
    "goto",
    "if",
    "in",
    "local",
    "nil",
    "not",
    "or",
    "repeat",
    "return",
    "then",
    "true",
    "until",
    "while",
    "+",
    "-",
    "~",
    "#",
    "<",
    "=",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "::",
    ";",
    ":",
    ",",
    ".",
    "..",
    "...",
    "a",
    "l",
    "x",
    "1",
    "3x",
    "1..2",
    "'s'",
    "'s",
    "\"\\q\"",
    "'\\300'",
    "'\\u{110000000}'",
    "[[",
    "[=",
    "--",
    "--[[",
    "--[==[ c\n ]==]",
    "@",
    "$",
    "\\",
    "!",
    "\u{e9}",
    "\x01",
    "<const>",
    "<close>",
    "<foo>",
    "'\\x4'",
    "\\n",
    "0x",
];

struct Program<'r> {
    random: &'r mut Random,
    tokens: Vec<&'static str>,
}

impl Program<'_> {
    fn put(&mut self, tokens: &[&'static str]) {
        self.tokens.extend_from_slice(tokens);
    }

    fn pick(&mut self, list: &[&'static str]) {
        let token = self.random.pick(list);
        self.tokens.push(token);
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..self.random.below(4) {
            self.statement(depth);
        }
        if self.random.one_in(8) {
            self.put(&["return"]);
            self.list(depth);
        }
    }

    fn list(&mut self, depth: usize) {
        self.expr(depth);
        while self.random.one_in(4) {
            self.put(&[","]);
            self.expr(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let kind = self.random.below(if depth == 0 { 9 } else { 18 });
        let inner = depth.saturating_sub(1);
        match kind {
            0 => self.put(&[";"]),
            1 | 2 => {
                self.pick(NAMES);
                self.put(&["="]);
                self.list(inner);
            }
            3 => {
                self.put(&["local"]);
                self.pick(NAMES);
                if self.random.one_in(3) {
                    self.put(&["<"]);
                    self.pick(&["const", "const", "close"]);
                    self.put(&[">"]);
                }
                if self.random.one_in(3) {
                    self.put(&[","]);
                    self.pick(NAMES);
                }
                if !self.random.one_in(4) {
                    self.put(&["="]);
                    self.list(inner);
                }
            }
            4 => {
                self.put(&["goto"]);
                self.pick(LABELS);
            }
            5 => {
                self.put(&["::"]);
                self.pick(LABELS);
                self.put(&["::"]);
            }
            6 => self.put(&["break"]),
            7 => {
                self.pick(NAMES);
                self.arguments(inner);
            }
            8 => {
                self.pick(NAMES);
                self.put(&["."]);
                self.pick(NAMES);
                self.put(&[","]);
                self.pick(NAMES);
                self.put(&["="]);
                self.list(inner);
            }
            9 => {
                self.put(&["do"]);
                self.block(inner);
                self.put(&["end"]);
            }
            10 => {
                self.put(&["while"]);
                self.expr(inner);
                self.put(&["do"]);
                self.block(inner);
                self.put(&["end"]);
            }
            11 => {
                self.put(&["repeat"]);
                self.block(inner);
                self.put(&["until"]);
                self.expr(inner);
            }
            12 | 13 => {
                self.put(&["if"]);
                self.expr(inner);
                self.put(&["then"]);
                self.block(inner);
                if self.random.one_in(3) {
                    self.put(&["elseif"]);
                    self.expr(inner);
                    self.put(&["then"]);
                    self.block(inner);
                }
                if self.random.one_in(3) {
                    self.put(&["else"]);
                    self.block(inner);
                }
                self.put(&["end"]);
            }
            14 => {
                self.put(&["for"]);
                self.pick(NAMES);
                self.put(&["="]);
                self.expr(inner);
                self.put(&[","]);
                self.expr(inner);
                self.put(&["do"]);
                self.block(inner);
                self.put(&["end"]);
            }
            15 => {
                self.put(&["for"]);
                self.pick(NAMES);
                self.put(&[","]);
                self.pick(NAMES);
                self.put(&["in"]);
                self.list(inner);
                self.put(&["do"]);
                self.block(inner);
                self.put(&["end"]);
            }
            16 => {
                self.put(&["local", "function"]);
                self.pick(NAMES);
                self.function(inner);
            }
            _ => {
                self.put(&["function"]);
                self.pick(NAMES);
                if self.random.one_in(3) {
                    self.pick(&[".", ":"]);
                    self.pick(NAMES);
                }
                self.function(inner);
            }
        }
    }

    fn function(&mut self, depth: usize) {
        self.put(&["("]);
        if self.random.one_in(2) {
            self.pick(NAMES);
            if self.random.one_in(2) {
                self.put(&[",", "..."]);
            }
        }
        self.put(&[")"]);
        self.block(depth);
        self.put(&["end"]);
    }

    fn arguments(&mut self, depth: usize) {
        match self.random.below(4) {
            0 => self.pick(&["'s'", "[[s]]"]),
            1 => self.table(depth),
            2 => self.put(&["(", ")"]),
            _ => {
                self.put(&["("]);
                self.list(depth);
                self.put(&[")"]);
            }
        }
    }

    fn table(&mut self, depth: usize) {
        self.put(&["{"]);
        for _ in 0..self.random.below(3) {
            match self.random.below(3) {
                0 => {
                    self.pick(NAMES);
                    self.put(&["="]);
                }
                1 => {
                    self.put(&["["]);
                    self.expr(depth.saturating_sub(1));
                    self.put(&["]", "="]);
                }
                _ => {}
            }
            self.expr(depth.saturating_sub(1));
            self.pick(&[",", ";"]);
        }
        self.put(&["}"]);
    }

    fn expr(&mut self, depth: usize) {
        let inner = depth.saturating_sub(1);
        match self.random.below(if depth == 0 { 4 } else { 10 }) {
            0 | 1 => self.pick(NAMES),
            2 => self.pick(LITERALS),
            3 => {
                self.pick(NAMES);
                self.put(&["."]);
                self.pick(NAMES);
            }
            4 | 5 => {
                self.expr(inner);
                self.pick(BINARY);
                self.expr(inner);
            }
            6 => {
                self.pick(UNARY);
                self.expr(inner);
            }
            7 => {
                self.put(&["("]);
                self.expr(inner);
                self.put(&[")"]);
                if self.random.one_in(2) {
                    self.put(&[":"]);
                    self.pick(NAMES);
                    self.arguments(inner);
                }
            }
            8 => self.table(inner),
            _ => {
                self.put(&["function"]);
                self.function(inner);
            }
        }
    }

    /// Breaks the program in up to two places.
    fn mutate(&mut self) {
        for _ in 0..self.random.below(3) {
            let at = self.random.below(self.tokens.len() + 1);
            let token = self.random.pick(JUNK);
            match self.random.below(5) {
                0 => self.tokens.insert(at, token),
                1 if at < self.tokens.len() => self.tokens[at] = token,
                2 if at < self.tokens.len() => drop(self.tokens.remove(at)),
                3 if at + 1 < self.tokens.len() => self.tokens.swap(at, at + 1),
                4 => self.tokens.truncate(at),
                _ => {}
            }
        }
    }

    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        for &token in &self.tokens {
            text.extend_from_slice(token.as_bytes());
            text.extend_from_slice(
                self.random.pick(&[" ", " ", " ", " ", "\n", "\r\n", " --c\n", "\t"]).as_bytes(),
            );
        }
        if self.random.one_in(10) && !text.is_empty() {
            let at = self.random.below(text.len());
            text[at] = self.random.below(256) as u8;
        }
        text
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn same_verdict_as_puc() {
    let oracle = Oracle::new();
    let mut random = Random(Rng::with_seed(setting("PERILUNE_RANDOM_SEED", 1)));
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..setting("PERILUNE_RANDOM_CHUNKS", 3000) {
        let depth = 1 + random.below(4);
        let mut program = Program { random: &mut random, tokens: Vec::new() };
        if program.random.one_in(8) {
            for _ in 0..program.random.below(12) {
                program.pick(JUNK);
            }
        } else {
            program.block(depth);
            program.statement(depth);
            program.mutate();
        }
        let source = program.text();
        if source.first() == Some(&0x1b) {
            continue;
        }
        let (expect, got) = (oracle.error(&source), own_error(&source));
        if is_from_code_generator(&expect) {
            continue;
        }
        assert_eq!(show(&got), show(&expect), "{}", String::from_utf8_lossy(&source));
        *(if expect.is_none() { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(
        accepted > refused / 10 && refused > accepted / 10,
        "{accepted} accepted, {refused} refused"
    );
}
