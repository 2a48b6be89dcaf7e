//! Hooks that `lua_sethook` has recorded but that are not installed yet.

use std::ffi::c_int;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::hook::Hook;
use perilune_runtime::native::{Cx, Func, HookSetting, Val};
use perilune_runtime::value::{SlotExt, Value};

use crate::state::{Global, HookFunction, LuaState};

/// `LUA_MASKCALL`
pub(crate) const CALL: c_int = 1;
/// `LUA_MASKRET`
pub(crate) const RETURN: c_int = 2;
/// `LUA_MASKLINE`
pub(crate) const LINE: c_int = 4;
/// `LUA_MASKCOUNT`
pub(crate) const COUNT: c_int = 8;

/// A hook that C code has set, as the arguments of `lua_sethook`. Each field is written separately
/// and atomically, as a signal handler that calls the function may interrupt another call of it.
#[derive(Default)]
pub(crate) struct CHook {
    /// The function, or null.
    function: AtomicPtr<()>,
    mask: AtomicI32,
    count: AtomicI32,
    /// Whether the coroutine is in [`NewHooks`].
    is_new: AtomicBool,
    /// The next coroutine in that list.
    next: AtomicPtr<LuaState>,
}

impl CHook {
    /// Records the arguments of `lua_sethook`.
    pub(crate) fn set(&self, function: Option<HookFunction>, mask: c_int, count: c_int) {
        let function = function.filter(|_| mask & (CALL | RETURN | LINE | COUNT) != 0);
        let address = function.map_or(std::ptr::null_mut(), |f| f as *mut ());
        self.function.store(address, Ordering::Relaxed);
        self.mask.store(if address.is_null() { 0 } else { mask }, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }

    /// Returns the function, if there is a hook.
    pub(crate) fn function(&self) -> Option<HookFunction> {
        let address = self.function.load(Ordering::Relaxed);
        // SAFETY: C1: null, or an address that `set` has stored.
        unsafe { std::mem::transmute::<*mut (), Option<HookFunction>>(address) }
    }

    /// Returns the events for which the hook is called.
    pub(crate) fn mask(&self) -> c_int {
        self.mask.load(Ordering::Relaxed)
    }

    /// Returns the number of instructions between events of the kind [`COUNT`].
    pub(crate) fn count(&self) -> c_int {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns whether the hook is not installed yet.
    pub(crate) fn is_new(&self) -> bool {
        self.is_new.load(Ordering::Relaxed)
    }

    /// Returns what C code has set for a coroutine with this hook.
    ///
    /// # Safety
    /// N1: the hook is that of a live coroutine.
    pub(crate) unsafe fn of(hook: Option<&Hook>) -> CHook {
        let set = CHook::default();
        if let Some(hook) = hook.filter(|hook| hook.external) {
            let address = NativeClosure::bound(hook.function.as_native(), 0).get().bits();
            set.function.store(with_exposed_provenance_mut(address as usize), Ordering::Relaxed);
            set.mask.store(mask_of(hook), Ordering::Relaxed);
            set.count.store(hook.count as c_int, Ordering::Relaxed);
        }
        set
    }
}

/// Returns the events for which a hook is called.
pub(crate) fn mask_of(hook: &Hook) -> c_int {
    let masks = [(hook.call, CALL), (hook.ret, RETURN), (hook.line, LINE), (hook.count > 0, COUNT)];
    masks.iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, mask)| all | mask)
}

/// Returns the function that `debug.sethook` has recorded for a coroutine.
pub(crate) fn function_of_lua<'a>(cx: &'a Cx, co: Val<'_>) -> Option<Func<'a>> {
    let functions = cx.registry().get_name(cx, "_HOOKKEY").as_table()?;
    functions.get(co).as_func()
}

/// The list of the coroutines whose hooks C code has set since hooks were last installed: the first
/// one, or null.
///
/// `lua_sethook` may be called by a signal handler, at any point of the engine and of the program,
/// so it only records the hook and requests a safepoint. Hooks are installed at safepoints, and
/// where C code calls Lua or returns to it.
#[derive(Default)]
pub(crate) struct NewHooks(AtomicPtr<LuaState>);

impl NewHooks {
    /// Adds a live coroutine. A signal handler may call this while another call of it, or of the
    /// other functions, is in progress.
    ///
    /// # Safety
    /// C1.
    pub(crate) unsafe fn add(&self, l: *mut LuaState) {
        let hook = &raw const (*l).hook;
        if (*hook).is_new.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut first = self.0.load(Ordering::Acquire);
        loop {
            (*hook).next.store(first, Ordering::Relaxed);
            let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match self.0.compare_exchange(first, l, ok, failed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Returns whether the list is empty.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Removes all coroutines from the list and passes each to `f`.
    ///
    /// # Safety
    /// C1.
    pub(crate) unsafe fn take(&self, mut f: impl FnMut(*mut LuaState)) {
        let mut l = self.0.swap(std::ptr::null_mut(), Ordering::AcqRel);
        while !l.is_null() {
            let next = (*l).hook.next.load(Ordering::Relaxed);
            // from here on the coroutine can be added again
            (*l).hook.is_new.store(false, Ordering::Release);
            f(l);
            l = next;
        }
    }
}

/// Removes a coroutine that is about to be freed from the list of those with new hooks.
///
/// # Safety
/// `l` is live. If its hook is new or `l` owns the global part, the global part is live as well.
pub(crate) unsafe fn forget(l: *mut LuaState) {
    let is_owner = (*l).owned.is_some();
    if !is_owner && !(*l).hook.is_new.load(Ordering::Relaxed) {
        return;
    }
    let mut others = Vec::new();
    (*(*l).global).new_hooks.take(|other| others.push(other));
    // when the global part is freed, no hook is installed any more
    for other in others.into_iter().filter(|&other| !is_owner && other != l) {
        (*(*l).global).new_hooks.add(other);
    }
}

/// Installs the hooks that C code has set.
///
/// # Safety
/// N1; C1.
#[inline(always)]
pub(crate) unsafe fn install_new(global: *mut Global) {
    if !(*global).new_hooks.is_empty() {
        install_some(global);
    }
}

#[cold]
unsafe fn install_some(global: *mut Global) {
    (*global).new_hooks.take(|l| install(l));
}

unsafe fn install(l: *mut LuaState) {
    let cx = Cx::from_state(LuaState::state(l));
    let co = Val::of(cx, Value::thread((*l).thread));
    let hook = &(*l).hook;
    let Some(function) = hook.function() else { return cx.set_hook(Some(co), None) };
    let (mask, count) = (hook.mask(), hook.count());
    let setting = HookSetting {
        call: mask & CALL != 0,
        ret: mask & RETURN != 0,
        line: mask & LINE != 0,
        count: if mask & COUNT != 0 { count.max(0) as u32 } else { 0 },
        external: function as *const () != (*(*l).global).lua_hook,
    };
    if !setting.external {
        // C code sets the hook again that it got from `lua_gethook`
        return cx.set_hook(Some(co), function_of_lua(cx, co).map(|f| (f, setting)));
    }
    if let Some(run) = (*(*l).global).run_hook {
        // coroutines that inherit the hook find the function of C code here
        let function = Val::light((function as *const ()).expose_provenance() as u64);
        cx.set_hook(Some(co), Some((cx.func(run, &[function]).hide_bound(), setting)));
    }
}
