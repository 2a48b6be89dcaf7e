//! The text form of functions.

use std::fmt;

use perilune_runtime::native::Builtin;

use crate::analysis::tags::tag_name;

use super::ir::{
    BlockData, Checks, Content, End, FrameState, Function, GlobalAccess, Inst, Metatable, Op,
    State, Target, Type, Value,
};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &block in &self.order {
            let data = &self.blocks[block];
            write!(f, "{block}{}", Params(self, data))?;
            if data.is_loop {
                f.write_str(if data.quiet.is_some() { " quiet loop" } else { " loop" })?;
            }
            writeln!(f, ":")?;
            for inst in &data.insts {
                writeln!(f, "    {}", Line(self, inst))?;
            }
            writeln!(f, "    {}", Ending(self, &data.end))?;
        }
        Ok(())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Type::Any => f.write_str("any"),
            Type::Is(tag) => f.write_str(tag_name(tag)),
            Type::Condition => f.write_str("condition"),
        }
    }
}

impl fmt::Display for Metatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Metatable::Of(v) => write!(f, "{v}"),
            Metatable::Is(v) => write!(f, "metatable {v}"),
            Metatable::WithIndex(v) => write!(f, "class {v}"),
        }
    }
}

struct Params<'a>(&'a Function, &'a BlockData);

impl fmt::Display for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Params(function, data) = *self;
        if data.params.is_empty() {
            return Ok(());
        }
        for (n, &(v, r)) in data.params.iter().enumerate() {
            let sep = if n == 0 { "(" } else { ", " };
            write!(f, "{sep}{v}: {} {r}", function.ty(v))?;
        }
        f.write_str(")")
    }
}

