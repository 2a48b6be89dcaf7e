//! A shape as one state knows it.

use std::sync::Arc;

use crate::engine::Shape;
use crate::header::GcHeader;
use crate::string::LuaString;

/// One state's object for an engine-wide [`Shape`]: it holds the shape, names its fields by this state's strings, and caches
/// transitions, so that neither lookups nor transitions touch anything that another thread writes.
///
/// Boxed outside the blocks. Marked by the tables, inline caches and transitions that point at it; when unreached it is
/// dropped, which lets go of the engine's shape.
#[repr(C)]
pub struct LocalShape {
    /// `word` is the shape's id.
    pub header: GcHeader,
    /// Number of fields.
    pub count: u32,
    /// Tables of this shape have a metatable.
    pub has_meta: bool,
    /// Field names by slot; alive while the shape is.
    pub keys: Box<[*mut LuaString]>,
    /// For more than eight fields: open-addressed index from name to slot.
    pub index: Option<Box<[u8]>>,
    /// Known successors: field name (null: gain of a metatable) and shape. Not traced: a successor holds its own life, and
    /// the entry is removed when the successor is dropped.
    pub next: Vec<(*mut LuaString, *mut LocalShape)>,
    /// The shape.
    pub shape: Arc<Shape>,
}
