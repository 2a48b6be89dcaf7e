//! Blocks, the lines and holes in them, and the chunks that they are allocated in.
//!
//! A block has 32 KB and is aligned to its size, so that the block of an object can be computed
//! from the object's address. Two of its lines hold the line marks, one byte for each line. The
//! block's address selects these lines: if they were the first two of each block, the marks of all
//! blocks would compete for the same few sets of the processor's caches.
//!
//! Blocks are allocated in chunks of 1 MB. The next chunk is allocated while the last one still has
//! a few unused blocks, which serve as a reserve for when memory is short.

use std::ptr;

use perilune_code::lock::{Mutex, lock};

use super::memory::Memory;
use super::poison;
use crate::resident;

/// Size of a block in bytes, and its alignment.
pub(crate) const BLOCK: usize = 32 * 1024;
/// Size of a line in bytes.
pub(crate) const LINE: usize = 128;
/// Number of lines of a block, including those that hold the marks.
pub(crate) const LINES: usize = BLOCK / LINE;
/// Size of the largest object or buffer that is allocated in a block; a multiple of 16.
pub(crate) const SMALL_MAX: usize = 8 * 1024;
/// Number of blocks of a chunk. Under Miri, the time of an access grows with the number of objects
/// in the allocation, so chunks are small there.
const CHUNK_BLOCKS: usize = if cfg!(miri) { 1 } else { 32 };
/// Returns how many bytes to allocate for a chunk of `blocks` blocks, which have to be aligned.
const fn chunk_bytes(blocks: usize) -> usize {
    BLOCK * (blocks + 1)
}
/// Number of blocks that are reserved for when memory is short.
const KEPT: usize = 4;

/// Line mark of a free line. Other values are the marks of cycles and [`QUARANTINED`].
pub(crate) const FREE: u8 = 0;
/// Line mark of a line that is free but must not be reused before the next sweep (checked heaps).
pub(crate) const QUARANTINED: u8 = 0xFE;
const HEADER_MARK: u8 = 0xFF;
/// Mark of the first of the mark lines in a block that was taken in the phase Resurrect, until the
/// phase ends.
const NEW_BLOCK: u8 = 0xFD;

/// Number of lines that the marks occupy.
const MARK_LINES: usize = LINES / LINE;

/// Returns the first of the lines that hold the marks, from an address in the block.
#[inline(always)]
const fn marks_line(address: usize) -> usize {
    (address / BLOCK) % (LINES / MARK_LINES) * MARK_LINES
}

/// Returns `size` rounded up to the unit of allocation.
#[inline(always)]
pub(crate) const fn round(size: usize) -> usize {
    if size == 0 { 16 } else { (size + 15) & !15 }
}

/// A block, by its address.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Block(*mut u8);

impl Block {
    const NONE: Block = Block(ptr::null_mut());

    unsafe fn line(self, i: usize) -> *mut u8 {
        self.0.add(i * LINE)
    }
    unsafe fn marks<'a>(self) -> &'a mut [u8; LINES] {
        &mut *self.line(marks_line(self.0.addr())).cast()
    }
    /// Marks the lines that hold the marks as used.
    unsafe fn keep_marks(self) {
        let first = marks_line(self.0.addr());
        self.marks()[first..first + MARK_LINES].fill(HEADER_MARK);
    }
    unsafe fn hole(self, (first, end): (usize, usize)) -> Hole {
        Hole(self.line(first), self.line(end))
    }
}

/// A run of free bytes, from `.0` up to but not including `.1`.
#[derive(Clone, Copy)]
pub(crate) struct Hole(pub(crate) *mut u8, pub(crate) *mut u8);

impl Hole {
    const NONE: Hole = Hole(ptr::null_mut(), ptr::null_mut());
    pub(crate) fn len(self) -> usize {
        self.1.addr() - self.0.addr()
    }
}

struct Chunk {
    /// The allocation.
    memory: *mut u8,
    /// The first block, which is aligned.
    base: *mut u8,
    blocks: usize,
    /// Number of blocks that were used at some time; the others are untouched memory.
    touched: usize,
}

