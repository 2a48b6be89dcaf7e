//! The map file and the jitdump file, from which Linux `perf` takes names and lines of machine
//! code.
//!
//! Both files belong to the process: all engines append to the same files. A reused range of memory
//! has two lines in the map, and `perf` uses one of them for all samples; records of the jitdump
//! have timestamps, so that each sample is attributed to the code that was there at that time.
//!
//! The existing crates that write jitdump files are internal to Wasmtime, or outdated and without
//! line information.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process;
use std::sync::OnceLock;

use perilune_bytecode::Proto;
use perilune_code::MappingKind;
use perilune_code::fork;
use perilune_code::lock::{Mutex, lock};

use super::clock::monotonic_time;
use super::label::Label;
use super::source_map::{Piece, Placed, file, lines};

/// The kind of file that is written for `perf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perf {
    /// `/tmp/perf-PID.map`, with a line per function, which `perf report` reads.
    Map,
    /// `jit-PID.dump` in the current folder: code, names and lines, with times. For `perf record -k
    /// mono` and `perf inject --jit`.
    Jitdump,
}

static MAP: OnceLock<Option<Mutex<File>>> = OnceLock::new();
static JITDUMP: OnceLock<Option<Mutex<Jitdump>>> = OnceLock::new();

impl Perf {
    /// Returns how code is to be mapped. `perf` consults its map only for addresses in anonymous
    /// memory, and memory that is mapped twice belongs to a file.
    pub(crate) fn mapping(perf: Option<Perf>) -> MappingKind {
        match perf {
            Some(Perf::Map) => MappingKind::PageExclusive,
            _ => MappingKind::Auto,
        }
    }

    /// Adds a function that does not run yet.
    pub(crate) fn add(self, label: &Label, proto: &Proto, code: &Placed<'_>, pieces: &[Piece]) {
        match self {
            Perf::Map => with(&MAP, open_map, |file| {
                // one write, so that lines of several processes that share the file do not mix
                let (start, len) = (code.address, code.bytes.len());
                file.write_all(format!("{start:x} {len:x} {label}\n").as_bytes())
            }),
            Perf::Jitdump => {
                with(&JITDUMP, Jitdump::open, |dump| dump.add(label, proto, code, pieces));
            }
        }
    }
}

/// Writes to a file, which is opened the first time. A failure is reported once, and the program
/// continues without the file.
fn with<T>(
    file: &OnceLock<Option<Mutex<T>>>,
    open: impl FnOnce() -> io::Result<T>,
    write: impl FnOnce(&mut T) -> io::Result<()>,
) {
    let complain = |e: io::Error| {
        let _ = writeln!(io::stderr(), "perilune: nothing for perf: {e}");
    };
    let _inside = fork::enter();
    let file = file.get_or_init(|| open().map_err(complain).ok().map(Mutex::new));
    if let Some(file) = file {
        // A profile that ends early, on a full disk, is no reason to disturb the program.
        let _ = write(&mut lock(file));
    }
}

/// Creates a file, replacing an old one. Links are not followed: other users may have left some in
/// a shared folder.
fn create(path: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
    options.open(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

fn open_map() -> io::Result<File> {
    create(&format!("/tmp/perf-{}.map", process::id()).into())
}

/// The jitdump file: version 1 of the format in the kernel's
/// `tools/perf/Documentation/jitdump-specification.txt`.
struct Jitdump {
    file: File,
    /// Number of the next function.
    index: u64,
}

/// The kinds of records.
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
/// Bytes of the header of each record.
const RECORD_HEADER: usize = 16;

impl Jitdump {
    fn open() -> io::Result<Jitdump> {
        let mut file = create(&format!("jit-{}.dump", process::id()).into())?;
        let mut header = Vec::new();
        for word in [0x4A69_5444, 1, 40, elf_machine(), 0, process::id()] {
            header.extend_from_slice(&word.to_ne_bytes());
        }
        header.extend_from_slice(&monotonic_time().to_ne_bytes());
        header.extend_from_slice(&0u64.to_ne_bytes());
        file.write_all(&header)?;
        mark(&file)?;
        Ok(Jitdump { file, index: 0 })
    }

    fn add(
        &mut self,
        label: &Label,
        proto: &Proto,
        code: &Placed<'_>,
        pieces: &[Piece],
    ) -> io::Result<()> {
        let mut out = Vec::new();
        let now = monotonic_time();
        let address = code.address as u64;
        let source = file(proto).unwrap_or_else(|| label.place.clone());
        let mut entries = lines(proto, pieces);
        entries.insert(0, (0, proto.line_defined));
        record(&mut out, DEBUG_INFO, now, 16 + entries.len() * (16 + source.len() + 1));
        out.extend_from_slice(&address.to_ne_bytes());
        out.extend_from_slice(&(entries.len() as u64).to_ne_bytes());
        for (offset, line) in entries {
            out.extend_from_slice(&(address + offset).to_ne_bytes());
            out.extend_from_slice(&line.to_ne_bytes());
            out.extend_from_slice(&0u32.to_ne_bytes());
            out.extend_from_slice(source.as_bytes());
            out.push(0);
        }
        let name = label.to_string();
        record(&mut out, CODE_LOAD, now, 40 + name.len() + 1 + code.bytes.len());
        // The thread is given as the process's first: `perf` looks up mappings, which threads
        // share.
        for word in [process::id(), process::id()] {
            out.extend_from_slice(&word.to_ne_bytes());
        }
        for word in [address, address, code.bytes.len() as u64, self.index] {
            out.extend_from_slice(&word.to_ne_bytes());
        }
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out.extend_from_slice(code.bytes);
        self.index += 1;
        self.file.write_all(&out)
    }
}

fn record(out: &mut Vec<u8>, kind: u32, time: u64, size: usize) {
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(&((RECORD_HEADER + size) as u32).to_ne_bytes());
    out.extend_from_slice(&time.to_ne_bytes());
}

/// Returns the number of this machine in ELF.
fn elf_machine() -> u32 {
    let is_arm = cfg!(target_arch = "aarch64");
    let machine = if is_arm { object::elf::EM_AARCH64 } else { object::elf::EM_X86_64 };
    machine.0.into()
}

/// Maps the file as executable, so that `perf record` notices it. It stays mapped until the process
/// ends.
fn mark(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let (rights, kind) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
    let none = std::ptr::null_mut();
    // SAFETY: a new mapping at an address that the system chooses; it is never accessed.
    let at = unsafe { libc::mmap(none, RECORD_HEADER, rights, kind, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}
