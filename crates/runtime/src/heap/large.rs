//! Objects and buffers that are too large for a block: each has a separate allocation, in which it
//! follows a record.

use super::memory::{LARGE, Memory};
use super::poison;
use super::segments::Segments;

/// The record that precedes a large object or buffer.
#[repr(C, align(16))]
pub(crate) struct Large {
    /// Size in bytes, without the record.
    pub(crate) size: usize,
    index: usize,
    /// The mark of the cycle that last reached it.
    pub(crate) mark: u8,
}

/// About how many bytes one slice of sweeping frees at most.
const FREED_AT_ONCE: usize = 4 << 20;
/// About how many bytes are quarantined at most.
const QUARANTINE: usize = 4 << 20;
const RECORD: usize = size_of::<Large>();
const _: () = assert!(RECORD.is_multiple_of(16));

impl Large {
    /// Returns the record of the object or buffer at `p`.
    #[inline(always)]
    pub(crate) unsafe fn of(p: *mut u8) -> *mut Large {
        // Goes through the exposed address, as `p` may be a pointer with provenance for the object
        // alone.
        std::ptr::with_exposed_provenance_mut(p.addr() - RECORD)
    }
    unsafe fn data(this: *mut Large) -> *mut u8 {
        this.cast::<u8>().add(RECORD)
    }
}

/// All large objects and buffers of a heap.
pub(crate) struct LargeSpace {
    list: Segments<*mut Large>,
    /// Items below this index have not been swept since the last cycle.
    unswept: usize,
    live_mark: u8,
    /// Whether freed memory is poisoned and quarantined.
    pub(crate) checked: bool,
    quarantine: Vec<*mut Large>,
    /// The bytes in quarantine.
    quarantined: usize,
}

impl LargeSpace {
    pub(crate) fn new() -> LargeSpace {
        LargeSpace {
            list: Segments::default(),
            unswept: 0,
            live_mark: 0,
            checked: cfg!(debug_assertions),
            quarantine: Vec::new(),
            quarantined: 0,
        }
    }

    /// Allocates memory for an object or buffer. Returns null if there is none, which only happens
    /// from [`LARGE`] bytes on.
    pub(crate) unsafe fn alloc(&mut self, memory: &mut Memory, size: usize) -> *mut u8 {
        let this = memory.alloc_if_any(size + RECORD).cast::<Large>();
        if this.is_null() {
            return std::ptr::null_mut();
        }
        this.expose_provenance();
        this.write(Large { size, index: self.list.len(), mark: 0 });
        if !self.list.push(this) {
            memory.free(this.cast(), size + RECORD);
            if size < LARGE {
                // The reserve has no memory left, either.
                let layout = std::alloc::Layout::from_size_align_unchecked(size + RECORD, 16);
                std::alloc::handle_alloc_error(layout);
            }
            return std::ptr::null_mut();
        }
        Large::data(this)
    }

    /// Frees the buffer at `p` immediately.
    pub(crate) unsafe fn free(&mut self, memory: &mut Memory, p: *mut u8) {
        let this = Large::of(p);
        let mut i = (*this).index;
        debug_assert!(self.item(i) == this);
        if i < self.unswept {
            // The last unswept item takes its place, so that no swept one moves below the limit.
            self.unswept -= 1;
            self.place(self.item(self.unswept), i);
            self.place(this, self.unswept);
            i = self.unswept;
        }
        self.remove(i);
        self.discard(memory, this);
    }

    /// Changes the size of the buffer at `p`, which may move it. Its contents and its mark are
    /// kept. Returns null, without an effect, if there is no memory.
    pub(crate) unsafe fn resize(
        &mut self,
        memory: &mut Memory,
        p: *mut u8,
        size: usize,
    ) -> *mut u8 {
        let this = Large::of(p);
        let (old, index) = ((*this).size, (*this).index);
        let this = memory.realloc(this.cast(), old + RECORD, size + RECORD).cast::<Large>();
        if this.is_null() {
            return std::ptr::null_mut();
        }
        this.expose_provenance();
        (*this).size = size;
        self.list.replace(index, this);
        Large::data(this)
    }

    fn item(&self, i: usize) -> *mut Large {
        self.list.get(i).expect("an item's index is in the list")
    }

    unsafe fn place(&mut self, this: *mut Large, to: usize) {
        self.list.replace(to, this);
        (*this).index = to;
    }

    unsafe fn remove(&mut self, i: usize) {
        let last = self.list.pop_back().expect("the one to remove is in the list");
        if i < self.list.len() {
            self.place(last, i);
        }
    }

    unsafe fn discard(&mut self, memory: &mut Memory, this: *mut Large) {
        if self.checked {
            if self.quarantined > QUARANTINE {
                self.flush_quarantine(memory);
            }
            poison::poison(Large::data(this), (*this).size);
            self.quarantined += (*this).size;
            self.quarantine.push(this);
        } else {
            memory.free(this.cast(), (*this).size + RECORD);
        }
    }

    /// Prepares to sweep everything, after marking.
    pub(crate) unsafe fn begin_sweep(&mut self, memory: &mut Memory, mark: u8) {
        debug_assert_eq!(self.unswept, 0);
        self.flush_quarantine(memory);
        self.unswept = self.list.len();
        self.live_mark = mark;
    }

    /// Undoes [`LargeSpace::begin_sweep`].
    pub(crate) fn cancel_sweep(&mut self) {
        self.unswept = 0;
    }

    unsafe fn flush_quarantine(&mut self, memory: &mut Memory) {
        self.quarantined = 0;
        for this in self.quarantine.drain(..) {
            poison::check_poison(Large::data(this), (*this).size);
            memory.free(this.cast(), (*this).size + RECORD);
        }
    }

    /// Sweeps up to `count` items, or fewer when much memory is freed, which takes the system time.
    /// Returns whether all are swept.
    pub(crate) unsafe fn sweep_some(&mut self, memory: &mut Memory, count: usize) -> bool {
        let mut freed = 0;
        for _ in 0..count {
            if self.unswept == 0 || freed > FREED_AT_ONCE {
                break;
            }
            self.unswept -= 1;
            let this = self.item(self.unswept);
            if (*this).mark != self.live_mark {
                if (*this).size > 2 * FREED_AT_ONCE && !self.checked {
                    self.shorten(memory, this);
                    break;
                }
                freed += (*this).size;
                self.remove(self.unswept);
                self.discard(memory, this);
            }
        }
        self.unswept == 0
    }

    /// Frees the end of a dead item, which is swept again in the next slice: returning all of its
    /// memory to the system at once could take long.
    unsafe fn shorten(&mut self, memory: &mut Memory, this: *mut Large) {
        let (size, index) = ((*this).size, (*this).index);
        let less = size - FREED_AT_ONCE;
        let shorter = memory.realloc(this.cast(), size + RECORD, less + RECORD).cast::<Large>();
        if shorter.is_null() {
            self.remove(index);
            self.discard(memory, this);
            return;
        }
        shorter.expose_provenance();
        (*shorter).size = less;
        self.list.replace(index, shorter);
        self.unswept += 1;
    }

    /// Frees everything.
    pub(crate) unsafe fn free_all(&mut self, memory: &mut Memory) {
        self.flush_quarantine(memory);
        while let Some(this) = self.list.pop_back() {
            memory.free(this.cast(), (*this).size + RECORD);
        }
    }
}