struct Line<'a>(&'a Function, &'a Inst);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Op::*;
        let Line(function, inst) = *self;
        if let Some(v) = inst.result {
            write!(f, "{v}: {} = ", function.ty(v))?;
        }
        match inst.op {
            Integer(n) => write!(f, "integer {n}")?,
            Float(bits) => write!(f, "float {:?}", f64::from_bits(bits))?,
            Primitive(tag) => f.write_str(tag_name(tag))?,
            Str(n) => write!(f, "string {n}")?,
            Register(r) => write!(f, "register {r}")?,
            SetRegister(r, v) => write!(f, "set_register {r}, {v}")?,
            Upvalue(None, n) => write!(f, "upvalue {n}")?,
            Upvalue(Some(closure), n) => write!(f, "upvalue {n} of {closure}")?,
            OwnClosure => f.write_str("own_closure")?,
            ExtraCount => f.write_str("extra_count")?,
            Extra(index, _) => write!(f, "extra {index}")?,
            GuardConstants(_) => f.write_str("guard_constants")?,
            SetUpvalue(None, n, v) => write!(f, "set_upvalue {n}, {v}")?,
            SetUpvalue(Some(closure), n, v) => write!(f, "set_upvalue {n} of {closure}, {v}")?,
            GuardMethod(v, ..) => write!(f, "guard_method {v}")?,
            Handler(meta, _) => write!(f, "handler {meta}")?,
            GuardMetatable(meta, _) => write!(f, "guard_metatable {meta}")?,
            GuardNoNewIndex(meta, _) => write!(f, "guard_no_newindex {meta}")?,
            GuardNotNil(v, _) => write!(f, "guard_not_nil {v}")?,
            GuardNoMetatable(v, _) => write!(f, "guard_no_metatable {v}")?,
            GuardDistinct(a, b, _) => write!(f, "guard_distinct {a}, {b}")?,
            Traversal(v, _) => write!(f, "traversal {v}")?,
            Bound(v) => write!(f, "bound {v}")?,
            NewTable(object, _) => {
                f.write_str("new_table")?;
                for (n, field) in function.objects[object].fields.iter().enumerate() {
                    let separator = if n == 0 { "" } else { "," };
                    write!(f, "{separator} {}={}", field.slot, field.value)?;
                }
            }
            Allocate(_) => f.write_str("allocate")?,
            Closure(n, _) => write!(f, "closure {n}")?,
            GuardInner(n, _) => write!(f, "guard_inner {n}")?,
            GuardLibrary(v, number, _) => {
                write!(f, "guard_library {v}, {}", Builtin::NAMES[number as usize])?;
            }
            Library(library, args, _) => {
                f.write_str(Builtin::NAMES[library.number as usize])?;
                for (n, arg) in args.iter().flatten().enumerate() {
                    write!(f, "{} {arg}", if n == 0 { "" } else { "," })?;
                }
            }
            Inline(frame, v) => {
                write!(f, "{frame} of {v}: line {}", function.frames[frame].proto.line_defined)?;
            }
            InlineInner(frame, n) => {
                write!(
                    f,
                    "{frame} of inner {n}: line {}",
                    function.frames[frame].proto.line_defined
                )?;
            }
            Speculate(v, tag, _) => write!(f, "speculate {v}, {}", tag_name(tag))?,
            Guard(v, tag, _) => write!(f, "guard {v}, {}", tag_name(tag))?,
            GuardShape(v, shapes, _) => write!(f, "guard_shape {v}, {shapes}")?,
            IntArith(operator, a, b, _) => write!(f, "int_{operator:?} {a}, {b}")?,
            NumberArith(operator, a, b, _) => write!(f, "number_{operator:?} {a}, {b}")?,
            FloatArith(operator, a, b) => write!(f, "float_{operator:?} {a}, {b}")?,
            FloorQuotient(v, n) => write!(f, "floor_quotient {v}, {n}")?,
            Rounds(a, b) => write!(f, "rounds {a}, {b}")?,
            ToFloat(v) => write!(f, "to_float {v}")?,
            NumberToFloat(v, _) => write!(f, "number_to_float {v}")?,
            NumberToInt(v, _) => write!(f, "number_to_int {v}")?,
            LoopLimit(v, ascends, _) => {
                write!(f, "loop_limit {v}, {}", if ascends { "up" } else { "down" })?;
            }
            GuardNotBothInt(a, b, _) => write!(f, "guard_not_both_int {a}, {b}")?,
            CompareInt(cc, a, b) => write!(f, "compare_int {cc} {a}, {b}")?,
            CompareFloat(cc, a, b) => write!(f, "compare_float {cc} {a}, {b}")?,
            CompareNumber(cc, _, a, b, _) => write!(f, "compare_number {cc} {a}, {b}")?,
            Same(a, b) => write!(f, "same {a}, {b}")?,
            IsString(a, b) => write!(f, "is_string {a}, {b}")?,
            IsInteger(v, n) => write!(f, "is_integer {v}, {n}")?,
            Equal(a, b, _) => write!(f, "equal {a}, {b}")?,
            AddField(t, v, gain, _) => {
                write!(
                    f,
                    "add_field {t}, {}, {v}, cache {}, entry {}",
                    gain.slot, gain.cache, gain.entry
                )?;
            }
            SetElement(t, k, v, changes, _) => {
                write!(f, "set_element {t}, {k}, {v}")?;
                f.write_str(if changes.converts { ", converting" } else { "" })?;
                f.write_str(if changes.grows { ", growing" } else { "" })?;
            }
            SetList(v, list, ..) | Select(v, list, _) => {
                let name = if let SetList(..) = inst.op { "set_list" } else { "select" };
                write!(f, "{name} {v}")?;
                function.lists[list].iter().try_for_each(|v| write!(f, ", {v}"))?;
            }
            SetClass(t, class, _) => write!(f, "set_class {t}, {class}")?,
            SetMetatable(t, meta, _) => write!(f, "set_metatable {t}, {meta}")?,
            SetTop(r) => write!(f, "set_top {r}")?,
            Global(_, _, access, _) => {
                let access = match access {
                    GlobalAccess::Cached => "global",
                    GlobalAccess::Inherited => "inherited_global",
                    GlobalAccess::Constant => "constant_global",
                    GlobalAccess::Searched => "global_or_nil",
                };
                write!(f, "{access} {}", inst.pc)?;
            }
            GuardOwn(v, _) => write!(f, "guard_own {v}")?,
            HasShape(v, shape) => write!(f, "has_shape {v}, {shape}")?,
            HasTag(v, tag) => write!(f, "has_tag {v}, {}", tag_name(tag))?,
            IsTrue(v) => write!(f, "is_true {v}")?,
            Not(v) => write!(f, "not {v}")?,
            Field(v, slot, ..) => write!(f, "field {v}, {slot}")?,
            FieldOf(v, slot, tag, _) => write!(f, "field {v}, {slot}, {}", tag_name(tag))?,
            Reload(v, slot, (tag, method), _) => {
                write!(f, "reload {v}, {slot}, {}", tag_name(tag))?;
                if method.is_some() {
                    f.write_str(", method")?;
                }
            }
            SetField(t, slot, v, checks, _) => {
                write!(f, "set_field {t}, {slot}, {v}")?;
                let Checks { watched, absent, tag } = checks;
                for (_, name) in [(watched, "watched"), (absent, "absent"), (tag, "tag")]
                    .iter()
                    .filter(|(is_unknown, _)| *is_unknown)
                {
                    write!(f, ", {name}")?;
                }
            }
            ChainField(meta, chain, _) => {
                write!(f, "chain_field {meta}, cache {}, entry {}", chain.cache, chain.entry)?;
                f.write_str(if chain.method { ", method" } else { "" })?;
            }
            StringMethod(v, m, _) => {
                f.write_str("string_method ")?;
                v.map_or(Ok(()), |v| write!(f, "{v}, "))?;
                write!(f, "cache {}, entry {}", m.cache, m.entry)?;
                f.write_str(if m.native { ", native" } else { "" })?;
            }
            Epoch => f.write_str("epoch")?,
            GuardEpoch(v, _) => write!(f, "guard_epoch {v}")?,
            Number(t, k, tag, is_inside, _) => {
                write!(f, "number {t}, {k}, {}", tag_name(tag))?;
                f.write_str(if is_inside { ", inside" } else { "" })?;
            }
            Counts(r, step, _) => write!(f, "counts {r}, {step}")?,
            GuardRange(t, [first, left], range, _) => {
                let super::ir::Range { step, least, most } = range;
                write!(f, "guard_range {t}, {first}, {left}, step {step}, {least} to {most}")?;
            }
            Boolean(t, k, _) => write!(f, "boolean {t}, {k}")?,
            Element(t, k, _) => write!(f, "element {t}, {k}")?,
            ElementOrNil(t, k, _) => write!(f, "element_or_nil {t}, {k}")?,
            Length(v, _) => write!(f, "length {v}")?,
            Poll(_, false) => f.write_str("poll")?,
            Poll(_, true) => f.write_str("quiet_poll")?,
            CheckField(t, v) => write!(f, "check_field {t}, {v}")?,
            CheckUpvalue(_, n, v) => write!(f, "check_upvalue {n}, {v}")?,
            CheckRegister(r, v) => write!(f, "check_register {r}, {v}")?,
            CheckGlobal(_, v) => write!(f, "check_global {v}")?,
            FastPath(_) => write!(f, "fast_path {}", inst.pc)?,
            Generic(_) => write!(f, "generic {}", inst.pc)?,
            Call(_) => write!(f, "call {}", inst.pc)?,
        }
        match inst.op.state() {
            Some(state) => write!(f, " {}", Shown(function, state)),
            None => Ok(()),
        }
    }
}

