//! Running functions with a message handler, so that interrupts can stop them, and reporting
//! errors.

use std::sync::Arc;

use perilune::native::{Cx, NativeResult, Raised, Val};
use perilune::{Interrupt, SignalTrap, call_with_handler};

use crate::explain::Explain;
use crate::text;

/// Signal number of an interrupt from the terminal.
const SIGINT: i32 = 2;

/// Calls chunks and reports their errors.
pub(crate) struct Caller {
    /// Armed while a function runs, so that an interrupt stops the function and not the process.
    trap: Arc<SignalTrap>,
    /// The text that error messages begin with.
    pub(crate) name: Option<Vec<u8>>,
    /// The source that is shown with error messages.
    pub(crate) explain: Explain,
}

impl Caller {
    /// Creates a caller, and catches interrupts from now on.
    pub(crate) fn new(interrupt: &Interrupt, name: &[u8], explain: Explain) -> Caller {
        let trap = Arc::new(SignalTrap::default());
        trap.set_patient(true);
        // Where the signal cannot be caught, it ends the process as usual.
        let _ = interrupt.on_signal(SIGINT, trap.clone());
        Caller { trap, name: Some(name.to_vec()), explain }
    }

    /// Prepares for code that a user types: messages carry no name, and an interrupt also stops
    /// library functions at once.
    pub(crate) fn begin_console(&mut self) {
        self.name = None;
        self.trap.set_patient(false);
    }

    /// Calls the function that was pushed with its `nargs` arguments. Returns the number of
    /// results, which are on top of the stack, or `Err` with the message on top. Value 0 of the
    /// stack is [`message_handler`].
    pub(crate) fn call(&self, cx: &mut Cx, nargs: usize) -> Result<usize, ()> {
        self.trap.arm();
        let r = call_with_handler(cx, nargs);
        if !self.trap.disarm() {
            // An interrupt that came too late must not stop the code that runs next.
            cx.forget_interrupt();
        }
        r
    }

    /// Reports the error value on top of the stack, and pops it.
    pub(crate) fn report(&self, cx: &mut Cx) {
        let message = to_text(cx, cx.get(cx.top() - 1));
        let message = message.unwrap_or_else(|| b"(error message not a string)".to_vec());
        cx.pop(1);
        self.message(&message);
    }

    /// Reports an error message, with its source if explanations are enabled.
    pub(crate) fn message(&self, message: &[u8]) {
        text::message(self.name.as_deref(), message);
        if let Some(source) = self.explain.message(message) {
            text::write_error(source.as_bytes());
        }
    }
}

/// Returns the text of a string or number.
pub(crate) fn to_text(cx: &Cx, v: Val<'_>) -> Option<Vec<u8>> {
    match v.as_str() {
        Some(s) => Some(s.bytes().to_vec()),
        None if v.is_number() => Some(cx.number_to_str(v).bytes().to_vec()),
        None => None,
    }
}

/// Turns any error value into a message with a traceback. The result of `__tostring` of an error
/// object is used as it is.
pub(crate) fn message_handler(cx: &mut Cx) -> NativeResult {
    let message = match to_text(cx, cx.get(0)) {
        Some(text) => text,
        None => {
            let meta = cx.metatable_of(cx.get(0));
            let to_string = meta.map_or(Val::NIL, |m| m.get_name(cx, "__tostring"));
            if !to_string.is_nil() {
                cx.push_callee(to_string);
                cx.push(cx.get(0));
                cx.call_n(1, 1)?;
                if cx.get(cx.top() - 1).as_str().is_some() {
                    return cx.ret(1);
                }
            }
            format!("(error object is a {} value)", cx.get(0).type_name()).into_bytes()
        }
    };
    let text = cx.traceback(None, Some(&message), 1);
    cx.ret1(cx.str(&text).val())
}

/// Pushes the value of a global variable, honoring metamethods.
pub(crate) fn push_global(cx: &mut Cx, name: &[u8]) -> Result<(), Raised> {
    let at = cx.top();
    cx.push(cx.globals().val());
    let key = cx.str(name).val().raw();
    cx.index(at, key)?;
    cx.remove(at);
    Ok(())
}

/// Pops the value on top of the stack and assigns it to a global variable.
pub(crate) fn set_global(cx: &mut Cx, name: &[u8]) -> Result<(), Raised> {
    let at = cx.top() - 1;
    cx.insert(at, cx.globals().val());
    let key = cx.str(name).val().raw();
    cx.set_index(at, key)?;
    cx.pop(1);
    Ok(())
}
