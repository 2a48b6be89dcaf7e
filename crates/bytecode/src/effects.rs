//! What each instruction reads and writes: one table for the verifier and for whoever analyses code.

use crate::instr::Instr;
use crate::opcode::Op;

/// A range of registers: first and count.
pub(crate) type Range = (usize, usize);

/// Registers that an instruction reads and writes.
///
/// Reads of a multiple value (`B = 0`) end before the register of its producer, which is not known
/// here: only the fixed part is listed.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Effects {
    pub(crate) reads: [Range; 3],
    pub(crate) writes: [Range; 2],
    /// Every register from this one on loses its value, before the writes.
    pub(crate) releases: Option<usize>,
}

/// Registers read and written by `instr`. Writes of tests and loops, which only one way out of the
/// instruction sees, are left to the caller.
pub(crate) fn effects(instr: Instr) -> Effects {
    use Op::*;
    let (a, b, c) = (instr.a(), instr.b(), instr.c());
    let mut e = Effects::default();
    let reads: &[Range] = match instr.op() {
        Move | Unm | BNot | Not | Len | GetI | GetField | AddI | SubI | AddK | SubK | MulK
        | ModK | PowK | DivK | IDivK | BAndK | BOrK | BXorK | ShrI | ShlI => {
            e.writes[0] = (a, 1);
            &[(b, 1)]
        }
        LoadI | LoadF | LoadK | LoadKX | LoadFalse | LFalseSkip | LoadTrue | GetUpval
        | GetTabUp => {
            e.writes[0] = (a, 1);
            &[]
        }
        LoadNil => {
            e.writes[0] = (a, b + 1);
            &[]
        }
        GetTable | Add | Sub | Mul | Mod | Pow | Div | IDiv | BAnd | BOr | BXor | Shl | Shr => {
            e.writes[0] = (a, 1);
            &[(b, 1), (c, 1)]
        }
        KAdd | KSub | KMul | KDiv => {
            e.writes[0] = (a, 1);
            &[(c, 1)]
        }
        SetUpval | SetIK | SetFieldK | Tbc | EqK | EqI | LtI | LeI | GtI | GeI | Test | Return1 => {
            &[(a, 1)]
        }
        SetTabUp => &[(c, 1)],
        SetTable => &[(a, 1), (b, 1), (c, 1)],
        SetTableK | Eq | Lt | Le => &[(a, 1), (b, 1)],
        SetI | SetField => &[(a, 1), (c, 1)],
        NewTable | Closure => {
            e.releases = Some(a + 1);
            e.writes[0] = (a, 1);
            &[]
        }
        SelfK => {
            e.writes = [(a, 1), (a + 2, 1)];
            &[(b, 1)]
        }
        SelfR => {
            e.writes = [(a, 1), (a + 2, 1)];
            &[(b, 1), (c, 1)]
        }
        Concat => {
            e.releases = Some(a + 1);
            e.writes[0] = (a, 1);
            &[(a, b)]
        }
        TestSet => &[(b, 1)],
        Call => {
            e.releases = Some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            &[(a, 1), (a + 2, b.saturating_sub(1))]
        }
        CallMeta => {
            e.releases = Some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            &[(a, 1), (a + 2, 2)]
        }
        TailCall => {
            e.releases = Some(a);
            &[(a, 1), (a + 2, b.saturating_sub(1))]
        }
        Return => &[(a, b.saturating_sub(1))],
        ForPrep | ForLoop => &[(a, 3)],
        TForPrep => &[(a, 4)],
        TForCall => {
            e.releases = Some(a + 4);
            e.writes[0] = (a + 4, c);
            &[(a, 3)]
        }
        TForLoop => &[(a + 4, 1)],
        SetList => {
            e.releases = Some(a + 1);
            &[(a, b + 1)]
        }
        VarArg => {
            e.releases = (c == 0).then_some(a);
            e.writes[0] = (a, c.saturating_sub(1));
            &[]
        }
        SetTabUpK | Close | Jmp | Return0 | VarArgPrep | ExtraArg => &[],
    };
    e.reads[..reads.len()].copy_from_slice(reads);
    e
}
