//! Creation and destruction of states.

use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::{self, null_mut};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::{MAX_PASSED, Returned, State, StateRef, Threshold, Vm};
use crate::engine::EngineShared;
use crate::epoch::MetaEpoch;
use crate::exit_stress::ExitStress;
use crate::first_panic::FirstPanic;
use crate::frame::{Frame, FrameWord, Link};
use crate::heap::{Allocator, Heap};
use crate::host::HostRoots;
use crate::load::GLOBALS;
use crate::meta::Event;
use crate::raised::ErrorKind;
use crate::random::Random;
use crate::strings::StringTable;
use crate::table::{InheritedCache, InheritedGlobals, LocalShape, MegamorphicCache, Table};
use crate::thread::{Status, Thread};
use crate::value::{Tag, Value};

impl State {
    /// Creates a state without libraries. It is freed with [`State::destroy`].
    pub fn create(engine: Arc<EngineShared>, vm: &'static Vm) -> *mut State {
        State::create_with(engine, vm, Allocator::global())
    }

    /// Like [`State::create`], with memory from `allocator`.
    pub fn create_with(
        engine: Arc<EngineShared>,
        vm: &'static Vm,
        allocator: Allocator,
    ) -> *mut State {
        let st = Box::into_raw(Box::new(State {
            heap: Heap::new(allocator),
            poll: AtomicU32::new(0),
            constants_changed: 0,
            relies_on_globals: false,
            leaves_machine_code: false,
            meta_epoch: MetaEpoch::FIRST,
            pinned: PhantomPinned,
            base: null_mut(),
            top: null_mut(),
            limit: null_mut(),
            thread: null_mut(),
            native_depth: 0,
            native_limit: usize::MAX,
            native_floor: 0,
            raised_at: None,
            returned: Returned { bits: 0, tag: 0 },
            passed: [0; MAX_PASSED + 1],
            fuel: u64::MAX,
            counts: false,
            portable: false,
            entry_threshold: Threshold::NEVER,
            stitch_threshold: u32::MAX,
            loop_threshold: Threshold::NEVER,
            miss_step: u32::MAX,
            tier: None,
            chaos: None,
            panic: None,
            error_handled: false,
            error_kind: ErrorKind::Value,
            small_stack: false,
            main_thread: null_mut(),
            registry: null_mut(),
            globals: null_mut(),
            error: Value::NIL,
            type_metas: [null_mut(); 7],
            event_names: [null_mut(); Event::COUNT],
            type_names: [null_mut(); Tag::INDICES],
            byte_strings: [null_mut(); 256],
            memory_message: null_mut(),
            empty_shape: null_mut(),
            strings: StringTable::new(),
            megamorphic: MegamorphicCache::default(),
            inherited: InheritedCache::default(),
            inherited_globals: InheritedGlobals::default(),
            shapes: Default::default(),
            host_roots: HostRoots::default(),
            host: ptr::null(),
            traceback: None,
            hook_of_new: None,
            warn: None,
            host_poll: None,
            finalizer_warn: None,
            interrupt_seen: Cell::new(None),
            vm,
            engine,
            random: Random::seeded(0, 0),
            exit_stress: ExitStress::default(),
        }));
        // SAFETY: the state was just created and is not shared, and no collection happens before it
        // is complete.
        unsafe {
            let mut s = StateRef::new(st);
            s.empty_shape = LocalShape::empty(s.ptr());
            s.make_byte_strings();
            for e in Event::ALL {
                s.event_names[*e as usize] = s.intern(e.name().as_bytes());
            }
            for tag in Tag::ALL {
                let name = Value::from_parts(0, tag).type_name();
                s.type_names[tag.index()] = s.intern(name.as_bytes());
            }
            s.memory_message = s.intern(b"not enough memory");
            let main = Thread::create(&mut s, false);
            s.main_thread = main;
            s.thread = main;
            (*main).status = Status::Running;
            (*main).non_yieldable = 1;
            // The host's own frame, at the bottom, from which calls into the state are made.
            let bottom = Frame((*main).stack.add(2));
            bottom.set_word(FrameWord::new(FrameWord::NATIVE, 0));
            bottom.set_link(Link::new(0, 0, 0));
            (*main).base = bottom.0;
            (*main).top = bottom.0;
            Thread::load_registers(st, main);
            let mut s = StateRef::new(st);
            s.registry = Table::new_dict(s.ptr(), 3);
            s.globals = Table::new_dict(s.ptr(), 6);
            let done = Table::make_environment(s.ptr(), s.globals);
            debug_assert!(done, "an empty table");
            Table::set_int(s.ptr(), s.registry, 1, Value::thread(main));
            Table::set_int(s.ptr(), s.registry, GLOBALS, Value::table(s.globals));
        }
        st
    }

    /// Runs all finalizers, at the end of the state. Their errors become warnings. If one of them
    /// panics, the others are not called.
    ///
    /// # Safety
    /// `st` is alive, and no native or Lua frame of it is active.
    pub unsafe fn close(st: *mut State) {
        /// Leaves the state, also after a panic.
        struct Entered(*mut State);
        impl Drop for Entered {
            fn drop(&mut self) {
                // SAFETY: the state is alive until it is destroyed, which happens later.
                if let Some(tier) = unsafe { (&mut (*self.0).tier).as_mut() } {
                    tier.leave();
                }
            }
        }
        if let Some(tier) = &mut (*st).tier {
            tier.enter();
        }
        let _entered = Entered(st);
        (*st).gc_close();
    }

    /// Runs all finalizers that [`State::close`] has not run, and frees the state. Panics of
    /// finalizers and of destructors of host values do not stop this; the first panic is resumed at
    /// the end.
    ///
    /// # Safety
    /// `st` came from [`State::create`], no native or Lua frame of it is active, and no handle to
    /// it is used again.
    pub unsafe fn destroy(st: *mut State) {
        let mut panics = FirstPanic::default();
        // each panic ends a finalizer, or comes after all destructors that are due
        while !panics.call(|| State::close(st)) {}
        // Nothing walks the state's stacks any more.
        (*st).tier = None;
        panics.call(|| drop(Box::from_raw(st)));
        panics.resume();
    }
}
