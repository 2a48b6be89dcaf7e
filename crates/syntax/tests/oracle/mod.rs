//! PUC Lua 5.4 as an oracle: its result or error message for a chunk.

use mlua::{Function, Lua, LuaString};
use perilune_syntax::{parse_at_depth, with_arena};

/// A PUC Lua state that loads chunks without running them.
pub(crate) struct Oracle {
    lua: Lua,
    load: Function,
}

impl Oracle {
    /// How deep PUC's count of C levels is when [`Oracle::error`] starts to parse.
    pub(crate) const DEPTH: u32 = 2;

    pub(crate) fn new() -> Oracle {
        let lua = Lua::new();
        // Without `pcall`, the host's message handler would replace the message of a stack
        // overflow.
        let load = lua
            .load(
                "local source = ... local _, _, message = pcall(load, source, '=chunk', 't') \
                   return message",
            )
            .into_function()
            .unwrap();
        Oracle { lua, load }
    }

    /// The error of loading `source` as chunk `chunk`, if it has one.
    pub(crate) fn error(&self, source: &[u8]) -> Option<Vec<u8>> {
        let source = self.lua.create_string(source).unwrap();
        let message: Option<LuaString> = self.load.call(source).unwrap();
        message.map(|text| text.as_bytes().to_vec())
    }
}

/// This parser's error for the same.
pub(crate) fn own_error(source: &[u8]) -> Option<Vec<u8>> {
    with_arena(|arena| {
        parse_at_depth(arena, source, b"=chunk", Oracle::DEPTH).err().map(|error| error.message)
    })
}

/// Whether `message` comes from PUC's code generator, which is not the parser's concern.
pub(crate) fn is_from_code_generator(message: &Option<Vec<u8>>) -> bool {
    let texts = [&b"too many registers"[..], b"control structure too long", b"too many constants"];
    let message = message.as_deref().unwrap_or_default();
    texts.iter().any(|text| message.windows(text.len()).any(|window| window == *text))
}

/// Text of a message or its absence, for a failing assertion.
pub(crate) fn show(message: &Option<Vec<u8>>) -> String {
    message.as_ref().map_or("accepted".into(), |text| text.escape_ascii().to_string())
}
