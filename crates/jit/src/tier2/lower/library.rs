//! Calls of library functions that machine code knows.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{self, InstBuilder};
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::value::Tag;

use super::Lower;
use crate::codegen::value::Known;
use crate::entity::Reg;
use crate::generic::single::Payload;
use crate::tier2::ir::{Inst, Library, List, State, Value};

impl Lower<'_, '_> {
    pub(super) fn library(
        &mut self,
        inst: &Inst,
        library: Library,
        args: [Option<Value>; 3],
        state: State,
    ) {
        let exit = self.exit(state);
        let args: Vec<Value> = args.into_iter().flatten().collect();
        let registers = (library.at + Layout::RESERVED).range(args.len());
        let is_home = |&(r, v): &(Reg, Value)| self.homes.get(r) == Some(self.f.origin(v));
        let stores = registers.zip(args.iter().copied()).filter(|store| !is_home(store));
        let stores: Vec<(Reg, Value)> = stores.collect();
        let homes = self.homes_of(&stores);
        let at = self.own(inst, library.at);
        let Some(inlined) = library.inlined else {
            self.emit().store_homes(&homes);
            let count = self.emit().int(args.len() as i64);
            let result = self.emit().call_leaf(library.number, at, count, exit);
            return self.set_any(inst, result);
        };
        let held: Vec<(ir::Value, Known)> =
            args.iter().map(|&v| (self.bits(v), self.tag(v))).collect();
        let other = if library.tag.is_some() { exit } else { self.emit().cold_block() };
        let found = self.emit().inlined(inlined, &held, other);
        if let (Some((bits, _)), Some(tag)) = (found, library.tag) {
            return self.set_bits(inst, bits, tag);
        }
        let (done, value) = self.emit().block_of(&[I64, I64]);
        match found {
            Some((bits, tag)) => {
                let tag = self.emit().tag_value(tag);
                self.emit().jump_with_all(done, &[bits, tag]);
            }
            None => self.emit().jump(other),
        }
        if library.tag.is_none() {
            self.emit().switch_to(other);
            self.emit().store_homes(&homes);
            let count = self.emit().int(args.len() as i64);
            let (bits, tag) = self.emit().call_leaf_rarely(library.number, at, count, exit);
            self.emit().jump_with_all(done, &[bits, tag]);
        }
        self.emit().switch_to(done);
        match library.tag {
            Some(tag) => self.set_bits(inst, value[0], tag),
            None => self.set_any(inst, (value[0], value[1])),
        }
    }

    /// Selects a value of a list.
    pub(super) fn select(&mut self, inst: &Inst, index: Value, list: List, state: State) {
        let exit = self.exit(state);
        let index = self.bits(index);
        let positive = self.emit().ins().icmp_imm_s(IntCC::SignedGreaterThan, index, 0);
        self.emit().guard(positive, exit);
        let (mut bits, mut tag) = (self.emit().int(0), self.emit().tag(Tag::NIL));
        for (n, v) in self.f.lists[list].clone().into_iter().enumerate() {
            let (of_value, tag_of_value) = (self.bits(v), self.tag(v));
            let tag_of_value = self.emit().tag_value(tag_of_value);
            let is_this = self.emit().ins().icmp_imm_s(IntCC::Equal, index, n as i64 + 1);
            bits = self.emit().ins().select(is_this, of_value, bits);
            tag = self.emit().ins().select(is_this, tag_of_value, tag);
        }
        self.set_any(inst, (bits, tag));
    }

    /// Sets the result of an instruction to a value with this payload and tag.
    fn set_bits(&mut self, inst: &Inst, bits: ir::Value, tag: Tag) {
        if tag == Tag::FLOAT {
            let float = self.emit().bits_float(bits);
            return self.set_float(inst, float);
        }
        self.set_lua(inst, Payload::Bits(bits), Known::Tag(tag));
    }
}
