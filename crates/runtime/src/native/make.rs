//! Creating values.

use std::sync::atomic::Ordering;

use super::{Builtin, Cx, ErrorKind, Func, NativeFn, Raised, Str, Tab, Udata, Val};
use crate::closure::NativeClosure;
use crate::header::Kind;
use crate::state::poll;
use crate::table::Table;
use crate::userdata::Userdata;
use crate::value::{SlotExt, Value};

/// Number of bytes of a string that are written between two checks whether the script must stop.
const PIECE: usize = 1 << 20;

impl Cx {
    /// Makes a string with this content.
    #[inline]
    pub fn str(&self, bytes: &[u8]) -> Str<'_> {
        // SAFETY: N1.
        unsafe { Str(Val::new(Value::string((*self.state()).intern(bytes)))) }
    }

    /// Returns the name of a value's type as `type` shows it.
    #[inline]
    pub fn type_name(&self, v: Val<'_>) -> Str<'_> {
        // SAFETY: N1.
        let names = unsafe { &(*self.state()).type_names };
        Str(Val::new(Value::string(names[v.raw().tag().index()])))
    }

    /// Makes a string of `len` bytes that `fill` writes: one allocation, no copy.
    ///
    /// # Errors
    /// Returns "not enough memory".
    pub fn str_with(&self, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<Str<'_>, Raised> {
        self.check_room(len)?;
        // SAFETY: N1.
        unsafe {
            let s = (*self.state()).new_string_with(len, fill);
            if s.is_null() {
                return Err(self.memory_error());
            }
            Ok(Str(Val::new(Value::string(s))))
        }
    }

    /// Makes a string of `len` bytes that `fill` writes piece by piece, in order; it receives each
    /// piece and its position. One allocation; the script can be interrupted between pieces. Short
    /// strings have one piece.
    ///
    /// # Errors
    /// Returns "not enough memory" or "interrupted!".
    pub fn str_in_pieces(
        &self,
        len: usize,
        mut fill: impl FnMut(&mut [u8], usize),
    ) -> Result<Str<'_>, Raised> {
        if len <= PIECE {
            return self.str_with(len, |out| fill(out, 0));
        }
        self.check_room(len)?;
        // SAFETY: N1; the string is long, has room for `len` bytes, and is not visible before all
        // are written. If writing stops early, the string is cut off there: large objects are freed
        // by the size in their own record.
        unsafe {
            let s = (*self.state()).new_long(len);
            if s.is_null() {
                return Err(self.memory_error());
            }
            let bytes = s.add(1).cast::<u8>();
            let mut at = 0;
            while at < len {
                let piece = PIECE.min(len - at);
                fill(std::slice::from_raw_parts_mut(bytes.add(at), piece), at);
                at += piece;
                if let Err(interrupted) = self.interrupted() {
                    (&raw mut (*s).len).write(at as u32);
                    return Err(interrupted);
                }
            }
            Ok(Str(Val::new(Value::string(s))))
        }
    }

    /// Makes a string with this content, which may be so long that copying it must be
    /// interruptible.
    ///
    /// # Errors
    /// Returns "not enough memory" or "interrupted!".
    pub fn str_of_any_length(&self, bytes: &[u8]) -> Result<Str<'_>, Raised> {
        if bytes.len() <= PIECE {
            return Ok(self.str(bytes));
        }
        self.str_in_pieces(bytes.len(), |out, at| {
            let end = at + out.len();
            out.copy_from_slice(&bytes[at..end]);
        })
    }

    /// Returns "not enough memory" if a single object of `bytes` bytes cannot be allocated. Used
    /// for objects that a script can make arbitrarily large; other allocations count against the
    /// limit at the next safepoint.
    pub fn check_room(&self, bytes: usize) -> Result<(), Raised> {
        // SAFETY: N1.
        unsafe {
            if bytes < u32::MAX as usize - 64
                && (bytes < 1 << 16 || (*self.state()).check_room(bytes))
            {
                Ok(())
            } else {
                Err(self.memory_error())
            }
        }
    }

    /// Like [`Cx::check_room`], but performs a full collection if there is no room without one.
    ///
    /// # Errors
    /// Returns "not enough memory", or the error that stops the script if the collection had to
    /// stop.
    #[inline]
    pub fn make_room(&mut self, bytes: usize) -> Result<(), Raised> {
        if bytes < 1 << 16 { Ok(()) } else { self.make_much_room(bytes) }
    }

    #[cold]
    fn make_much_room(&mut self, bytes: usize) -> Result<(), Raised> {
        // SAFETY: N1; `&mut self` ends the life of every value.
        let made = bytes < u32::MAX as usize - 64 && unsafe { (*self.state()).make_room(bytes) };
        if made {
            return Ok(());
        }
        self.interrupted()?;
        Err(self.memory_error())
    }

    /// Performs a collection after a native function failed for lack of memory, so that it can run
    /// again.
    ///
    /// # Errors
    /// Returns the function's error if it is another one, or the error that stops the script if the
    /// collection had to stop.
    #[cold]
    pub fn after_collecting(&mut self, raised: Raised) -> Result<(), Raised> {
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe {
            let st = self.state();
            if (*st).error_kind != ErrorKind::Memory {
                return Err(raised);
            }
            (*st).make_room((*st).memory_limit());
        }
        self.interrupted()
    }

    /// Like [`Cx::interrupted`], for long loops of native functions that allocate. Also collects
    /// when a collection is due.
    ///
    /// # Errors
    /// As for [`Cx::interrupted`], and "not enough memory".
    pub fn safepoint(&mut self) -> Result<(), Raised> {
        self.interrupted()?;
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe {
            let st = self.state();
            if (*st).poll.load(Ordering::Relaxed) & poll::GC != 0 && (*st).gc_poll().is_err() {
                return Err(self.memory_error());
            }
        }
        Ok(())
    }

    /// Raises "not enough memory".
    pub fn memory_error(&self) -> Raised {
        // SAFETY: N1.
        unsafe { (*self.state()).raise_memory() }
    }

    /// Makes an empty table with room for this number of array elements and fields.
    pub fn table(&self, array: usize, fields: usize) -> Tab<'_> {
        // SAFETY: N1.
        unsafe {
            let t = Table::new(&mut *self.state(), fields.min(64) as u8, array.min(1 << 24) as u32);
            Tab(Val::new(Value::table(t)))
        }
    }

    /// Makes a table with fields of these distinct names; field number `i` is `value(i)`. This is
    /// faster than adding them one by one, since the engine keeps the shape for the list of names.
    pub fn table_with<'a>(
        &'a self,
        names: &'static [&'static str],
        mut value: impl FnMut(usize) -> Val<'a>,
    ) -> Tab<'a> {
        // SAFETY: N1; no safepoint occurs meanwhile, as `value` has at most shared access to the
        // context.
        let t = unsafe { Table::with_names(self.state(), names, |i| value(i).raw()) };
        Tab(Val::new(Value::table(t)))
    }

    /// Makes a table whose list consists of the values from `from` on, nils included, with room for
    /// this number of fields.
    pub fn table_of_values(&self, from: usize, fields: usize) -> Tab<'_> {
        let count = self.top().saturating_sub(from);
        let t = self.table(count, fields);
        // SAFETY: N1: the slots below the top are initialized, and stay in place as no safepoint
        // occurs meanwhile.
        unsafe { Table::set_list(self.state(), t.ptr(), 0, self.base().add(from), count) };
        t
    }

    /// Makes a native function with bound values.
    ///
    /// # Panics
    /// Panics with more than 255 of them.
    pub fn func(&self, f: NativeFn, bound: &[Val<'_>]) -> Func<'_> {
        self.func_known(f, bound, Builtin::Other)
    }

    /// Makes a native function that the interpreter knows.
    ///
    /// # Panics
    /// Panics with more than 255 bound values.
    pub fn func_known(&self, f: NativeFn, bound: &[Val<'_>], builtin: Builtin) -> Func<'_> {
        assert!(bound.len() < 256);
        // SAFETY: N1; the object is filled before anything else happens.
        unsafe {
            let c = (*self.state())
                .alloc(Kind::NativeClosure, NativeClosure::size_for(bound.len()))
                .cast::<NativeClosure>();
            (*c).header.aux = bound.len() as u8;
            (*c).header.word = builtin as u32;
            (&raw mut (*c).func).write(f);
            (&raw mut (*c).foreign).write(std::ptr::null());
            for (i, v) in bound.iter().enumerate() {
                NativeClosure::bound(c, i).put(v.raw());
            }
            Func(Val::new(Value::native(c)))
        }
    }

    /// Makes a userdata of a host value, with `n` user values.
    pub fn udata(&self, data: Box<dyn std::any::Any + Send>, n: usize) -> Udata<'_> {
        // SAFETY: the value may change threads.
        unsafe { self.udata_of_any(data, n) }
    }

    /// Like [`Cx::udata`], for a value that need not be `Send`.
    ///
    /// # Safety
    /// The state stays on its thread while the value exists, unless the value is `Send`.
    pub unsafe fn udata_of_any(&self, data: Box<dyn std::any::Any>, n: usize) -> Udata<'_> {
        // SAFETY: N1; the object is adopted as the kind that its header names.
        unsafe {
            let u = Userdata::new(data, n);
            let bytes = u.bytes();
            let u = (*self.state()).make_boxed(u, bytes);
            Udata(Val::new(Value::userdata(u)))
        }
    }

    /// Makes a userdata of `size` bytes of memory, which is not initialized, and `n` user values.
    ///
    /// # Errors
    /// Returns "not enough memory".
    #[inline]
    pub fn udata_of_memory(&self, size: usize, n: usize) -> Result<Udata<'_>, Raised> {
        self.check_room(size)?;
        // SAFETY: N1; H4. `check_room` accepts only sizes that fit in 32 bits.
        unsafe {
            let bytes = Userdata::size_with_memory(size, n);
            let o = (*self.state()).alloc(Kind::Memory, bytes);
            if o.is_null() {
                return Err(self.memory_error());
            }
            Ok(Udata(Val::new(Value::userdata(Userdata::with_memory(o, size as u32, n)))))
        }
    }

    /// Makes a userdata with a block of `size` bytes that [`Cx::resize_block`] changes.
    ///
    /// # Errors
    /// Returns "not enough memory".
    pub fn udata_with_block(&self, size: usize) -> Result<Udata<'_>, Raised> {
        self.check_room(size)?;
        // SAFETY: N1; the object is adopted as the kind that its header names.
        unsafe {
            let memory = &mut (*self.state()).heap.memory;
            // `check_room` accepts only sizes that fit in 32 bits.
            let u = Userdata::with_block(memory, size as u32);
            let u = u.ok_or_else(|| self.memory_error())?;
            let bytes = u.bytes();
            Ok(Udata(Val::new(Value::userdata((*self.state()).make_boxed(u, bytes)))))
        }
    }

    /// Changes the size of the block of a userdata made by [`Cx::udata_with_block`], which may move
    /// the block. Its contents are kept up to the smaller size.
    ///
    /// # Errors
    /// Returns "not enough memory".
    ///
    /// # Safety
    /// The userdata was made by that function.
    pub unsafe fn resize_block(&self, u: Udata<'_>, size: usize) -> Result<(), Raised> {
        let (st, u) = (self.state(), u.val().raw().as_userdata());
        let old = (*u).header.word as usize;
        self.check_room(size)?;
        if !Userdata::resize(&mut (*st).heap.memory, u, size as u32) {
            return Err(self.memory_error());
        }
        (*st).charge(size as isize - old as isize);
        Ok(())
    }

    /// Makes a native function that runs the foreign code at `code`; its closure stores the
    /// address.
    ///
    /// # Panics
    /// Panics with more than 255 bound values.
    pub fn func_foreign(&self, f: NativeFn, bound: &[Val<'_>], code: *const ()) -> Func<'_> {
        let made = self.func(f, bound);
        // SAFETY: N2.
        unsafe { (*made.val().raw().as_native()).foreign = code };
        made
    }

    /// Returns the registry (manual 4.3).
    pub fn registry(&self) -> Tab<'_> {
        // SAFETY: N1.
        unsafe { Tab(Val::new(Value::table((*self.state()).registry))) }
    }

    /// Returns the table of globals.
    pub fn globals(&self) -> Tab<'_> {
        // SAFETY: N1.
        unsafe {
            (*self.state()).environment();
            Tab(Val::new(Value::table((*self.state()).globals)))
        }
    }

    /// Returns the metatable of any value.
    pub fn metatable_of(&self, v: Val<'_>) -> Option<Tab<'_>> {
        // SAFETY: N1, N2.
        unsafe {
            let m = Table::meta_of(&mut *self.state(), v.raw());
            (!m.is_null()).then(|| Tab(Val::new(Value::table(m))))
        }
    }

    /// Sets the metatable of all values of the type of `v`, which is neither a table nor a
    /// userdata.
    pub fn set_type_metatable(&self, v: Val<'_>, m: Option<Tab<'_>>) {
        // SAFETY: N1, N2; type_metas are roots.
        unsafe {
            let st = &mut *self.state();
            let Some(i) = crate::state::type_meta_index(v.raw().tag()) else { return };
            st.type_metas[i] = m.map_or(std::ptr::null_mut(), Tab::ptr);
            if let Some(m) = m {
                Table::note_metatable(st, m.ptr());
            }
            st.advance_epoch();
        }
    }
}
