//! GDB's interface for code that is generated at run time: a list of ELF images in memory, and a
//! function in which a debugger sets a breakpoint.
//!
//! Debuggers find the two symbols by name, so a process can contain them only once. The only crate
//! with this interface (`wasmtime-internal-jit-debug`) is internal to Wasmtime.

use std::ptr::null_mut;

use super::image::{Described, image};
use perilune_code::lock::{Mutex, MutexGuard, lock};

/// An image in the list, as a debugger reads it.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    image: *const u8,
    size: u64,
}

/// The list, as a debugger reads it.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// The place where a debugger finds the list.
// SAFETY: (of the attribute) the name is the interface's, and no other crate of the engine defines
// it.
#[unsafe(no_mangle)]
#[used]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };

/// The function in which a debugger stops to read the list.
// SAFETY: (of the attribute) as above.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // A call of a function without effects would be removed.
    std::hint::black_box(());
}

/// Guards the list.
static LIST: Mutex<()> = Mutex::new(());

fn list() -> MutexGuard<'static, ()> {
    lock(&LIST)
}

/// Machine code that is registered with debuggers. Dropping it unregisters the code.
pub(crate) struct Registration {
    entry: *mut Entry,
    /// The image that the entry points at.
    _image: Box<[u8]>,
}

// SAFETY: the entry is accessed with the list's lock held, on any thread (and by a debugger, while
// all threads are stopped).
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers a function.
    pub(crate) fn new(function: &Described<'_>) -> Registration {
        let image: Box<[u8]> = image(function).into();
        let entry = Entry {
            next: null_mut(),
            previous: null_mut(),
            image: image.as_ptr(),
            size: image.len() as u64,
        };
        let entry = Box::into_raw(Box::new(entry));
        let guard = list();
        // SAFETY: J2: the list is ours while we hold its lock, and its entries are alive.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            (*entry).next = (*list).first;
            if !(*list).first.is_null() {
                (*(*list).first).previous = entry;
            }
            (*list).first = entry;
            tell(REGISTER, entry);
        }
        drop(guard);
        Registration { entry, _image: image }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let guard = list();
        // SAFETY: J2; the entry was made in `new`, and is freed once.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            let (next, previous) = ((*self.entry).next, (*self.entry).previous);
            match previous.is_null() {
                true => (*list).first = next,
                false => (*previous).next = next,
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            tell(UNREGISTER, self.entry);
            drop(Box::from_raw(self.entry));
        }
        drop(guard);
    }
}

/// Notifies a debugger of an entry.
///
/// # Safety
/// The list's lock is held, and the entry is alive.
unsafe fn tell(action: u32, entry: *mut Entry) {
    let list = &raw mut __jit_debug_descriptor;
    // Debuggers read memory: these stores must happen before the call, and not be optimized out.
    (&raw mut (*list).relevant).write_volatile(entry);
    (&raw mut (*list).action).write_volatile(action);
    __jit_debug_register_code();
}

#[cfg(test)]
mod tests {
    use super::super::image::Described;
    use super::{LIST, Registration, list};
    use object::read::{Object, ObjectSymbol};

    /// Returns the names in the list, in order.
    fn listed() -> Vec<String> {
        let mut names = Vec::new();
        let guard = list();
        // SAFETY: with the lock held, the list and its images are alive.
        unsafe {
            let list = &raw const super::__jit_debug_descriptor;
            let mut entry = (*list).first;
            while !entry.is_null() {
                let bytes = std::slice::from_raw_parts((*entry).image, (*entry).size as usize);
                let file = object::File::parse(bytes).expect("it is ELF");
                names.extend(file.symbols().map(|s| s.name().expect("a name").to_owned()));
                entry = (*entry).next;
            }
        }
        drop(guard);
        names
    }

    #[test]
    fn the_list_has_what_is_registered() {
        let [a, b, c] = ["a", "b", "c"].map(|name| {
            let (address, size, source, lines) = (0x1000, 16, None, &[][..]);
            Registration::new(&Described { name, short: name, address, size, source, lines })
        });
        assert_eq!(listed(), ["c", "b", "a"]);
        drop(b);
        assert_eq!(listed(), ["c", "a"]);
        drop(c);
        drop(a);
        assert_eq!(listed(), Vec::<String>::new());
        assert!(LIST.lock().is_ok());
    }
}