/// Unused chunks of dropped states, for new states: mapping and clearing memory takes longer than
/// the rest of creating a state. At most [`SPARE_BLOCKS`] of the blocks of each were ever used; the
/// others are untouched memory.
static SPARE: Mutex<Vec<SpareChunk>> = Mutex::new(Vec::new());

/// Largest number of chunks in [`SPARE`]. Under Miri there are none, because Miri also tracks the
/// former objects of a reused chunk.
const SPARE_CHUNKS: usize = if cfg!(miri) { 0 } else { 8 };
/// How many blocks of a chunk may have been used for it to enter [`SPARE`].
const SPARE_BLOCKS: usize = 4;

struct SpareChunk(*mut u8);

// SAFETY: nothing else has the address: it passes from a heap that is gone to one that is its only
// user.
unsafe impl Send for SpareChunk {}

impl Chunk {
    /// Allocates a chunk of the usual size, if there is memory for it outside the reserve.
    unsafe fn new(memory: &mut Memory) -> Option<Chunk> {
        if memory.is_global()
            && let Some(spare) = lock(&SPARE).pop()
        {
            return Some(Chunk::of(spare.0, CHUNK_BLOCKS));
        }
        let p = memory.alloc_or_null(chunk_bytes(CHUNK_BLOCKS));
        (!p.is_null()).then(|| Chunk::of(p, CHUNK_BLOCKS))
    }

    /// Allocates a chunk of one block, from the reserve of memory if necessary.
    unsafe fn smallest(memory: &mut Memory) -> Chunk {
        Chunk::of(memory.alloc(chunk_bytes(1)), 1)
    }

    unsafe fn of(memory: *mut u8, blocks: usize) -> Chunk {
        // Addresses of objects are converted to addresses of blocks.
        memory.expose_provenance();
        Chunk { memory, base: memory.add(memory.align_offset(BLOCK)), blocks, touched: 0 }
    }

    /// Frees the memory, or keeps it for the next heap.
    unsafe fn free(self, memory: &mut Memory) {
        if self.touched <= SPARE_BLOCKS && self.blocks == CHUNK_BLOCKS && memory.is_global() {
            let mut spare = lock(&SPARE);
            if spare.len() < SPARE_CHUNKS {
                return spare.push(SpareChunk(self.memory));
            }
        }
        memory.free(self.memory, chunk_bytes(self.blocks));
    }
}

/// All blocks of a heap.
pub(crate) struct Blocks {
    chunks: Vec<Chunk>,
    /// Chunks without objects that are to be returned to the system.
    going: Vec<Chunk>,
    /// Whether these chunks were chosen since the last cycle.
    released: bool,
    /// The chunk to use after the last one, allocated in advance.
    next_chunk: Option<Chunk>,
    /// Blocks without any object.
    free: Vec<Block>,
    /// The other blocks; those below `unswept` have not been swept since the last cycle.
    used: Vec<Block>,
    unswept: usize,
    /// Number of blocks that were in use when marking ended.
    marked: usize,
    /// Whether blocks that are taken are marked as new.
    marks_new: bool,
    /// Swept blocks whose holes are not in use yet.
    recyclable: Vec<Block>,
    /// Ends of blocks that were abandoned because a larger object did not fit.
    spare: Vec<Hole>,
    /// The block whose holes are in use, and the line from which to look for the next one.
    current: Block,
    next_line: usize,
    /// The hole for objects larger than a line that do not fit into the current hole.
    pub(crate) overflow: Hole,
    /// The mark of live lines, which is that of the last complete cycle.
    live_mark: u8,
    /// Whether freed memory is poisoned and quarantined.
    pub(crate) checked: bool,
}

enum Swept {
    Free,
    Holes,
    Full,
}

impl Blocks {
    pub(crate) fn new() -> Blocks {
        Blocks {
            chunks: Vec::new(),
            going: Vec::new(),
            released: false,
            next_chunk: None,
            free: Vec::new(),
            used: Vec::new(),
            unswept: 0,
            marked: 0,
            marks_new: false,
            recyclable: Vec::new(),
            spare: Vec::new(),
            current: Block::NONE,
            next_line: LINES,
            overflow: Hole::NONE,
            live_mark: 0,
            checked: cfg!(debug_assertions),
        }
    }

