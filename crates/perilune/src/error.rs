//! Errors.

use std::error::Error as StdError;
use std::fmt;
use std::result::Result as StdResult;
use std::sync::Arc;

/// The type of errors from outside this crate.
type DynStdError = dyn StdError + Send + Sync;

/// The result of the operations of this crate.
pub type Result<T> = StdResult<T, Error>;

/// The reason why an operation failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The source does not compile. [`syntax::check`](crate::syntax::check) returns the position.
    SyntaxError {
        /// The message, as PUC Lua words it.
        message: String,
        /// Whether the source ends too early, so that more text could make it valid.
        incomplete_input: bool,
    },
    /// Lua raised an error that was not caught: the error value as `tostring` shows it, and a
    /// traceback.
    RuntimeError(String),
    /// The memory limit is reached, or the system has no more memory.
    MemoryError(String),
    /// The state's memory cannot be limited. No state of this crate returns this error; it exists
    /// for programs that match on the errors of mlua.
    MemoryControlNotAvailable,
    /// An unsafe request was refused.
    SafetyError(String),
    /// A function made with `create_function_mut` was called while it was running.
    RecursiveMutCallback,
    /// A function or userdata of a scope was used after the scope had ended.
    CallbackDestructed,
    /// There is no room on the stack for this number of arguments or results.
    StackError,
    /// More arguments than [`Function::bind`](crate::Function::bind) takes.
    BindError,
    /// An argument does not have the type that a function expects.
    BadArgument {
        /// The function's name, if it has one.
        to: Option<String>,
        /// The argument's position, from 1.
        pos: usize,
        /// The argument's name, if it has one.
        name: Option<String>,
        /// The error of the conversion.
        cause: Arc<Error>,
    },
    /// A Lua value cannot be converted to a Rust type.
    FromLuaConversionError {
        /// The Lua type.
        from: &'static str,
        /// The Rust type.
        to: String,
        /// Details, if there are any.
        message: Option<String>,
    },
    /// The coroutine has ended or is running.
    CoroutineUnresumable,
    /// The userdata holds a value of another type.
    UserDataTypeMismatch,
    /// The value of the userdata was taken, or its scope has ended.
    UserDataDestructed,
    /// The value of the userdata is mutably borrowed.
    UserDataBorrowError,
    /// The value of the userdata is borrowed.
    UserDataBorrowMutError,
    /// The host must not set this metamethod.
    MetaMethodRestricted(String),
    /// The value of a metamethod has an unsupported type.
    MetaMethodTypeError {
        /// The metamethod's name.
        method: String,
        /// The value's type.
        type_name: &'static str,
        /// Details, if there are any.
        message: Option<String>,
    },
    /// The [`RegistryKey`](crate::RegistryKey) belongs to another state.
    MismatchedRegistryKey,
    /// A function of the host returned an error.
    CallbackError {
        /// The traceback of the call.
        traceback: String,
        /// The error.
        cause: Arc<Error>,
    },
    /// A panic of a callback was returned again after an earlier call had already resumed it.
    PreviouslyResumedPanic,
    /// A value could not be serialized.
    SerializeError(String),
    /// A value could not be deserialized.
    DeserializeError(String),
    /// An error of another type.
    ExternalError(Arc<DynStdError>),
    /// An error with context.
    WithContext {
        /// The context.
        context: String,
        /// The error.
        cause: Arc<Error>,
    },
}

impl Error {
    /// Creates an [`Error::RuntimeError`] with this message.
    pub fn runtime<S: fmt::Display>(message: S) -> Error {
        Error::RuntimeError(message.to_string())
    }

    /// Creates an [`Error::ExternalError`] from an error of another type. An [`enum@Error`] is
    /// returned as it is.
    pub fn external<T: Into<Box<DynStdError>>>(error: T) -> Error {
        match error.into().downcast::<Error>() {
            Ok(error) => *error,
            Err(error) => Error::ExternalError(error.into()),
        }
    }

