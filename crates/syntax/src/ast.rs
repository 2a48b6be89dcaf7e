//! The syntax tree of one chunk, with every name already resolved.
//!
//! A tree is allocated in an [`Arena`](crate::Arena) and is never dropped piece by piece.
//! Expressions refer to each other by number ([`Chunk::exprs`]). A left-associative chain
//! (`1+1+1+…`, `a.b.c…`, `f()()…`) may be arbitrarily deep, so code that walks expressions must
//! follow the left spine of such chains iteratively. Statements and everything else are nested at
//! most as deeply as the parser's level limit.

use std::ops::{Index, IndexMut};

use bumpalo::collections::Vec;

use crate::span::Span;

/// Index of an expression in [`Chunk::exprs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExprId(pub u32);

/// Index of a function in [`Chunk::functions`]; the main function is number 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FuncId(pub u32);

/// Index of a local variable in [`Function::locals`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocalId(pub u32);

/// Index of a label in [`Function::labels`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LabelId(pub u32);

/// Index of a `goto` or `break` in [`Function::gotos`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GotoId(pub u32);

/// A name of this chunk, interned; see [`Names`](crate::Names).
pub type Name = lasso::Spur;

/// One parsed chunk.
pub struct Chunk<'a> {
    /// All functions; number 0 is the main function (vararg, one upvalue `_ENV`). A function's
    /// number is greater than its parent's.
    pub functions: &'a [Function<'a>],
    /// All expressions of all functions.
    pub exprs: Exprs<'a>,
    /// Whether the chunk assigns the upvalue `_ENV` of the main function.
    pub assigns_env: bool,
    /// The chunk's names.
    pub names: crate::Names,
    /// The memory of the tree.
    pub arena: &'a crate::Arena,
}

/// Logarithm to base 2 of the number of expressions of a segment.
const LOG_SEGMENT: u32 = 9;
/// Number of expressions of a segment.
const SEGMENT: usize = 1 << LOG_SEGMENT;

/// The expressions of a chunk, in the order in which they were completed.
///
/// They are kept in segments, since a single list that grows would leave its former copies in the
/// arena. For a chunk with a large constructor these took twice the memory of the rest of the tree.
pub struct Exprs<'a> {
    arena: &'a crate::Arena,
    /// All segments but the last are full, and have exactly [`SEGMENT`] expressions.
    segments: Vec<'a, Vec<'a, Expr<'a>>>,
}

impl<'a> Exprs<'a> {
    /// Creates an empty list with room for a few expressions, or for about `expected` if that is
    /// more.
    pub(crate) fn new(arena: &'a crate::Arena, expected: usize) -> Exprs<'a> {
        let mut segments = Vec::with_capacity_in(4, arena);
        segments.push(Vec::with_capacity_in(expected.clamp(4, SEGMENT), arena));
        Exprs { arena, segments }
    }

    /// Adds an expression, and returns its number.
    #[inline]
    pub(crate) fn push(&mut self, expr: Expr<'a>) -> ExprId {
        let full = self.segments.len() - 1;
        let mut last = full;
        if self.segments[full].len() == SEGMENT {
            self.segments.push(Vec::with_capacity_in(SEGMENT, self.arena));
            last += 1;
        }
        let segment = &mut self.segments[last];
        let id = last << LOG_SEGMENT | segment.len();
        segment.push(expr);
        ExprId(id as u32)
    }

    /// Returns the number of expressions.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        let full = self.segments.len() - 1;
        full << LOG_SEGMENT | self.segments[full].len()
    }

    /// Iterates over the expressions.
    pub fn iter(&self) -> impl Iterator<Item = &Expr<'a>> {
        self.segments.iter().flatten()
    }
}

impl<'a> Index<ExprId> for Exprs<'a> {
    type Output = Expr<'a>;

    #[inline]
    fn index(&self, id: ExprId) -> &Expr<'a> {
        let id = id.0 as usize;
        &self.segments[id >> LOG_SEGMENT][id % SEGMENT]
    }
}

