//! The facts that generated code relies on: offsets, tags and numbers, under their Rust names.

use perilune_bytecode::feedback::{access, operands};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::header::{GcHeader, Kind};
use perilune_runtime::instance::{CalleeCache, FieldCache, FieldEntry, Site};
use perilune_runtime::layout;
use perilune_runtime::meta::Event;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::{ArrayKind, MegamorphicCache, TAGGED, WATCHED};
use perilune_runtime::tier::{MISS, stitched};
use perilune_runtime::value::Tag;

use crate::runtime::Runtime;

/// An expression and its value.
pub type Fact = (String, i128);

macro_rules! list {
    ($($e:expr),* $(,)?) => { vec![$((squeezed(stringify!($e)), $e as i128)),*] };
}

/// Removes the spaces that the compiler may put between the words of an expression.
fn squeezed(text: &str) -> String {
    text.replace(" :: ", "::").replace(" . ", ".")
}

/// Returns all constants that generated code contains. Each is asserted where the code is used.
#[rustfmt::skip]
pub fn facts() -> Vec<Fact> {
    let mut facts = list![
        layout::value::BITS, layout::value::TAG, layout::value::SIZE, layout::value::LOG_SIZE,
        layout::value::UNLOGGED_SHIFT, layout::frame::PC,
        layout::frame::CALLEE, layout::frame::WORD, layout::frame::LINK,
        layout::header::KIND, layout::header::FLAGS, layout::header::AUX, layout::header::WORD,
        layout::table::SHAPE, layout::table::NODES_USED, layout::table::INLINE_FIELDS,
        layout::table::FIELDS, layout::table::FIELDS_CAP, layout::table::FIELDS_INLINE,
        layout::table::META, layout::table::ARRAY, layout::table::ARRAY_LEN,
        layout::table::ARRAY_CAP, layout::table::NODES, layout::table::ABSENT,
        layout::string::LEN, layout::node::VALUE_BITS, layout::node::VALUE_TAG, layout::cell::VALUE,
        layout::closure::INSTANCE, layout::closure::PLACE, layout::closure::UPVALUES,
        layout::instance::CODE, layout::instance::CONSTANTS, layout::instance::CELLS,
        layout::instance::FIELDS, layout::instance::GLOBALS, layout::instance::CALLEES,
        layout::instance::SITES, layout::site::SHAPE,
        layout::instance::ENTRIES, layout::instance::SLOT, layout::instance::MAX_STACK,
        layout::instance::NUM_PARAMS, layout::instance::IS_VARARG, layout::instance::STITCHED,
        layout::field_cache::OWN_SHAPE, layout::field_cache::SLOT,
        layout::field_cache::CHAIN_SHAPE, layout::field_cache::EPOCH, layout::field_cache::META,
        layout::field_cache::HOLDER, layout::field_cache::HOLDER_SHAPE,
        layout::field_cache::MORE, layout::field_cache::MISSES,
        layout::further_entries::NAME, layout::state::MEGAMORPHIC,
        layout::megamorphic::NAME, layout::megamorphic::SHAPE, layout::megamorphic::SLOT,
        layout::megamorphic::LOG_SIZE, MegamorphicCache::SIZE, MegamorphicCache::SHIFT,
        MegamorphicCache::FACTOR, FieldCache::MORE, FieldCache::MEGAMORPHIC,
        layout::global_cache::ENV, layout::global_cache::CELL,
        layout::callee_cache::CALLEE, layout::callee_cache::OTHERS,
        layout::state::POLL, layout::state::BASE, layout::state::TOP, layout::state::LIMIT,
        layout::state::CURSOR, layout::state::HOLE_END,
        layout::state::META_EPOCH, layout::state::STRING_METATABLE,
        layout::state::ENTRY_MASK, layout::state::ENTRY_PHASE, layout::state::LOOP_MASK,
        layout::state::LOOP_PHASE, layout::state::STITCH_THRESHOLD,
        stitched::PROLOGUE,
        Tag::NIL.0, Tag::FALSE.0, Tag::TRUE.0, Tag::INTEGER.0, Tag::FLOAT.0, Tag::FRAME.0,
        Tag::ITER.0, Tag::COLLECTABLE, Tag::STRING.0, Tag::TABLE.0, Tag::FUNCTION.0, Tag::NATIVE.0,
        Tag::CELL.0,
        TAGGED, Event::Eq, Event::NewIndex, Kind::Table, flags::TAIL_KEEPS, flags::TAIL,
        ArrayKind::Int, ArrayKind::Float, ArrayKind::Any, ArrayKind::Bool,
        GcHeader::UNLOGGED, WATCHED, LuaString::SHORT,
        FieldEntry::STRING_SHAPE, CalleeCache::NATIVE,
        FrameWord::INTERPRETER, FrameWord::PC_BITS, flags::RETURN_SLOW, Frame::RESERVED,
        Link::DISTANCE_SHIFT, Link::new(0, 0, 0).0, Link::new(1, 0, 0).0, Instr::SB_BIAS,
        Instr::A_BYTE, Instr::B_BYTE, Instr::C_BYTE, Instr::A_SHIFT, Instr::C_SHIFT, MISS,
        size_of::<FieldEntry>(), size_of::<Site>(), size_of::<Instr>(),
        operands::INT, operands::FLOAT, operands::MIXED,
        access::ARRAY, access::STRING, access::INTS, access::FLOATS, access::ANY, access::BOOLS,
        access::OUTSIDE, access::SPARSE,
        Op::COUNT,
    ];
    facts.push(("super::runtime::ON_TOP".to_owned(), Runtime::ON_TOP.into()));
    facts.extend(Op::ALL.iter().map(|op| (format!("Op::{op:?}"), *op as i128)));
    facts
}