    /// Returns the next hole for small objects, which has at least one line.
    pub(crate) unsafe fn next_hole(&mut self, memory: &mut Memory) -> Hole {
        loop {
            if self.current != Block::NONE {
                if let Some(lines) = find_hole(self.current, self.next_line) {
                    self.next_line = lines.1;
                    let hole = self.current.hole(lines);
                    if self.checked {
                        poison::check_poison(hole.0, hole.len());
                    }
                    return hole;
                }
                self.current = Block::NONE;
            }
            if let Some(hole) = self.spare.pop() {
                return hole;
            }
            self.current = match self.recyclable.pop() {
                Some(b) => b,
                None => match self.sweep_for_holes() {
                    Some(b) => b,
                    None => self.take_free(memory),
                },
            };
            self.next_line = 0;
        }
    }

    /// Replaces the room for objects larger than a line by the larger part of a free block. The
    /// smaller part and the rest of the previous room become spare holes. Returns the size of the
    /// new room less that of the previous rest.
    pub(crate) unsafe fn renew_overflow(&mut self, memory: &mut Memory) -> isize {
        let rest = self.overflow;
        if rest.len() >= LINE {
            self.spare.push(rest);
        }
        let b = self.take_free(memory);
        let h = marks_line(b.0.addr());
        let (below, above) = (b.hole((0, h)), b.hole((h + MARK_LINES, LINES)));
        let (larger, smaller) = if h >= LINES / 2 { (below, above) } else { (above, below) };
        if smaller.len() > 0 {
            self.spare.push(smaller);
        }
        self.overflow = larger;
        if self.checked {
            poison::check_poison(larger.0, larger.len());
        }
        larger.len() as isize - if rest.len() >= LINE { rest.len() as isize } else { 0 }
    }

    /// Takes a free block, and adds it to the used ones.
    unsafe fn take_free(&mut self, memory: &mut Memory) -> Block {
        let b = match self.free.pop() {
            Some(b) => b,
            None => self.fresh(memory),
        };
        self.used.push(b);
        if self.marks_new {
            b.marks()[marks_line(b.0.addr())] = NEW_BLOCK;
        }
        b
    }

    /// Returns a block that was never used.
    unsafe fn fresh(&mut self, memory: &mut Memory) -> Block {
        if self.untouched() <= KEPT && self.next_chunk.is_none() {
            self.next_chunk = Chunk::new(memory);
        }
        if self.untouched() == 0 {
            let next = self.next_chunk.take();
            self.chunks.push(next.unwrap_or_else(|| Chunk::smallest(memory)));
        }
        let chunk = self.chunks.last_mut().expect("it has untouched blocks");
        let b = Block(chunk.base.add(chunk.touched * BLOCK));
        chunk.touched += 1;
        if memory.is_global() {
            resident::populate(b.0, BLOCK);
        }
        if self.checked {
            poison::poison(b.0, BLOCK);
        }
        b.line(marks_line(b.0.addr())).write_bytes(FREE, LINES);
        b.keep_marks();
        b
    }

    /// Returns how many blocks of the last chunk were never used.
    fn untouched(&self) -> usize {
        self.chunks.last().map_or(0, |c| c.blocks - c.touched)
    }

    /// Returns whether the reserve of blocks is full, after trying to fill it. Blocks that are
    /// still to be swept do not count.
    pub(crate) unsafe fn replenish(&mut self, memory: &mut Memory) -> bool {
        // With a smaller reserve, a collection that frees next to nothing would soon be followed by
        // another.
        if self.free.len() >= KEPT + self.used.len() / 64 || self.untouched() > KEPT {
            return true;
        }
        if self.next_chunk.is_none() {
            self.next_chunk = Chunk::new(memory);
        }
        self.next_chunk.is_some()
    }

    /// Ends marking: holes that were found before are not used any more, and the next ones come
    /// from free blocks.
    pub(crate) fn end_marking(&mut self) {
        debug_assert_eq!(self.unswept, 0);
        self.current = Block::NONE;
        self.overflow = Hole::NONE;
        self.spare.clear();
        self.recyclable.clear();
        self.marked = self.used.len();
        self.marks_new = true;
    }

