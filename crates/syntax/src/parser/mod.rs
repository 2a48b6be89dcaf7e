//! The parser: recursive descent over the grammar of manual 9, with names resolved as they are
//! parsed.
//!
//! It makes each check at the point where PUC's one-pass compiler makes it, with the same current
//! token, so that of several errors the same one is reported, with the same text. All recursion
//! goes through [`Parser::enter_level`], which limits its depth.

mod assign;
mod chain;
mod diagnose;
mod expr;
mod function;
mod labels;
mod loops;
mod scope;
mod stmt;
mod table;

use crate::arena::{Arena, with_arena};
use crate::ast::{Block, Chunk, Expr, ExprId, ExprKind, Exprs, Function, Name, Stmt, TableItem};
use crate::error::{ErrorKind, SyntaxError};
use crate::lexer::{self, Token};
use crate::names::{Interner, KnownNames, Names};
use crate::span::Span;
use crate::watch::Watch;

use function::{FunctionState, Lists};
use labels::{PendingGoto, VisibleLabel};

/// Nesting at which parsing fails; C calls of the caller are counted too (`LUAI_MAXCCALLS`).
const MAX_DEPTH: u32 = 200;

/// Depth at which `load` starts to parse when the main chunk of a script calls it.
const LOAD_DEPTH: u32 = 2;

/// A list in the arena. It gets generous room, which costs nothing, while growing means copying.
type List<'a, T> = bumpalo::collections::Vec<'a, T>;

/// Initial room of a list that usually has few items.
const FEW: usize = 4;

/// The result of parsing. Errors are rare and large, so they are boxed to keep the recursive
/// functions' frames small.
type Result<T> = std::result::Result<T, Box<SyntaxError>>;

/// Parses `source` (without shebang handling; see [`skip_preamble`](crate::skip_preamble)) to a
/// tree in `arena`. `name` is the chunk's name as given to `load`; messages show its
/// [`chunkid`](crate::chunkid).
///
/// # Errors
/// Returns the first error in the text, with PUC's wording and position.
pub fn parse<'a>(
    arena: &'a Arena,
    source: &[u8],
    name: &[u8],
) -> std::result::Result<Chunk<'a>, SyntaxError> {
    parse_at_depth(arena, source, name, LOAD_DEPTH)
}

/// Like [`parse`], for a caller that has used up `depth` of the 200 levels of nesting that native
/// calls and the parser share in PUC.
///
/// # Errors
/// As for [`parse`].
pub fn parse_at_depth<'a>(
    arena: &'a Arena,
    source: &[u8],
    name: &[u8],
    depth: u32,
) -> std::result::Result<Chunk<'a>, SyntaxError> {
    parse_watched(arena, source, name, depth, &|_| false)
}

/// Like [`parse_at_depth`], but gives up when `watch` returns true.
pub fn parse_watched<'a>(
    arena: &'a Arena,
    source: &[u8],
    name: &[u8],
    depth: u32,
    watch: Watch<'_>,
) -> std::result::Result<Chunk<'a>, SyntaxError> {
    Parser::new(arena, source, name, depth, watch).chunk().map_err(|error| *error)
}

/// Number of tokens between two calls of a [`Watch`].
const TOKENS_BETWEEN_LOOKS: u32 = 4096;

/// The length in bytes of a name after which the watch is called, as after that many tokens.
const LONG_NAME: usize = 1 << 16;

/// Finds the token at or after offset `at` of a text without lexical errors; if `past_separator` is
/// set and that token is a comma or an operator, the one after it. Returns the line that the lexer
/// has then reached, and the token as messages show it.
pub fn near(source: &[u8], at: u32, past_separator: bool) -> Option<(u32, Vec<u8>)> {
    with_arena(|arena| {
        let mut parser = Parser::new(arena, source, b"", 0, &|_| false);
        parser.advance().ok()?;
        while parser.span.start < at && parser.token != Token::Eof {
            parser.advance().ok()?;
        }
        if past_separator
            && (parser.token == Token::Comma || expr::is_binary_operator(&parser.token))
        {
            parser.advance().ok()?;
        }
        Some((parser.line(), parser.token_text()?))
    })
}

