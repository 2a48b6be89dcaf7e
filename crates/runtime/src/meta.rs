//! Metamethod events.

macro_rules! events {
    ($($name:ident $text:literal,)*) => {
        /// An event for which a metatable may have a metamethod (manual 2.4). The first eight are
        /// cached as absent in [`crate::table::Table::absent`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Event { $($name),* }

        impl Event {
            /// All events, by number.
            pub const ALL: &'static [Event] = &[$(Event::$name),*];
            /// Number of events.
            pub const COUNT: usize = Event::ALL.len();
            /// Returns the name of the field in the metatable.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => $text),* }
            }
        }
    };
}

events! {
    Index "__index",
    NewIndex "__newindex",
    Gc "__gc",
    Mode "__mode",
    Len "__len",
    Eq "__eq",
    Call "__call",
    Metatable "__metatable",
    Add "__add",
    Sub "__sub",
    Mul "__mul",
    Mod "__mod",
    Pow "__pow",
    Div "__div",
    IDiv "__idiv",
    BAnd "__band",
    BOr "__bor",
    BXor "__bxor",
    Shl "__shl",
    Shr "__shr",
    Unm "__unm",
    BNot "__bnot",
    Lt "__lt",
    Le "__le",
    Concat "__concat",
    Close "__close",
    ToString "__tostring",
    Name "__name",
    Pairs "__pairs",
}