    /// Returns the external error inside if it has the type `T`.
    pub fn downcast_ref<T: StdError + 'static>(&self) -> Option<&T> {
        match self {
            Error::ExternalError(e) => e.downcast_ref(),
            _ => self.cause().and_then(Error::downcast_ref),
        }
    }

    /// Returns an iterator over this error and the errors that it wraps, from the outermost to the
    /// innermost. An external error is returned as itself and ends the chain.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let e = next?;
            next = e.cause();
            match e {
                Error::ExternalError(e) => Some(&**e as &(dyn StdError + 'static)),
                e => Some(e as &(dyn StdError + 'static)),
            }
        })
    }

    /// Returns the error that this one wraps, unless it is an external error.
    ///
    /// ```
    /// use perilune::{Error, ErrorContext};
    /// let error = Error::runtime("no such file").context("reading the settings");
    /// assert_eq!(error.parent().unwrap().to_string(), "runtime error: no such file");
    /// assert!(error.parent().unwrap().parent().is_none());
    /// ```
    pub fn parent(&self) -> Option<&Error> {
        self.cause()
    }

    /// Returns the error that this one wraps.
    fn cause(&self) -> Option<&Error> {
        match self {
            Error::BadArgument { cause, .. }
            | Error::CallbackError { cause, .. }
            | Error::WithContext { cause, .. } => Some(cause),
            _ => None,
        }
    }

    /// Creates a syntax error from a message of the compiler. Whether the input is incomplete is
    /// derived from the message, as in mlua and PUC's command.
    pub(crate) fn syntax(message: &[u8]) -> Error {
        let message = String::from_utf8_lossy(message).into_owned();
        let incomplete_input = message.ends_with("<eof>");
        Error::SyntaxError { message, incomplete_input }
    }

    pub(crate) fn not_enough_memory() -> Error {
        Error::MemoryError("not enough memory".to_owned())
    }

    #[cold]
    pub(crate) fn from_lua_conversion(
        from: &'static str,
        to: impl Into<String>,
        message: impl Into<Option<String>>,
    ) -> Error {
        Error::FromLuaConversionError { from, to: to.into(), message: message.into() }
    }

    #[cold]
    pub(crate) fn bad_argument(self, pos: usize, to: Option<&str>) -> Error {
        Error::BadArgument { to: to.map(str::to_owned), pos, name: None, cause: Arc::new(self) }
    }

    #[cold]
    pub(crate) fn bad_self(self, to: &str) -> Error {
        let name = Some("self".to_owned());
        Error::BadArgument { to: Some(to.to_owned()), pos: 1, name, cause: Arc::new(self) }
    }
}

fn with_detail(f: &mut fmt::Formatter<'_>, detail: Option<&String>) -> fmt::Result {
    detail.map_or(Ok(()), |d| write!(f, " ({d})"))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::SyntaxError { message, .. } => write!(f, "syntax error: {message}"),
            Error::RuntimeError(message) => write!(f, "runtime error: {message}"),
            Error::MemoryError(message) => write!(f, "memory error: {message}"),
            Error::MemoryControlNotAvailable => f.write_str("memory control is not available"),
            Error::SafetyError(message) => write!(f, "safety error: {message}"),
            Error::RecursiveMutCallback => f.write_str("mutable callback called recursively"),
            Error::CallbackDestructed => {
                f.write_str("a destructed callback or destructed userdata method was called")
            }
            Error::StackError => f.write_str(
                "out of Lua stack, too many arguments to a Lua function or too many return values \
                 from a callback",
            ),
            Error::BindError => f.write_str("too many arguments to Function::bind"),
            Error::BadArgument { to, pos, name, cause } => {
                match name {
                    Some(name) => write!(f, "bad argument `{name}`")?,
                    None => write!(f, "bad argument #{pos}")?,
                }
                if let Some(to) = to {
                    write!(f, " to `{to}`")?;
                }
                write!(f, ": {cause}")
            }
            Error::FromLuaConversionError { from, to, message } => {
                write!(f, "error converting Lua {from} to {to}")?;
                with_detail(f, message.as_ref())
            }
            Error::CoroutineUnresumable => f.write_str("coroutine is non-resumable"),
            Error::UserDataTypeMismatch => f.write_str("userdata is not expected type"),
            Error::UserDataDestructed => f.write_str("userdata has been destructed"),
            Error::UserDataBorrowError => f.write_str("error borrowing userdata"),
            Error::UserDataBorrowMutError => f.write_str("error mutably borrowing userdata"),
            Error::MetaMethodRestricted(method) => write!(f, "metamethod {method} is restricted"),
            Error::MetaMethodTypeError { method, type_name, message } => {
                write!(f, "metamethod {method} has unsupported type {type_name}")?;
                with_detail(f, message.as_ref())
            }
            Error::MismatchedRegistryKey => {
                f.write_str("RegistryKey used from different Lua state")
            }
            Error::CallbackError { traceback, cause } => show_callback(f, traceback, cause),
            Error::PreviouslyResumedPanic => f.write_str("previously resumed panic returned again"),
            Error::SerializeError(message) => write!(f, "serialize error: {message}"),
            Error::DeserializeError(message) => write!(f, "deserialize error: {message}"),
            Error::ExternalError(e) => e.fmt(f),
            Error::WithContext { context, cause } => write!(f, "{context}\n{cause}"),
        }
    }
}

