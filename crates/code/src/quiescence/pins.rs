//! The versions in which a state has frames.

use crate::CodeId;
use crate::sync::{Mutant, mutated};

/// A frame of a stack, as seen by a walk.
///
/// It has a bit that is set if an announcement of its state has listed the frame. The state clears
/// the bit whenever it stores which code runs the frame. In a new frame the bit is clear.
pub trait PinnedFrame {
    /// Returns its place in its stack. Its callees have larger ones.
    fn place(&self) -> u32;
    /// Returns the code that runs it.
    fn code(&self) -> CodeId;
    /// Returns whether the bit is set.
    fn is_announced(&self) -> bool;
    /// Sets the bit.
    fn set_announced(&self);
}

/// The outermost frame of a stack that runs a certain version.
#[derive(Clone, Copy, Debug)]
struct Pin {
    stack: usize,
    place: u32,
    id: CodeId,
}

/// Collects the code ids of a state's frames. Ids that do not name machine code are left out.
///
/// An announcement marks the frames that it lists and records, for each stack and each id, the
/// position of the outermost frame. The next announcement walks each stack only to the first marked
/// frame. The frames below it have not run since, so the ids of the last announcement at this
/// position or below are still valid, and the others no longer have frames. The cost of an
/// announcement therefore depends on the calls since the last one, not on the depth of the stack.
#[derive(Debug, Default)]
pub struct Pins {
    /// The results of the state's last announcement.
    announced: Vec<Pin>,
    /// The results of the current walk.
    found: Vec<Pin>,
    ids: Vec<CodeId>,
    /// Whether the walk marks frames.
    marks: bool,
    /// Ids seen in this stack and their places in `found`, so that deep recursion takes little
    /// memory.
    recent: [(u32, usize); Pins::RECENT],
}

impl Pins {
    const RECENT: usize = 16;

    /// Begins a walk. Only the state itself makes walks that mark; others do not change the state.
    pub(super) fn begin(&mut self, marks: bool) {
        self.marks = marks;
        self.ids.clear();
        self.found.clear();
    }

    /// Adds the code of a frame whose bit is clear.
    #[inline]
    pub fn add(&mut self, id: CodeId) {
        if id.is_machine_code() {
            self.ids.push(id);
        }
    }

    /// Adds the frames of a stack, the innermost first. `stack` identifies it as long as it has
    /// marked frames.
    pub fn add_stack(&mut self, stack: usize, frames: impl Iterator<Item = impl PinnedFrame>) {
        let start = self.found.len();
        let mut marked = None;
        self.recent = Default::default();
        for frame in frames {
            if frame.is_announced() {
                marked = Some(frame.place());
                break;
            }
            if self.marks {
                frame.set_announced();
            }
            self.find(start, Pin { stack, place: frame.place(), id: frame.code() });
        }
        self.drop_repetitions(start);
        let Some(marked) = marked else { return };
        let end = self.found.len();
        for n in 0..self.announced.len() {
            let pin = self.announced[n];
            if pin.stack != stack || pin.place > marked || mutated(Mutant::PinsNotCarried) {
                continue;
            }
            match self.found[start..end].iter_mut().find(|found| found.id == pin.id) {
                Some(found) => found.place = pin.place,
                None => self.found.push(pin),
            }
        }
    }

    /// Records the next frame of a walk.
    #[inline]
    fn find(&mut self, start: usize, pin: Pin) {
        if !pin.id.is_machine_code() {
            return;
        }
        let recent = &mut self.recent[pin.id.raw() as usize % Self::RECENT];
        if recent.0 == pin.id.raw() {
            self.found[recent.1].place = pin.place;
            return;
        }
        *recent = (pin.id.raw(), self.found.len());
        self.found.push(pin);
        if self.found.len() == self.found.capacity() {
            self.make_room(start);
        }
    }

    /// Makes room, by dropping repetitions if there are many.
    #[cold]
    fn make_room(&mut self, start: usize) {
        self.drop_repetitions(start);
        if self.found.len() > self.found.capacity() / 2 {
            self.found.reserve(self.found.capacity());
        }
        self.recent = Default::default();
    }

    /// Keeps only the outermost frame of each id among the results from `start` on.
    fn drop_repetitions(&mut self, start: usize) {
        let found = &mut self.found[start..];
        found.sort_unstable_by_key(|pin| (pin.id, pin.place));
        let mut kept = 0;
        for n in 0..found.len() {
            if kept == 0 || found[kept - 1].id != found[n].id {
                found[kept] = found[n];
                kept += 1;
            }
        }
        self.found.truncate(start + kept);
    }

    /// Ends the walk; returns the ids, ascending and each once.
    pub(super) fn finish(&mut self) -> &[CodeId] {
        self.ids.extend(self.found.iter().map(|pin| pin.id));
        self.ids.sort_unstable();
        self.ids.dedup();
        if self.marks {
            std::mem::swap(&mut self.announced, &mut self.found);
        }
        &self.ids
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Code, and whether the frame is announced.
    type Word = Cell<(u32, bool)>;

    struct Seen<'a>(usize, &'a Word);