    /// Resets the marks by which [`is_new`] recognizes blocks that were taken since marking ended.
    pub(crate) unsafe fn forget_new(&mut self) {
        self.marks_new = false;
        for b in &self.used[self.marked..] {
            b.keep_marks();
        }
    }

    /// Prepares to sweep all blocks that were in use when marking ended.
    pub(crate) fn begin_sweep(&mut self, mark: u8) {
        self.unswept = self.marked;
        self.released = false;
        self.live_mark = mark;
    }

    /// Sweeps until it finds a block with a hole.
    unsafe fn sweep_for_holes(&mut self) -> Option<Block> {
        while self.unswept > 0 {
            self.unswept -= 1;
            let b = self.used[self.unswept];
            if !matches!(self.sweep_block(b), Swept::Full) {
                return Some(b);
            }
        }
        None
    }

    /// Sweeps up to `count` blocks. Returns whether all are swept.
    pub(crate) unsafe fn sweep_some(&mut self, count: usize) -> bool {
        for _ in 0..count {
            if self.unswept == 0 {
                break;
            }
            self.unswept -= 1;
            let b = self.used[self.unswept];
            match self.sweep_block(b) {
                Swept::Full => {}
                Swept::Holes => self.recyclable.push(b),
                Swept::Free => {
                    self.used.swap_remove(self.unswept);
                    self.free.push(b);
                }
            }
        }
        self.unswept == 0
    }

    unsafe fn sweep_block(&mut self, b: Block) -> Swept {
        if self.checked {
            return self.sweep_checked(b);
        }
        let live = self.live_mark;
        let mut count = 0;
        for m in b.marks() {
            let keep = *m == live;
            *m = if keep { live } else { FREE };
            count += keep as usize;
        }
        b.keep_marks();
        Blocks::outcome(count)
    }

    fn outcome(taken: usize) -> Swept {
        match taken {
            0 => Swept::Free,
            n if n == LINES - MARK_LINES => Swept::Full,
            _ => Swept::Holes,
        }
    }

    /// Does the same as `sweep_block`, with poison and quarantine: a line becomes free when it was
    /// dead at two sweeps in a row. A free line in which nothing was allocated since, which its
    /// intact poison shows, stays free. Under Miri, poison cannot be compared, because the padding
    /// between fields is uninitialized.
    unsafe fn sweep_checked(&mut self, b: Block) -> Swept {
        let mut taken = 0;
        let marks = b.marks();
        for (i, m) in marks.iter_mut().enumerate() {
            let line = b.line(i);
            if *m == HEADER_MARK {
                continue;
            }
            if *m == self.live_mark {
                taken += 1;
            } else if *m == QUARANTINED {
                poison::check_poison(line, LINE);
                *m = FREE;
            } else if *m != FREE || cfg!(miri) || !poison::is_intact(line, LINE) {
                poison::poison(line, LINE);
                *m = QUARANTINED;
                taken += 1;
            }
        }
        Blocks::outcome(taken)
    }

    /// Takes entirely free chunks out of use, to be returned to the system, while at least
    /// `reserve` bytes of free blocks remain. Does nothing if it has done so since the last cycle.
    pub(crate) fn begin_release(&mut self, reserve: usize) {
        let keep = reserve / BLOCK;
        if std::mem::replace(&mut self.released, true) || self.free.len() < keep + CHUNK_BLOCKS {
            return;
        }
        let mut spare = (self.free.len() - keep) / CHUNK_BLOCKS;
        // The base of each chunk, and how many of its blocks are free.
        let mut counts: Vec<(usize, usize)> =
            self.chunks.iter().map(|c| (c.base.addr(), 0)).collect();
        counts.sort_unstable();
        let chunk = |counts: &[(usize, usize)], address: usize| {
            counts.partition_point(|&(base, _)| base <= address) - 1
        };
        for b in &self.free {
            let at = chunk(&counts, b.0.addr());
            counts[at].1 += 1;
        }
        const GOES: usize = usize::MAX;
        // A chunk that is not fully touched is the last one, and remains so, as the order is kept.
        let going = self.chunks.extract_if(.., |c| {
            let at = chunk(&counts, c.base.addr());
            let count = &mut counts[at].1;
            let goes = spare > 0 && *count == CHUNK_BLOCKS;
            if goes {
                spare -= 1;
                *count = GOES;
            }
            goes
        });
        self.going.extend(going);
        self.free.retain(|b| counts[chunk(&counts, b.0.addr())].1 != GOES);
    }

