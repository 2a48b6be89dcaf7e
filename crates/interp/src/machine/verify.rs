//! The self-check of code compiled with the option to verify values. A mismatch aborts the process,
//! since memory may already be corrupted.

use perilune_bytecode::place;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::meta::Event;
use perilune_runtime::state::State;
use perilune_runtime::table::Table;
use perilune_runtime::tier::verify;
use perilune_runtime::value::{SlotExt, Tag, Value};

/// The place of a comparison.
#[derive(Clone, Copy)]
struct Place {
    instance: *mut Instance,
    pc: usize,
    register: usize,
}

impl Place {
    fn new(instance: *mut Instance, at: u64) -> Place {
        let register = (at >> verify::REGISTER) as u8 as usize;
        Place { instance, pc: at as u32 as usize, register }
    }

    /// Returns the place in the function of a frame.
    unsafe fn of(base: *mut Value, at: u64) -> Place {
        Place::new((*Frame(base).callee().as_function()).instance, at)
    }

    /// Reports a mismatch, and aborts the process.
    unsafe fn differs(self, what: &str, expected: &str, found: &str) -> ! {
        let proto = &(*self.instance).proto;
        let op = proto.code[self.pc].op();
        eprintln!(
            "perilune: compiled code is wrong: {} pc {} ({op:?}), {what}: machine code holds \
             {expected}, found {found}",
            place(proto),
            self.pc
        );
        std::process::abort();
    }

    unsafe fn compare(self, what: &str, expected: Value, found: Value) {
        let same = expected.tag() == found.tag()
            && (matches!(found.tag(), Tag::NIL | Tag::FALSE | Tag::TRUE)
                || expected.bits() == found.bits());
        if !same {
            self.differs(what, &shown(expected), &shown(found));
        }
    }
}

/// Returns the tag and payload of a value as text. The payload may not be an object, so it is not
/// followed.
fn shown(v: Value) -> String {
    let tag = match v.tag() {
        Tag::NIL => "nil",
        Tag::FALSE => "false",
        Tag::TRUE => "true",
        Tag::INTEGER => "integer",
        Tag::FLOAT => "float",
        Tag::LIGHT => "light userdata",
        Tag::ITER => "iteration",
        Tag::STRING => "string",
        Tag::TABLE => "table",
        Tag::FUNCTION => "function",
        Tag::NATIVE => "native function",
        Tag::USERDATA => "userdata",
        Tag::THREAD => "thread",
        other => return format!("tag {:#x} payload {:#x}", other.0, v.bits()),
    };
    format!("{tag} {:#x}", v.bits())
}

pub(super) unsafe extern "C" fn register(base: *mut Value, at: u64, bits: u64, tag: u64) {
    let place = Place::of(base, at);
    let home = base.add(place.register).get();
    let what = format!("register {}", place.register);
    if at & verify::TAG != 0 && home.tag().0 as u64 != tag {
        let expected = Value::from_parts(home.bits(), Tag(tag as u8));
        place.differs(&what, &format!("the tag of {}", shown(expected)), &shown(home));
    }
    if at & verify::PAYLOAD != 0 && home.bits() != bits {
        place.differs(&what, &format!("payload {bits:#x}"), &shown(home));
    }
}

pub(super) unsafe extern "C" fn closure(base: *mut Value, at: u64, passed: u64, instance: u64) {
    let place = Place::of(base, at);
    let callee = Frame(base).callee();
    if passed != 0 && callee.bits() != passed {
        place.differs("closure", &format!("{passed:#x}"), &shown(callee));
    }
    let found = place.instance.addr() as u64;
    if found != instance {
        place.differs("instance", &format!("{instance:#x}"), &format!("{found:#x}"));
    }
}

pub(super) unsafe extern "C" fn entry(
    instance: *mut Instance,
    at: u64,
    t: *mut Table,
    key: u64,
    key_tag: u64,
    bits: u64,
    tag: u64,
) {
    let key = Value::from_parts(key, Tag(key_tag as u8));
    let expected = Value::from_parts(bits, Tag(tag as u8));
    let place = Place::new(instance, at);
    place.compare(&format!("entry {}", shown(key)), expected, Table::get(t, key));
}

pub(super) unsafe extern "C" fn lookup(
    st: *mut State,
    instance: *mut Instance,
    at: u64,
    object: u64,
    object_tag: u64,
    bits: u64,
    tag: u64,
) {
    /// The maximum length of a chain that is followed completely.
    const LONGEST: usize = 100;
    let place = Place::new(instance, at);
    let i = *(*place.instance).code.add(place.pc);
    let key = (*place.instance).constants.add(i.c()).cast_mut().get();
    let expected = Value::from_parts(bits, Tag(tag as u8));
    let mut object = Value::from_parts(object, Tag(object_tag as u8));
    for _ in 0..LONGEST {
        let found = if object.is_table() { Table::get(object.as_table(), key) } else { Value::NIL };
        let handler = Table::metamethod(st, object, Event::Index);
        if !found.is_nil() || handler.is_nil() {
            return place.compare("field", expected, found);
        }
        if !handler.is_table() {
            return;
        }
        object = handler;
    }
}

pub(super) unsafe extern "C" fn variable(
    instance: *mut Instance,
    at: u64,
    variable: *const Value,
    bits: u64,
    tag: u64,
) {
    let expected = Value::from_parts(bits, Tag(tag as u8));
    Place::new(instance, at).compare("a variable", expected, variable.cast_mut().get());
}
