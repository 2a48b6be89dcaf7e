//! New tables, with the fields that a constructor gives them, and closures.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Constant, Op};
use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::FieldPath;
use crate::testing::fault::Fault;

/// Most fields that a table gets room for in line; the runtime makes larger ones.
const MAX_FIELDS: usize = 16;

/// The stores of a constructor that follow its NEWTABLE at once.
struct Constructor {
    /// Those that give the table one field each, in order.
    stores: Vec<Pc>,
    /// Where the code continues.
    end: Pc,
    /// Shape before the last of them, and the entry of its cache.
    last: Option<(u32, usize)>,
}

impl Translator<'_> {
    /// Returns the instructions after the one at `pc` that are executed after it and after nothing
    /// else, in order.
    fn straight_after(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let after = Pc::all(self.proto).skip(pc.index() + 1);
        after.take_while(|&q| !self.flow.leader[q] && !self.flow.cold[q] && self.flow.reached[q])
    }

    /// Room for fields that a table made at `pc` is likely to need: what the code says, and what
    /// the stores after it were seen to add.
    fn fields_wanted(&self, pc: Pc) -> usize {
        let mut r = self.instr(pc).ra();
        let mut wanted = self.instr(pc).b();
        for q in self.straight_after(pc) {
            let i = self.instr(q);
            match i.op() {
                Op::SetField | Op::SetFieldK if i.ra() == r => {
                    let seen = self.snapshot.field(q);
                    for path in &seen.paths {
                        if let FieldPath::Gain { slot, .. } = path {
                            wanted = wanted.max(*slot as usize + 1);
                        }
                    }
                }
                // most likely `setmetatable`, which returns its argument
                Op::Call | Op::CallMeta if i.ra() + 2 == r && i.c() == 2 => r = i.ra(),
                op => {
                    let e = effects(i);
                    let lost =
                        e.writes.iter().any(|&(from, n)| (from..from + n).contains(&r.index()))
                            || e.releases.is_some_and(|from| from <= r.index());
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
    fn constructor(&self, pc: Pc) -> Constructor {
        let a = self.instr(pc).ra();
        let mut found = Constructor { stores: Vec::new(), end: pc + 1, last: None };
        let mut reached = None;
        for q in self.straight_after(pc) {
            let i = self.instr(q);
            let (stores, is_nil) = match i.op() {
                Op::SetField => (i.ra() == a && i.rc() < a, false),
                Op::SetFieldK => {
                    (i.ra() == a, matches!(self.proto.constants[i.c()], Constant::Nil))
                }
                _ => (false, false),
            };
            if !stores || found.stores.len() == MAX_FIELDS / 2 {
                break;
            }
            let seen = self.snapshot.field(q);
            if is_nil {
                if found.stores.iter().any(|&before| self.instr(before).b() == i.b()) {
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
    pub(super) fn new_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let fields = self.fields_wanted(pc);
        if fields > MAX_FIELDS {
            let t = self.emit.call_new_table(pc, fields, i.c());
            self.set(i.ra(), t, Known::Tag(Tag::TABLE));
            // the collector clears what lies above, should it run now
            self.regs.forget_from(i.ra() + 1);
            let top = self.emit.address(i.ra() + 1);
            self.emit.poll(pc + 1, top);
            return;
        }
        let constructor = self.constructor(pc);
        self.built_until = constructor.end;
        if let Some(last) = constructor.last {
            let fields = fields.max(constructor.stores.len());
            return self.construct(pc, fields, &constructor, last);
        }
        let slow = self.emit.cold_block();
        let (done, made) = self.emit.block_of_word();
        let t = self.emit.allocate_table(fields, i.c(), 0, slow);
        self.store_home(i.ra(), t, Known::Tag(Tag::TABLE));
        self.emit.jump_with(done, t);
        self.emit.switch_to(slow);
        let t = self.emit.call_new_table(pc, fields, i.c());
        self.store_home(i.ra(), t, Known::Tag(Tag::TABLE));
        self.poll_new(i.ra(), constructor.end, done);
        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.ra() + 1);
    }

    /// NEWTABLE with all that its constructor stores.
    fn construct(&mut self, pc: Pc, fields: usize, c: &Constructor, last: (u32, usize)) {
        let i = self.instr(pc);
        let values: Vec<(Value, Known)> =
            c.stores.iter().map(|&q| self.stored(self.instr(q))).collect();
        let (one_by_one, slow) = (self.emit.cold_block(), self.emit.cold_block());
        let (done, made) = self.emit.block_of_word();
        for &(_, tag) in &values {
            match tag {
                Known::Tag(t) if t != Tag::NIL => {}
                tag => {
                    let t = self.emit.tag_value(tag);
                    self.emit.guard(t, one_by_one);
                }
            }
        }
        let (shape, entry) = last;
        let cache = self.snapshot.cell(c.stores[c.stores.len() - 1]) as usize;
        let r = self.emit.record(cache, entry, one_by_one);
        self.emit.guard_record_id(r, shape, one_by_one);
        let next = self.emit.successor(r, one_by_one);

        let t = self.emit.allocate_table(fields, i.c(), c.stores.len(), slow);
        self.finish_table(pc, t, Some((next, &values)));
        self.emit.jump_with(done, t);

        self.emit.switch_to(slow);
        let t = self.emit.call_new_table(pc, fields, i.c());
        self.finish_table(pc, t, Some((next, &values)));
        self.poll_new(i.ra(), c.end, done);

        self.emit.switch_to(one_by_one);
        let t = self.emit.call_new_table(pc, fields, i.c());
        self.finish_table(pc, t, None);
        let top = self.emit.address(i.ra() + 1);
        self.emit.poll(pc + 1, top);
        for &q in &c.stores {
            self.emit.generic(q);
        }
        let t = self.emit.load_register(i.ra(), I64).0;
        self.emit.jump_with(done, t);

        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::TABLE));
        self.regs.forget_from(i.ra() + 1);
    }

    /// Stores the first fields of the new table `t` and their shape, and puts it into its register.
    fn finish_table(&mut self, pc: Pc, t: Value, fields: Option<(Value, &[(Value, Known)])>) {
        if let Some((shape, values)) = fields {
            self.emit.store_first_fields(t, shape, values);
        }
        self.store_home(self.instr(pc).ra(), t, Known::Tag(Tag::TABLE));
    }

    /// Ends the cold block in which the object in register `r` was made by the runtime: polls, and
    /// goes to `done` with the object. The frame continues at `pc`.
    fn poll_new(&mut self, r: Reg, pc: Pc, done: Block) {
        let top = self.emit.address(r + 1);
        self.emit.poll(pc, top);
        let object = self.emit.load_register(r, I64).0;
        self.emit.jump_with(done, object);
    }

    /// CLOSURE.
    pub(super) fn make_closure(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let slow = self.emit.cold_block();
        let (done, made) = self.emit.block_of_word();
        let instance = self.emit.inner_instance(i.bx(), slow);
        let upvalues = &self.proto.protos[i.bx()].upvalues;
        let mut found = Vec::with_capacity(upvalues.len());
        for u in upvalues {
            found.push(if u.in_stack {
                self.emit.captured_upvalue(Reg::new(u.index.into()), slow)
            } else {
                self.emit.upvalue(u.index.into())
            });
        }
        let c = self.emit.allocate_closure(instance, &found, slow);
        self.store_home(i.ra(), c, Known::Tag(Tag::FUNCTION));
        self.emit.jump_with(done, c);

        self.emit.switch_to(slow);
        let c = self.emit.call_new_closure(pc, i.bx());
        self.store_home(i.ra(), c, Known::Tag(Tag::FUNCTION));
        self.poll_new(i.ra(), pc + 1, done);

        self.emit.switch_to(done);
        self.regs.note(i.ra(), made, Known::Tag(Tag::FUNCTION));
        self.regs.forget_from(i.ra() + 1);
    }
}
