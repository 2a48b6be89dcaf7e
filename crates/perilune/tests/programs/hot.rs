//! Templates of hot functions: code for which machine code is compiled, and whose behavior changes
//! later.
//!
//! The templates are the text files in `bodies`. Blank lines separate them, and the lines of one
//! are joined. `«a¦b¦c»` stands for one of the texts between the bars, which may contain further
//! choices; everything else is as in [`crate::generate`]. Loops have fixed bounds and reset the
//! budget in each iteration; `V` is a list of values whose types change while the loop runs, `v` is
//! the value of the iteration.

use std::sync::LazyLock;

/// A file of templates.
type Templates = &'static str;

/// The beginning of every hot function: its variables, and values that change their type from one
/// stretch of the loop to the next.
pub(crate) const HEAD: Templates = include_str!("bodies/head.txt");
/// The end of every hot function.
pub(crate) const TAIL: Templates = include_str!("bodies/tail.txt");
/// Loops around one or more bodies.
pub(crate) const LOOPS: Templates = include_str!("bodies/loops.txt");

/// Bodies of hot loops by subject. `i` is the number of the iteration, `v` a value of changing
/// type; `bag` keeps values from one iteration to the next, `log` keeps those that are shown at the
/// end.
pub(crate) const BODIES: &[(&str, Templates)] = &[
    ("arithmetic", include_str!("bodies/arithmetic.txt")),
    ("fields", include_str!("bodies/fields.txt")),
    ("arrays", include_str!("bodies/arrays.txt")),
    ("calls", include_str!("bodies/calls.txt")),
    ("classes", include_str!("bodies/classes.txt")),
    ("errors", include_str!("bodies/errors.txt")),
    ("closing", include_str!("bodies/closing.txt")),
    ("jumps", include_str!("bodies/jumps.txt")),
    ("coroutines", include_str!("bodies/coroutines.txt")),
    ("debug", include_str!("bodies/debug.txt")),
    ("environments", include_str!("bodies/environments.txt")),
    ("library", include_str!("bodies/library.txt")),
    ("memory", include_str!("bodies/memory.txt")),
    ("recursion", include_str!("bodies/recursion.txt")),
    ("any", include_str!("bodies/any.txt")),
];

/// Further bodies of programs without userdata of the host.
pub(crate) const HOOKED: Templates = include_str!("bodies/hooks.txt");

/// Further bodies of programs with userdata, but without hooks: mlua looks up some members with its
/// own Lua code, which hooks would see.
pub(crate) const HOSTED: Templates = include_str!("bodies/userdata.txt");

/// The only statements of a program.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    /// Hot loops with bodies of this file.
    Bodies(Templates),
    /// Small functions that hot loops call.
    Inlined,
    /// Recursive functions.
    Recursive,
}

/// Returns the subject that `PERILUNE_PROGRAMS_SUBJECT` names, if any.
///
/// # Panics
///
/// Panics if there is no such subject.
pub(crate) fn only_subject() -> Option<Subject> {
    static SUBJECT: LazyLock<Option<Subject>> = LazyLock::new(|| {
        let name = std::env::var("PERILUNE_PROGRAMS_SUBJECT").ok()?;
        match &name[..] {
            "inlined" => return Some(Subject::Inlined),
            "recursive" => return Some(Subject::Recursive),
            _ => {}
        }
        let subject = BODIES.iter().find(|(subject, _)| *subject == name);
        Some(Subject::Bodies(subject.unwrap_or_else(|| panic!("there is no subject {name}")).1))
    });
    *SUBJECT
}

/// Returns the templates of a file.
pub(crate) fn templates(file: Templates) -> Vec<String> {
    // a choice that is too long for a line continues after its bar
    let join = |t: &str| t.trim_end().replace("¦\n", "¦").replace('\n', " ");
    file.split("\n\n").map(join).collect()
}
