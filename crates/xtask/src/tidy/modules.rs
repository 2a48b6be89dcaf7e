//! The modules of a crate and which file imports from which, read from the sources.
//!
//! An import is a path that leads to an item of another file: in a `use`, in an expression, in a
//! type, or in the tokens of a macro. A path through a re-export leads to the file that defines the
//! item, so a module that only re-exports names is not imported. Tests are skipped. A module's use
//! of items of a module that contains it is not an import, since it is inside that module.
//!
//! Paths are resolved by name alone, without type information: methods and associated items are
//! attributed to the type in their path, and calls of the form `value.method()` are ignored.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use super::tree::{File, Tree};

/// A path of names. The path of a module starts at the root of the crate.
type Names = Vec<String>;

/// The queries that are in progress.
type Asked = BTreeSet<(Names, Names)>;

/// The number of re-exports and globs through which one path is followed; the sources need fewer
/// than ten.
const MAX_STEPS: usize = 30;

/// The meaning of a name in a module.
enum Meaning {
    /// A module inside the module.
    Module(Names),
    /// An item that is defined in the module.
    Item,
    /// The item or module to which the path leads.
    Use(Names),
}

/// A module.
struct Module {
    /// The number of the file that contains the module.
    file: usize,
    names: BTreeMap<String, Meaning>,
    globs: Vec<Names>,
}

/// The imports among the files of a crate.
pub(super) struct Imports {
    /// The paths of the files.
    pub(super) files: Vec<String>,
    /// Pairs of file numbers, the importing file first, with the names that it imports.
    pub(super) edges: BTreeMap<(usize, usize), BTreeSet<String>>,
}

impl Imports {
    /// Reads the imports of the crate in the folder `crates/NAME`.
    ///
    /// # Panics
    /// Panics if a file is not valid Rust; the compiler would have refused it.
    pub(super) fn of_crate(tree: &Tree, name: &str) -> Imports {
        let folder = format!("crates/{name}/src/");
        let sources = tree.rust().filter(|f| f.path.starts_with(&folder) && !f.is_test());
        let sources: Vec<&File> = sources.collect();
        let mut found = Found::default();
        for (number, file) in sources.iter().enumerate() {
            let ast = syn::parse_file(&file.text).unwrap_or_else(|e| panic!("{}: {e}", file.path));
            let module = module_of(&file.path[folder.len()..]);
            found.file = number;
            found.enter(module, &ast.items);
        }
        let mut imports = Imports {
            files: sources.iter().map(|f| f.path.clone()).collect(),
            edges: BTreeMap::new(),
        };
        for (module, path) in &found.paths {
            let from = found.modules[module].file;
            let Some(target) = found.resolve(module, path, &mut Asked::new()) else { continue };
            let to = found.modules[&target].file;
            let contains = module.starts_with(&target);
            if from != to && !contains {
                let name = path.last().cloned().unwrap_or_default();
                imports.edges.entry((from, to)).or_default().insert(name);
            }
        }
        imports
    }
}

/// Returns the path of the module in a file, given the file's path below `src`.
fn module_of(path: &str) -> Names {
    let mut names: Names = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}

/// The findings of a walk through the files of a crate.
#[derive(Default)]
struct Found {
    modules: BTreeMap<Names, Module>,
    /// The paths that code names, with the modules in which it names them.
    paths: BTreeSet<(Names, Names)>,
    /// The number of the file that is being walked.
    file: usize,
    /// The module that is being walked.
    module: Names,
}

impl Found {
    /// Walks the items of a module.
    fn enter(&mut self, module: Names, items: &[syn::Item]) {
        let outer = std::mem::replace(&mut self.module, module);
        let new = Module { file: self.file, names: BTreeMap::new(), globs: Vec::new() };
        self.modules.insert(self.module.clone(), new);
        for item in items {
            self.visit_item(item);
        }
        self.module = outer;
    }

    fn name(&mut self, name: &syn::Ident, meaning: Meaning) {
        let module = self.modules.get_mut(&self.module).expect("it was entered");
        module.names.insert(name.to_string(), meaning);
    }

