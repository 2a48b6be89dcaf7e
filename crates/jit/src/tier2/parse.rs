//! Reads functions in the text form that [`print`](super::print) writes, for tests of passes.
//!
//! The text form does not describe inline caches, allocations and inlined functions completely, but
//! the parsed functions are sufficient for the passes: the fields of an allocation are those stored
//! by the instructions after it, and an inlined function is a nested function of the outermost
//! function, which calls it.

use std::sync::Arc;

use cranelift_codegen::entity::{EntityRef, PrimaryMap};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use perilune_bytecode::Proto;
use perilune_runtime::frame::Frame as Layout;
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::ir::{
    Block, BlockData, Caller, Checks, End, Entries, FirstField, Frame, FrameData, FrameState,
    Function, Inst, Metatable, NewObject, Op, Range, State, Target, Type, Value, ValueData,
};
use super::shapes::Shapes;
use crate::analysis::tags::tag_name;
use crate::codegen::element::ArrayChanges;
use crate::codegen::number::Operator;
use crate::entity::{Pc, Reg};
use crate::feedback::snapshot::Slot;

type Result<T> = std::result::Result<T, String>;

/// Reads a function whose frame is one of `proto`.
///
/// # Errors
/// Returns the line that cannot be parsed, and the reason.
pub(crate) fn parse(text: &str, proto: Arc<Proto>) -> Result<Function> {
    let mut f = Function::default();
    f.frames.push(FrameData::outermost(proto));
    let mut block = None;
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (pc, frame) = (Pc::new(0), Frame::new(0));
        let mut parser = Parser { f: &mut f, words: words(line).into(), pc, frame };
        let read = match line.starts_with(' ') {
            false => parser.head().map(|begun| block = Some(begun)),
            true => block.ok_or("there is no block".to_owned()).and_then(|b| parser.line(b)),
        };
        read.and_then(|()| parser.end()).map_err(|e| format!("line {}: {e}: {line}", n + 1))?;
    }
    Ok(f)
}

/// Splits a line into words and punctuation.
fn words(line: &str) -> Vec<&str> {
    let is_mark = |c: char| ",:=()[]{}".contains(c);
    let mut found = Vec::new();
    for part in line.split_whitespace() {
        let mut rest = part;
        while !rest.is_empty() {
            let at = match rest.find(is_mark) {
                Some(0) => 1,
                at => at.unwrap_or(rest.len()),
            };
            let (word, after) = rest.split_at(at);
            found.push(word);
            rest = after;
        }
    }
    found
}