/// Shows the innermost error with the innermost traceback, in which `>` marks where the outermost
/// traceback begins.
fn show_callback(f: &mut fmt::Formatter<'_>, outer: &str, cause: &Arc<Error>) -> fmt::Result {
    let (mut cause, mut inner) = (cause, None);
    while let Error::CallbackError { traceback, cause: next } = &**cause {
        (cause, inner) = (next, Some(traceback));
    }
    writeln!(f, "{cause}")?;
    let Some(inner) = inner else { return writeln!(f, "{}", outer.trim_end()) };
    match inner.find(outer.trim_start_matches("stack traceback:").trim()) {
        Some(at) => {
            let (above, from) = inner.split_at(at);
            writeln!(f, "{above}>{}", from.trim_end())
        }
        None => writeln!(f, "{}", inner.trim_end()),
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::ExternalError(e) => e.source(),
            Error::WithContext { cause, .. } => cause.source(),
            _ => None,
        }
    }
}

/// Converts an error to [`enum@Error`].
pub trait ExternalError {
    /// Converts with [`Error::external`].
    fn into_lua_err(self) -> Error;
}

impl<E: Into<Box<DynStdError>>> ExternalError for E {
    fn into_lua_err(self) -> Error {
        Error::external(self)
    }
}

/// Converts the error of a result to [`enum@Error`].
pub trait ExternalResult<T> {
    /// Converts with [`Error::external`].
    ///
    /// # Errors
    /// Returns the converted error.
    fn into_lua_err(self) -> Result<T>;
}

impl<T, E: ExternalError> ExternalResult<T> for StdResult<T, E> {
    fn into_lua_err(self) -> Result<T> {
        self.map_err(ExternalError::into_lua_err)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Error {}
    impl<T> Sealed for super::Result<T> {}
}

/// Adds context to errors.
pub trait ErrorContext: sealed::Sealed {
    /// Adds a context, which replaces a previous one.
    #[must_use]
    fn context<C: fmt::Display>(self, context: C) -> Self;

    /// Adds a context, which is computed only when there is an error.
    #[must_use]
    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Self;
}

impl ErrorContext for Error {
    fn context<C: fmt::Display>(self, context: C) -> Error {
        let context = context.to_string();
        let cause = match self {
            Error::WithContext { cause, .. } => cause,
            other => Arc::new(other),
        };
        Error::WithContext { context, cause }
    }

    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Error {
        let context = f(&self).to_string();
        self.context(context)
    }
}

impl<T> ErrorContext for Result<T> {
    fn context<C: fmt::Display>(self, context: C) -> Result<T> {
        self.map_err(|e| e.context(context))
    }

    fn with_context<C: fmt::Display>(self, f: impl FnOnce(&Error) -> C) -> Result<T> {
        self.map_err(|e| e.with_context(f))
    }
}

macro_rules! external {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Error {
            fn from(e: $ty) -> Error {
                Error::external(e)
            }
        }
    )*};
}
external!(std::net::AddrParseError, std::io::Error, std::str::Utf8Error);

/// Converts with [`Error::external`]; an [`enum@Error`] inside is returned as it is.
#[cfg(feature = "anyhow")]
impl From<anyhow::Error> for Error {
    fn from(e: anyhow::Error) -> Error {
        e.downcast().unwrap_or_else(Error::external)
    }
}
