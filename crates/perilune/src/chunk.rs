//! Running source text.

use std::sync::Arc;

use perilune_bytecode::Proto;
use perilune_runtime::native::{Cx, Val};

use crate::{Error, Lua, program};

/// Source text with its name, or a compiled program, ready to run.
pub struct Chunk<'a> {
    lua: &'a Lua,
    code: Code,
    name: Vec<u8>,
}

enum Code {
    Source(Vec<u8>),
    Compiled(Arc<Proto>),
}

impl<'a> Chunk<'a> {
    pub(crate) fn new(lua: &'a Lua, source: Vec<u8>) -> Chunk<'a> {
        let name = source.clone();
        Chunk { lua, code: Code::Source(source), name }
    }

    /// `proto` was compiled by an [`crate::Engine`].
    pub(crate) fn of_program(lua: &'a Lua, proto: Arc<Proto>) -> Chunk<'a> {
        Chunk { lua, code: Code::Compiled(proto), name: Vec::new() }
    }

    /// Names the chunk: `@file`, `=display name`, or source text (the default). Programs have their names already.
    #[must_use]
    pub fn set_name(mut self, name: impl AsRef<[u8]>) -> Chunk<'a> {
        self.name = name.as_ref().to_vec();
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// If it does not compile, or raises an error.
    pub fn exec(self) -> Result<(), Error> {
        self.run(|_| ())
    }

    /// Runs it and converts its first result as `tostring` does.
    ///
    /// # Errors
    /// As [`Chunk::exec`].
    pub fn eval_string(self) -> Result<String, Error> {
        self.run(text_of_top)
    }

    fn run<R>(self, result: impl FnOnce(&mut Cx) -> R) -> Result<R, Error> {
        self.lua.with(|cx| {
            match &self.code {
                Code::Source(source) => match cx.load(source, &self.name, b"bt", None) {
                    Ok(f) => cx.push_callee(f),
                    Err(m) => return Err(Error::syntax(&m)),
                },
                Code::Compiled(proto) => program::push(cx, proto),
            }
            match cx.call_protected(0) {
                Ok(n) => {
                    if n == 0 {
                        cx.push(Val::NIL);
                    } else {
                        cx.pop(n - 1);
                    }
                    Ok(result(cx))
                }
                Err(()) => Err(Error::RuntimeError(text_of_top(cx))),
            }
        })
    }
}

fn text_of_top(cx: &mut Cx) -> String {
    let i = cx.top() - 1;
    if cx.push_tostring(i).is_err() {
        return "error object that cannot be shown".into();
    }
    let v = cx.get(cx.top() - 1);
    v.as_str().map(|s| String::from_utf8_lossy(s.bytes()).into_owned()).unwrap_or_default()
}