struct Parser<'a> {
    f: &'a mut Function,
    words: std::collections::VecDeque<&'a str>,
    /// The pc, in `frame`, of the bytecode instruction to which the instruction being read belongs.
    pc: Pc,
    frame: Frame,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.words.front().copied().unwrap_or_default()
    }

    fn next(&mut self) -> Result<&str> {
        self.words.pop_front().ok_or_else(|| "the line is too short".to_owned())
    }

    fn has(&mut self, word: &str) -> bool {
        let has = self.peek() == word;
        if has {
            self.words.pop_front();
        }
        has
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.has(word) { Ok(()) } else { Err(format!("there is no `{word}`")) }
    }

    fn end(&mut self) -> Result<()> {
        if self.words.is_empty() { Ok(()) } else { Err("the line is too long".to_owned()) }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    /// Returns the number of an entity with this prefix.
    fn entity(&mut self, prefix: &str) -> Result<usize> {
        let word = self.next()?;
        let number = word.strip_prefix(prefix).and_then(|number| number.parse().ok());
        number.ok_or_else(|| format!("`{word}` is no `{prefix}`"))
    }

    fn register(&mut self) -> Result<Reg> {
        self.entity("r").map(Reg::new)
    }

    /// Returns the value with the number that follows, which may be defined later.
    fn value(&mut self) -> Result<Value> {
        let v = Value::new(self.entity("v")?);
        grow(&mut self.f.values, v, || ValueData { ty: Type::Any, origin: None });
        Ok(v)
    }

    /// Returns the next value of a list.
    fn another(&mut self) -> Result<Value> {
        self.expect(",")?;
        self.value()
    }

    fn pair(&mut self) -> Result<(Value, Value)> {
        Ok((self.value()?, self.another()?))
    }

    fn block(&mut self) -> Result<Block> {
        let block = Block::new(self.entity("block")?);
        grow(&mut self.f.blocks, block, BlockData::default);
        Ok(block)
    }

    fn tag(&mut self) -> Result<Tag> {
        let word = self.next()?;
        let tag = (0..=u8::MAX).map(Tag).find(|&tag| tag_name(tag) == word);
        tag.filter(|_| word != "other").ok_or_else(|| format!("`{word}` is no tag"))
    }

    fn ty(&mut self) -> Result<Type> {
        match self.peek() {
            "any" => self.next().map(|_| Type::Any),
            "condition" => self.next().map(|_| Type::Condition),
            _ => self.tag().map(Type::Is),
        }
    }

    /// Defines the value that follows, with its type.
    fn definition(&mut self) -> Result<Value> {
        let v = self.value()?;
        self.expect(":")?;
        self.f.values[v].ty = self.ty()?;
        Ok(v)
    }

    /// Reads the head of a block.
    fn head(&mut self) -> Result<Block> {
        let block = self.block()?;
        if self.has("(") {
            loop {
                let param = (self.definition()?, self.register()?);
                self.f.blocks[block].params.push(param);
                if !self.has(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        let is_quiet = self.has("quiet");
        self.f.blocks[block].is_loop = self.has("loop");
        self.f.blocks[block].quiet = is_quiet.then_some((None, Pc::new(0)));
        self.expect(":")?;
        self.f.order.push(block);
        Ok(block)
    }

    /// Reads an instruction, or the end of a block.
    fn line(&mut self, block: Block) -> Result<()> {
        if let Some(end) = self.ending()? {
            self.f.blocks[block].end = end;
            return Ok(());
        }
        let is_definition = self.words.get(1) == Some(&":");
        let result = if is_definition { Some(self.definition()?) } else { None };
        if is_definition {
            self.expect("=")?;
        }
        if !is_definition && self.peek().starts_with("frame") {
            return self.inlined(block);
        }
        let op = self.op()?;
        if let (Op::Guard(v, ..) | Op::Speculate(v, ..), Some(result)) = (op, result) {
            self.f.values[result].origin = Some(self.f.origin(v));
        }
        let inst = Inst { pc: self.pc, frame: self.frame, result, op };
        self.f.blocks[block].insts.push(inst);
        Ok(())
    }

    /// Reads the beginning of an inlined function, which is a nested function of the outermost one.
    /// Its frame is above all registers of that function.
    fn inlined(&mut self, block: Block) -> Result<()> {
        let frame = Frame::new(self.entity("frame")?);
        self.expect("of")?;
        let closure = self.value()?;
        self.expect(":")?;
        self.expect("line")?;
        let line: u32 = self.number()?;
        let outermost = self.f.frames[Frame::new(0)].proto.clone();
        let inner = outermost.protos.iter().find(|inner| inner.line_defined == line);
        let inner = inner.ok_or("there is no such function")?;
        let caller = Caller { frame: Frame::new(0), pc: self.pc + 1, is_tail: false };
        let offset = usize::from(outermost.max_stack) + Layout::RESERVED;
        let data = FrameData {
            offset,
            caller: Some(caller),
            inlinee: Some(0),
            ..FrameData::outermost(inner.clone())
        };
        if self.f.frames.push(data) != frame {
            return Err("frames are not in order".to_owned());
        }
        let inst = Inst { pc: Pc::new(0), frame, result: None, op: Op::Inline(frame, closure) };
        self.f.blocks[block].insts.push(inst);
        Ok(())
    }

    fn ending(&mut self) -> Result<Option<End>> {
        let is_end = self.words.get(1) == Some(&"[");
        Ok(Some(match self.peek() {
            "jump" => {
                self.next()?;
                End::Jump(self.target()?)
            }
            "branch" => {
                self.next()?;
                let v = self.value()?;
                self.expect(",")?;
                let yes = self.target()?;
                self.expect(",")?;
                End::Branch(v, yes, self.target()?)
            }
            "return" => {
                self.next()?;
                if self.words.is_empty() { End::ReturnNone } else { End::Return(self.value()?) }
            }
            "exit" => {
                self.next()?;
                End::Exit(self.state()?)
            }
            "generic" if is_end => {
                self.next()?;
                let state = self.state()?;
                let mut ways = Vec::new();
                while self.has(",") {
                    let pc = Pc::new(self.entity("pc")?);
                    self.expect(":")?;
                    ways.push((pc, self.target()?));
                }
                End::Generic(state, ways)
            }
            _ => return Ok(None),
        }))
    }

    fn target(&mut self) -> Result<Target> {
        let block = self.block()?;
        let mut args = Vec::new();
        if self.has("(") {
            args.push(self.value()?);
            while !self.has(")") {
                args.push(self.another()?);
            }
        }
        Ok(Target { block, args })
    }

    fn state(&mut self) -> Result<State> {
        self.expect("[")?;
        self.frame = match self.peek().starts_with("frame") {
            true => Frame::new(self.entity("frame")?),
            false => Frame::new(0),
        };
        self.pc = Pc::new(self.entity("pc")?);
        let mut registers = Vec::new();
        while !self.has("]") {
            let r = self.register()?;
            self.expect("=")?;
            registers.push((r, self.value()?));
        }
        Ok(self.f.states.push(FrameState::new(self.frame, self.pc, registers)))
    }

    /// Returns the upvalue that follows, and its closure.
    fn upvalue(&mut self) -> Result<(Option<Value>, usize)> {
        let n = self.number()?;
        Ok((if self.has("of") { Some(self.value()?) } else { None }, n))
    }

    fn metatable(&mut self) -> Result<Metatable> {
        let kind = match () {
            () if self.has("metatable") => Metatable::Is,
            () if self.has("class") => Metatable::WithIndex,
            () => Metatable::Of,
        };
        self.value().map(kind)
    }

    fn slot(&mut self) -> Result<Slot> {
        self.expect(",")?;
        let is_inline = self.has("inline");
        Ok(Slot { number: self.number()?, is_inline })
    }

    fn shapes(&mut self) -> Result<Shapes> {
        self.expect(",")?;
        let mut ids = vec![self.number()?];
        while self.has("or") {
            ids.push(self.number()?);
        }
        Shapes::of(ids).ok_or_else(|| "there are too many shapes".to_owned())
    }

    /// Returns the fields of a new table.
    fn object(&mut self) -> Result<NewObject> {
        let mut fields = Vec::new();
        while self.peek() != "[" {
            self.has(",");
            let slot = self.number()?;
            self.expect("=")?;
            let (pc, is_guarded) = (self.pc, false);
            fields.push(FirstField { pc, slot, value: self.value()?, is_guarded });
        }
        let (slots, end) = (fields.len(), self.pc);
        Ok(NewObject { fields, slots, end, first: None, last: None, shape: None })
    }

    fn condition<T: std::str::FromStr>(&mut self) -> Result<T> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("`{word}` is no condition"))
    }

    /// Reads an operation.
    fn op(&mut self) -> Result<Op> {
        let name = self.next()?.to_owned();
        if let Some((kind, operator)) = name.split_once('_')
            && let Some(operator) = operator_named(operator)
        {
            let (a, b) = self.pair()?;
            return Ok(match kind {
                "float" => Op::FloatArith(operator, a, b),
                "number" => Op::NumberArith(operator, a, b, self.state()?),
                _ if self.words.is_empty() => {
                    let state = FrameState::new(self.frame, self.pc, Vec::new());
                    Op::IntArith(operator, a, b, self.f.states.push(state))
                }
                _ => Op::IntArith(operator, a, b, self.state()?),
            });
        }
        Ok(match &*name {
            "integer" => Op::Integer(self.number()?),
            "float" => Op::Float(self.number::<f64>()?.to_bits()),
            "nil" => Op::Primitive(Tag::NIL),
            "false" => Op::Primitive(Tag::FALSE),
            "true" => Op::Primitive(Tag::TRUE),
            "string" => Op::Str(self.number()?),
            "register" => Op::Register(self.register()?),
            "check_register" => Op::CheckRegister(self.register()?, self.another()?),
            "set_register" => Op::SetRegister(self.register()?, self.another()?),
            "upvalue" => self.upvalue().map(|(of, n)| Op::Upvalue(of, n))?,
            "set_upvalue" => {
                let (of, n) = self.upvalue()?;
                Op::SetUpvalue(of, n, self.another()?)
            }
            "own_closure" => Op::OwnClosure,
            "guard_constants" => Op::GuardConstants(self.state()?),
            "handler" => Op::Handler(self.metatable()?, self.state()?),
            "guard_metatable" => Op::GuardMetatable(self.metatable()?, self.state()?),
            "guard_no_newindex" => Op::GuardNoNewIndex(self.metatable()?, self.state()?),
            "guard_not_nil" => Op::GuardNotNil(self.value()?, self.state()?),
            "guard_no_metatable" => Op::GuardNoMetatable(self.value()?, self.state()?),
            "guard_library" => {
                let v = self.value()?;
                self.expect(",")?;
                let word = self.next()?;
                let number = Builtin::NAMES.iter().position(|&name| name == word);
                let number = number.ok_or_else(|| format!("there is no {word} in the library"))?;
                Op::GuardLibrary(v, number as u32, self.state()?)
            }
            "guard" | "speculate" => {
                let v = self.value()?;
                self.expect(",")?;
                let tag = self.tag()?;
                let state = self.state()?;
                if name == "guard" {
                    Op::Guard(v, tag, state)
                } else {
                    Op::Speculate(v, tag, state)
                }
            }
            "guard_shape" => Op::GuardShape(self.value()?, self.shapes()?, self.state()?),
            "has_shape" => {
                let v = self.value()?;
                self.expect(",")?;
                Op::HasShape(v, self.number()?)
            }
            "has_tag" => {
                let v = self.value()?;
                self.expect(",")?;
                Op::HasTag(v, self.tag()?)
            }
            "is_integer" => {
                let v = self.value()?;
                self.expect(",")?;
                Op::IsInteger(v, self.number()?)
            }
            "rounds" => self.pair().map(|(a, b)| Op::Rounds(a, b))?,
            "floor_quotient" => {
                let v = self.value()?;
                self.expect(",")?;
                Op::FloorQuotient(v, self.number()?)
            }
            "same" => self.pair().map(|(a, b)| Op::Same(a, b))?,
            "is_string" => self.pair().map(|(a, b)| Op::IsString(a, b))?,
            "to_float" => Op::ToFloat(self.value()?),
            "number_to_float" => Op::NumberToFloat(self.value()?, self.state()?),
            "number_to_int" => Op::NumberToInt(self.value()?, self.state()?),
            "is_true" => Op::IsTrue(self.value()?),
            "not" => Op::Not(self.value()?),
            "compare_int" => {
                let cc: IntCC = self.condition()?;
                self.pair().map(|(a, b)| Op::CompareInt(cc, a, b))?
            }
            "compare_float" => {
                let cc: FloatCC = self.condition()?;
                self.pair().map(|(a, b)| Op::CompareFloat(cc, a, b))?
            }
            "equal" => {
                let (a, b) = self.pair()?;
                Op::Equal(a, b, self.state()?)
            }
            "field" => {
                let (table, slot) = (self.value()?, self.slot()?);
                let tag = if self.has(",") { Some(self.tag()?) } else { None };
                let state = self.state()?;
                match tag {
                    Some(tag) => Op::FieldOf(table, slot, tag, state),
                    None => Op::Field(table, slot, Entries::default(), state),
                }
            }
            "set_field" => {
                let (table, slot, v) = (self.value()?, self.slot()?, self.another()?);
                let mut checks = Checks { watched: false, absent: false, tag: false };
                while self.has(",") {
                    match self.next()? {
                        "watched" => checks.watched = true,
                        "absent" => checks.absent = true,
                        "tag" => checks.tag = true,
                        word => return Err(format!("`{word}` is no check")),
                    }
                }
                Op::SetField(table, slot, v, checks, self.state()?)
            }
            "set_element" => {
                let (table, key) = self.pair()?;
                let v = self.another()?;
                let mut changes = ArrayChanges::default();
                while self.has(",") {
                    match self.next()? {
                        "converting" => changes.converts = true,
                        "growing" => changes.grows = true,
                        word => return Err(format!("`{word}` is no change of an array")),
                    }
                }
                Op::SetElement(table, key, v, changes, self.state()?)
            }
            "number" => {
                let (table, key) = self.pair()?;
                self.expect(",")?;
                let tag = self.tag()?;
                let is_inside = self.has(",");
                if is_inside {
                    self.expect("inside")?;
                }
                Op::Number(table, key, tag, is_inside, self.state()?)
            }
            "boolean" | "element" | "element_or_nil" => {
                let (table, key) = self.pair()?;
                let state = self.state()?;
                match &*name {
                    "boolean" => Op::Boolean(table, key, state),
                    "element" => Op::Element(table, key, state),
                    _ => Op::ElementOrNil(table, key, state),
                }
            }
            "new_table" => {
                let mut object = self.object()?;
                let state = self.state()?;
                // the fields are stored by the instructions after the one that allocates
                object.end = self.pc + 1 + object.fields.len();
                for (n, field) in object.fields.iter_mut().enumerate() {
                    field.pc = self.pc + 1 + n;
                }
                Op::NewTable(self.f.objects.push(object), state)
            }
            "closure" => Op::Closure(self.number()?, self.state()?),
            "length" => Op::Length(self.value()?, self.state()?),
            "counts" => {
                let r = self.register()?;
                self.expect(",")?;
                Op::Counts(r, self.number()?, self.state()?)
            }
            "guard_range" => {
                let (table, first) = self.pair()?;
                let left = self.another()?;
                self.expect(",")?;
                self.expect("step")?;
                let step = self.number()?;
                self.expect(",")?;
                let least = self.number()?;
                self.expect("to")?;
                let range = Range { step, least, most: self.number()? };
                Op::GuardRange(table, [first, left], range, self.state()?)
            }
            "set_class" => {
                let (table, class) = self.pair()?;
                Op::SetClass(table, class, self.state()?)
            }
            "set_metatable" => {
                let (table, meta) = self.pair()?;
                Op::SetMetatable(table, meta, self.state()?)
            }
            "guard_distinct" => {
                let (table, other) = self.pair()?;
                Op::GuardDistinct(table, other, self.state()?)
            }
            "epoch" => Op::Epoch,
            "guard_epoch" => Op::GuardEpoch(self.value()?, self.state()?),
            "poll" => Op::Poll(self.state()?, false),
            "quiet_poll" => Op::Poll(self.state()?, true),
            "fast_path" | "generic" | "call" => {
                self.entity("pc")?;
                let state = self.state()?;
                match &*name {
                    "fast_path" => Op::FastPath(state),
                    "generic" => Op::Generic(state),
                    _ => Op::Call(state),
                }
            }
            _ => return Err(format!("`{name}` cannot be read")),
        })
    }
}

/// Adds entities up to this one.
fn grow<K: EntityRef, V>(map: &mut PrimaryMap<K, V>, key: K, new: impl Fn() -> V) {
    while !map.is_valid(key) {
        map.push(new());
    }
}

fn operator_named(name: &str) -> Option<Operator> {
    use Operator::*;
    let all = [Add, Sub, Mul, Mod, Pow, Div, IDiv, And, Or, Xor, Shl, Shr, Neg, Not];
    all.into_iter().find(|operator| format!("{operator:?}") == name)
}
