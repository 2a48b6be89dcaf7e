//! The map that finds code by id and by address.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use crate::{CodeId, Module, Version, fork};

/// A hasher that spreads ids, which are distinct small numbers.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("ids are hashed as one number");
    }
    fn write_u32(&mut self, id: u32) {
        self.0 = u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[derive(Default)]
struct Tables {
    by_id: HashMap<CodeId, (Arc<Version>, Arc<Module>), BuildHasherDefault<IdHasher>>,
    /// Versions by their first address.
    by_address: BTreeMap<usize, Arc<Version>>,
}

/// All versions that are not freed. The map keeps their modules alive.
#[derive(Default)]
pub(crate) struct CodeMap {
    tables: RwLock<Tables>,
}

impl CodeMap {
    /// Reads the tables; `f` must take no lock and drop no values of the user.
    fn read<R>(&self, f: impl FnOnce(&Tables) -> R) -> R {
        let _inside = fork::enter();
        f(&self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the tables, as [`CodeMap::read`] reads them.
    fn write<R>(&self, f: impl FnOnce(&mut Tables) -> R) -> R {
        let _inside = fork::enter();
        f(&mut self.tables.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn insert(&self, module: &Arc<Module>) {
        self.write(|tables| {
            for version in module.versions() {
                tables.by_address.insert(version.addresses().start, version.clone());
                let before = tables.by_id.insert(version.id(), (version.clone(), module.clone()));
                assert!(before.is_none(), "{} is used twice", version.id());
            }
        });
    }

    /// Removes a module. Its memory has not been freed yet, so no other code has its addresses.
    pub(crate) fn remove(&self, module: &Module) {
        let removed = self.write(|tables| {
            let mut removed = Vec::with_capacity(module.versions().len());
            for version in module.versions() {
                tables.by_address.remove(&version.addresses().start);
                removed.push(tables.by_id.remove(&version.id()));
            }
            removed
        });
        // The destructors of metadata may use the map.
        drop(removed);
    }

    pub(crate) fn get(&self, id: CodeId) -> Option<Arc<Version>> {
        self.read(|tables| tables.by_id.get(&id).map(|(version, _)| version.clone()))
    }

    pub(crate) fn with<R>(&self, id: CodeId, f: impl FnOnce(&Version) -> R) -> Option<R> {
        self.read(|tables| tables.by_id.get(&id).map(|(version, _)| f(version)))
    }

    pub(crate) fn module(&self, id: CodeId) -> Option<Arc<Module>> {
        self.read(|tables| tables.by_id.get(&id).map(|(_, module)| module.clone()))
    }

    pub(crate) fn at(&self, address: usize) -> Option<Arc<Version>> {
        self.read(|tables| {
            let (_, version) = tables.by_address.range(..=address).next_back()?;
            version.addresses().contains(&address).then(|| version.clone())
        })
    }

    /// Returns all modules, each once.
    pub(crate) fn modules(&self) -> Vec<Arc<Module>> {
        let first = |(version, module): &&(Arc<Version>, Arc<Module>)| {
            Arc::ptr_eq(version, &module.versions()[0])
        };
        self.read(|tables| {
            tables.by_id.values().filter(first).map(|(_, module)| module.clone()).collect()
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.read(|tables| tables.by_id.len())
    }
}
