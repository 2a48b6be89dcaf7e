//! The aarch64 instructions that the generator changes or compares.

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

/// The size of an instruction.
pub(super) const SIZE: usize = 4;

/// An instruction and its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Instr {
    /// The offset in the function.
    pub(super) at: usize,
    /// The encoding.
    pub(super) word: u32,
}

/// A field of an instruction that contains a distance: its lowest bit and its width.
#[derive(Clone, Copy)]
pub(super) struct Distance {
    shift: u32,
    width: u32,
}

/// A field of an instruction that contains a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// An offset in units of 2 to this power, of a load or store with an unsigned offset.
    Offset(u32),
    /// The number that an addition adds.
    Addend,
    /// The lower half of a number, to which MOVZ sets a register.
    Lower,
    /// The upper half of a number, which MOVK inserts.
    Upper,
}

/// Returns the instructions of a function.
pub(super) fn decode(bytes: &[u8]) -> Vec<Instr> {
    let words = bytes.chunks_exact(SIZE);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    words.enumerate().map(|(n, bytes)| Instr { at: n * SIZE, word: word(bytes) }).collect()
}

impl Instr {
    fn is(self, mask: u32, bits: u32) -> bool {
        self.word & mask == bits
    }

    /// Returns whether this is BL or BLR.
    pub(super) fn is_call(self) -> bool {
        self.is(0xFC00_0000, 0x9400_0000) || self.is(0xFFFF_FC1F, 0xD63F_0000)
    }

    /// Returns whether this is B.
    pub(super) fn is_jump(self) -> bool {
        self.is(0xFC00_0000, 0x1400_0000)
    }

    /// Returns the field with the distance of a branch to a known place.
    fn distance(self) -> Option<Distance> {
        if self.is_jump() {
            Some(Distance { shift: 0, width: 26 })
        } else if self.is(0xFF00_0010, 0x5400_0000) || self.is(0x7E00_0000, 0x3400_0000) {
            // B.cond; CBZ and CBNZ
            Some(Distance { shift: 5, width: 19 })
        } else if self.is(0x7E00_0000, 0x3600_0000) {
            // TBZ and TBNZ
            Some(Distance { shift: 5, width: 14 })
        } else {
            None
        }
    }

    /// Returns the offset to which a branch to a known place leads.
    pub(super) fn target(self) -> Option<usize> {
        let Distance { shift, width } = self.distance()?;
        let unused = 32 - width;
        let words = ((self.word >> shift << unused) as i32 >> unused) as isize;
        self.at.checked_add_signed(words * SIZE as isize)
    }

    /// Returns the branch with another target; `None` if that is too far.
    pub(super) fn with_target(self, target: usize) -> Option<Instr> {
        let Distance { shift, width } = self.distance()?;
        let words = (target as isize - self.at as isize) / SIZE as isize;
        let half = 1 << (width - 1);
        let mask = ((1 << width) - 1) << shift;
        let word = self.word & !mask | (words as u32) << shift & mask;
        (-half..half).contains(&words).then_some(Instr { word, ..self })
    }

    /// Returns the mnemonic and the operands of a branch, except its target.
    pub(super) fn branch_text(self) -> Option<String> {
        const CONDITIONS: [&str; 16] = [
            "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le",
            "al", "nv",
        ];
        let register = self.word & 31;
        let not = if self.is(0x0100_0000, 0x0100_0000) { "n" } else { "" };
        match self.distance()?.width {
            26 => Some("b ".to_owned()),
            14 => {
                let bit = self.word >> 31 << 5 | self.word >> 19 & 31;
                let width = if bit < 32 { 'w' } else { 'x' };
                Some(format!("tb{not}z {width}{register}, #{bit}, "))
            }
            _ if self.is(0xFF00_0010, 0x5400_0000) => {
                Some(format!("b.{} ", CONDITIONS[register as usize & 15]))
            }
            _ => {
                let width = if self.word >> 31 == 0 { 'w' } else { 'x' };
                Some(format!("cb{not}z {width}{register}, "))
            }
        }
    }

    /// Returns whether this computes or loads from an address relative to its own: ADR, ADRP, and
    /// LDR of a literal.
    pub(super) fn depends_on_address(self) -> bool {
        self.is(0x1F00_0000, 0x1000_0000) || self.is(0x3B00_0000, 0x1800_0000)
    }

