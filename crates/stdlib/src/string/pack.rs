//! `string.pack`, `string.packsize`, `string.unpack`.

use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use super::packing::{FormatError, Kind, Reader, read_int, write_int};
use crate::support::{extend, finish, reserve, start_position, take_buffer, twice};

fn raise(cx: &Cx, e: FormatError) -> Raised {
    match e {
        FormatError::Plain(text) => cx.error(text),
        FormatError::Argument(text) => cx.arg_error(0, text),
    }
}

/// Implements `string.pack(format, …)`.
pub(super) fn pack(cx: &mut Cx) -> NativeResult {
    let out = packed(cx)?;
    finish(cx, out)
}

fn packed(cx: &Cx) -> Result<Vec<u8>, Raised> {
    let format = cx.check_str(0)?;
    let mut reader = Reader::new(format.bytes());
    // The first missing argument is nil, as in PUC, where a nil separates the arguments from a
    // buffer.
    cx.push(Val::NIL);
    let mut out = take_buffer();
    let mut arg = 0;
    while let Some(item) = reader.next(out.len()).map_err(|e| raise(cx, e))? {
        cx.interrupted()?;
        cx.check_room(2 * out.len() + item.size)?;
        out.resize(out.len() + item.padding, 0);
        let (size, little) = (item.size, reader.little);
        arg += 1;
        match item.kind {
            Kind::Int => {
                let n = cx.check_int(arg)?;
                if size < 8 {
                    let limit = 1i64 << (size * 8 - 1);
                    if !(-limit..limit).contains(&n) {
                        return Err(cx.arg_error(arg, "integer overflow"));
                    }
                }
                write_int(&mut out, n as u64, little, size, n < 0);
            }
            Kind::Unsigned => {
                let n = cx.check_int(arg)?;
                if size < 8 && n as u64 >= 1u64 << (size * 8) {
                    return Err(cx.arg_error(arg, "unsigned overflow"));
                }
                write_int(&mut out, n as u64, little, size, false);
            }
            Kind::Float => {
                let bits = (cx.check_float(arg)? as f32).to_bits();
                write_int(&mut out, u64::from(bits), little, 4, false);
            }
            Kind::Double => write_int(&mut out, cx.check_float(arg)?.to_bits(), little, 8, false),
            Kind::Char => {
                let s = cx.check_str(arg)?.bytes();
                if s.len() > size {
                    return Err(cx.arg_error(arg, "string longer than given size"));
                }
                extend(cx, &mut out, s)?;
                out.resize(out.len() + size - s.len(), 0);
            }
            Kind::Str => {
                let s = cx.check_str(arg)?.bytes();
                if size < 8 && s.len() >= 1 << (size * 8) {
                    let text = "string length does not fit in given size";
                    return Err(cx.arg_error(arg, text));
                }
                write_int(&mut out, s.len() as u64, little, size, false);
                extend(cx, &mut out, s)?;
            }
            Kind::ZeroStr => {
                let s = cx.check_str(arg)?.bytes();
                if s.contains(&0) {
                    return Err(cx.arg_error(arg, "string contains zeros"));
                }
                extend(cx, &mut out, s)?;
                out.push(0);
            }
            Kind::Padding => {
                out.push(0);
                arg -= 1;
            }
            Kind::PadAlign | Kind::None => arg -= 1,
        }
    }
    Ok(out)
}

/// Implements `string.packsize(format)`.
pub(super) fn packsize(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let format = cx.check_str(0)?;
    let mut reader = Reader::new(format.bytes());
    let mut total = 0usize;
    while let Some(item) = reader.next(total).map_err(|e| raise(cx, e))? {
        cx.interrupted()?;
        if matches!(item.kind, Kind::Str | Kind::ZeroStr) {
            return Err(cx.arg_error(0, "variable-length format"));
        }
        let size = item.size + item.padding;
        if total + size > i32::MAX as usize {
            return Err(cx.arg_error(0, "format result too large"));
        }
        total += size;
    }
    cx.ret1(Val::int(total as i64))
}

/// Implements `string.unpack(format, s [, pos])`.
pub(super) fn unpack(cx: &mut Cx) -> NativeResult {
    twice(cx, unpack_once)
}

fn unpack_once(cx: &Cx) -> NativeResult {
    let format = cx.check_str(0)?;
    let data = cx.check_str(1)?.bytes();
    let mut pos = start_position(cx.opt_int(2, 1)?, data.len()) - 1;
    if pos > data.len() {
        return Err(cx.arg_error(2, "initial position out of string"));
    }
    let mut reader = Reader::new(format.bytes());
    let mut n = 0;
    while let Some(item) = reader.next(pos).map_err(|e| raise(cx, e))? {
        cx.interrupted()?;
        let (size, little) = (item.size, reader.little);
        if item.padding + size > data.len() - pos {
            return Err(cx.arg_error(1, "data string too short"));
        }
        pos += item.padding;
        reserve(cx, 2, "too many results")?;
        let bytes = &data[pos..pos + size];
        let integer = |signed| {
            read_int(bytes, little, signed).ok_or_else(|| {
                cx.error(format!("{size}-byte integer does not fit into Lua Integer"))
            })
        };
        n += 1;
        match item.kind {
            Kind::Int => cx.push(Val::int(integer(true)?)),
            Kind::Unsigned => cx.push(Val::int(integer(false)?)),
            Kind::Float => {
                let x = f32::from_bits(integer(false)? as u32);
                cx.push(Val::float(f64::from(x)));
            }
            Kind::Double => cx.push(Val::float(f64::from_bits(integer(false)? as u64))),
            Kind::Char => {
                cx.check_room(size)?;
                cx.push(cx.str(bytes).val());
            }
            Kind::Str => {
                let len = integer(false)? as u64 as usize;
                if len > data.len() - pos - size {
                    return Err(cx.arg_error(1, "data string too short"));
                }
                cx.check_room(len)?;
                cx.push(cx.str(&data[pos + size..pos + size + len]).val());
                pos += len;
            }
            Kind::ZeroStr => {
                let Some(len) = memchr::memchr(0, &data[pos..]) else {
                    return Err(cx.arg_error(1, "unfinished string for format 'z'"));
                };
                cx.check_room(len)?;
                cx.push(cx.str(&data[pos..pos + len]).val());
                pos += len + 1;
            }
            Kind::Padding | Kind::PadAlign | Kind::None => n -= 1,
        }
        pos += size;
    }
    cx.push(Val::int(pos as i64 + 1));
    cx.ret(n + 1)
}
