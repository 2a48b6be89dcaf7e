//! Encodings that the emitted code relies on, asserted at compile time.

use perilune_runtime::frame::Link;
use perilune_runtime::meta::Event;
use perilune_runtime::table::ArrayKind;
use perilune_runtime::tier::{MISS, status};
use perilune_runtime::value::Tag;

/// The difference between the tag of the elements of an array of numbers and the kind of the array.
pub(super) const KIND_TO_TAG: i64 = Tag::INTEGER.0 as i64 - ArrayKind::Int as i64;

// `number_tag` and its guards: both kinds of arrays are equally far from their tags, which are
// adjacent.
const _: () = assert!(
    Tag::FLOAT.0 as i64 - ArrayKind::Float as i64 == KIND_TO_TAG
        && Tag::FLOAT.0 == Tag::INTEGER.0 + 1
);

// Numbers are the first kinds of arrays with elements. No value has the tag at their distance from
// the kind of booleans, and the tags of booleans are adjacent.
const _: () = assert!(
    (ArrayKind::Int as u8) < ArrayKind::Any as u8
        && (ArrayKind::Float as u8) < ArrayKind::Any as u8
        && ArrayKind::Any as u8 + 1 == ArrayKind::Bool as u8
        && ArrayKind::Bool as i64 + KIND_TO_TAG == Tag::ITER.0 as i64
        && Tag::TRUE.0 == Tag::FALSE.0 + 1
);

// Truth is one comparison with the tag of true, and nil is the tag zero. Values below the numbers
// are equal when their tags are.
const _: () = assert!(
    Tag::NIL.0 == 0
        && Tag::FALSE.0 > Tag::NIL.0
        && Tag::TRUE.0 > Tag::FALSE.0
        && Tag::INTEGER.0 == Tag::TRUE.0 + 1
        && Tag::LIGHT.0 > Tag::FLOAT.0
        && Tag::ITER.0 > Tag::TRUE.0
);

// A tag is collectable if it has a certain bit.
const _: () = assert!(
    Tag::STRING.is_collectable()
        && Tag::CELL.is_collectable()
        && Tag::STRING.0 & Tag::COLLECTABLE != 0
        && Tag::FLOAT.0 & Tag::COLLECTABLE == 0
        && Tag::LIGHT.0 & Tag::COLLECTABLE == 0
        && Tag::ITER.0 & Tag::COLLECTABLE == 0
);

// No value has the tag of a missing answer.
const _: () = assert!(MISS == 0xFF && Tag::CELL.0 < 0xFF);

// A status is tested for RESUME by its bit, and for ERROR by its low byte.
const _: () = assert!(
    status::OK == 0
        && (status::ERROR | status::YIELD | status::PANIC) & status::RESUME == 0
        && status::RESUME.is_power_of_two()
        && status::ERROR < 256
);

// The number of extra arguments is read from a link.
const _: () = assert!(
    Link::new(0xFFFF, 5, 3).0 >> Link::EXTRA_SHIFT & Link::EXTRA_MASK == 5
        && Link::new(0, Link::EXTRA_MASK as usize, 0).extra() == Link::EXTRA_MASK as usize
);

// The bits of absent metamethods are one byte of a table.
const _: () = assert!((Event::NewIndex as u8) < 8);