struct Shown<'a>(&'a Function, State);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameState { frame, pc, registers, virtuals, closures } = &self.0.states[self.1];
        match frame.as_u32() {
            0 => write!(f, "[{pc}")?,
            _ => write!(f, "[{frame} {pc}")?,
        }
        for &(r, v) in registers {
            write!(f, " {r}={v}")?;
        }
        for (n, table) in virtuals.iter().enumerate() {
            for r in &table.registers {
                write!(f, " {r}=table{n}")?;
            }
            write!(f, " table{n}={{")?;
            for (n, (_, content)) in table.fields.iter().enumerate() {
                f.write_str(if n == 0 { "" } else { ", " })?;
                match content {
                    Content::Value(v) => write!(f, "{v}")?,
                    Content::Table(n) => write!(f, "table{n}")?,
                }
            }
            f.write_str("}")?;
            if let Some(metatable) = table.metatable {
                write!(f, " of {metatable}")?;
            }
        }
        for closure in closures {
            for r in &closure.registers {
                write!(f, " {r}=closure {}", closure.inner)?;
            }
        }
        f.write_str("]")
    }
}

struct Ending<'a>(&'a Function, &'a End);

impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            End::Open => f.write_str("open"),
            End::Jump(target) => write!(f, "jump {target}"),
            End::Branch(v, yes, no) => write!(f, "branch {v}, {yes}, {no}"),
            End::Return(v) => write!(f, "return {v}"),
            End::ReturnNone => f.write_str("return"),
            End::Exit(state) => write!(f, "exit {}", Shown(self.0, *state)),
            End::Generic(state, ways) => {
                write!(f, "generic {}", Shown(self.0, *state))?;
                ways.iter().try_for_each(|(pc, target)| write!(f, ", {pc}: {target}"))
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block)?;
        if self.args.is_empty() {
            return Ok(());
        }
        let args: Vec<String> = self.args.iter().map(Value::to_string).collect();
        write!(f, "({})", args.join(", "))
    }
}