impl<'a> IndexMut<ExprId> for Exprs<'a> {
    #[inline]
    fn index_mut(&mut self, id: ExprId) -> &mut Expr<'a> {
        let id = id.0 as usize;
        &mut self.segments[id >> LOG_SEGMENT][id % SEGMENT]
    }
}

/// One function body.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    /// Enclosing function; `None` for the main function.
    pub parent: Option<FuncId>,
    /// Parameters, in order (an implicit `self` included).
    pub params: &'a [LocalId],
    /// Whether the parameter list ends with `...`.
    pub is_vararg: bool,
    /// Every local variable declared in the function, in order of declaration.
    pub locals: &'a [LocalVar],
    /// The variables of enclosing functions that it uses, in order of first use.
    pub upvalues: &'a [Upvalue],
    /// Labels declared in the function.
    pub labels: &'a [Label],
    /// Every `goto` and `break`, with the label that it reaches.
    pub gotos: &'a [Goto],
    /// The statements.
    pub body: Block<'a>,
    /// Line of the `function` keyword of a statement; of the parameter list for other functions; 0
    /// for the main function.
    pub line_defined: u32,
    /// Line on which the parameter list ends.
    pub params_line: u32,
    /// Line of the closing `end`; 0 for the main function.
    pub last_line: u32,
    /// The line of the implicit return at the end: that of `end`, or of the main function's last
    /// token.
    pub end_line: u32,
}

/// One local variable.
#[derive(Clone, Copy)]
pub struct LocalVar {
    /// Its name; the hidden variables of `for` loops have the name `(for state)`.
    pub name: Name,
    /// Its attribute.
    pub attrib: Attrib,
    /// Whether an inner function uses it.
    pub captured: bool,
    /// Whether it is assigned after its declaration, here or in an inner function.
    pub reassigned: bool,
}

/// Attribute of a local variable (manual 3.3.7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attrib {
    /// No attribute.
    Regular,
    /// `<const>`
    Const,
    /// `<close>`
    Close,
}

/// One upvalue of a function.
#[derive(Clone, Copy)]
pub struct Upvalue {
    /// The variable's name.
    pub name: Name,
    /// Where the enclosing function finds the variable.
    pub source: UpvalueSource,
}

/// Where a new closure finds the variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UpvalueSource {
    /// A local variable of the enclosing function.
    ParentLocal(LocalId),
    /// An upvalue of the enclosing function, by index. The main function's `_ENV` is
    /// `ParentUpvalue(0)`, although no function encloses it.
    ParentUpvalue(u16),
}

/// One label.
#[derive(Clone, Copy)]
pub struct Label {
    /// Its name; the implicit end of a loop (target of `break`) has the name `break`.
    pub name: Name,
    /// Line of the declaration.
    pub line: u32,
    /// Whether some `goto` or `break` jumps to it.
    pub used: bool,
}

/// One resolved `goto` or `break`.
#[derive(Clone, Copy)]
pub struct Goto {
    /// The target, in the same function.
    pub label: LabelId,
    /// Line of the statement.
    pub line: u32,
}

/// A list of statements with its own scope.
#[derive(Clone, Copy, Default)]
pub struct Block<'a> {
    /// The statements.
    pub stmts: &'a [Stmt<'a>],
}

/// A statement and the line on which it starts.
#[derive(Clone, Copy)]
pub struct Stmt<'a> {
    /// The kind of statement.
    pub kind: StmtKind<'a>,
    /// Line of its first token.
    pub line: u32,
    /// Line of its last token.
    pub end_line: u32,
}

