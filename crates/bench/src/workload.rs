//! A program to run, and the list of this crate's own programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::engine::{Dialect, Engine};

/// One program with its arguments.
#[derive(Debug)]
pub(crate) struct Workload {
    pub(crate) name: String,
    /// What the program exercises, in a few words.
    pub(crate) covers: String,
    /// Whether its peak memory is worth comparing.
    pub(crate) allocates: bool,
    /// Whether all engines must print the same; otherwise only the exit status counts.
    pub(crate) compares_output: bool,
    /// Whether it uses syntax that only Lua 5.4 has.
    pub(crate) needs_54: bool,
    /// The directory to run in, for programs that `require` their neighbours.
    pub(crate) directory: Option<PathBuf>,
    /// The script and the arguments after it.
    pub(crate) arguments: Vec<String>,
}

impl Workload {
    /// Returns whether `engine` can run it at all.
    pub(crate) fn runs_on(&self, engine: &Engine) -> bool {
        !self.needs_54 || engine.dialect == Dialect::Lua54
    }

    /// Returns whether `name` selects this program: it is the name of the program, or of the file
    /// that the program is a variant of. Case does not matter.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let name = name.strip_suffix(".lua").unwrap_or(name);
        self.name.eq_ignore_ascii_case(name) || file_of(&self.name).eq_ignore_ascii_case(name)
    }

    /// Returns the command that runs it on `engine`.
    pub(crate) fn command(&self, engine: &Engine) -> Command {
        let mut command = engine.command();
        command.args(&self.arguments);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

/// The character that separates a variant from the name of its file.
const VARIANT: char = ':';

/// Returns the name of the file of a program, which may be a variant.
pub(crate) fn file_of(program: &str) -> &str {
    program.split(VARIANT).next().unwrap_or(program)
}

/// The folders with programs of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// Ordinary programs.
    Programs,
    /// Programs that do little except call one library function or a few related ones.
    Library,
    /// Large programs like those that people write for work.
    Real,
}

/// Returns the programs of one folder in alphabetical order, with an optional work scale.
///
/// # Errors
/// Returns an error when the directory cannot be read or a program has no `-- covers:` line.
pub(crate) fn own_programs(folder: Folder, scale: Option<&str>) -> Result<Vec<Workload>> {
    let folder = match folder {
        Folder::Programs => "programs",
        Folder::Library => "library",
        Folder::Real => "real",
    };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&directory)
        .map_err(|error| format!("cannot read {}: {error}", directory.display()))?;
    let mut workloads = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "lua") {
            workloads.extend(own_program(&path, scale)?);
        }
    }
    workloads.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(workloads)
}

/// Returns the program in a file, or the programs when its header lists variants: a variant's name
/// is the argument after the scale.
fn own_program(path: &Path, scale: Option<&str>) -> Result<Vec<Workload>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let covers = header(&text, "covers").ok_or(format!("{name}.lua has no '-- covers:' line"))?;
    let workload = |name: String, arguments: Vec<String>| Workload {
        name,
        covers: covers.to_string(),
        allocates: header(&text, "memory") == Some("yes"),
        compares_output: true,
        needs_54: header(&text, "needs") == Some("5.4"),
        directory: None,
        arguments,
    };
    let script = path.to_string_lossy().into_owned();
    let variants: Vec<&str> = headers(&text, "variants").flat_map(str::split_whitespace).collect();
    if variants.is_empty() {
        let arguments = std::iter::once(script).chain(scale.map(String::from)).collect();
        return Ok(vec![workload(name, arguments)]);
    }
    let variant = |variant: &&str| {
        let arguments = [&script, scale.unwrap_or("1"), variant].map(String::from).to_vec();
        workload(format!("{name}{VARIANT}{variant}"), arguments)
    };
    Ok(variants.iter().map(variant).collect())
}

/// Returns the value of the first `-- key: value` line among the comments that open a program.
fn header<'text>(text: &'text str, key: &str) -> Option<&'text str> {
    headers(text, key).next()
}

/// Returns the values of all such lines.
fn headers<'text>(text: &'text str, key: &str) -> impl Iterator<Item = &'text str> {
    text.lines()
        .map_while(|line| line.strip_prefix("--"))
        .filter_map(move |line| line.trim().strip_prefix(key)?.strip_prefix(':').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_end_with_the_first_code() {
        let text = "-- covers: floats\n-- needs: 5.4\n-- A text.\nlocal x\n-- memory: yes\n";
        assert_eq!(header(text, "covers"), Some("floats"));
        assert_eq!(header(text, "needs"), Some("5.4"));
        assert_eq!(header(text, "memory"), None);
    }

    #[test]
    fn every_program_says_what_it_covers() {
        let programs = own_programs(Folder::Programs, None).unwrap();
        assert!(programs.len() >= 20, "only {} programs", programs.len());
        assert!(programs.iter().any(|program| program.allocates));
        let library = own_programs(Folder::Library, None).unwrap();
        assert!(library.len() >= 60, "only {} library programs", library.len());
        let real = own_programs(Folder::Real, None).unwrap();
        assert!(real.len() >= 30, "only {} large programs", real.len());
        let mut all = programs.iter().chain(&library).chain(&real);
        assert!(all.all(|program| !program.covers.is_empty()));
    }

    #[test]
    fn variants_are_programs_of_their_own() {
        let real = own_programs(Folder::Real, Some("0.5")).unwrap();
        let queue = real.iter().find(|program| program.name == "table_patterns:queue").unwrap();
        assert_eq!(queue.arguments[1..], ["0.5", "queue"]);
        assert!(queue.is_named("table_patterns:queue"));
        assert!(queue.is_named("Table_Patterns.lua"));
        assert!(!queue.is_named("queue"));
    }

    #[test]
    fn every_program_is_documented() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/benchmarks.md");
        let page = std::fs::read_to_string(page).unwrap();
        let mut programs = own_programs(Folder::Programs, None).unwrap();
        programs.extend(own_programs(Folder::Real, None).unwrap());
        for program in programs {
            let row = format!("| `{}` |", file_of(&program.name));
            assert!(page.contains(&row), "docs/benchmarks.md has no row {row}");
        }
    }
}