/// Returns whether no chunk can start with `text`, whatever follows it: the text has an error
/// before tokens that are complete. False means that this is not known. `depth` and `watch` are as
/// for [`parse_watched`]; the result is true if `watch` ends the work.
pub fn is_hopeless(text: &[u8], depth: u32, watch: Watch<'_>) -> bool {
    let error = with_arena(|arena| parse_watched(arena, text, b"", depth, watch).err());
    let Some(error) = error else { return false };
    if error.kind == ErrorKind::Aborted {
        return true;
    }
    // Outside of strings and comments no token continues after white space.
    let rest = text.get(error.span.end as usize..).unwrap_or_default();
    !error.incomplete && rest.iter().any(u8::is_ascii_whitespace)
}

struct Parser<'s, 'a> {
    arena: &'a Arena,
    lexer: logos::Lexer<'s, Token>,
    source: &'s [u8],
    /// The chunk's name.
    name: &'s [u8],
    /// The current token.
    token: Token,
    span: Span,
    /// The token after the current one, if it was peeked at.
    ahead: Option<(Token, Span)>,
    /// The end of the last consumed token.
    previous_end: u32,
    /// The line that the lexer had reached when the last token was consumed, to which instructions
    /// emitted now are attributed.
    last_line: u32,
    depth: u32,
    watch: Watch<'s>,
    /// Number of tokens until the watch is called again.
    unwatched: u32,
    names: Interner,
    known: KnownNames,
    exprs: Exprs<'a>,
    /// Statements of open blocks. They are not in the arena, where a list that grows leaves its
    /// former copies.
    stmts: Vec<Stmt<'a>>,
    /// Items of open table constructors.
    items: Vec<TableItem>,
    /// Functions by number; those that are still open are in `open`.
    functions: List<'a, Option<Function<'a>>>,
    /// Whether the main function's `_ENV` is assigned.
    assigns_env: bool,
    /// The functions around the current position, outermost first.
    open: List<'a, &'a mut FunctionState<'a>>,
    /// Lists that no open function uses.
    spare: List<'a, Lists<'a>>,
    /// Labels that are visible to a `goto`, of all open functions.
    labels: Vec<VisibleLabel>,
    /// Gotos whose label has not been reached, of all open functions.
    gotos: Vec<PendingGoto>,
}

impl<'s, 'a> Parser<'s, 'a> {
    fn new(
        arena: &'a Arena,
        source: &'s [u8],
        name: &'s [u8],
        depth: u32,
        watch: Watch<'s>,
    ) -> Parser<'s, 'a> {
        let names = Interner::take();
        let known = names.known;
        Parser {
            arena,
            lexer: lexer::lexer(source, watch),
            source,
            name,
            token: Token::Eof,
            span: Span::default(),
            ahead: None,
            previous_end: 0,
            last_line: 1,
            depth,
            watch,
            unwatched: TOKENS_BETWEEN_LOOKS,
            names,
            known,
            exprs: Exprs::new(arena, source.len() / 4),
            stmts: Vec::with_capacity(4 * FEW),
            items: Vec::with_capacity(4 * FEW),
            functions: List::with_capacity_in(4, arena),
            assigns_env: false,
            open: List::with_capacity_in(4, arena),
            spare: List::with_capacity_in(4, arena),
            labels: Vec::new(),
            gotos: Vec::new(),
        }
    }

