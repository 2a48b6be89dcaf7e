//! The registers that each instruction reads and writes: one table that the verifier and all
//! analyses of code share.

use crate::instr::Instr;
use crate::opcode::Op;

/// A range of registers: the first one, and their number.
pub type Range = (usize, usize);

/// No registers.
const NONE: Range = (0, 0);

/// The registers that an instruction reads and writes.
///
/// An instruction that takes a multiple value (`B = 0`) also reads the registers before that of the
/// value's producer, which is not known here. These reads are not listed.
#[derive(Clone, Copy, Default, Debug)]
pub struct Effects {
    /// Registers that are read.
    pub reads: [Range; 3],
    /// Registers that are written.
    pub writes: [Range; 2],
    /// Every register from this one on loses its value, before the registers in `writes` are
    /// written.
    pub releases: Option<usize>,
}

impl Effects {
    /// Returns whether the instruction writes a register or makes it lose its value.
    pub fn changes(&self, register: usize) -> bool {
        self.writes.iter().any(|&(from, count)| (from..from + count).contains(&register))
            || self.releases.is_some_and(|from| from <= register)
    }
}

/// Returns whether an opcode stores an element or a field of the table in register A.
pub const fn stores_element(op: Op) -> bool {
    use Op::*;
    matches!(op, SetField | SetFieldK | SetTable | SetTableK | SetI | SetIK)
}

/// Returns the registers that `instr` reads and writes. The writes of tests and loops, which occur
/// on only one path out of the instruction, are left to the caller.
#[inline]
pub fn effects(instr: Instr) -> Effects {
    use Op::*;
    let (a, b, c) = (instr.a(), instr.b(), instr.c());
    let mut e = Effects::default();
    e.reads = match instr.op() {
        Move | Unm | BNot | Not | Len | GetI | GetField | AddI | SubI | AddK | SubK | MulK
        | ModK | PowK | DivK | IDivK | BAndK | BOrK | BXorK | ShrI | ShlI => {
            e.writes[0] = (a, 1);
            [(b, 1), NONE, NONE]
        }
        LoadI | LoadF | LoadK | LoadKX | LoadFalse | LFalseSkip | LoadTrue | GetUpval
        | GetTabUp => {
            e.writes[0] = (a, 1);
            [NONE, NONE, NONE]
        }
        LoadNil => {
            e.writes[0] = (a, b + 1);
            [NONE, NONE, NONE]
        }
        GetTable | Add | Sub | Mul | Mod | Pow | Div | IDiv | BAnd | BOr | BXor | Shl | Shr => {
            e.writes[0] = (a, 1);
            [(b, 1), (c, 1), NONE]
        }
        KAdd | KSub | KMul | KDiv => {
            e.writes[0] = (a, 1);
            [(c, 1), NONE, NONE]
        }
        SetUpval | SetIK | SetFieldK | Tbc | EqK | EqI | LtI | LeI | GtI | GeI | Test | Return1 => {
            [(a, 1), NONE, NONE]
        }
        SetTabUp => [(c, 1), NONE, NONE],
        SetTable => [(a, 1), (b, 1), (c, 1)],
        SetTableK | Eq | Lt | Le => [(a, 1), (b, 1), NONE],
        SetI | SetField => [(a, 1), (c, 1), NONE],
        NewTable | Closure => {
            e.releases = Some(a + 1);
            e.writes[0] = (a, 1);
            [NONE, NONE, NONE]
        }
        SelfK => {
            e.writes = [(a, 1), (a + 2, 1)];
            [(b, 1), NONE, NONE]
        }
        SelfR => {
            e.writes = [(a, 1), (a + 2, 1)];
            [(b, 1), (c, 1), NONE]
        }
        Concat => {
            e.releases = Some(a + 1);
            e.writes[0] = (a, 1);
            [(a, b), NONE, NONE]
        }
        TestSet => [(b, 1), NONE, NONE],
        Call => {
            e.releases = Some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            [(a, 1), (a + 2, b.saturating_sub(1)), NONE]
        }
        CallMeta => {
            e.releases = Some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            [(a, 1), (a + 2, 2), NONE]
        }
        TailCall => {
            e.releases = Some(a);
            [(a, 1), (a + 2, b.saturating_sub(1)), NONE]
        }
        Return => [(a, b.saturating_sub(1)), NONE, NONE],
        ForPrep | ForLoop => [(a, 3), NONE, NONE],
        TForPrep => [(a, 4), NONE, NONE],
        TForCall => {
            e.releases = Some(a + 4);
            e.writes[0] = (a + 4, c);
            [(a, 3), NONE, NONE]
        }
        TForLoop => [(a + 4, 1), NONE, NONE],
        SetList => {
            e.releases = Some(a + 1);
            [(a, b + 1), NONE, NONE]
        }
        VarArg => {
            e.releases = (c == 0).then_some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            [NONE, NONE, NONE]
        }
        SetTabUpK | Close | Jmp | Return0 | VarArgPrep | ExtraArg => [NONE, NONE, NONE],
    };
    e
}
