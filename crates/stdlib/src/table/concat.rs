//! `table.concat`.

use perilune_runtime::convert::write_number;
use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use super::access::{self, LENGTH, READ, check, plain_for, plain_list};
use crate::support::{extend, finish, room_for, take_buffer};

/// Bytes appended between two checks whether the script must stop.
const BYTES_BETWEEN_POLLS: usize = 1 << 18;

/// Implements `table.concat(list [, sep [, i [, j]]])`.
pub(super) fn concat(cx: &mut Cx) -> NativeResult {
    check(cx, 0, READ | LENGTH)?;
    let len = match plain_for(cx, 0, LENGTH) {
        Some(t) => t.len(),
        None => cx.length(0)?,
    };
    cx.opt_str(1)?;
    let from = cx.opt_int(2, 1)?;
    let to = cx.opt_int(3, len)?;
    let mut out = take_buffer();
    append_all(cx, &mut out, from, to)?;
    finish(cx, out)
}

fn append_all(cx: &mut Cx, out: &mut Vec<u8>, from: i64, to: i64) -> Result<(), Raised> {
    if from > to {
        return Ok(());
    }
    if let Some(t) = plain_list(cx, 0, from, to) {
        let sep = cx.get(1).as_str().map_or(&b""[..], |s| s.bytes());
        let mut i = from;
        let mut polled = 0;
        loop {
            append(cx, out, t.get_int(i), i)?;
            if i == to {
                return Ok(());
            }
            extend(cx, out, sep)?;
            i += 1;
            if i & 0xFFFF == 0 || out.len() - polled > BYTES_BETWEEN_POLLS {
                polled = out.len();
                cx.interrupted()?;
                cx.check_room(2 * out.len())?;
            }
        }
    }
    let (mut i, mut polled) = (from, 0);
    loop {
        access::get(cx, 0, i)?;
        append(cx, out, cx.get(cx.top() - 1), i)?;
        cx.pop(1);
        if i == to {
            return Ok(());
        }
        extend(cx, out, cx.get(1).as_str().map_or(&b""[..], |s| s.bytes()))?;
        i += 1;
        if i & 0xFFF == 0 || out.len() - polled > BYTES_BETWEEN_POLLS {
            polled = out.len();
            cx.safepoint()?;
            room_for(cx, out)?;
        }
    }
}

#[inline]
fn append(cx: &Cx, out: &mut Vec<u8>, v: Val<'_>, i: i64) -> Result<(), Raised> {
    if let Some(s) = v.as_str() {
        extend(cx, out, s.bytes())?;
    } else if v.is_number() {
        write_number(out, v.raw());
    } else {
        let name = v.type_name();
        let text = format!("invalid value ({name}) at index {i} in table for 'concat'");
        return Err(cx.error(text));
    }
    Ok(())
}