/// The statements of manual 3.3.
#[derive(Clone, Copy)]
pub enum StmtKind<'a> {
    /// `local a, b <const> = …`. Locals become visible after it.
    Local {
        /// The variables.
        locals: &'a [LocalId],
        /// The initial values.
        values: &'a [ExprId],
    },
    /// `a, b.c = …`. Targets are `Local`, `Upvalue`, `Global` or `Index` expressions.
    Assign {
        /// The left side.
        targets: &'a [ExprId],
        /// The right side.
        values: &'a [ExprId],
    },
    /// A call as a statement: a `Call` or `MethodCall` expression.
    Call(ExprId),
    /// `do … end`
    Do(Block<'a>),
    /// `while … do … end`
    While {
        /// Condition.
        cond: ExprId,
        /// Loop body.
        body: Block<'a>,
        /// Target of `break`, placed just after the loop.
        end: LabelId,
    },
    /// `repeat … until …`; the body's locals are visible in the condition.
    Repeat {
        /// Loop body.
        body: Block<'a>,
        /// Condition.
        cond: ExprId,
        /// Target of `break`.
        end: LabelId,
        /// Line of `until`.
        until_line: u32,
    },
    /// `if … elseif … else … end`
    If {
        /// Conditions and bodies, in order.
        arms: &'a [Arm<'a>],
        /// The `else` part.
        otherwise: Option<Block<'a>>,
    },
    /// `for v = a, b, c do … end`
    NumericFor(&'a NumericFor<'a>),
    /// `for a, b in … do … end`
    GenericFor(&'a GenericFor<'a>),
    /// `function a.b:c() … end`: assignment of a function. The store is attributed to the
    /// statement's line.
    Function {
        /// The target: a `Local`, `Upvalue`, `Global` or `Index` expression.
        target: ExprId,
        /// A `Function` expression.
        value: ExprId,
    },
    /// `local function f() … end`: visible in its own body.
    LocalFunction {
        /// The variable.
        local: LocalId,
        /// The body.
        func: FuncId,
    },
    /// `return …`. A single call here is a tail call unless a `<close>` variable is in scope.
    Return {
        /// The values.
        values: &'a [ExprId],
    },
    /// `goto name` or `break`.
    Goto(GotoId),
    /// `::name::`
    Label {
        /// The label.
        label: LabelId,
        /// Whether only void statements follow it up to the end of its block. Its scope then counts
        /// as ended there, so locals of the block are not live at it.
        at_block_end: bool,
    },
}

const _: () = assert!(size_of::<Stmt<'_>>() == 48);

/// A numeric `for` loop. It is separate from [`StmtKind`], since it would make all statements
/// larger.
#[derive(Clone, Copy)]
pub struct NumericFor<'a> {
    /// The three hidden variables `(for state)`.
    pub state: [LocalId; 3],
    /// The control variable.
    pub var: LocalId,
    /// Initial value.
    pub start: ExprId,
    /// Limit.
    pub limit: ExprId,
    /// Step, 1 when absent.
    pub step: Option<ExprId>,
    /// Line of `do`, to which errors in the three values are attributed.
    pub do_line: u32,
    /// Loop body.
    pub body: Block<'a>,
    /// Offset of the keyword `end`.
    pub end_start: u32,
    /// Target of `break`.
    pub end: LabelId,
}

/// A generic `for` loop. It is separate from [`StmtKind`], as [`NumericFor`] is.
#[derive(Clone, Copy)]
pub struct GenericFor<'a> {
    /// The four hidden variables `(for state)`: iterator, state, control, closing value.
    pub state: [LocalId; 4],
    /// The declared variables.
    pub vars: &'a [LocalId],
    /// The expressions after `in`.
    pub values: &'a [ExprId],
    /// Line on which these expressions start, to which the calls of the iterator are attributed.
    pub call_line: u32,
    /// Line of `do`.
    pub do_line: u32,
    /// Loop body.
    pub body: Block<'a>,
    /// Offset of the keyword `end`.
    pub end_start: u32,
    /// Target of `break`.
    pub end: LabelId,
}

