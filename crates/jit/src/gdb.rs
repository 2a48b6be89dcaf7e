//! GDB's interface for code that is made while a program runs: a list of ELF images in memory, and a function that a debugger has its breakpoint in.
//!
//! The two symbols are found by their names, so a process can have them once: they are those of this crate.

use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use object::elf;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};

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

/// Where a debugger finds the list.
// SAFETY: (of the attribute) the name is the interface's, and no other crate of the engine defines it.
#[unsafe(no_mangle)]
#[used]
static mut __jit_debug_descriptor: Descriptor =
    Descriptor { version: 1, action: 0, relevant: null_mut(), first: null_mut() };

/// Where a debugger stops, to look at the list.
// SAFETY: (of the attribute) as above.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // A call of a function without effects would be removed.
    std::hint::black_box(());
}

/// Guards the list.
static LIST: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Some machine code that debuggers know. Dropping it takes it from them.
pub(crate) struct Registration {
    entry: *mut Entry,
    /// What the entry points at.
    _image: Box<[u8]>,
}

// SAFETY: the entry is read and written with the list's lock held, wherever that is (and by a debugger, while all threads stand).
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Tells debuggers that a function of this name is at this address.
    pub(crate) fn new(name: &str, address: u64, size: usize) -> Registration {
        let image: Box<[u8]> = image(name, address, size as u64).into();
        let entry = Entry {
            next: null_mut(),
            previous: null_mut(),
            image: image.as_ptr(),
            size: image.len() as u64,
        };
        let entry = Box::into_raw(Box::new(entry));
        let guard = lock();
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
        let guard = lock();
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

/// Lets a debugger look at an entry.
///
/// # Safety
/// The list's lock is held, and the entry is alive.
unsafe fn tell(action: u32, entry: *mut Entry) {
    let list = &raw mut __jit_debug_descriptor;
    // Debuggers read memory: these stores must be made before the call, and must not be left out.
    (&raw mut (*list).relevant).write_volatile(entry);
    (&raw mut (*list).action).write_volatile(action);
    __jit_debug_register_code();
}

/// Why writing an image does not fail.
const SMALL: &str = "an image is small";

/// An ELF image that says that there is a function of this name at this address.
fn image(name: &str, address: u64, size: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(object::Endianness::default(), true, &mut out);
    w.reserve_file_header();
    w.reserve_null_section_index();
    let text_name = w.add_section_name(b".text");
    let text = w.reserve_section_index();
    w.reserve_symtab_section_index();
    w.reserve_strtab_section_index();
    w.reserve_shstrtab_section_index();
    let symbol_name = w.add_string(name.as_bytes());
    w.reserve_null_symbol_index();
    w.reserve_symbol_index(Some(text));
    w.reserve_symtab();
    w.reserve_strtab().expect(SMALL);
    w.reserve_shstrtab().expect(SMALL);
    w.reserve_section_headers();

    let is_arm = cfg!(target_arch = "aarch64");
    let machine = if is_arm { elf::EM_AARCH64 } else { elf::EM_X86_64 };
    w.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_EXEC,
        e_machine: machine,
        e_entry: address,
        e_flags: elf::FileFlags(0),
    })
    .expect(SMALL);
    w.write_null_symbol();
    w.write_symbol(&Sym {
        section: Some(text.0),
        st_name: w.string_offset(Some(symbol_name)),
        st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
        st_other: elf::SymbolOther(0),
        st_shndx: elf::SHN_UNDEF,
        st_value: address,
        st_size: size,
    });
    w.write_strtab();
    w.write_shstrtab();
    w.write_null_section_header();
    // The code itself is in memory, where a debugger reads it.
    w.write_section_header(&SectionHeader {
        sh_name: w.section_name_offset(Some(text_name)),
        sh_type: elf::SHT_NOBITS,
        sh_flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
        sh_addr: address,
        sh_offset: 0,
        sh_size: size,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 16,
        sh_entsize: 0,
    });
    w.write_symtab_section_header(1);
    w.write_strtab_section_header();
    w.write_shstrtab_section_header();
    out
}

#[cfg(test)]
mod tests {
    use super::{LIST, Registration, image, lock};
    use object::read::{Object, ObjectSection, ObjectSymbol};

    #[test]
    fn an_image_names_its_function() {
        let bytes = image("fib@fib.lua:1", 0x7000_1000, 99);
        let file = object::File::parse(&*bytes).expect("it is ELF");
        assert_eq!(file.kind(), object::ObjectKind::Executable);
        let text = file.section_by_name(".text").expect("there is code");
        assert_eq!((text.address(), text.size()), (0x7000_1000, 99));
        let symbols: Vec<_> = file.symbols().collect();
        let symbol = symbols.iter().find(|s| s.name() == Ok("fib@fib.lua:1")).expect("it is there");
        assert_eq!((symbol.address(), symbol.size()), (0x7000_1000, 99));
        assert_eq!((symbol.kind(), symbol.is_global()), (object::SymbolKind::Text, true));
        assert_eq!(symbol.section_index(), Some(text.index()));
    }

    /// Names in the list, in its order.
    fn listed() -> Vec<String> {
        let mut names = Vec::new();
        let guard = lock();
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
        let [a, b, c] = ["a", "b", "c"].map(|name| Registration::new(name, 0x1000, 16));
        assert_eq!(listed(), ["c", "b", "a"]);
        drop(b);
        assert_eq!(listed(), ["c", "a"]);
        drop(c);
        drop(a);
        assert_eq!(listed(), Vec::<String>::new());
        assert!(LIST.lock().is_ok());
    }
}
