//! Blocks of lines, the chunks they come in, and the holes in them.
//!
//! A block is 32 KB, aligned to its size, so that an object's address gives its block. Its first line is the header,
//! which begins with one mark byte for each line. Blocks come from the system in chunks of 1 MB.

use std::alloc::Layout;
use std::ptr;

use super::debug;

/// Bytes of a block, and its alignment.
pub(crate) const BLOCK: usize = 32 * 1024;
/// Bytes of a line.
pub(crate) const LINE: usize = 256;
/// Lines of a block, the header's included.
pub(crate) const LINES: usize = BLOCK / LINE;
/// Largest object or buffer that lies in a block; a multiple of 16.
pub(crate) const SMALL_MAX: usize = 8 * 1024;
/// Blocks of a chunk.
const CHUNK_BLOCKS: usize = 32;
const CHUNK: Layout = match Layout::from_size_align(BLOCK * CHUNK_BLOCKS, BLOCK) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// Line mark of a free line. Others are marks of cycles, and:
pub(crate) const FREE: u8 = 0;
/// Line mark of a line that is free but not to be reused before the next sweep (checked heaps).
pub(crate) const QUARANTINED: u8 = 0xFE;
const HEADER_MARK: u8 = 0xFF;

/// The header of a block.
#[repr(C)]
pub(crate) struct Block {
    /// A byte for each line.
    pub(crate) marks: [u8; LINES],
    chunk: u32,
}

const _: () = assert!(size_of::<Block>() <= LINE);

/// Bytes from `.0` up to `.1`.
#[derive(Clone, Copy)]
pub(crate) struct Hole(pub(crate) *mut u8, pub(crate) *mut u8);

impl Hole {
    const NONE: Hole = Hole(ptr::null_mut(), ptr::null_mut());
    pub(crate) fn len(self) -> usize {
        self.1.addr() - self.0.addr()
    }
}

struct Chunk {
    base: *mut u8,
    /// Blocks that were ever used; the rest is untouched memory.
    touched: usize,
}

