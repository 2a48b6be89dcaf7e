//! Calls of functions.

use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_runtime::value::Value as Word;

use crate::stack::Raw;
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::{Error, Function, Result};

impl Function {
    /// Calls the function.
    ///
    /// # Errors
    /// Returns the error that the function raises, with a traceback, or the error of a conversion.
    ///
    /// # Panics
    /// Resumes the panic of a host function that was called and that no `pcall` caught.
    #[inline]
    pub fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let at = s.top();
        s.push(Raw(self.0.word()));
        s.push(Raw(Word::NIL));
        // SAFETY: P1: callee, header and arguments are pushed; results lie where the callee was.
        unsafe {
            let n = args.push_into_stack_multi(s)?;
            match ((*s.st).vm.traced)(s.st, (*s.st).base.add(at), n) {
                Ok(n) => R::from_stack_multi(at, n, s),
                Err(_) => Err(s.caught(at)),
            }
        }
    }

    /// Returns a function that calls this one with `args` before its own arguments.
    ///
    /// # Errors
    /// Returns [`Error::BindError`] for more than 254 arguments.
    pub fn bind(&self, args: impl IntoLuaMulti) -> Result<Function> {
        let entry = self.0.enter();
        let s = entry.stack();
        let top = s.top();
        s.reserve(8)?;
        s.push(Raw(self.0.word()));
        // SAFETY: P1.
        let n = unsafe { args.push_into_stack_multi(s)? };
        if n == 0 {
            return Ok(self.clone());
        }
        if n > 254 {
            return Err(Error::BindError);
        }
        let cx = s.cx();
        let values: Vec<Val<'_>> = (top..=top + n).map(|i| cx.get(i)).collect();
        let f = cx.func(call_bound, &values).val().raw();
        let bound = Function(s.handle(Raw(f)));
        s.poll()?;
        Ok(bound)
    }
}

/// Implements bound functions: calls bound value 0 with the other bound values before its
/// arguments.
fn call_bound(cx: &mut Cx) -> NativeResult {
    if cx.step() == 1 {
        let n = cx.top() - cx.kept();
        return cx.ret(n);
    }
    let (bound, given) = (cx.bound_count(), cx.top());
    cx.reserve(bound + 2)?;
    cx.open_gap(0, bound + 1);
    cx.set(0, cx.bound(0));
    for i in 1..bound {
        cx.set(i + 1, cx.bound(i));
    }
    cx.call_then(given + bound - 1, 1)
}
