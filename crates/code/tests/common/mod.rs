//! Hand-assembled functions, and states that call them.
#![allow(dead_code, unreachable_pub)]

use std::any::Any;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use perilune_code::region::TRAP;
use perilune_code::{
    CodeId, CodeSpace, Hooks, Member, Method, Mutator, Pins, Placement, Published, Ticket,
};

/// What the stub returns.
pub const INTERPRETED: u32 = u32::MAX;

/// The signature of all functions here: `call` is called in the middle of their frame.
pub type Entry = unsafe extern "C" fn(call: Middle, state: *mut State) -> u32;
/// What happens in the middle of a frame of the code with this id.
pub type Middle = extern "C" fn(state: *mut State, id: u32);

/// Stands for the interpreter.
pub unsafe extern "C" fn stub(_: Middle, _: *mut State) -> u32 {
    INTERPRETED
}

pub fn stub_address() -> *const u8 {
    stub as Entry as *const u8
}

/// `call(state, id); return value`.
#[cfg(target_arch = "aarch64")]
pub fn calling(id: CodeId, value: u32) -> Vec<u8> {
    let mut code = vec![0xA9BF_7BFD]; // stp x29, x30, [sp, #-16]!
    code.push(0xAA00_03E8); // mov x8, x0
    code.push(0xAA01_03E0); // mov x0, x1
    code.extend(set(1, id.raw()));
    code.push(0xD63F_0100); // blr x8
    code.extend(set(0, value));
    code.extend([0xA8C1_7BFD, 0xD65F_03C0]); // ldp x29, x30, [sp], #16; ret
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// `return value`.
#[cfg(target_arch = "aarch64")]
pub fn constant(value: u32) -> Vec<u8> {
    let [lower, upper] = set(0, value);
    [lower, upper, 0xD65F_03C0].into_iter().flat_map(u32::to_le_bytes).collect()
}

/// `movz w, lower half; movk w, upper half, lsl #16`
#[cfg(target_arch = "aarch64")]
fn set(register: u32, value: u32) -> [u32; 2] {
    [0x5280_0000 | (value & 0xFFFF) << 5 | register, 0x72A0_0000 | value >> 16 << 5 | register]
}

/// `call(state, id); return value`.
#[cfg(not(target_arch = "aarch64"))]
pub fn calling(id: CodeId, value: u32) -> Vec<u8> {
    let mut code = vec![0x53]; // push rbx
    code.extend([0x48, 0x89, 0xF8]); // mov rax, rdi
    code.extend([0x48, 0x89, 0xF7]); // mov rdi, rsi
    code.push(0xBE); // mov esi, id
    code.extend(id.raw().to_le_bytes());
    code.extend([0xFF, 0xD0]); // call rax
    code.push(0xB8); // mov eax, value
    code.extend(value.to_le_bytes());
    code.extend([0x5B, 0xC3]); // pop rbx; ret
    code
}

/// `return value`.
#[cfg(not(target_arch = "aarch64"))]
pub fn constant(value: u32) -> Vec<u8> {
    let mut code = vec![0xB8];
    code.extend(value.to_le_bytes());
    code.push(0xC3);
    code
}

pub fn method(space: &Arc<CodeSpace>) -> Arc<Method> {
    space.method(stub_address(), Box::new(space.clone()))
}

/// The space of a method that [`method`] made.
pub fn space_of(method: &Method) -> Arc<CodeSpace> {
    method.data().downcast_ref::<Arc<CodeSpace>>().expect("it was given its space").clone()
}

pub fn member(ticket: Ticket, id: CodeId, body: std::ops::Range<usize>) -> Member {
    let data: Arc<dyn Any + Send + Sync> = Arc::new(());
    Member { ticket, id, kind: 0, entry: body.start, body, data }
}

/// Compiles a method to a function that returns `value` and has `calling`'s frame.
pub fn compile(ticket: Ticket, value: u32) -> Published {
    let space = space_of(ticket.method());
    let id = space.ids(1).expect("there are ids").get(0);
    let code = calling(id, value);
    let reservation = space.reserve(code.len()).expect("there is room");
    let range = reservation.publish(&code).expect("it can be written");
    space.publish(range, vec![member(ticket, id, 0..code.len())])
}

/// Compiles several methods into one module; method `i` returns `value + i`.
pub fn compile_together(tickets: Vec<Ticket>, value: u32) -> Published {
    let space = space_of(tickets[0].method());
    let ids = space.ids(tickets.len()).expect("there are ids");
    let (mut code, mut members) = (Vec::new(), Vec::new());
    for ((ticket, id), value) in tickets.into_iter().zip(ids.iter()).zip(value..) {
        let start = code.len();
        code.extend(calling(id, value));
        members.push(member(ticket, id, start..code.len()));
        code.resize(code.len().next_multiple_of(192), TRAP);
    }
    let range = space.reserve(code.len()).expect("there is room").publish(&code).expect("written");
    space.publish(range, members)
}

/// The frames of a state, which it writes and walks read.
#[derive(Default)]
pub struct Frames(UnsafeCell<Vec<CodeId>>);

// SAFETY: the protocol under test keeps writers and walks apart.
unsafe impl Send for Frames {}
// SAFETY: as above.
unsafe impl Sync for Frames {}

impl Frames {
    #[allow(clippy::mut_from_ref)]
    unsafe fn get(&self) -> &mut Vec<CodeId> {
        // SAFETY: the caller is the state's thread while it is online, or walks it while it is
        // claimed.
        unsafe { &mut *self.0.get() }
    }
}

#[derive(Default)]
pub struct Shared {
    pub armed: AtomicBool,
    frames: Frames,
    /// The placement whose address the state keeps, or null.
    pub kept: AtomicPtr<u8>,
}

struct Seen(Arc<Shared>);

impl Hooks for Seen {
    fn arm(&self) {
        self.0.armed.store(true, Relaxed);
    }
    fn walk(&self, pins: &mut Pins) {
        // SAFETY: the state is claimed.
        unsafe { self.0.frames.get() }.iter().for_each(|id| pins.add(*id));
    }
    fn forget(&self) {
        self.0.kept.store(std::ptr::null_mut(), Relaxed);
    }
}

/// A state: what it does in the middle of each frame is up to the test.
pub struct State {
    pub shared: Arc<Shared>,
    pub mutator: Mutator,
    pub middle: fn(&mut State),
    pub random: u64,
    pub slot: *const perilune_code::EntrySlot,
}

impl State {
    pub fn new(space: &Arc<CodeSpace>, middle: fn(&mut State)) -> Box<State> {
        let shared = Arc::new(Shared::default());
        let mutator = space.register(Box::new(Seen(shared.clone())));
        Box::new(State { shared, mutator, middle, random: 1, slot: std::ptr::null() })
    }

    /// Calls through the slot.
    pub fn call(&mut self, method: &Method) -> u32 {
        self.slot = method.slot();
        self.call_slot()
    }

    pub fn call_slot(&mut self) -> u32 {
        assert!(self.mutator.is_online());
        // SAFETY: a slot holds a function of this signature; the method is alive.
        unsafe {
            let entry: Entry = std::mem::transmute((*self.slot).target());
            entry(middle, self)
        }
    }

    /// Runs a placement, which returns a [`constant`], by the address that the state keeps; keeps
    /// it first if necessary.
    pub fn run(&mut self, space: &CodeSpace, placement: &Placement) -> u32 {
        assert!(self.mutator.is_online());
        let mut address = self.shared.kept.load(Relaxed).cast_const();
        if address.is_null() {
            let Some(kept) = space.keep(placement) else { return INTERPRETED };
            self.shared.kept.store(kept.cast_mut(), Relaxed);
            address = kept;
        }
        // SAFETY: the address is one of a placement that is not freed (Q1), of this signature.
        unsafe { std::mem::transmute::<*const u8, extern "C" fn() -> u32>(address)() }
    }

    /// Announces, if asked to.
    pub fn poll(&mut self) {
        if self.shared.armed.swap(false, Relaxed) {
            self.announce();
        }
    }

    pub fn announce(&mut self) {
        // SAFETY: the state is online, so no thread walks it.
        let frames = unsafe { self.shared.frames.get() };
        self.mutator.announce(|pins| frames.iter().for_each(|id| pins.add(*id)));
    }

    /// Begins with frames.
    pub fn preset(&mut self, ids: impl Iterator<Item = CodeId>) {
        self.mutator.enter();
        // SAFETY: the state is online, so no thread walks it.
        unsafe { self.shared.frames.get() }.extend(ids);
        self.mutator.leave();
    }

    pub fn depth(&self) -> usize {
        // SAFETY: the state is online, so no thread walks it.
        unsafe { self.shared.frames.get() }.len()
    }

    pub fn next_random(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below
    }
}

/// What machine code calls in the middle of its frame.
extern "C" fn middle(state: *mut State, id: u32) {
    // SAFETY: machine code gives back what it got.
    let state = unsafe { &mut *state };
    // SAFETY: the state is online, so no thread walks it.
    unsafe { state.shared.frames.get() }.push(CodeId::from_raw(id));
    (state.middle)(state);
    // SAFETY: as above.
    unsafe { state.shared.frames.get() }.pop();
}

/// Advances until nothing waits.
pub fn drain(space: &CodeSpace) {
    for _ in 0..10_000 {
        space.advance_now();
        if space.pending() == 0 {
            return;
        }
        std::thread::yield_now();
    }
    panic!("{} modules are not freed", space.pending());
}
