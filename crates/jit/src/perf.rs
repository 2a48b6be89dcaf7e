//! Linux `perf`: the map file and the jitdump file, by which it finds names and lines of machine code; and the clocks.
//!
//! Both files belong to the process: all engines write to the same. They are appended to only. Of a range that is used again the
//! map has two lines, and `perf` takes one of them for all samples; records of the jitdump have times, so that each sample finds what was there then.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};

use perilune_bytecode::Proto;
use perilune_code::MappingKind;

use crate::watch::{Label, Piece, Placed, file, lines};

/// What is written for `perf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perf {
    /// `/tmp/perf-PID.map`: a line per function. `perf report` reads it.
    Map,
    /// `jit-PID.dump` in the current folder: code, names and lines, with times. For `perf record -k mono` and `perf inject --jit`.
    Jitdump,
}

static MAP: OnceLock<Option<Mutex<File>>> = OnceLock::new();
static JITDUMP: OnceLock<Option<Mutex<Jitdump>>> = OnceLock::new();

impl Perf {
    /// How code is to be mapped. `perf` looks into its map only for addresses that no file is behind, and two mappings of the same
    /// memory have one behind them.
    pub(crate) fn mapping(perf: Option<Perf>) -> MappingKind {
        match perf {
            Some(Perf::Map) => MappingKind::PageExclusive,
            _ => MappingKind::Auto,
        }
    }

    /// Makes a function known that was placed and does not run yet.
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

/// Writes to a file that is opened when it is first needed. What fails is said once, and the program goes on without.
fn with<T>(
    file: &OnceLock<Option<Mutex<T>>>,
    open: impl FnOnce() -> io::Result<T>,
    write: impl FnOnce(&mut T) -> io::Result<()>,
) {
    let complain = |e: io::Error| {
        let _ = writeln!(io::stderr(), "perilune: nothing for perf: {e}");
    };
    let file = file.get_or_init(|| open().map_err(complain).ok().map(Mutex::new));
    if let Some(file) = file {
        // A profile that ends early, on a full disk, is no reason to disturb the program.
        let _ = write(&mut file.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Creates a file anew, and follows no link that somebody else left in a shared folder.
fn create(path: &PathBuf) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
    options.open(path).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

fn open_map() -> io::Result<File> {
    create(&format!("/tmp/perf-{}.map", process::id()).into())
}

/// Time of this thread on the processor, in nanoseconds.
pub(crate) fn thread_time() -> u64 {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn time(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; a clock that is not known leaves it as it is.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The jitdump file (version 1 of the format in the kernel's `tools/perf/Documentation/jitdump-specification.txt`).
struct Jitdump {
    file: File,
    /// Number of the next function.
    index: u64,
}

/// Kinds of records.
const CODE_LOAD: u32 = 0;
const DEBUG_INFO: u32 = 2;
/// Bytes in front of each record's own.
const RECORD_HEADER: usize = 16;

impl Jitdump {
    fn open() -> io::Result<Jitdump> {
        let mut file = create(&format!("jit-{}.dump", process::id()).into())?;
        let mut header = Vec::new();
        for word in [0x4A69_5444, 1, 40, elf_machine(), 0, process::id()] {
            header.extend_from_slice(&word.to_ne_bytes());
        }
        header.extend_from_slice(&time(libc::CLOCK_MONOTONIC).to_ne_bytes());
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
        let now = time(libc::CLOCK_MONOTONIC);
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
        // The thread is given as the process's first: `perf` looks up mappings, which threads share.
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

/// ELF's number of this machine.
fn elf_machine() -> u32 {
    let is_arm = cfg!(target_arch = "aarch64");
    let machine = if is_arm { object::elf::EM_AARCH64 } else { object::elf::EM_X86_64 };
    machine.0.into()
}

/// Maps the file as executable, which is how `perf record` learns of it. It stays mapped until the process ends.
fn mark(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let (rights, kind) = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
    let none = std::ptr::null_mut();
    // SAFETY: a new mapping at an address that the system chooses; nobody reads, writes or runs it.
    let at = unsafe { libc::mmap(none, RECORD_HEADER, rights, kind, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}
