//! Names of metamethods (manual 2.4).

use crate::{Error, Result};

macro_rules! metamethods {
    ($($(#[$doc:meta])* $variant:ident $name:literal;)*) => {
        /// A metamethod that the host may set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MetaMethod {
            $($(#[$doc])* $variant,)*
        }

        impl MetaMethod {
            /// Returns the name of the metamethod.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MetaMethod::$variant => $name,)*
                }
            }
        }
    };
}

metamethods! {
    /// `+`
    Add "__add";
    /// `-`
    Sub "__sub";
    /// `*`
    Mul "__mul";
    /// `/`
    Div "__div";
    /// `%`
    Mod "__mod";
    /// `^`
    Pow "__pow";
    /// Unary `-`
    Unm "__unm";
    /// `//`
    IDiv "__idiv";
    /// `&`
    BAnd "__band";
    /// `|`
    BOr "__bor";
    /// `~`
    BXor "__bxor";
    /// Unary `~`
    BNot "__bnot";
    /// `<<`
    Shl "__shl";
    /// `>>`
    Shr "__shr";
    /// `..`
    Concat "__concat";
    /// `#`
    Len "__len";
    /// `==`
    Eq "__eq";
    /// `<`
    Lt "__lt";
    /// `<=`
    Le "__le";
    /// Reads a missing field.
    Index "__index";
    /// Writes a missing field.
    NewIndex "__newindex";
    /// Calls the value.
    Call "__call";
    /// `tostring`
    ToString "__tostring";
    /// Produces the text for `{:#?}` of handles.
    ToDebugString "__todebugstring";
    /// `pairs`
    Pairs "__pairs";
    /// Closes a `<close>` variable.
    Close "__close";
    /// The name of the type in messages.
    Type "__name";
}

impl MetaMethod {
    /// Rejects the names that hosts must not set: `__gc`, since the collector drops the values, and
    /// `__metatable`.
    pub(crate) fn validate(name: &str) -> Result<()> {
        match name {
            "__gc" | "__metatable" => Err(Error::MetaMethodRestricted(name.to_owned())),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for MetaMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl AsRef<str> for MetaMethod {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl From<MetaMethod> for String {
    fn from(m: MetaMethod) -> String {
        m.name().to_owned()
    }
}

impl PartialEq<MetaMethod> for &str {
    fn eq(&self, other: &MetaMethod) -> bool {
        *self == other.name()
    }
}

impl PartialEq<MetaMethod> for String {
    fn eq(&self, other: &MetaMethod) -> bool {
        self == other.name()
    }
}
