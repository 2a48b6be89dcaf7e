//! Argument checks, worded as PUC's auxiliary library words them (manual 5.1, `luaL_check…`).

use super::{Cx, ErrorKind, Func, Raised, Str, Tab, Val};
use crate::convert;
use crate::table::KeyError;
use crate::value::{SlotExt, Tag};

impl Cx {
    /// Raises an error whose message is `msg`, preceded by the position of this function's caller
    /// (`luaL_error`).
    pub fn error(&self, msg: impl AsRef<[u8]>) -> Raised {
        self.error_at(1, msg.as_ref())
    }

    /// Raises an error whose message is `msg`, preceded by the position at this level (0 is this
    /// function), or a memory error if there is no memory for the message.
    pub fn error_at(&self, level: usize, msg: &[u8]) -> Raised {
        // the message may be a string of the program, which can have any length
        if let Err(no_memory) = self.check_room(msg.len()) {
            return no_memory;
        }
        let mut text = self.position(level);
        text.extend_from_slice(msg);
        self.error_plain(text)
    }

    /// Raises an error whose message is exactly `msg`.
    pub fn error_plain(&self, msg: impl AsRef<[u8]>) -> Raised {
        let s = self.str(msg.as_ref()).val();
        self.raise(s)
    }

    /// Raises the error that a value is not a valid key of a table.
    pub(super) fn key_error(&self, e: KeyError) -> Raised {
        self.error_plain(match e {
            KeyError::Nil => "table index is nil",
            KeyError::Nan => "table index is NaN",
        })
    }

    /// Raises an error with any value. If the value is the string "not enough memory", the error is
    /// again a memory error.
    pub fn raise(&self, v: Val<'_>) -> Raised {
        // SAFETY: N1; `error` is a root.
        unsafe { (*self.state()).raise_again(v.raw()) }
    }

    /// Returns the kind of the error that was caught last.
    pub fn caught_kind(&self) -> ErrorKind {
        // SAFETY: N1.
        unsafe { (*self.state()).error_kind }
    }

    /// Raises "bad argument #i to 'f' (msg)", or a memory error if there is no memory for the
    /// message. `i` counts from 0 here.
    #[cold]
    pub fn arg_error(&self, i: usize, msg: impl AsRef<[u8]>) -> Raised {
        let msg = msg.as_ref();
        match self.argument_message(i, msg) {
            Ok(text) => self.error(text),
            Err(no_memory) => no_memory,
        }
    }

    /// Raises "bad argument #i to 'f' (expected expected, got …)".
    #[cold]
    pub fn type_error(&self, i: usize, expected: &str) -> Raised {
        let got = if self.is_none(i) { b"no value" } else { self.type_name_of(self.get(i)) };
        if let Err(no_memory) = self.check_room(got.len()) {
            return no_memory;
        }
        self.arg_error(i, [expected.as_bytes(), b" expected, got ", got].concat())
    }

    /// Returns the type name of a value for error messages: `__name` of its metatable, or the plain
    /// name ("light userdata" for light userdata).
    pub fn type_name_of(&self, v: Val<'_>) -> &[u8] {
        if let Some(name) =
            self.metatable_of(v).map(|m| m.get_name(self, "__name")).and_then(Val::as_str)
        {
            return crate::cfmt::c_str(name.bytes());
        }
        if v.raw().tag() == Tag::LIGHT { b"light userdata" } else { v.type_name().as_bytes() }
    }

