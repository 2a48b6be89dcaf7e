//! The feedback of an instance as text. The text is equal for two states that executed the same
//! operations: for an address, it says only whether it is null.

use std::fmt::Write as _;

use super::{CalleeCache, FieldCache, FieldEntry, Instance};
use crate::native::Builtin;

impl Instance {
    /// Returns the counters, cells and records of the instance and of its inner functions'
    /// instances.
    ///
    /// # Safety
    /// As for [`Instance::cells`].
    pub unsafe fn feedback_text(&self) -> String {
        let mut out = String::new();
        self.write_feedback(&mut out, &mut Vec::new(), "main");
        out
    }

    /// Writes the text of one function and those inside it. Shapes are numbered as they appear.
    unsafe fn write_feedback(&self, out: &mut String, shapes: &mut Vec<u32>, name: &str) {
        let mut number = |id: u32| {
            shapes.iter().position(|&s| s == id).unwrap_or_else(|| {
                shapes.push(id);
                shapes.len() - 1
            })
        };
        let _ = writeln!(out, "function {name}: {} entries", self.entries);
        for (at, cell) in self.cells().iter().enumerate() {
            let _ = writeln!(out, "  cell {at} {} {cell}", (*self.code.add(at)).op().name());
        }
        for (n, cache) in self.field_caches().iter().enumerate() {
            let FieldCache { misses, dictionaries, .. } = *cache;
            let _ = writeln!(out, "  field {n}: {misses} misses, dictionaries: {dictionaries}");
            let more = cache.more.as_deref().map_or(&[][..], |more| &more[..]);
            for e in std::iter::once(&cache.first).chain(more) {
                let FieldEntry { own_shape, slot, chain_shape, holder_shape, .. } = e;
                let shapes = [*own_shape, *chain_shape, *holder_shape].map(&mut number);
                let there = [e.meta != 0, !e.holder.is_null(), !e.outcome.is_null()];
                let _ = writeln!(out, "    slot {slot} shapes {shapes:?} {there:?}");
            }
        }
        for (n, cache) in self.global_caches().iter().enumerate() {
            let _ = writeln!(out, "  global {n}: {}", !cache.env.is_null());
        }
        for (n, cache) in self.callee_caches().iter().enumerate() {
            let kind = match cache.callee {
                0 => "none",
                CalleeCache::OTHER => "other",
                callee if callee & CalleeCache::NATIVE != 0 => "native",
                _ => "Lua",
            };
            let name = Builtin::of_callee(cache.callee)
                .map_or("", |number| Builtin::NAMES[number as usize]);
            let _ = writeln!(out, "  callee {n}: {kind} {name} {}", cache.others);
        }
        for pc in 0..self.proto.code.len() {
            if let Some(record) = self.handler(pc) {
                let shape = number(record.entry.chain_shape);
                let is_lua = !record.entry.outcome.is_null();
                let first = record.first.0;
                let _ = writeln!(out, "  handler {pc}: {is_lua} {first} {shape} {}", record.others);
            }
        }
        for (n, child) in self.children().iter().enumerate() {
            if !child.is_null() {
                (**child).write_feedback(out, shapes, &format!("{name}.{n}"));
            }
        }
    }
}