/// All blocks of a heap.
pub(crate) struct Blocks {
    chunks: Vec<Chunk>,
    /// Without any object.
    free: Vec<*mut Block>,
    /// The others; those below `unswept` have not been swept since the last cycle.
    used: Vec<*mut Block>,
    unswept: usize,
    /// Swept, with holes that nobody uses yet.
    recyclable: Vec<*mut Block>,
    /// Ends of blocks that were given up for a larger object.
    spare: Vec<Hole>,
    /// Block whose holes are being used, and the line where the search goes on.
    current: *mut Block,
    next_line: usize,
    /// Where objects larger than a line go that do not fit into the current hole.
    pub(crate) overflow: Hole,
    /// The mark of live lines: that of the last complete cycle.
    live_mark: u8,
    /// Poison and quarantine what is freed.
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
            free: Vec::new(),
            used: Vec::new(),
            unswept: 0,
            recyclable: Vec::new(),
            spare: Vec::new(),
            current: ptr::null_mut(),
            next_line: LINES,
            overflow: Hole::NONE,
            live_mark: 0,
            checked: cfg!(debug_assertions),
        }
    }

    /// The next hole for small objects: at least a line.
    pub(crate) unsafe fn next_hole(&mut self) -> Hole {
        loop {
            if !self.current.is_null() {
                if let Some((first, end)) = find_hole(self.current, self.next_line) {
                    self.next_line = end;
                    let base = self.current.cast::<u8>();
                    let hole = Hole(base.add(first * LINE), base.add(end * LINE));
                    if self.checked {
                        debug::check_poison(hole.0, hole.len());
                    }
                    return hole;
                }
                self.current = ptr::null_mut();
            }
            if let Some(hole) = self.spare.pop() {
                return hole;
            }
            self.current = match self.recyclable.pop() {
                Some(b) => b,
                None => match self.sweep_for_holes() {
                    Some(b) => b,
                    None => self.take_free(),
                },
            };
            self.next_line = 1;
        }
    }

    /// A whole block for objects larger than a line; what is left of the last one becomes a spare hole. Returns the bytes
    /// of the new hole less those of the spare one.
    pub(crate) unsafe fn renew_overflow(&mut self) -> usize {
        let rest = self.overflow.len();
        if rest >= LINE {
            self.spare.push(self.overflow);
        }
        let base = self.take_free().cast::<u8>();
        self.overflow = Hole(base.add(LINE), base.add(BLOCK));
        if self.checked {
            debug::check_poison(self.overflow.0, self.overflow.len());
        }
        BLOCK - LINE - if rest >= LINE { rest } else { 0 }
    }

    /// A free block, which is entered among the used ones.
    unsafe fn take_free(&mut self) -> *mut Block {
        let b = match self.free.pop() {
            Some(b) => b,
            None => self.fresh(),
        };
        self.used.push(b);
        b
    }

    /// A block never used before.
    unsafe fn fresh(&mut self) -> *mut Block {
        if self.chunks.last().is_none_or(|c| c.touched == CHUNK_BLOCKS) {
            let base = std::alloc::alloc(CHUNK);
            if base.is_null() {
                std::alloc::handle_alloc_error(CHUNK);
            }
            // Addresses of objects are turned into addresses of blocks.
            base.expose_provenance();
            self.chunks.push(Chunk { base, touched: 0 });
        }
        let index = self.chunks.len() - 1;
        let chunk = &mut self.chunks[index];
        let b = chunk.base.add(chunk.touched * BLOCK).cast::<Block>();
        chunk.touched += 1;
        (&raw mut (*b).marks).cast::<u8>().write_bytes(FREE, LINES);
        (*b).marks[0] = HEADER_MARK;
        (&raw mut (*b).chunk).write(index as u32);
        if self.checked {
            debug::poison(b.cast::<u8>().add(LINE), BLOCK - LINE);
        }
        b
    }

    /// After marking: all blocks are to be swept, and no hole found so far is used any more.
    pub(crate) fn begin_sweep(&mut self, mark: u8) {
        debug_assert_eq!(self.unswept, 0);
        self.current = ptr::null_mut();
        self.overflow = Hole::NONE;
        self.spare.clear();
        self.recyclable.clear();
        self.unswept = self.used.len();
        self.live_mark = mark;
    }

    /// Sweeps until a block with a hole turns up.
    unsafe fn sweep_for_holes(&mut self) -> Option<*mut Block> {
        while self.unswept > 0 {
            self.unswept -= 1;
            let b = self.used[self.unswept];
            if !matches!(self.sweep_block(b), Swept::Full) {
                return Some(b);
            }
        }
        None
    }

    /// Sweeps up to `count` blocks; true when all are swept.
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

    unsafe fn sweep_block(&mut self, b: *mut Block) -> Swept {
        if self.checked {
            return self.sweep_checked(b);
        }
        let live = self.live_mark;
        let mut count = 0;
        for m in &mut (&mut (*b).marks)[1..] {
            let keep = *m == live;
            *m = if keep { live } else { FREE };
            count += keep as usize;
        }
        Blocks::outcome(count)
    }

    fn outcome(taken: usize) -> Swept {
        match taken {
            0 => Swept::Free,
            n if n == LINES - 1 => Swept::Full,
            _ => Swept::Holes,
        }
    }

    /// As `sweep_block`, with poison and quarantine: a line is free when it was not live at two sweeps in a row.
    unsafe fn sweep_checked(&mut self, b: *mut Block) -> Swept {
        let mut taken = 0;
        for i in 1..LINES {
            let line = b.cast::<u8>().add(i * LINE);
            let m = (*b).marks[i];
            if m == self.live_mark {
                taken += 1;
            } else if m == QUARANTINED {
                debug::check_poison(line, LINE);
                (*b).marks[i] = FREE;
            } else {
                debug::poison(line, LINE);
                (*b).marks[i] = QUARANTINED;
                taken += 1;
            }
        }
        Blocks::outcome(taken)
    }

    /// Gives wholly free chunks back to the system, as long as `reserve` bytes of free blocks remain.
    pub(crate) unsafe fn release(&mut self, reserve: usize) {
        let keep = reserve / BLOCK;
        if self.free.len() < keep + CHUNK_BLOCKS {
            return;
        }
        let mut spare = (self.free.len() - keep) / CHUNK_BLOCKS;
        let mut count = vec![0usize; self.chunks.len()];
        for &b in &self.free {
            count[(*b).chunk as usize] += 1;
        }
        let mut gone = vec![false; self.chunks.len()];
        for (i, n) in count.iter().enumerate() {
            if spare > 0 && *n == CHUNK_BLOCKS {
                gone[i] = true;
                spare -= 1;
            }
        }
        self.free.retain(|&b| !gone[(*b).chunk as usize]);
        for i in (0..self.chunks.len()).rev() {
            if gone[i] {
                std::alloc::dealloc(self.chunks[i].base, CHUNK);
                // A chunk that is not fully touched must stay the last one; `remove` keeps the order.
                self.chunks.remove(i);
            }
        }
        for (i, chunk) in self.chunks.iter().enumerate() {
            for k in 0..chunk.touched {
                (*chunk.base.add(k * BLOCK).cast::<Block>()).chunk = i as u32;
            }
        }
    }

    /// Bytes of all chunks.
    pub(crate) fn reserved(&self) -> usize {
        self.chunks.len() * CHUNK.size()
    }

    /// Gives everything back.
    pub(crate) unsafe fn free_all(&mut self) {
        for chunk in self.chunks.drain(..) {
            std::alloc::dealloc(chunk.base, CHUNK);
        }
    }
}

/// The first run of free lines from line `from` on: its first line and the line behind it.
unsafe fn find_hole(b: *mut Block, from: usize) -> Option<(usize, usize)> {
    let marks = &(*b).marks;
    let first = from + marks[from..].iter().position(|m| *m == FREE)?;
    let end = marks[first..].iter().position(|m| *m != FREE).map_or(LINES, |n| first + n);
    Some((first, end))
}

/// Sets the marks of all lines that `size` bytes at `p` touch.
#[inline(always)]
pub(crate) unsafe fn mark_lines(p: *mut u8, size: usize, mark: u8) {
    let marks = ptr::with_exposed_provenance_mut::<u8>(p.addr() & !(BLOCK - 1));
    let offset = p.addr() & (BLOCK - 1);
    let (first, last) = (offset / LINE, (offset + size - 1) / LINE);
    debug_assert!(first > 0 && last < LINES);
    for i in first..=last {
        debug_assert!(*marks.add(i) != QUARANTINED, "a live object lies in freed memory");
        *marks.add(i) = mark;
    }
}

/// The mark of the line that `p` lies in.
pub(crate) unsafe fn line_mark(p: *mut u8) -> u8 {
    let marks = ptr::with_exposed_provenance_mut::<u8>(p.addr() & !(BLOCK - 1));
    *marks.add((p.addr() & (BLOCK - 1)) / LINE)
}
