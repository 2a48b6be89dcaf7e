//! The files of the repository, read once.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders without files of the project.
const SKIPPED: [&str; 2] = [".git", "target"];

/// Extensions of the files that the rules look at.
const EXTENSIONS: [&str; 4] = ["rs", "md", "toml", "lua"];

/// A text file of the repository.
pub struct File {
    /// The path from the root of the repository, with `/` between its parts.
    pub path: String,
    /// The contents of the file.
    pub text: String,
}

impl File {
    /// Returns whether the path ends with the extension, given without its dot.
    pub fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }

    /// Returns whether this is a file of tests, in which the comment of a test may cover the unsafe
    /// blocks in it.
    pub fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

/// The repository: its root and its text files, sorted by path.
pub struct Tree {
    /// The folder of the work tree.
    pub root: PathBuf,
    /// The files.
    pub files: Vec<File>,
}

impl Tree {
    /// Reads the repository that this crate belongs to.
    ///
    /// # Panics
    /// Panics if a folder or a file cannot be read, or if a text file is not UTF-8 (Lua files that
    /// are not UTF-8 are read with replacement characters, since some test such bytes).
    pub fn read() -> Tree {
        let root = crate::root();
        let mut files = Vec::new();
        read_folder(&root, &root, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Tree { root, files }
    }

    /// Returns the Rust files.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|f| f.has_extension("rs"))
    }

    /// Returns the Markdown files.
    pub fn documents(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|f| f.has_extension("md"))
    }

    /// Returns the text of a file that exists in every tree.
    ///
    /// # Panics
    /// Panics if there is no file with that path.
    pub fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|f| f.path == path);
        &file.unwrap_or_else(|| panic!("{path} is missing")).text
    }

    /// Returns the names of the folders under `crates`.
    pub fn crates(&self) -> Vec<String> {
        let folders = fs::read_dir(self.root.join("crates")).expect("the folder of crates");
        let mut names: Vec<String> = folders
            .map(|e| e.expect("an entry").file_name().into_string().expect("a UTF-8 name"))
            .collect();
        names.sort();
        names
    }
}

fn read_folder(root: &Path, folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !SKIPPED.contains(&name) {
                read_folder(root, &path, files);
            }
        } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|x| e == *x)) {
            let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let is_lua = path.extension().is_some_and(|e| e == "lua");
            let text = match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(e) if is_lua => String::from_utf8_lossy(e.as_bytes()).into_owned(),
                Err(e) => panic!("{}: {e}", path.display()),
            };
            let path = path.strip_prefix(root).expect("inside the root").display().to_string();
            files.push(File { path, text });
        }
    }
}

/// A violation of a rule.
pub struct Complaint {
    /// The file that the complaint is about, from the root of the repository.
    pub path: String,
    /// The line, counted from 1, if the complaint is about one line.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl Complaint {
    /// Returns a complaint about a whole file.
    pub fn file(path: &str, what: impl Into<String>) -> Complaint {
        Complaint { path: path.to_owned(), line: None, what: what.into() }
    }

    /// Returns a complaint about one line, which is numbered from 1.
    pub fn line(path: &str, line: usize, what: impl Into<String>) -> Complaint {
        Complaint { path: path.to_owned(), line: Some(line), what: what.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.what),
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}