/// `if` or `elseif` with its condition and body.
#[derive(Clone, Copy)]
pub struct Arm<'a> {
    /// The condition.
    pub cond: ExprId,
    /// Line of `then`, to which the test is attributed.
    pub then_line: u32,
    /// The statements that it guards.
    pub body: Block<'a>,
}

/// One expression.
#[derive(Clone, Copy)]
pub struct Expr<'a> {
    /// The kind of expression.
    pub kind: ExprKind<'a>,
    /// The line to which its own instruction is attributed, as in PUC, if that is emitted before
    /// its value is needed. For operations it is the operator's line (for comparisons, the line
    /// where the right operand ends), for calls that of the opening parenthesis or argument, and
    /// for tables and `...` that of the token before.
    pub line: u32,
    /// The line that the parser has reached when its value is needed, mostly that of the next
    /// operator, comma or closing parenthesis, or else that of its last token. PUC delays some
    /// instructions until this point: those that read variables, fields and constants, and those
    /// that put the value of a condition into a register or test a value.
    pub value_line: u32,
    /// Its bytes in the source.
    pub span: Span,
}

/// The expressions of manual 3.4.
#[derive(Clone, Copy)]
pub enum ExprKind<'a> {
    /// `nil`
    Nil,
    /// `true`
    True,
    /// `false`
    False,
    /// An integer literal.
    Integer(i64),
    /// A float literal.
    Float(f64),
    /// A string literal, decoded; also the key of a field access.
    Str(&'a [u8]),
    /// `...`
    Vararg,
    /// `function … end`
    Function(FuncId),
    /// A local variable of the same function.
    Local(LocalId),
    /// An upvalue of the function, by index in [`Function::upvalues`].
    Upvalue(u16),
    /// A free name: field `name` of `env`, which is a `Local` or `Upvalue` expression for `_ENV`.
    Global {
        /// `_ENV`
        env: ExprId,
        /// The name.
        name: Name,
    },
    /// `object[key]`; `object.name` has a `Str` key.
    Index {
        /// The indexed value.
        object: ExprId,
        /// The key.
        key: ExprId,
    },
    /// `callee(args)`
    Call {
        /// The called value.
        callee: ExprId,
        /// The arguments; the last may have multiple values.
        args: &'a [ExprId],
    },
    /// `object:name(args)`
    MethodCall {
        /// The receiver.
        object: ExprId,
        /// The method and its arguments.
        call: &'a MethodCall<'a>,
    },
    /// `(e)`: truncates multiple values to one. It is only kept around calls and `...`, and around
    /// a name or an index, which is no longer assignable in parentheses. The parser drops all other
    /// parentheses.
    Paren(ExprId),
    /// Unary operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Operand.
        operand: ExprId,
    },
    /// Binary operator, `and` and `or` included.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left operand.
        left: ExprId,
        /// Right operand.
        right: ExprId,
    },
    /// `{ … }`
    Table {
        /// The items.
        items: &'a [TableItem],
        /// Line of the closing brace, to which the storing of the last positional items is
        /// attributed.
        end_line: u32,
    },
}

/// The call of a method. It is separate from [`ExprKind`], since it would make all expressions
/// larger.
#[derive(Clone, Copy)]
pub struct MethodCall<'a> {
    /// The method.
    pub name: Name,
    /// Arguments after the receiver.
    pub args: &'a [ExprId],
}

const _: () = assert!(size_of::<Expr<'_>>() == 40);

/// One item of a table constructor, in source order.
#[derive(Clone, Copy)]
pub enum TableItem {
    /// `value`
    Positional(ExprId),
    /// `name = value` (a `Str` key) or `[key] = value`
    Keyed {
        /// The key.
        key: ExprId,
        /// The value.
        value: ExprId,
    },
}

/// Unary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `not`
    Not,
    /// `#`
    Len,
    /// `~`
    BNot,
}

/// Binary operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Mod,
    Pow,
    Div,
    IDiv,
    BAnd,
    BOr,
    BXor,
    Shl,
    Shr,
    Concat,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}