    fn chunk(mut self) -> Result<Chunk<'a>> {
        if u32::try_from(self.source.len()).is_err() {
            return Err(self.bare_error("chunk too large".into()));
        }
        self.open_main();
        self.advance()?;
        let body = self.statements()?;
        self.check(&Token::Eof)?;
        self.close_function(Block { stmts: body }, 0)?;
        let mut functions = self.list(self.functions.len());
        functions.extend(self.functions.into_iter().flatten());
        Ok(Chunk {
            functions: functions.into_bump_slice(),
            exprs: self.exprs,
            assigns_env: self.assigns_env,
            names: Names::new(self.names),
            arena: self.arena,
        })
    }

    /// Returns an empty list with room for `capacity` items.
    fn list<T>(&self, capacity: usize) -> List<'a, T> {
        List::with_capacity_in(capacity, self.arena)
    }

    /// Returns the line that the lexer has reached: the current token's last line, or that of the
    /// token ahead.
    fn line(&self) -> u32 {
        self.lexer.extras.line
    }

    fn read(&mut self) -> Result<(Token, Span)> {
        let end = self.source.len() as u32;
        let result = self.lexer.next();
        let range = self.lexer.span();
        let span = Span { start: range.start as u32, end: range.end as u32 };
        match result {
            Some(Ok(token)) => Ok((token, span)),
            None => Ok((Token::Eof, Span { start: end, end })),
            Some(Err(_)) => Err(self.lexical_error(span)),
        }
    }

    /// Advances to the next token.
    fn advance(&mut self) -> Result<()> {
        self.previous_end = self.span.end;
        self.last_line = self.line();
        self.unwatched -= 1;
        if self.unwatched == 0 {
            self.unwatched = TOKENS_BETWEEN_LOOKS;
            self.look()?;
        }
        (self.token, self.span) = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.read()?,
        };
        Ok(())
    }

    /// Fails if the watch returns true.
    #[cold]
    fn look(&self) -> Result<()> {
        let waiting = size_of_val(&*self.stmts) + size_of_val(&*self.items);
        if (self.watch)(self.arena.allocated_bytes() + waiting) {
            return Err(self.aborted());
        }
        Ok(())
    }

    /// Returns the token after the current one.
    fn peek(&mut self) -> Result<&Token> {
        if self.ahead.is_none() {
            self.ahead = Some(self.read()?);
        }
        Ok(self.ahead.as_ref().map_or(&Token::Eof, |(token, _)| token))
    }

    /// Skips the current token if it is `token`.
    fn accept(&mut self, token: &Token) -> Result<bool> {
        let found = self.token == *token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn check(&self, token: &Token) -> Result<()> {
        if self.token == *token { Ok(()) } else { Err(self.expected(token)) }
    }

    fn expect(&mut self, token: &Token) -> Result<()> {
        self.check(token)?;
        self.advance()
    }

    /// Skips `close`, which must match the token `opening` on line `line`.
    fn expect_match(&mut self, close: &Token, opening: &Token, line: u32) -> Result<()> {
        if self.accept(close)? { Ok(()) } else { Err(self.unmatched(close, opening, line)) }
    }

    /// Reads a name, as bytes of the source.
    fn name_text(&mut self) -> Result<&'s [u8]> {
        self.check(&Token::Name)?;
        let text = &self.source[self.span.start as usize..self.span.end as usize];
        if text.len() >= LONG_NAME {
            self.look()?;
        }
        self.advance()?;
        Ok(text)
    }

    /// Reads a name.
    fn name(&mut self) -> Result<Name> {
        let text = self.name_text()?;
        let text = std::str::from_utf8(text).expect("the lexer takes ASCII names only");
        Ok(self.names.intern(text))
    }

    fn enter_level(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth >= MAX_DEPTH {
            Err(self.bare_error("C stack overflow".into()))
        } else {
            Ok(())
        }
    }

    fn leave_level(&mut self) {
        self.depth -= 1;
    }

    /// Adds an expression that began at byte `start` and ends with the last consumed token.
    fn add(&mut self, kind: ExprKind<'a>, line: u32, start: u32) -> ExprId {
        let span = Span { start, end: self.previous_end };
        self.exprs.push(Expr { kind, line, value_line: self.last_line, span })
    }

    fn kind(&self, id: ExprId) -> &ExprKind<'a> {
        &self.exprs[id].kind
    }

    /// Records that the value of `id` is needed here, to which line PUC attributes the instructions
    /// that it delays until this point.
    fn settle(&mut self, id: ExprId) {
        self.exprs[id].value_line = self.last_line;
    }
}