    /// Checks for an argument of any type.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (value expected)" if there is no such argument.
    pub fn check_any(&self, i: usize) -> Result<Val<'_>, Raised> {
        if self.is_none(i) { Err(self.arg_error(i, "value expected")) } else { Ok(self.get(i)) }
    }

    /// Checks that an argument is an integer, or converts to one.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument is not a number, or has no integer
    /// representation.
    #[inline]
    pub fn check_int(&self, i: usize) -> Result<i64, Raised> {
        match self.get(i).as_int() {
            Some(n) => Ok(n),
            None => self.check_int_slow(i),
        }
    }

    #[cold]
    fn check_int_slow(&self, i: usize) -> Result<i64, Raised> {
        let v = self.get(i);
        // SAFETY: N2: the value is alive.
        match unsafe { convert::to_integer(v.raw()) } {
            Some(n) => Ok(n),
            // SAFETY: N2.
            None if unsafe { convert::to_number(v.raw()) }.is_some() => {
                Err(self.arg_error(i, "number has no integer representation"))
            }
            None => Err(self.type_error(i, "number")),
        }
    }

    /// Checks for an integer; returns `default` if it is absent or nil.
    ///
    /// # Errors
    /// See [`Cx::check_int`].
    #[inline]
    pub fn opt_int(&self, i: usize, default: i64) -> Result<i64, Raised> {
        if self.get(i).is_nil() { Ok(default) } else { self.check_int(i) }
    }

    /// Checks for a number and converts it to a float.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    #[inline]
    pub fn check_float(&self, i: usize) -> Result<f64, Raised> {
        match self.get(i).as_float() {
            Some(n) => Ok(n),
            None => {
                let v = self.check_number(i)?;
                Ok(v.as_float().unwrap_or_else(|| v.as_int().unwrap_or(0) as f64))
            }
        }
    }

    /// Checks for a number (an integer or float `Val`), and converts strings.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    #[inline]
    pub fn check_number(&self, i: usize) -> Result<Val<'_>, Raised> {
        let v = self.get(i);
        if v.is_number() {
            return Ok(v);
        }
        // SAFETY: N2.
        match unsafe { convert::to_number(v.raw()) } {
            Some(n) => Ok(Val::new(n)),
            None => Err(self.type_error(i, "number")),
        }
    }

    /// Checks for a string; a number is converted in place.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    #[inline]
    pub fn check_str(&self, i: usize) -> Result<Str<'_>, Raised> {
        match self.get(i).as_str() {
            Some(s) => Ok(s),
            None => self.check_str_slow(i),
        }
    }

    #[cold]
    fn check_str_slow(&self, i: usize) -> Result<Str<'_>, Raised> {
        if self.get(i).is_number() {
            let s = self.number_to_str(self.get(i));
            // SAFETY: N1; argument i exists, as it is a number.
            unsafe { (*self.state()).base.add(i).put(s.val().raw()) };
            return Ok(s);
        }
        Err(self.type_error(i, "string"))
    }

    /// Checks for a string; returns `None` if it is absent or nil.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    pub fn opt_str(&self, i: usize) -> Result<Option<Str<'_>>, Raised> {
        if self.get(i).is_nil() { Ok(None) } else { self.check_str(i).map(Some) }
    }

    /// Checks for a table.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    #[inline]
    pub fn check_table(&self, i: usize) -> Result<Tab<'_>, Raised> {
        self.get(i).as_table().ok_or_else(|| self.type_error(i, "table"))
    }

    /// Checks for a function.
    ///
    /// # Errors
    /// Returns "bad argument #i to 'f' (…)" if the argument has another type.
    pub fn check_func(&self, i: usize) -> Result<Func<'_>, Raised> {
        self.get(i).as_func().ok_or_else(|| self.type_error(i, "function"))
    }

    /// Converts a number to a string, as `tostring` does.
    pub fn number_to_str(&self, v: Val<'_>) -> Str<'_> {
        let mut buf = Vec::with_capacity(32);
        convert::write_number(&mut buf, v.raw());
        self.str(&buf)
    }

    /// Converts a value to a number, as arithmetic does; `None` if it does not convert.
    pub fn to_number(&self, v: Val<'_>) -> Option<Val<'_>> {
        // SAFETY: N2.
        unsafe { convert::to_number(v.raw()) }.map(Val::new)
    }

    /// Converts a numeral, with optional spaces around it, to a number.
    pub fn parse_number(&self, text: &[u8]) -> Option<Val<'_>> {
        convert::text_to_number(text).map(Val::new)
    }

    /// Converts an integer, a float with an integral value, or a string to an integer.
    pub fn to_integer(&self, v: Val<'_>) -> Option<i64> {
        // SAFETY: N2.
        unsafe { convert::to_integer(v.raw()) }
    }
}
