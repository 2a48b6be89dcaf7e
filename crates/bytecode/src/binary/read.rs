//! Reading binary chunks, which may contain arbitrary bytes.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{CHECK_FLOAT, CHECK_INTEGER, FORMAT, HEADER, MAX_NESTING, SIZES, source, tag, upvalue};
use crate::instr::Instr;
use crate::proto::{Constant, LocalDesc, Proto, Text, UpvalDesc};

/// The reason why a binary chunk does not load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndumpError {
    /// The whole message, `name: bad binary format (reason)`.
    pub message: Vec<u8>,
}

impl fmt::Display for UndumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.message))
    }
}

impl std::error::Error for UndumpError {}

type Result<T = ()> = std::result::Result<T, String>;

/// Loads a binary chunk and verifies it. `name` is the chunk name as given to `load`, which is only
/// used in messages. The memory used is proportional to the chunk's length, whatever lengths the
/// chunk claims.
///
/// # Errors
/// Returns an error if the chunk is cut short, has another format, or does not verify.
pub fn undump(chunk: &[u8], name: &[u8]) -> std::result::Result<Arc<Proto>, UndumpError> {
    read(chunk).map_err(|reason| {
        let display = match name {
            [b'@' | b'=', rest @ ..] => rest,
            [0x1b, ..] => b"binary string",
            _ => name,
        };
        let mut message = display.to_vec();
        message.extend_from_slice(format!(": bad binary format ({reason})").as_bytes());
        UndumpError { message }
    })
}

fn read(chunk: &[u8]) -> Result<Arc<Proto>> {
    let mut reader = Reader { rest: chunk, text: Vec::new() };
    reader.header()?;
    let proto = reader.function(None, 0)?;
    match crate::verify(&proto) {
        Ok(()) => Ok(Arc::new(proto)),
        Err(e) => Err(format!("invalid code: {e}")),
    }
}

/// Number of bytes of memory that a list may take before any of its items is read.
const AT_ONCE: usize = 4096;

struct Reader<'a> {
    rest: &'a [u8],
    /// Strings and names of the function that is being read.
    text: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => {
                self.rest = &[];
                Err("truncated chunk".into())
            }
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn unsigned(&mut self) -> Result<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err("integer overflow".into())
    }

    fn signed(&mut self) -> Result<i64> {
        let n = self.unsigned()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn number(&mut self) -> Result<u32> {
        u32::try_from(self.unsigned()?).map_err(|_| "integer overflow".into())
    }

    /// Returns the count of items that take at least `size` bytes each.
    fn count(&mut self, size: usize) -> Result<usize> {
        let n = self.unsigned()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.rest.len() / size => Ok(n),
            _ => Err("truncated chunk".into()),
        }
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.count(1)?;
        self.take(n)
    }

    fn text(&mut self) -> Result<Text> {
        let bytes = self.bytes()?;
        let text = Text::place(self.text.len(), bytes.len()).ok_or("too many strings")?;
        self.text.extend_from_slice(bytes);
        Ok(text)
    }

    fn header(&mut self) -> Result {
        let reasons =
            ["not a binary chunk", "version mismatch", "format mismatch", "corrupted chunk"];
        for (part, reason) in HEADER.into_iter().zip(reasons) {
            if self.take(part.len())? != part {
                return Err(reason.into());
            }
        }
        for (size, what) in SIZES {
            if self.byte()? != size {
                return Err(format!("{what} size mismatch"));
            }
        }
        if self.array()? != CHECK_INTEGER.to_le_bytes() {
            return Err("integer format mismatch".into());
        }
        if self.array()? != CHECK_FLOAT.to_le_bytes() {
            return Err("float format mismatch".into());
        }
        if self.array()? != FORMAT {
            return Err("chunk of another Lua implementation".into());
        }
        Ok(())
    }

    fn function(&mut self, parent: Option<&Arc<[u8]>>, depth: usize) -> Result<Proto> {
        if depth > MAX_NESTING {
            return Err("functions nest too deeply".into());
        }
        let source = match self.byte()? {
            source::NONE => None,
            source::AS_PARENT => parent.cloned(),
            source::OWN => Some(Arc::from(self.bytes()?)),
            _ => return Err("bad source".into()),
        };
        let line_defined = self.number()?;
        let last_line = self.number()?;
        let num_params = self.byte()?;
        let is_vararg = self.byte()? != 0;
        let max_stack = self.byte()?;
        let code = self.code()?;
        let constants = self.list(1, Reader::constant)?;
        let upvalues = self.list(2, Reader::upvalue)?;
        let own_text = std::mem::take(&mut self.text);
        let protos =
            self.list(8, |reader| Ok(Arc::new(reader.function(source.as_ref(), depth + 1)?)))?;
        self.text = own_text;
        let lines = self.lines(line_defined)?;
        let locals = self.list(4, Reader::local)?;
        Ok(Proto {
            code,
            constants,
            protos,
            upvalues,
            lines,
            locals,
            text: std::mem::take(&mut self.text).into(),
            source,
            line_defined,
            last_line,
            num_params,
            is_vararg,
            max_stack,
            method: Default::default(),
        })
    }

    /// Returns a list, preceded by its count, of items that take at least `size` bytes each.
    fn list<T, L: From<Vec<T>>>(
        &mut self,
        size: usize,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<L> {
        let n = self.count(size)?;
        // An item may take more bytes of memory than of the chunk, so a long list grows as it is
        // read.
        let mut list = Vec::with_capacity(n.min(AT_ONCE / size_of::<T>()));
        for _ in 0..n {
            list.push(item(self)?);
        }
        list.shrink_to_fit();
        Ok(list.into())
    }

    fn code(&mut self) -> Result<SmallVec<[Instr; 8]>> {
        let n = self.count(4)?;
        let words = self.take(n * 4)?;
        Ok(words
            .chunks_exact(4)
            .map(|w| Instr(u32::from_le_bytes([w[0], w[1], w[2], w[3]])))
            .collect())
    }

    fn constant(&mut self) -> Result<Constant> {
        Ok(match self.byte()? {
            tag::NIL => Constant::Nil,
            tag::FALSE => Constant::Bool(false),
            tag::TRUE => Constant::Bool(true),
            tag::INTEGER => Constant::Integer(self.signed()?),
            tag::FLOAT => Constant::Float(f64::from_bits(u64::from_le_bytes(self.array()?))),
            tag::STR => Constant::Str(self.text()?),
            _ => return Err("invalid constant".into()),
        })
    }

    fn upvalue(&mut self) -> Result<UpvalDesc> {
        let flags = self.byte()?;
        let index = self.byte()?;
        let name = match flags & upvalue::NAMED {
            0 => None,
            _ => Some(self.text()?),
        };
        Ok(UpvalDesc {
            name,
            in_stack: flags & upvalue::IN_STACK != 0,
            index,
            constant: false,
            itself: false,
        })
    }

    fn lines(&mut self, line_defined: u32) -> Result<SmallVec<[u32; 8]>> {
        let mut last = i64::from(line_defined);
        self.list(1, |reader| {
            last = last.wrapping_add(reader.signed()?);
            u32::try_from(last).map_err(|_| "integer overflow".into())
        })
    }

    fn local(&mut self) -> Result<LocalDesc> {
        Ok(LocalDesc {
            name: self.text()?,
            start_pc: self.number()?,
            end_pc: self.number()?,
            register: self.byte()?,
        })
    }
}
