//! Allocation in line: tables, the fields that a constructor gives them, and closures.
//!
//! What fits into the current hole is taken there, as `State::alloc` does; only the runtime looks
//! for another hole, counts what was taken, and asks for a collection. So there is something to
//! poll after a call of the runtime only.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Op};
use perilune_runtime::closure::LuaClosure;
use perilune_runtime::header::Kind;
use perilune_runtime::layout::{self, closure, field_cache, header, state, table, thread, value};
use perilune_runtime::table::Table;
use perilune_runtime::tier::status;
use perilune_runtime::upvalue::Upvalue;
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{CONSTANT, MEM, Translator};
use crate::feedback::snapshot::FieldPath;
use crate::testing::fault::Fault;

/// Most fields that a table gets room for in line; the runtime makes larger ones.
const MAX_FIELDS: usize = 16;

/// The stores of a constructor that follow its NEWTABLE at once.
struct Constructor {
    /// Those that give the table one field each, in order.
    stores: Vec<usize>,
    /// Where the code continues.
    end: usize,
    /// Shape before the last of them, and the entry of its cache.
    last: Option<(u32, usize)>,
}

impl Translator<'_> {
    /// `size` bytes of the current hole; goes to `slow` if it is too small.
    fn bump(&mut self, size: usize, slow: Block) -> Value {
        let st = self.state();
        let place = self.b.ins().load(I64, MEM, st, state::CURSOR as i32);
        let end = self.b.ins().iadd_imm_s(place, size as i64);
        let limit = self.b.ins().load(I64, MEM, st, state::HOLE_END as i32);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.guard(fits, slow);
        self.b.ins().store(MEM, end, st, state::CURSOR as i32);
        place
    }

    /// Fills in the table at `t` as `Table::new` does. `named`: fields that are about to be stored.
    fn fill_table(&mut self, t: Value, fields: usize, array: usize, named: usize) {
        let st = self.state();
        let shape = self.b.ins().load(I64, CONSTANT, st, state::EMPTY_SHAPE as i32);
        let id = self.b.ins().load(I32, CONSTANT, shape, header::WORD as i32);
        let kind = self.b.ins().iconst(I32, Kind::Table as i64);
        self.b.ins().store(MEM, kind, t, 0);
        self.b.ins().store(MEM, id, t, header::WORD as i32);
        self.b.ins().store(MEM, shape, t, table::SHAPE as i32);
        let first = self.b.ins().iadd_imm_s(t, table::INLINE_FIELDS as i64);
        self.b.ins().store(MEM, first, t, table::FIELDS as i32);
        let zero = self.int(0);
        for at in [table::META, table::ARRAY, table::NODES] {
            self.b.ins().store(MEM, zero, t, at as i32);
        }
        let lengths = self.int((array as i64) << 32);
        self.b.ins().store(MEM, lengths, t, table::ARRAY_LEN as i32);
        let caps = self.int((fields as i64) << 40 | (fields as i64) << 48);
        self.b.ins().store(MEM, caps, t, table::NODES_USED as i32);
        for slot in named..fields {
            let at = table::INLINE_FIELDS as i32 + value::nth(slot);
            self.b.ins().store(MEM, zero, t, at);
            self.b.ins().istore8(MEM, zero, t, at + value::TAG as i32);
        }
    }

    /// Room for fields that a table made at `pc` is likely to need: what the code says, and what
    /// the stores after it were seen to add.
    fn fields_wanted(&self, pc: usize) -> usize {
        let code = &self.proto.code;
        let mut r = code[pc].a();
        let mut wanted = code[pc].b();
        for q in pc + 1..code.len() {
            if self.flow.leader[q] || self.flow.cold[q] || !self.flow.reached[q] {
                break;
            }
            let i = code[q];
            match i.op() {
                Op::SetField | Op::SetFieldK if i.a() == r => {
                    let seen = &self.snapshot.fields[self.snapshot.cells[q] as usize];
                    for path in &seen.paths {
                        if let FieldPath::Gain { slot, .. } = path {
                            wanted = wanted.max(*slot as usize + 1);
                        }
                    }
                }
                // most likely `setmetatable`, which returns its argument
                Op::Call | Op::CallMeta if i.a() + 2 == r && i.c() == 2 => r = i.a(),
                op => {
                    let e = effects(i);
                    let lost = e.writes.iter().any(|&(from, n)| (from..from + n).contains(&r))
                        || e.releases.is_some_and(|from| from <= r);
                    if lost || matches!(op, Op::Return | Op::Return0 | Op::Return1 | Op::Jmp) {
                        break;
                    }
                }
            }
        }
        wanted
    }

    /// Returns the stores after the NEWTABLE at `pc` that give the table its first fields, each a
    /// new one, as far as feedback tells.
    ///
    /// Which fields the table has after them follows from shapes alone: the first store begins at
    /// the shape without fields, the others where the one before ended, and a shape is never
    /// another one. So the code has to guard the last transition only, in any state. That each was
    /// made by a store to this table would not be enough: hooks and finalizers can store as well.
    /// Stores of nil as a constant do nothing.
    fn constructor(&self, pc: usize) -> Constructor {
        let code = &self.proto.code;
        let a = code[pc].a();
        let mut found = Constructor { stores: Vec::new(), end: pc + 1, last: None };
        let mut reached = None;
        for q in pc + 1..code.len() {
            if self.flow.leader[q] || self.flow.cold[q] || !self.flow.reached[q] {
                break;
            }
            let i = code[q];
            let (stores, is_nil) = match i.op() {
                Op::SetField => (i.a() == a && i.c() < a, false),
                Op::SetFieldK => (i.a() == a, matches!(self.proto.constants[i.c()], Constant::Nil)),
                _ => (false, false),
            };
            if !stores || found.stores.len() == MAX_FIELDS / 2 {
                break;
            }
            let seen = &self.snapshot.fields[self.snapshot.cells[q] as usize];
            if is_nil {
                if found.stores.iter().any(|&before| code[before].b() == i.b()) {
                    break;
                }
            } else if let [FieldPath::Gain { shape, slot, to, entry, plain: true }] = seen.paths[..]
                && slot as usize == found.stores.len()
                && (reached.is_none_or(|reached| reached == shape)
                    || self.fault == Some(Fault::UnlinkedConstructor))
            {
                found.stores.push(q);
                found.last = Some((shape, entry));
                reached = Some(to);
            } else {
                break;
            }
            found.end = q + 1;
        }
        found
    }

    /// NEWTABLE, with the stores of its constructor.
    pub(super) fn new_table(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let fields = self.fields_wanted(pc);
        if fields > MAX_FIELDS {
            let t = self.call_new_table(pc, fields, i.c());
            self.set(i.a(), t, Known::Tag(Tag::TABLE));
            // the collector clears what lies above, should it run now
            self.regs.forget_from(i.a() + 1);
            let top = self.address(i.a() + 1);
            self.poll(pc + 1, top);
            return;
        }
        let constructor = self.constructor(pc);
        self.built_until = constructor.end;
        if let Some(last) = constructor.last {
            let fields = fields.max(constructor.stores.len());
            return self.construct(pc, fields, &constructor, last);
        }
        let slow = self.cold_block();
        let done = self.b.create_block();
        let made = self.b.append_block_param(done, I64);
        let t = self.bump(Table::size_for(fields as u8), slow);
        self.fill_table(t, fields, i.c(), 0);
        self.store_home(i.a(), t, Known::Tag(Tag::TABLE));
        self.b.ins().jump(done, &[BlockArg::from(t)]);
        self.b.switch_to_block(slow);
        let t = self.call_new_table(pc, fields, i.c());
        self.store_home(i.a(), t, Known::Tag(Tag::TABLE));
        let top = self.address(i.a() + 1);
        self.poll(constructor.end, top);
        let t = self.load_home(i.a(), I64).0;
        self.b.ins().jump(done, &[BlockArg::from(t)]);
        self.b.switch_to_block(done);
        self.regs.note(i.a(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.a() + 1);
    }

    fn call_new_table(&mut self, pc: usize, fields: usize, array: usize) -> Value {
        self.save_frame(pc + 1);
        let st = self.state();
        let fields = self.b.ins().iconst(I32, fields as i64);
        let array = self.b.ins().iconst(I32, array as i64);
        let inst = self.runtime(self.calls.new_table as usize, &[st, fields, array], &[I64]);
        let t = self.b.inst_results(inst)[0];
        self.unless_panicked(t)
    }

    /// Leaves the code with a panic of the runtime if the object that it was to make is null. The
    /// frame is stored.
    fn unless_panicked(&mut self, object: Value) -> Value {
        let panicked = self.int(status::PANIC as i64);
        let on = self.next_block();
        let exit = [BlockArg::from(panicked)];
        self.b.ins().brif(object, on, &[], self.exit, &exit);
        self.b.switch_to_block(on);
        object
    }

    /// NEWTABLE with all that its constructor stores.
    fn construct(&mut self, pc: usize, fields: usize, c: &Constructor, last: (u32, usize)) {
        let i = self.proto.code[pc];
        let values: Vec<(Value, Known)> =
            c.stores.iter().map(|&q| self.stored(self.proto.code[q])).collect();
        let (one_by_one, slow) = (self.cold_block(), self.cold_block());
        let done = self.b.create_block();
        let made = self.b.append_block_param(done, I64);
        for &(_, tag) in &values {
            match tag {
                Known::Tag(t) if t != Tag::NIL => {}
                tag => {
                    let t = self.tag_value(tag);
                    self.guard(t, one_by_one);
                }
            }
        }
        let (shape, entry) = last;
        let r = self.record(c.stores[c.stores.len() - 1], entry, one_by_one);
        let shape = self.b.ins().iconst(I32, i64::from(shape));
        self.guard_record(r, shape, one_by_one);
        let next = self.of_record(I64, r, field_cache::SUCCESSOR);
        self.guard(next, one_by_one);

        let t = self.bump(Table::size_for(fields as u8), slow);
        self.fill_table(t, fields, i.c(), c.stores.len());
        self.finish_table(pc, t, Some((next, &values)));
        self.b.ins().jump(done, &[BlockArg::from(t)]);

        self.b.switch_to_block(slow);
        let t = self.call_new_table(pc, fields, i.c());
        self.finish_table(pc, t, Some((next, &values)));
        let top = self.address(i.a() + 1);
        self.poll(c.end, top);
        let t = self.load_home(i.a(), I64).0;
        self.b.ins().jump(done, &[BlockArg::from(t)]);

        self.b.switch_to_block(one_by_one);
        let t = self.call_new_table(pc, fields, i.c());
        self.finish_table(pc, t, None);
        let top = self.address(i.a() + 1);
        self.poll(pc + 1, top);
        for &q in &c.stores {
            self.generic(q);
        }
        let t = self.load_home(i.a(), I64).0;
        self.b.ins().jump(done, &[BlockArg::from(t)]);

        self.b.switch_to_block(done);
        self.regs.note(i.a(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.a() + 1);
    }

    /// Stores the first fields of the new table `t` and their shape, and puts it into its register.
    fn finish_table(&mut self, pc: usize, t: Value, fields: Option<(Value, &[(Value, Known)])>) {
        if let Some((shape, values)) = fields {
            for (slot, &(bits, tag)) in values.iter().enumerate() {
                let at = table::INLINE_FIELDS as i32 + value::nth(slot);
                let tag = self.tag_value(tag);
                self.b.ins().store(MEM, bits, t, at);
                self.b.ins().istore8(MEM, tag, t, at + value::TAG as i32);
            }
            let id = self.b.ins().load(I32, MEM, shape, header::WORD as i32);
            self.b.ins().store(MEM, shape, t, table::SHAPE as i32);
            self.b.ins().store(MEM, id, t, header::WORD as i32);
        }
        let a = self.proto.code[pc].a();
        self.store_home(a, t, Known::Tag(Tag::TABLE));
    }

    /// The upvalue for register `r`: the open one on top of the list, or a new one on top; `slow`
    /// if it belongs further down.
    fn captured_upvalue(&mut self, r: usize, slow: Block) -> Value {
        let st = self.state();
        let th = self.b.ins().load(I64, MEM, st, state::THREAD as i32);
        let place = self.address(r);
        let head = self.b.ins().load(I64, MEM, th, thread::OPEN as i32);
        let (some, lower, new, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let up = self.b.append_block_param(done, I64);
        self.b.ins().brif(head, some, &[], new, &[]);
        self.b.switch_to_block(some);
        let other = self.b.ins().load(I64, MEM, head, closure::PLACE as i32);
        let same = self.b.ins().icmp(IntCC::Equal, other, place);
        self.b.ins().brif(same, done, &[BlockArg::from(head)], lower, &[]);
        self.b.switch_to_block(lower);
        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, other, place);
        self.b.ins().brif(below, new, &[], slow, &[]);
        self.b.switch_to_block(new);
        let u = self.bump(size_of::<Upvalue>(), slow);
        let word = self.int(Kind::Upvalue as i64);
        self.b.ins().store(MEM, word, u, 0);
        self.b.ins().store(MEM, place, u, closure::PLACE as i32);
        self.b.ins().store(MEM, head, u, closure::CLOSED as i32);
        let nil = self.int(0);
        self.b.ins().istore8(MEM, nil, u, (closure::CLOSED + value::TAG) as i32);
        self.b.ins().store(MEM, u, th, thread::OPEN as i32);
        self.b.ins().jump(done, &[BlockArg::from(u)]);
        self.b.switch_to_block(done);
        up
    }

    /// CLOSURE.
    pub(super) fn make_closure(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let slow = self.cold_block();
        let done = self.b.create_block();
        let made = self.b.append_block_param(done, I64);
        let at = self.places.children + i.bx() * size_of::<usize>();
        let child = self.b.ins().load(I64, MEM, self.instance, at as i32);
        self.guard(child, slow);
        let upvalues = &self.proto.protos[i.bx()].upvalues;
        let mut found = Vec::with_capacity(upvalues.len());
        for u in upvalues {
            found.push(if u.in_stack {
                self.captured_upvalue(u.index.into(), slow)
            } else {
                self.upvalue(u.index.into())
            });
        }
        let c = self.bump(LuaClosure::size_for(upvalues.len()), slow);
        let word = self.int(Kind::LuaClosure as i64 | (upvalues.len() as i64) << 24);
        self.b.ins().store(MEM, word, c, 0);
        self.b.ins().store(MEM, child, c, closure::INSTANCE as i32);
        for (n, up) in found.into_iter().enumerate() {
            self.b.ins().store(MEM, up, c, (closure::UPVALUES + n * size_of::<usize>()) as i32);
        }
        self.store_home(i.a(), c, Known::Tag(Tag::FUNCTION));
        self.b.ins().jump(done, &[BlockArg::from(c)]);

        self.b.switch_to_block(slow);
        let st = self.state();
        let n = self.int(i.bx() as i64);
        let base = self.load_base();
        let args = [st, self.instance, n, base];
        self.save_frame(pc + 1);
        let inst = self.runtime(self.calls.closure as usize, &args, &[I64]);
        let c = self.b.inst_results(inst)[0];
        let c = self.unless_panicked(c);
        self.store_home(i.a(), c, Known::Tag(Tag::FUNCTION));
        let top = self.address(i.a() + 1);
        self.poll(pc + 1, top);
        let c = self.load_home(i.a(), I64).0;
        self.b.ins().jump(done, &[BlockArg::from(c)]);

        self.b.switch_to_block(done);
        self.regs.note(i.a(), made, Known::Tag(Tag::FUNCTION));
        self.regs.forget_from(i.a() + 1);
    }
}

// what `fill_table` and `make_closure` write as one word
const _: () = assert!(
    table::ARRAY_CAP == table::ARRAY_LEN + 4
        && table::LOG_NODES == table::NODES_USED + 4
        && table::FIELDS_CAP == table::NODES_USED + 5
        && table::FIELDS_INLINE == table::NODES_USED + 6
        && table::ABSENT == table::NODES_USED + 7
        && layout::header::AUX == 3
);