    /// Returns up to `count` of the chunks that are out of use to the system. Returns whether none
    /// is left.
    pub(crate) unsafe fn release_some(&mut self, memory: &mut Memory, count: usize) -> bool {
        for _ in 0..count {
            let Some(chunk) = self.going.pop() else { break };
            memory.free(chunk.memory, chunk_bytes(CHUNK_BLOCKS));
        }
        self.going.is_empty()
    }

    /// Returns the number of bytes of all chunks.
    pub(crate) fn reserved(&self) -> usize {
        self.chunks.iter().chain(&self.going).map(|c| c.blocks * BLOCK).sum()
    }

    /// Frees all memory.
    pub(crate) unsafe fn free_all(&mut self, memory: &mut Memory) {
        let chunks = self.chunks.drain(..).chain(self.going.drain(..));
        for chunk in chunks.chain(self.next_chunk.take()) {
            chunk.free(memory);
        }
    }
}

/// Finds the first run of free lines at or after line `from`. Returns its first line and the line
/// after its last.
unsafe fn find_hole(b: Block, from: usize) -> Option<(usize, usize)> {
    let marks = b.marks();
    let first = from + marks[from..].iter().position(|m| *m == FREE)?;
    let end = marks[first..].iter().position(|m| *m != FREE).map_or(LINES, |n| first + n);
    Some((first, end))
}

/// Returns the marks of the block that contains `p`.
#[inline(always)]
unsafe fn marks_of(p: *mut u8) -> *mut u8 {
    let a = p.addr();
    ptr::with_exposed_provenance_mut((a & !(BLOCK - 1)) + marks_line(a) * LINE)
}

/// Marks all lines that the `size` bytes at `p` overlap.
#[inline(always)]
pub(crate) unsafe fn mark_lines(p: *mut u8, size: usize, mark: u8) {
    let marks = marks_of(p);
    let offset = p.addr() & (BLOCK - 1);
    let (first, last) = (offset / LINE, (offset + size - 1) / LINE);
    debug_assert!(last < LINES);
    for i in first..=last {
        debug_assert!(*marks.add(i) < QUARANTINED, "a live object lies in freed memory");
        *marks.add(i) = mark;
    }
}

/// Returns whether the lines of an object in a block of up to `most` bytes, no more than a line,
/// have the mark `live`. The result is `None` if it depends on the object's size.
#[inline(always)]
pub(crate) unsafe fn kept_by_lines(p: *mut u8, most: usize, live: u8) -> Option<bool> {
    let marks = marks_of(p);
    let offset = p.addr() & (BLOCK - 1);
    let (first, last) = (offset / LINE, (offset + most - 1) / LINE);
    if *marks.add(first) != live {
        return Some(false);
    }
    // At the end of the block the object must be smaller.
    (last == first || last == LINES || *marks.add(last) == live).then_some(true)
}

/// Prefetches the memory that [`kept_by_lines`] reads for the object at `p`, which may be null.
#[inline(always)]
pub(crate) fn prefetch_line_mark(p: *mut u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect on memory, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = (p.addr() & (BLOCK - 1)) / LINE;
        _mm_prefetch::<_MM_HINT_T0>(marks_of(p).wrapping_add(line).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = p;
}

/// Returns whether the block that contains `p` was taken since marking ended, in the phase
/// Resurrect: then all its objects are newer.
pub(super) unsafe fn is_new(p: *mut u8) -> bool {
    *marks_of(p).add(marks_line(p.addr())) == NEW_BLOCK
}

/// Returns the mark of the line that contains `p`.
pub(crate) unsafe fn line_mark(p: *mut u8) -> u8 {
    *marks_of(p).add((p.addr() & (BLOCK - 1)) / LINE)
}