    impl PinnedFrame for Seen<'_> {
        fn place(&self) -> u32 {
            self.0 as u32
        }
        fn code(&self) -> CodeId {
            CodeId::from_raw(self.1.get().0)
        }
        fn is_announced(&self) -> bool {
            self.1.get().1
        }
        fn set_announced(&self) {
            self.1.set((self.1.get().0, true));
        }
    }

    #[derive(Default)]
    struct State {
        pins: Pins,
        /// The stacks, the running one last; each with its identity and its frames.
        stacks: Vec<(usize, Vec<Word>)>,
        visited: Cell<usize>,
    }

    impl State {
        fn walk(&mut self, marks: bool) -> Vec<u32> {
            let State { pins, stacks, visited } = self;
            visited.set(0);
            pins.begin(marks);
            for (stack, frames) in stacks.iter().rev() {
                let count = |_: &Seen<'_>| visited.set(visited.get() + 1);
                let frames = frames.iter().enumerate().rev().map(|(n, w)| Seen(n, w));
                pins.add_stack(*stack, frames.inspect(count));
            }
            pins.finish().iter().map(|id| id.raw()).collect()
        }
        fn expected(&self) -> Vec<u32> {
            let words = self.stacks.iter().flat_map(|(_, frames)| frames.iter());
            let mut ids: Vec<u32> =
                words.map(|w| w.get().0).filter(|id| *id >= CodeId::FIRST.raw()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        }
        fn frames(&mut self) -> &mut Vec<Word> {
            &mut self.stacks.last_mut().expect("there is one").1
        }
    }

    fn word(id: u32) -> Word {
        Cell::new((id, false))
    }

    #[test]
    fn ids_are_listed_once() {
        let mut state = State { stacks: vec![(1, Vec::new())], ..State::default() };
        *state.frames() = (0..10_000u32).map(|i| word(i % 100)).collect();
        let expected: Vec<u32> = (CodeId::FIRST.raw()..100).collect();
        assert_eq!(state.walk(true), expected);
        assert!(state.pins.announced.capacity() < 1000, "repetitions are dropped on the way");
        assert_eq!(state.pins.announced.len(), expected.len());
        state.frames().clear();
        assert_eq!(state.walk(true), []);
    }

    #[test]
    fn a_walk_ends_at_the_first_marked_frame() {
        let mut state = State { stacks: vec![(1, Vec::new())], ..State::default() };
        *state.frames() = (0..1000).map(|i| word(20 + i / 500)).collect();
        assert_eq!(state.walk(true), [20, 21]);
        assert_eq!(state.visited.get(), 1000);
        state.frames().push(word(22));
        assert_eq!(state.walk(false), [20, 21, 22]);
        assert_eq!(state.walk(true), [20, 21, 22], "the other walk has marked nothing");
        assert_eq!(state.visited.get(), 2);
        state.frames().truncate(600);
        assert_eq!(state.walk(true), [20, 21], "22 has returned");
        state.frames().truncate(500);
        assert_eq!(state.walk(true), [20], "21 has returned");
        state.frames()[499] = word(23);
        assert_eq!(state.walk(true), [20, 23]);
    }

    #[test]
    fn a_stack_is_walked_to_its_own_marks() {
        let mut state = State { stacks: vec![(1, vec![word(20)])], ..State::default() };
        state.stacks.push((2, vec![word(0), word(21)]));
        assert_eq!(state.walk(true), [20, 21]);
        // the coroutine yields, and another one resumes it
        let (_, yielded) = state.stacks.pop().expect("it is there");
        yielded[1].set((0, false));
        state.stacks.push((3, vec![word(22), word(23)]));
        assert_eq!(state.walk(true), [20, 22, 23]);
        state.stacks.push((2, yielded));
        assert_eq!(state.walk(true), [20, 22, 23]);
    }

    #[test]
    fn random_walks_find_what_is_there() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut draw = |n: u64| random.u64(..n);
        let mut state = State { stacks: vec![(1, Vec::new())], ..State::default() };
        let steps = if cfg!(miri) { 500 } else { 100_000 };
        let mut next_stack = 2;
        for _ in 0..steps {
            match draw(12) {
                0..4 => {
                    let id = 14 + draw(30) as u32;
                    state.frames().push(word(id));
                }
                4..7 => drop(state.frames().pop()),
                7 => {
                    let id = 14 + draw(30) as u32;
                    if let Some(top) = state.frames().last() {
                        top.set((id, false));
                    }
                }
                8 if state.stacks.len() < 4 => {
                    state.stacks.push((next_stack, Vec::new()));
                    next_stack += 1;
                }
                9 if state.stacks.len() > 1 => drop(state.stacks.pop()),
                10 => assert_eq!(state.walk(false), state.expected()),
                _ => assert_eq!(state.walk(true), state.expected()),
            }
        }
    }
}