    /// Returns the number that this contains, and the kind of its field.
    pub(super) fn number(self) -> Option<(u32, Number)> {
        let twelve = self.word >> 10 & 0xFFF;
        if self.is(0x3B00_0000, 0x3900_0000) {
            let is_vector = self.is(0x0480_0000, 0x0480_0000) && self.word >> 30 == 0;
            let log_size = if is_vector { 4 } else { self.word >> 30 };
            Some((twelve << log_size, Number::Offset(log_size)))
        } else if self.is(0xFFC0_0000, 0x9100_0000) {
            Some((twelve, Number::Addend))
        } else if self.is(0x7FE0_0000, 0x5280_0000) {
            Some((self.word >> 5 & 0xFFFF, Number::Lower))
        } else if self.is(0x7FE0_0000, 0x72A0_0000) {
            Some((self.word >> 5 & 0xFFFF, Number::Upper))
        } else {
            None
        }
    }

    /// Returns the instruction with 0 in place of its number.
    pub(super) fn without_number(self) -> Instr {
        let mask = match self.number() {
            Some((_, Number::Offset(_) | Number::Addend)) => 0xFFF << 10,
            Some((_, Number::Lower | Number::Upper)) => 0xFFFF << 5,
            None => 0,
        };
        Instr { word: self.word & !mask, ..self }
    }

    /// Returns the register that this sets, if it contains a number.
    pub(super) fn destination(self) -> u32 {
        self.word & 31
    }

    /// Returns the text.
    pub(super) fn text(self) -> Result<String, String> {
        let bytes = self.word.to_le_bytes();
        InstDecoder::default()
            .decode(&mut U8Reader::new(&bytes))
            .map(|i| i.to_string())
            .map_err(|e| format!("{:#010x}: {e}", self.word))
    }

    /// Returns whether this uses the stack or the registers of the native frame.
    pub(super) fn uses_stack(self) -> Result<bool, String> {
        let text = self.text()?;
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        Ok(words.any(|word| matches!(word, "sp" | "wsp" | "x29" | "w29" | "x30" | "w30")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the instruction at offset 0x100.
    fn at(word: u32) -> Instr {
        Instr { at: 0x100, word }
    }

    #[test]
    fn branches() {
        for (word, text, target) in [
            (0x1400_0004, "b ", 0x110),
            (0x17FF_FFFF, "b ", 0xFC),
            (0x5400_0040, "b.eq ", 0x108),
            (0x54FF_FFEB, "b.lt ", 0xFC),
            (0xB500_0048, "cbnz x8, ", 0x108),
            (0x3400_0047, "cbz w7, ", 0x108),
            (0x3620_0049, "tbz w9, #4, ", 0x108),
            (0xB7F8_0041, "tbnz x1, #63, ", 0x108),
        ] {
            let i = at(word);
            assert_eq!(i.branch_text().as_deref(), Some(text));
            assert_eq!(i.target(), Some(target), "{text}");
            assert!(i.with_target(target) == Some(i), "{text}");
            let other = i.with_target(0x200).expect("it is near");
            assert_eq!((other.target(), other.branch_text()), (Some(0x200), i.branch_text()));
        }
        assert!(at(0x3620_0049).with_target(0x10_0000).is_none());
        assert_eq!(at(0x9400_0000).target(), None);
    }

    #[test]
    fn numbers() {
        for (word, number) in [
            (0xF940_0848, Some((16, Number::Offset(3)))), // ldr x8, [x2, #16]
            (0x3940_2048, Some((8, Number::Offset(0)))),  // ldrb w8, [x2, #8]
            (0xFD40_0840, Some((16, Number::Offset(3)))), // ldr d0, [x2, #16]
            (0x3DC0_0840, Some((32, Number::Offset(4)))), // ldr q0, [x2, #32]
            (0x9100_4048, Some((16, Number::Addend))),    // add x8, x2, #16
            (0x5282_4690, Some((0x1234, Number::Lower))), // movz w16, #0x1234
            (0x72A2_4690, Some((0x1234, Number::Upper))), // movk w16, #0x1234, lsl #16
            (0xF2C2_4690, None),                          // movk x16, #0x1234, lsl #32
            (0xD100_4048, None),                          // sub x8, x2, #16
        ] {
            assert_eq!(at(word).number(), number, "{word:#x}");
        }
    }

    #[test]
    fn stack() {
        assert_eq!(at(0xA9BF_7BFD).uses_stack(), Ok(true)); // stp x29, x30, [sp, #-16]!
        assert_eq!(at(0xF940_03E8).uses_stack(), Ok(true)); // ldr x8, [sp]
        assert_eq!(at(0xF940_0848).uses_stack(), Ok(false)); // ldr x8, [x2, #16]
        assert_eq!(at(0xAA1F_03E8).uses_stack(), Ok(false)); // mov x8, xzr
    }
}
