//! Arguments of generated calls, and their form for the driver.

use std::fmt;

/// An argument.
#[derive(Clone, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Vec<u8>),
    /// One of the driver's objects: tables with and without metatables, functions.
    Object(u8),
}

/// The number of the driver's objects that pattern tests use.
pub(crate) const OBJECTS: u8 = 12;
/// The objects that `tostring` converts to a text without an address, or rejects.
pub(crate) const NAMED: &[u8] = &[6, 7, 8, 9];
/// The objects that are, or resemble, replacements.
pub(crate) const REPLACEMENTS: &[u8] = &[1, 2, 3, 4, 5, 6, 10, 11];

/// A call of one of the driver's operations.
#[derive(Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) operation: Operation,
    pub(crate) arguments: Vec<Value>,
}

/// The operations of the driver, in the order of its list.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operation {
    Double,
    Numeral,
    Find,
    Match,
    Gmatch,
    Gsub,
    Format,
    Pack,
    Packsize,
    Unpack,
    RoundTrip,
    PatternMethod,
    PatternDirect,
    Any,
}

impl Value {
    pub(crate) fn str(text: impl AsRef<[u8]>) -> Value {
        Value::Str(text.as_ref().to_vec())
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Value::Nil => out.push(b'n'),
            Value::Bool(true) => out.push(b't'),
            Value::Bool(false) => out.push(b'f'),
            Value::Int(n) => {
                out.push(b'i');
                out.extend_from_slice(&n.to_le_bytes());
            }
            Value::Float(x) => {
                out.push(b'd');
                out.extend_from_slice(&x.to_le_bytes());
            }
            Value::Str(s) => {
                out.push(b's');
                out.extend_from_slice(&(s.len() as u32).to_le_bytes());
                out.extend_from_slice(s);
            }
            Value::Object(n) => out.extend_from_slice(&[b'o', *n]),
        }
    }

    /// Returns smaller values that may show the same difference, the smallest first.
    pub(crate) fn smaller(&self) -> Vec<Value> {
        match self {
            Value::Nil => vec![],
            Value::Int(n) if (0..=1).contains(n) => vec![],
            Value::Int(n) => vec![Value::Int(1), Value::Int(n / 2)],
            Value::Str(s) => {
                let halves = [&s[..s.len() / 2], &s[s.len() / 2..]];
                let halves = halves.into_iter().filter(|half| half.len() < s.len());
                let less = (0..s.len()).map(|i| [&s[..i], &s[i + 1..]].concat());
                halves.map(<[u8]>::to_vec).chain(less).map(Value::Str).collect()
            }
            _ => vec![Value::Nil],
        }
    }
}

impl Call {
    pub(crate) fn new(operation: Operation, arguments: Vec<Value>) -> Call {
        Call { operation, arguments }
    }

    /// Appends the call in the form that the driver reads.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.operation as u8 + 1);
        out.push(self.arguments.len() as u8);
        for argument in &self.arguments {
            argument.write(out);
        }
    }

    /// Returns smaller calls that may show the same difference.
    pub(crate) fn smaller(&self) -> Vec<Call> {
        let mut all = Vec::new();
        for i in (0..self.arguments.len()).rev() {
            let mut fewer = self.clone();
            fewer.arguments.remove(i);
            all.push(fewer);
        }
        for (i, argument) in self.arguments.iter().enumerate() {
            for value in argument.smaller() {
                let mut call = self.clone();
                call.arguments[i] = value;
                all.push(call);
            }
        }
        all
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?} ({:#x})", x.to_bits()),
            Value::Str(s) => write!(f, "\"{}\"", s.escape_ascii()),
            Value::Object(n) => write!(f, "object {n}"),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.operation, self.arguments)
    }
}
