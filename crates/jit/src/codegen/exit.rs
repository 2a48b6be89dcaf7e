//! Exits from the code: because of a status that the runtime returns, and by deoptimization.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::layout::{frame, state};
use perilune_runtime::tier::status;

use super::Emitter;
use super::memory::Region;
use super::value::Known;
use crate::entity::Reg;
use crate::exits::share::Tree;
use crate::exits::state::{FrameState, Home, Point, Registers};
use crate::hash::HashMap;
use crate::testing::fault::Fault;

/// A store that an exit performs. Equal stores have the same effect.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Store {
    register: Reg,
    payload: Operand,
    tag: Option<Operand>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Constant(i64),
    Value(Value),
}

impl Emitter<'_> {
    /// Exits from the code unless the status, which has no number of results, is good.
    pub(super) fn check(&mut self, status: Value) {
        self.check_whether(status, status);
    }

    /// As [`Emitter::check`], for a status with a number in its high half.
    pub(super) fn check_low(&mut self, status: Value) {
        let low = self.b.ins().ireduce(I32, status);
        self.check_whether(low, status);
    }

    fn check_whether(&mut self, failed: Value, status: Value) {
        let on = self.next_block();
        let exit = self.exit();
        self.b.ins().brif(failed, exit, &[BlockArg::from(status)], on, &[]);
        self.switch_to(on);
    }

    /// Exits from the code with a panic of the runtime if the object that the runtime was to
    /// allocate is null. The frame must have been stored.
    pub(super) fn unless_panicked(&mut self, object: Value) -> Value {
        let panicked = self.int(status::PANIC as i64);
        let on = self.next_block();
        let exit = self.exit();
        self.b.ins().brif(object, on, &[], exit, &[BlockArg::from(panicked)]);
        self.switch_to(on);
        object
    }

    /// Returns the block to which all exits of this frame with a status of the runtime jump.
    fn exit(&mut self) -> Block {
        if let Some(block) = self.frame().exit {
            return block;
        }
        let block = self.cold_block();
        self.b.append_block_param(block, I64);
        *self.frames[self.current].exit.insert(block)
    }

    /// Emits the blocks of the exits, and the blocks that they share.
    pub(super) fn exit_blocks(&mut self) {
        self.deferred_exits();
        for (point, frame, block) in std::mem::take(&mut self.deoptimizing) {
            self.in_frame(frame);
            self.deoptimize_at_point(point, block);
        }
        self.in_frame(0);
        if let Some(block) = self.failure {
            self.fail(block);
        }
        let inlined: Vec<(usize, Block)> = (1..self.frames.len())
            .filter_map(|n| self.frames[n].exit.map(|block| (n, block)))
            .collect();
        self.exit_blocks_of_inlined(&inlined);
        if let Some(block) = self.frames[0].exit {
            self.exit_block(block);
        }
        if let Some(block) = self.leaving {
            self.switch_to(block);
            let (status, base) = (self.b.block_params(block)[0], self.b.block_params(block)[1]);
            let zero = self.int(0);
            self.b.ins().return_(&[status, zero, zero, base]);
        }
    }

    /// Ends the block: returns with a status and no results. All such blocks share one return.
    pub(super) fn leave_with(&mut self, status: Value, base: Value) {
        let block = match self.leaving {
            Some(block) => block,
            None => {
                let block = self.cold_block();
                self.b.append_block_param(block, I64);
                self.b.append_block_param(block, I64);
                *self.leaving.insert(block)
            }
        };
        self.jump_with_all(block, &[status, base]);
    }

    /// Emits the blocks that deoptimize, grouped by frame and point; stores that several of them
    /// make are emitted once.
    fn deferred_exits(&mut self) {
        let mut exits = std::mem::take(&mut self.deferred);
        while let Some((_, first, _)) = exits.first() {
            let is_alike = {
                let (frame, point) = (first.frame, first.point);
                move |state: &FrameState| state.frame == frame && state.point == point
            };
            let (alike, others) = exits.into_iter().partition(|(_, state, _)| is_alike(state));
            self.exits_of_one_frame(alike);
            exits = others;
        }
    }

    /// Emits blocks that deoptimize one frame at one point.
    fn exits_of_one_frame(&mut self, exits: Vec<(Block, FrameState, Vec<Home>)>) {
        let last = exits[0].1;
        self.in_frame(last.frame);
        let stores: Vec<Vec<Store>> = exits
            .iter()
            .map(|(.., homes)| homes.iter().map(|&h| self.store_of(h)).collect())
            .collect();
        let tree = Tree::new(&stores);
        let mut blocks: HashMap<usize, Block> = HashMap::default();
        for node in tree.shared() {
            let block = self.cold_block();
            self.b.append_block_param(block, I64);
            blocks.insert(node, block);
        }
        for (n, &(block, state, _)) in exits.iter().enumerate() {
            self.switch_to(block);
            self.set_source(state.pc);
            let word = self.frame_word(state.frame_pc());
            match tree.exit(n) {
                Some(node) if blocks.contains_key(&node) => self.jump_with(blocks[&node], word),
                Some(node) => self.stores_from(&tree, &blocks, node, (word, state)),
                None => self.leave(state, word),
            }
        }
        for node in tree.shared() {
            self.switch_to(blocks[&node]);
            let word = self.b.block_params(blocks[&node])[0];
            self.stores_from(&tree, &blocks, node, (word, last));
        }
    }

    /// Ends the block: emits the stores from a node on, and leaves the frame.
    fn stores_from(
        &mut self,
        tree: &Tree<Store>,
        blocks: &HashMap<usize, Block>,
        node: usize,
        (word, state): (Value, FrameState),
    ) {
        let (stores, next) = tree.stores(node);
        for store in stores {
            let payload = self.operand(store.payload);
            let base = self.outermost_base();
            self.store(Region::Slots, payload, base, frame::slot(store.register.index()));
            let at = frame::tag(store.register.index());
            match store.tag {
                Some(Operand::Constant(tag)) => {
                    self.store_byte(Region::Slots, tag as u8, base, at);
                }
                Some(Operand::Value(tag)) => self.store8(Region::Slots, tag, base, at),
                None => {}
            }
        }
        match next {
            Some(next) => self.jump_with(blocks[&next], word),
            None => self.leave(state, word),
        }
    }

    fn store_of(&self, Home { register, payload, tag }: Home) -> Store {
        let operand = |v| self.constant_of(v).map_or(Operand::Value(v), Operand::Constant);
        let tag = tag.map(|tag| match tag {
            Known::Tag(tag) => Operand::Constant(tag.0.into()),
            Known::Value(v) => operand(v),
        });
        Store { register, payload: operand(payload), tag }
    }

    fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(n) => self.int(n),
            Operand::Value(v) => v,
        }
    }

    /// Emits `block`, to which all exits of the outermost frame with a status of the runtime jump.
    fn exit_block(&mut self, block: Block) {
        self.switch_to(block);
        let status = self.b.block_params(block)[0];
        let st = self.state();
        let base = self.load64(Region::State, st, state::BASE);
        if self.body.is_loop {
            // the interpreter loop that entered this code takes the frame back
            return self.leave_with(status, base);
        }
        let (resume, out) = (self.cold_block(), self.cold_block());
        let left = self.b.ins().band_imm_u(status, status::RESUME as i64);
        self.branch(left, resume, out);
        self.switch_to(out);
        self.leave_with(status, base);
        self.switch_to(resume);
        let zero = self.int(0);
        self.resume(base, zero);
    }

    /// Ends the block: the interpreter continues the frame at `base`. No return address into this
    /// code may remain, as the frame no longer pins the code.
    fn resume(&mut self, base: Value, depth: Value) {
        let entry = self.int(self.body.calls.resume as usize as i64);
        let closure = self.load_callee(base);
        self.b.ins().return_call_indirect(self.entry_sig, entry, &[closure, base, depth]);
    }

    /// Emits the blocks to which exits of inlined frames with a status of the runtime jump, and the
    /// block that these share.
    fn exit_blocks_of_inlined(&mut self, frames: &[(usize, Block)]) {
        if frames.is_empty() {
            return;
        }
        let shared = self.cold_block();
        let params = [(); 3].map(|()| self.b.append_block_param(shared, I64));
        for &(n, block) in frames {
            self.in_frame(n);
            self.switch_to(block);
            let status = self.b.block_params(block)[0];
            let depth = self.int(self.depth() as i64);
            let distance = self.int(i64::from(frame::slot(self.frame().passed_base())));
            self.jump_with_all(shared, &[status, depth, distance]);
        }
        self.in_frame(0);
        self.switch_to(shared);
        self.exit_inlined(params);
    }

    /// Like [`Emitter::exit_block`], for the frame of an inlined function, whose base the runtime
    /// has stored. After an error, that is the base before extra arguments moved the frame. The
    /// code returns from the outermost frame, which is `distance` below it.
    fn exit_inlined(&mut self, [status, depth, distance]: [Value; 3]) {
        let st = self.state();
        let base = self.load64(Region::State, st, state::BASE);
        let (resume, other) = (self.cold_block(), self.cold_block());
        let left = self.b.ins().band_imm_u(status, status::RESUME as i64);
        self.branch(left, resume, other);
        self.switch_to(resume);
        if self.body.is_loop {
            self.leave_with(status, base);
        } else {
            self.resume(base, depth);
        }
        self.switch_to(other);
        let (error, out) = (self.cold_block(), self.cold_block());
        let low = self.b.ins().ireduce(I8, status);
        let failed = self.b.ins().icmp_imm_u(IntCC::Equal, low, status::ERROR as i64);
        self.branch(failed, error, out);
        self.switch_to(error);
        let outermost = self.b.ins().isub(base, distance);
        let outermost = self.return_base_of(outermost);
        let st = self.state();
        self.store(Region::State, outermost, st, state::BASE);
        self.leave_with(status, outermost);
        self.switch_to(out);
        self.leave_with(status, base);
    }

    /// Branches to `exit`, the block of a guard's side exit, if the state requests that this guard
    /// fail. Emits nothing unless exits are stressed.
    pub(crate) fn stress_exit(&mut self, exit: Block) {
        if !self.body.stress_exits {
            return;
        }
        let st = self.state();
        let left = self.load64(Region::State, st, state::GUARDS_LEFT);
        let left = self.b.ins().iadd_imm_s(left, -1);
        let st = self.state();
        self.store(Region::State, left, st, state::GUARDS_LEFT);
        self.guard(left, exit);
    }

    /// Deoptimizes the frame in this state in `block`. No code emitted later may branch to `block`.
    pub(crate) fn deoptimize_in(&mut self, block: Block, state: FrameState) {
        self.deoptimize_storing(block, state, Vec::new());
    }

    /// Like [`Emitter::deoptimize_in`], but stores registers first. The frame is the current one.
    pub(crate) fn deoptimize_storing(
        &mut self,
        block: Block,
        state: FrameState,
        mut stores: Vec<Home>,
    ) {
        if self.body.fault == Some(Fault::ForgottenStore) {
            stores.pop();
        }
        self.exits.add(state.in_frame(self.current));
        self.deferred.push((block, state.in_frame(self.current), stores));
    }

    /// Ends the block: jumps to the block that deoptimizes at the point of the state, and passes it
    /// the frame word to store.
    fn leave(&mut self, state: FrameState, word: Value) {
        match state.registers {
            Registers::Home => {}
        }
        let mut known = self.deoptimizing.iter();
        let to = match known.find(|(at, n, _)| (*at, *n) == (state.point, self.current)) {
            Some(&(.., block)) => block,
            None => {
                let block = self.cold_block();
                self.b.append_block_param(block, I64);
                self.deoptimizing.push((state.point, self.current, block));
                block
            }
        };
        self.jump_with(to, word);
    }

    /// Emits the block that all states at one point share.
    fn deoptimize_at_point(&mut self, point: Point, block: Block) {
        let calls = self.body.calls;
        let function = match point {
            Point::Before => calls.deoptimize_before as usize,
            Point::Virtual => calls.deoptimize_virtual as usize,
            Point::After => calls.deoptimize_after as usize,
            Point::Prepared => calls.deoptimize_loop as usize,
        };
        self.switch_to(block);
        let word = self.b.block_params(block)[0];
        self.materialize();
        self.save_frame_word(word);
        if point == Point::Virtual {
            self.pass_virtuals();
        }
        let st = self.state();
        let status = self.runtime_word(function, &[st]);
        let exit = self.exit();
        self.jump_with(exit, status);
    }
}
