//! Writing binary chunks.

use std::sync::Arc;

use super::{CHECK_FLOAT, CHECK_INTEGER, FORMAT, HEADER, SIZES, source, tag, upvalue};
use crate::proto::{Constant, Proto};

/// Returns the binary chunk of a function; if `strip` is set, without names, lines and source.
pub fn dump(proto: &Proto, strip: bool) -> Vec<u8> {
    let mut writer = Writer { out: Vec::with_capacity(1000), strip };
    for part in HEADER {
        writer.out.extend_from_slice(part);
    }
    writer.out.extend(SIZES.map(|(size, _)| size));
    writer.out.extend_from_slice(&CHECK_INTEGER.to_le_bytes());
    writer.out.extend_from_slice(&CHECK_FLOAT.to_le_bytes());
    writer.out.extend_from_slice(&FORMAT);
    writer.function(proto, None);
    writer.out
}

struct Writer {
    out: Vec<u8>,
    strip: bool,
}

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    fn unsigned(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    fn signed(&mut self, n: i64) {
        self.unsigned((n << 1 ^ n >> 63) as u64);
    }

    fn count(&mut self, n: usize) {
        self.unsigned(n as u64);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.out.extend_from_slice(bytes);
    }

    fn function(&mut self, proto: &Proto, parent: Option<&Arc<[u8]>>) {
        match &proto.source {
            Some(own) if !self.strip => {
                if parent == Some(own) {
                    self.byte(source::AS_PARENT);
                } else {
                    self.byte(source::OWN);
                    self.bytes(own);
                }
            }
            _ => self.byte(source::NONE),
        }
        self.unsigned(proto.line_defined.into());
        self.unsigned(proto.last_line.into());
        self.byte(proto.num_params);
        self.byte(proto.is_vararg.into());
        self.byte(proto.max_stack);
        self.count(proto.code.len());
        for instr in &proto.code {
            self.out.extend_from_slice(&instr.0.to_le_bytes());
        }
        self.count(proto.constants.len());
        for constant in &proto.constants {
            self.constant(proto, constant);
        }
        self.upvalues(proto);
        self.count(proto.protos.len());
        for inner in &proto.protos {
            self.function(inner, proto.source.as_ref());
        }
        self.lines(proto);
        self.locals(proto);
    }

    fn constant(&mut self, proto: &Proto, constant: &Constant) {
        match constant {
            Constant::Nil => self.byte(tag::NIL),
            Constant::Bool(false) => self.byte(tag::FALSE),
            Constant::Bool(true) => self.byte(tag::TRUE),
            Constant::Integer(i) => {
                self.byte(tag::INTEGER);
                self.signed(*i);
            }
            Constant::Float(f) => {
                self.byte(tag::FLOAT);
                self.out.extend_from_slice(&f.to_bits().to_le_bytes());
            }
            Constant::Str(text) => {
                self.byte(tag::STR);
                self.bytes(proto.str(*text));
            }
        }
    }

    fn upvalues(&mut self, proto: &Proto) {
        self.count(proto.upvalues.len());
        for desc in &proto.upvalues {
            let name = desc.name.filter(|_| !self.strip);
            let flag = |condition: bool, bit: u8| if condition { bit } else { 0 };
            self.byte(
                flag(desc.in_stack, upvalue::IN_STACK) | flag(name.is_some(), upvalue::NAMED),
            );
            self.byte(desc.index);
            if let Some(name) = name {
                self.bytes(proto.str(name));
            }
        }
    }

    fn lines(&mut self, proto: &Proto) {
        let lines = if self.strip { &[] } else { &proto.lines[..] };
        self.count(lines.len());
        let mut last = i64::from(proto.line_defined);
        for &line in lines {
            self.signed(i64::from(line) - last);
            last = i64::from(line);
        }
    }

    fn locals(&mut self, proto: &Proto) {
        let locals = if self.strip { &[] } else { &proto.locals[..] };
        self.count(locals.len());
        for local in locals {
            self.bytes(proto.str(local.name));
            self.unsigned(local.start_pc.into());
            self.unsigned(local.end_pc.into());
            self.byte(local.register);
        }
    }
}