    /// Records the names of a `use` declaration. A re-export is not an import.
    fn import(&mut self, tree: &syn::UseTree, path: &mut Names, hands_on: bool) {
        match tree {
            syn::UseTree::Path(p) => {
                path.push(p.ident.to_string());
                self.import(&p.tree, path, hands_on);
                path.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, path, hands_on);
                }
            }
            syn::UseTree::Glob(_) => {
                let module = self.modules.get_mut(&self.module).expect("it was entered");
                module.globs.push(path.clone());
                if !hands_on {
                    self.paths.insert((self.module.clone(), path.clone()));
                }
            }
            syn::UseTree::Name(name) => self.import_name(&name.ident, &name.ident, path, hands_on),
            syn::UseTree::Rename(r) => self.import_name(&r.ident, &r.rename, path, hands_on),
        }
    }

    fn import_name(&mut self, name: &syn::Ident, as_: &syn::Ident, path: &Names, hands_on: bool) {
        let mut path = path.clone();
        if name != "self" {
            path.push(name.to_string());
        }
        if !hands_on {
            self.paths.insert((self.module.clone(), path.clone()));
        }
        let as_ = if as_ == "self" { path.last().cloned() } else { Some(as_.to_string()) };
        let module = self.modules.get_mut(&self.module).expect("it was entered");
        module.names.insert(as_.unwrap_or_default(), Meaning::Use(path));
    }

    /// Finds the paths in the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Names::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() || colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(p) if p.as_char() == ':' && !path.is_empty() => colons += 1,
                other => {
                    self.path(std::mem::take(&mut path));
                    colons = 0;
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        _ => {}
                    }
                }
            }
        }
        self.path(path);
    }

    fn path(&mut self, path: Names) {
        if !path.is_empty() {
            self.paths.insert((self.module.clone(), path));
        }
    }

    /// Returns the module that defines the item to which the path leads from the module `from`.
    /// `asked` contains the queries in progress, since re-exports may form a cycle.
    fn resolve(&self, from: &Names, path: &[String], asked: &mut Asked) -> Option<Names> {
        // A name that does not exist in a module returns through each glob with a longer path.
        let is_new = asked.insert((from.clone(), path.to_vec()));
        if !is_new || asked.len() > MAX_STEPS {
            return None;
        }
        let mut at = from.clone();
        let mut rest = path;
        if path.first()? == "crate" {
            (at, rest) = (Names::new(), &path[1..]);
        }
        while let Some((name, after)) = rest.split_first() {
            match (name.as_str(), self.modules.get(&at)?) {
                ("self", _) => {}
                ("super", _) => {
                    at.pop()?;
                }
                (_, module) => match module.names.get(name) {
                    Some(Meaning::Module(inner)) => at = inner.clone(),
                    Some(Meaning::Item) => return Some(at),
                    // `use memchr::memchr;`: the first name is the name of another crate.
                    Some(Meaning::Use(target)) if target.first() == Some(name) => return None,
                    Some(Meaning::Use(target)) => {
                        let path: Names = target.iter().chain(after).cloned().collect();
                        return self.resolve(&at, &path, asked);
                    }
                    None => {
                        return module.globs.iter().find_map(|glob| {
                            let path: Names = glob.iter().chain(rest).cloned().collect();
                            self.resolve(&at, &path, asked)
                        });
                    }
                },
            }
            rest = after;
        }
        // The path names a module and no item in it.
        None
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        a.path().is_ident("test")
            || a.path().is_ident("cfg")
                && a.parse_args::<syn::Ident>().is_ok_and(|argument| argument == "test")
    })
}

fn hands_on(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item::*;
        let attributes = match item {
            Const(i) => &i.attrs,
            Enum(i) => &i.attrs,
            Fn(i) => &i.attrs,
            Impl(i) => &i.attrs,
            Macro(i) => &i.attrs,
            Mod(i) => &i.attrs,
            Static(i) => &i.attrs,
            Struct(i) => &i.attrs,
            Trait(i) => &i.attrs,
            Type(i) => &i.attrs,
            Union(i) => &i.attrs,
            Use(i) => &i.attrs,
            _ => return,
        };
        if is_test(attributes) {
            return;
        }
        match item {
            Const(i) => self.name(&i.ident, Meaning::Item),
            Enum(i) => self.name(&i.ident, Meaning::Item),
            Fn(i) => self.name(&i.sig.ident, Meaning::Item),
            Macro(syn::ItemMacro { ident: Some(ident), .. }) => self.name(ident, Meaning::Item),
            Static(i) => self.name(&i.ident, Meaning::Item),
            Struct(i) => self.name(&i.ident, Meaning::Item),
            Trait(i) => self.name(&i.ident, Meaning::Item),
            Type(i) => self.name(&i.ident, Meaning::Item),
            Union(i) => self.name(&i.ident, Meaning::Item),
            Use(i) => return self.import(&i.tree, &mut Names::new(), hands_on(&i.vis)),
            Mod(i) => {
                let mut inner = self.module.clone();
                inner.push(i.ident.to_string());
                self.name(&i.ident, Meaning::Module(inner.clone()));
                if let Some((_, items)) = &i.content {
                    self.enter(inner, items);
                }
                return;
            }
            _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &mut Names::new(), false);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(path.segments.iter().map(|s| s.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.path(call.path.segments.iter().map(|s| s.ident.to_string()).collect());
        self.tokens(call.tokens.clone());
    }
}
