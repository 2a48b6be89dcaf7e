//! The tokens of Lua (manual 3.1), as logos matches them.

use logos::Logos;

use super::{Failed, Scanner, long_bracket, numeral, quoted};

/// One token, in one byte: the text of a name is the source in its span, and the scanner has the
/// values of strings and numerals.
#[derive(Logos, Clone, Copy, PartialEq, Debug)]
#[logos(utf8 = false)]
#[logos(extras = Scanner<'s>)]
#[logos(error = Failed)]
#[logos(skip("[ \t\x0B\x0C]", super::spaces))]
#[logos(skip("\r\n|\n\r|\r|\n", super::newline))]
#[logos(skip("--", long_bracket::comment))]
#[allow(missing_docs)]
pub(crate) enum Token {
    #[token("and")]
    And,
    #[token("break")]
    Break,
    #[token("do")]
    Do,
    #[token("else")]
    Else,
    #[token("elseif")]
    ElseIf,
    #[token("end")]
    End,
    #[token("false")]
    False,
    #[token("for")]
    For,
    #[token("function")]
    Function,
    #[token("goto")]
    Goto,
    #[token("if")]
    If,
    #[token("in")]
    In,
    #[token("local")]
    Local,
    #[token("nil")]
    Nil,
    #[token("not")]
    Not,
    #[token("or")]
    Or,
    #[token("repeat")]
    Repeat,
    #[token("return")]
    Return,
    #[token("then")]
    Then,
    #[token("true")]
    True,
    #[token("until")]
    Until,
    #[token("while")]
    While,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("//")]
    DoubleSlash,
    #[token("%")]
    Percent,
    #[token("^")]
    Caret,
    #[token("#")]
    Hash,
    #[token("&")]
    Ampersand,
    #[token("~")]
    Tilde,
    #[token("|")]
    Pipe,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("==")]
    Equal,
    #[token("~=")]
    NotEqual,
    #[token("<=")]
    LessEqual,
    #[token(">=")]
    GreaterEqual,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("=")]
    Assign,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("]")]
    RightBracket,
    #[token("::")]
    DoubleColon,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("..")]
    Concat,
    #[token("...")]
    Dots,
    #[token("[", long_bracket::string_or_bracket)]
    LeftBracket,
    #[regex("[A-Za-z_][A-Za-z0-9_]*", priority = 1)]
    Name,
    #[regex(r"\.?[0-9]", numeral::numeral)]
    Number,
    #[regex("[\"']", quoted::quoted)]
    String,
    /// A byte that starts no token.
    #[regex(r"(?s-u:.)", priority = 0)]
    Other,
    /// The end of the input.
    Eof,
}

impl Token {
    /// Returns the text by which messages name this kind of token where it is expected.
    pub(crate) fn description(&self) -> &'static str {
        match self {
            Token::And => "'and'",
            Token::Break => "'break'",
            Token::Do => "'do'",
            Token::Else => "'else'",
            Token::ElseIf => "'elseif'",
            Token::End => "'end'",
            Token::False => "'false'",
            Token::For => "'for'",
            Token::Function => "'function'",
            Token::Goto => "'goto'",
            Token::If => "'if'",
            Token::In => "'in'",
            Token::Local => "'local'",
            Token::Nil => "'nil'",
            Token::Not => "'not'",
            Token::Or => "'or'",
            Token::Repeat => "'repeat'",
            Token::Return => "'return'",
            Token::Then => "'then'",
            Token::True => "'true'",
            Token::Until => "'until'",
            Token::While => "'while'",
            Token::Plus => "'+'",
            Token::Minus => "'-'",
            Token::Star => "'*'",
            Token::Slash => "'/'",
            Token::DoubleSlash => "'//'",
            Token::Percent => "'%'",
            Token::Caret => "'^'",
            Token::Hash => "'#'",
            Token::Ampersand => "'&'",
            Token::Tilde => "'~'",
            Token::Pipe => "'|'",
            Token::ShiftLeft => "'<<'",
            Token::ShiftRight => "'>>'",
            Token::Equal => "'=='",
            Token::NotEqual => "'~='",
            Token::LessEqual => "'<='",
            Token::GreaterEqual => "'>='",
            Token::Less => "'<'",
            Token::Greater => "'>'",
            Token::Assign => "'='",
            Token::LeftParen => "'('",
            Token::RightParen => "')'",
            Token::LeftBrace => "'{'",
            Token::RightBrace => "'}'",
            Token::LeftBracket => "'['",
            Token::RightBracket => "']'",
            Token::DoubleColon => "'::'",
            Token::Semicolon => "';'",
            Token::Colon => "':'",
            Token::Comma => "','",
            Token::Dot => "'.'",
            Token::Concat => "'..'",
            Token::Dots => "'...'",
            Token::Name => "<name>",
            Token::Number => "<number>",
            Token::String => "<string>",
            Token::Other => "<byte>",
            Token::Eof => "<eof>",
        }
    }
}
