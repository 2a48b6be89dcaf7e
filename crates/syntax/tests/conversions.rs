//! Numerals and chunk names, compared with PUC.

use mlua::{Function, Lua};
use perilune_syntax::chunkid;
use perilune_syntax::number::{Number, str2number};

#[test]
fn numerals_equal_tonumber() {
    let lua = Lua::new();
    let describe: Function = lua
        .load(
            "local text = ... local n = tonumber(text) return n and math.type(n) .. \
               string.pack('<n', n) .. string.pack('<j', math.tointeger(n) or 0)",
        )
        .into_function()
        .unwrap();
    let pieces = [
        "0",
        "1",
        "9",
        "123",
        "a",
        "f",
        "x",
        "0x",
        "0X",
        ".",
        "e",
        "E",
        "p",
        "P",
        "+",
        "-",
        " ",
        "\t",
        "\n",
        "n",
        "inf",
        "nan",
        "00000",
        "ffffffffffffffff",
        "9223372036854775807",
        "9223372036854775808",
        "0000000000000001",
        "8",
        "1023",
        "1074",
        "308",
        "7fffffff",
        "\0",
        "_",
    ];
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % limit
    };
    for _ in 0..100_000 {
        let mut text = String::from(["", "", "0x", "-0x", "-"][below(5)]);
        for _ in 0..below(7) {
            text += pieces[below(pieces.len())];
        }
        let expect: Option<mlua::LuaString> = describe.call(text.as_str()).unwrap();
        let got = str2number(text.as_bytes()).map(|number| match number {
            Number::Integer(i) => {
                [b"integer", &(i as f64).to_le_bytes()[..], &i.to_le_bytes()].concat()
            }
            Number::Float(f) => {
                let is_integral =
                    f.fract() == 0.0 && (-(2f64.powi(63))..2f64.powi(63)).contains(&f);
                let integer = if is_integral { f as i64 } else { 0 };
                [b"float", &f.to_le_bytes()[..], &integer.to_le_bytes()].concat()
            }
        });
        assert_eq!(got, expect.map(|bytes| bytes.as_bytes().to_vec()), "{text:?}");
    }
}

#[test]
fn chunk_names_equal_puc() {
    let lua = Lua::new();
    let load: Function = lua
        .load("local name = ... local _, message = load('x', name) return message")
        .into_function()
        .unwrap();
    for head in ["", "=", "@", "x", "x\ny", "\n"] {
        for length in 0..130 {
            let name = format!("{head}{}", &"0123456789".repeat(13)[..length]);
            let message: mlua::LuaString = load.call(name.as_str()).unwrap();
            let expect = [&chunkid(name.as_bytes())[..], b":1: syntax error near <eof>"].concat();
            assert_eq!(
                message.as_bytes().escape_ascii().to_string(),
                expect.escape_ascii().to_string()
            );
        }
    }
}
