//! Holes on aarch64. A hole is a field of an instruction; the rest of the instruction determines
//! which field it is. Distances are relative to the beginning of the instruction.

use perilune_bytecode::Instr;

use super::super::stencil::{Kind, Patch, Stencil};
use super::super::stitch::VALUE;

pub(in crate::baseline) const ORIGIN: usize = 0;

/// The range of B is 128 MB.
pub(in crate::baseline) const LARGEST: usize = 1 << 27;

/// `b`
pub(in crate::baseline) const JUMP: [u8; 4] = 0x1400_0000_u32.to_le_bytes();

pub(in crate::baseline) const JUMP_HOLE: u16 = 0;

/// Operands below this number always fit: addends are smaller than the size of 15 values.
const SMALL: usize = 240;

/// A field of an instruction.
struct Field {
    /// The lowest bit.
    shift: u32,
    /// The number of bits.
    width: u32,
    /// The number of bits that are left out, which are 0.
    scale: u32,
    /// Whether this is a part of the number; another instruction contains the rest.
    is_part: bool,
}

impl Field {
    /// Returns the field of an instruction.
    ///
    /// # Panics
    /// Panics for an instruction in which the generator finds no hole.
    fn of(word: u32) -> Field {
        let is = |mask: u32, bits: u32| word & mask == bits;
        let field = |shift, width, scale| Field { shift, width, scale, is_part: false };
        if is(0xFC00_0000, 0x1400_0000) {
            // b
            field(0, 26, 2)
        } else if is(0x3B00_0000, 0x3900_0000) {
            // loads and stores with an unsigned offset, in units of their size
            let is_vector = is(0xC480_0000, 0x0480_0000);
            field(10, 12, if is_vector { 4 } else { word >> 30 })
        } else if is(0xFFC0_0000, 0x9100_0000) {
            // add
            field(10, 12, 0)
        } else if is(0x7FE0_0000, 0x5280_0000) {
            // movz of the lower half
            Field { shift: 5, width: 16, scale: 0, is_part: true }
        } else if is(0x7FE0_0000, 0x72A0_0000) {
            // movk of the upper half
            Field { shift: 5, width: 16, scale: 16, is_part: true }
        } else {
            panic!("{word:#010x} has no hole")
        }
    }

    /// Returns whether the field can contain a number that is not negative.
    fn fits(&self, value: i64) -> bool {
        self.is_part || value % (1 << self.scale) == 0 && value >> self.scale < 1 << self.width
    }

    /// Returns the instruction with a number or distance in the field.
    fn fill(&self, word: u32, value: i32) -> u32 {
        let mask = (1 << self.width) - 1;
        word & !(mask << self.shift) | ((value >> self.scale) as u32 & mask) << self.shift
    }
}

fn word_at(code: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(code[at..at + 4].try_into().expect("four bytes"))
}

pub(in crate::baseline) fn fits(stencil: &Stencil, i: Instr) -> bool {
    let fits = |patch: &Patch| {
        let n = match patch.kind {
            Kind::RegisterA => i.a(),
            Kind::RegisterB | Kind::ConstantB => i.b(),
            Kind::RegisterC | Kind::ConstantC => i.c(),
            // pairs of instructions contain the others
            _ => return true,
        };
        let field = Field::of(word_at(stencil.hot.code, usize::from(patch.at)));
        field.fits(n as i64 * i64::from(VALUE) + i64::from(patch.addend))
    };
    i.a().max(i.b()).max(i.c()) < SMALL || stencil.hot.patches.iter().all(fits)
}

pub(in crate::baseline) fn fill(out: &mut [u8], at: usize, value: i32) {
    let word = word_at(out, at);
    let field = Field::of(word);
    let is_distance = field.width == 26;
    assert!(is_distance || field.fits(value.into()), "{value} does not fit");
    out[at..at + 4].copy_from_slice(&field.fill(word, value).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (word, value, expected) in [
            (0x1400_0000, -4, 0x17FF_FFFF),          // b $-4
            (0xF940_0048, 4080, 0xF947_F848),        // ldr x8, [x2, #4080]
            (0x3900_0048, 4088, 0x393F_E048),        // strb w8, [x2, #4088]
            (0x9100_0048, 16, 0x9100_4048),          // add x8, x2, #16
            (0x5280_0010, 0x1234_5678, 0x528A_CF10), // movz w16, #0x5678
            (0x72A0_0010, 0x1234_5678, 0x72A2_4690), // movk w16, #0x1234, lsl #16
        ] {
            let mut bytes = u32::to_le_bytes(word);
            fill(&mut bytes, 0, value);
            assert_eq!(u32::from_le_bytes(bytes), expected, "{word:#x}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit() {
        assert!(!Field::of(0x3900_0048).fits(4096));
        assert!(!Field::of(0xF940_0048).fits(12));
        assert!(Field::of(0xF940_0048).fits(4096));
        assert!(!Field::of(0x9100_0048).fits(4096));
    }
}
