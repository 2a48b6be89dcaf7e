//! Guards: branches that check the conditions that code relies on.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_runtime::layout::header;
use perilune_runtime::string::LuaString;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::entity::Reg;

impl Emitter<'_> {
    /// Branches to `slow` unless the condition holds.
    pub(crate) fn guard(&mut self, condition: Value, slow: Block) {
        if self.decided(condition) == Some(true) {
            return;
        }
        let on = self.next_block();
        self.branch(condition, on, slow);
        self.switch_to(on);
    }

    /// Branches to `slow` if the condition holds.
    pub(crate) fn guard_not(&mut self, condition: Value, slow: Block) {
        if self.decided(condition) == Some(false) {
            return;
        }
        let on = self.next_block();
        self.branch(condition, slow, on);
        self.switch_to(on);
    }

    /// Continues where the condition holds; returns the block where it does not.
    pub(crate) fn case(&mut self, condition: Value) -> Block {
        let (holds, other) = (self.block(), self.block());
        self.branch(condition, holds, other);
        self.switch_to(holds);
        other
    }

    /// Branches to `no` unless all tags are equal to `wanted`. Returns false, and emits nothing, if
    /// they never are.
    pub(crate) fn require(&mut self, tags: &[Known], wanted: Tag, no: Block) -> bool {
        let mut conditions = Vec::new();
        for &t in tags {
            match self.tag_is(t, wanted) {
                Err(true) => {}
                Err(false) => return false,
                Ok(c) => conditions.push(c),
            }
        }
        for c in conditions {
            self.guard(c, no);
        }
        true
    }

    /// Branches to `wrong` unless registers have these tags in their home slots.
    pub(crate) fn guard_home_tags(
        &mut self,
        tags: impl IntoIterator<Item = (Reg, Tag)>,
        wrong: Block,
    ) {
        let base = self.base();
        for (r, tag) in tags {
            let t = self.load_tag_at(base, r);
            let same = self.is_tag(t, tag);
            let on = self.block();
            self.branch(same, on, wrong);
            self.switch_to(on);
        }
    }

    /// Branches to `other` unless `string` is a short string, which is equal to no other object.
    pub(crate) fn guard_short(&mut self, string: Value, other: Block) {
        let short = self.is_short(string);
        self.guard(short, other);
    }

    /// Returns whether a string is a short one.
    pub(super) fn is_short(&mut self, string: Value) -> Value {
        let class = self.load8(Region::Objects, string, header::AUX);
        self.b.ins().icmp_imm_u(IntCC::Equal, class, LuaString::SHORT as i64)
    }

    /// Branches to `other` unless the native function is the library function with this number in
    /// [`Builtin`](perilune_runtime::native::Builtin).
    pub(crate) fn guard_builtin(&mut self, function: Value, wanted: u32, other: Block) {
        let number = self.load32(Region::Objects, function, header::WORD);
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, number, i64::from(wanted));
        self.guard(same, other);
    }
}
