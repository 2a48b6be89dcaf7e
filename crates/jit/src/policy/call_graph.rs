//! The call graph of a program, as far as bytecode shows it before the program runs: calls through
//! locals and upvalues that hold one function, and through names of globals, fields and methods
//! that only one function is assigned to.
//!
//! The edges are speculative: code that relies on an edge compares the callee at run time.
//!
//! No graph library is used: the graph consists of two lists that are read once, and a library
//! would only copy them.

use std::collections::HashMap;
use std::sync::Arc;

use perilune_bytecode::{Constant, Op, Proto};

/// A call whose callee is probably known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    /// The number of the calling function.
    pub(crate) from: usize,
    /// The pc of the call.
    pub(crate) pc: u32,
    /// The number of the called function.
    pub(crate) to: usize,
    /// The weight: eight times as large for each loop around the call.
    pub(crate) weight: u64,
}

/// A program's functions and their calls.
pub(crate) struct CallGraph {
    /// Outer functions before inner ones, otherwise in the order of their definitions.
    pub(crate) functions: Vec<Arc<Proto>>,
    pub(crate) calls: Vec<Call>,
}

/// A variable or name that a function is stored to.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    /// Local variable `1` of function `0`.
    Local(usize, usize),
    /// A global, field or method.
    Name(Box<[u8]>),
}

struct Function {
    proto: Arc<Proto>,
    /// The number of the function around it, and the pc where that creates the closure.
    outer: Option<(usize, usize)>,
    /// The numbers of the functions inside, by the index of the proto.
    inner: Vec<usize>,
}

struct Finder {
    functions: Vec<Function>,
    /// The function stored to each place; `None` if there are several.
    stored: HashMap<Place, Option<usize>>,
}

impl CallGraph {
    /// Returns the call graph of a main function and all functions inside it.
    pub(crate) fn of(main: &Arc<Proto>) -> CallGraph {
        let mut finder = Finder { functions: Vec::new(), stored: HashMap::new() };
        finder.enumerate(main);
        for n in 0..finder.functions.len() {
            finder.find_definitions(n);
        }
        let calls = (0..finder.functions.len()).flat_map(|n| finder.find_calls(n)).collect();
        CallGraph { functions: finder.functions.into_iter().map(|f| f.proto).collect(), calls }
    }
}

impl Finder {
    fn enumerate(&mut self, main: &Arc<Proto>) {
        let function = |proto: &Arc<Proto>, outer| {
            let inner = vec![0; proto.protos.len()];
            Function { proto: proto.clone(), outer, inner }
        };
        self.functions.push(function(main, None));
        let mut n = 0;
        while let Some(f) = self.functions.get(n) {
            let proto = f.proto.clone();
            for (child, inner) in proto.protos.iter().enumerate() {
                let makes = |(_, i): &(usize, &perilune_bytecode::Instr)| {
                    i.op() == Op::Closure && i.bx() == child
                };
                let pc = proto.code.iter().enumerate().find(makes).map_or(0, |(pc, _)| pc);
                self.functions[n].inner[child] = self.functions.len();
                self.functions.push(function(inner, Some((n, pc))));
            }
            n += 1;
        }
    }

    /// Returns the local variable in register `r` of function `n` at `pc`.
    fn local(&self, n: usize, pc: usize, r: usize) -> Option<Place> {
        let locals = &self.functions[n].proto.locals;
        let here = |l: &perilune_bytecode::LocalDesc| {
            usize::from(l.register) == r && (l.start_pc as usize..l.end_pc as usize).contains(&pc)
        };
        locals.iter().rposition(here).map(|local| Place::Local(n, local))
    }

    /// Returns the variable that upvalue `u` of function `n` refers to.
    fn upvalue(&self, mut n: usize, mut u: usize) -> Option<Place> {
        loop {
            let desc = self.functions[n].proto.upvalues.get(u)?;
            let (outer, pc) = self.functions[n].outer?;
            if desc.in_stack {
                return self.local(outer, pc + 1, desc.index.into());
            }
            (n, u) = (outer, desc.index.into());
        }
    }

    fn name(&self, n: usize, k: usize) -> Option<Place> {
        let proto = &self.functions[n].proto;
        match proto.constants.get(k) {
            Some(Constant::Str(name)) => Some(Place::Name(proto.str(*name).into())),
            _ => None,
        }
    }

    fn find_definitions(&mut self, n: usize) {
        let proto = self.functions[n].proto.clone();
        for (pc, i) in proto.code.iter().enumerate() {
            if i.op() != Op::Closure {
                continue;
            }
            let r = i.a();
            let local = self.local(n, pc + 1, r);
            let place = match proto.code.get(pc + 1) {
                _ if local.is_some() => local,
                Some(next) => match next.op() {
                    Op::SetTabUp | Op::SetField if next.c() == r => self.name(n, next.b()),
                    Op::SetUpval if next.a() == r => self.upvalue(n, next.b()),
                    Op::Move if next.b() == r => self.local(n, pc + 1, next.a()),
                    _ => None,
                },
                None => None,
            };
            if let Some(place) = place {
                let function = self.functions[n].inner[i.bx()];
                self.stored.entry(place).and_modify(|f| *f = None).or_insert(Some(function));
            }
        }
    }

    fn find_calls(&self, n: usize) -> Vec<Call> {
        let code = &self.functions[n].proto.code;
        let loops: Vec<(usize, usize)> = code
            .iter()
            .enumerate()
            .filter_map(|(pc, i)| match i.op() {
                Op::ForLoop | Op::TForLoop => Some(((pc + 1).saturating_sub(i.bx()), pc)),
                Op::Jmp if i.sj_value() < 0 => {
                    Some(((pc + 1).saturating_add_signed(i.sj_value()), pc))
                }
                _ => None,
            })
            .collect();
        let mut calls = Vec::new();
        for (pc, i) in code.iter().enumerate() {
            if !matches!(i.op(), Op::Call | Op::TailCall) {
                continue;
            }
            let Some(to) = self.callee(n, pc, i.a()) else { continue };
            let depth = loops.iter().filter(|(first, last)| (*first..=*last).contains(&pc)).count();
            let weight = 1 << (3 * depth.min(12));
            calls.push(Call { from: n, pc: pc as u32, to, weight });
        }
        calls
    }

    /// Returns the function in register `r` at the call at `pc`, according to the last instruction
    /// before the call that writes the register.
    fn callee(&self, n: usize, pc: usize, r: usize) -> Option<usize> {
        let code = &self.functions[n].proto.code;
        for at in (0..pc).rev() {
            let i = code[at];
            if i.a() != r {
                continue;
            }
            let place = match i.op() {
                Op::Move => self.local(n, at, i.b()),
                Op::GetUpval => self.upvalue(n, i.b()),
                Op::GetTabUp | Op::GetField | Op::SelfK => self.name(n, i.c()),
                Op::GetTable | Op::GetI | Op::SelfR | Op::Call | Op::Closure | Op::LoadNil => None,
                // stores and tests read the register
                _ => continue,
            };
            return self.stored.get(&place?).copied().flatten();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the calls as the line of the calling function, that of the called one, and the
    /// weight.
    fn calls(source: &str) -> Vec<(u32, u32, u64)> {
        let proto = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
        let graph = CallGraph::of(&proto.ok().expect("it compiles"));
        let line = |n: usize| graph.functions[n].line_defined;
        graph.calls.iter().map(|c| (line(c.from), line(c.to), c.weight)).collect()
    }

    #[test]
    fn locals_upvalues_globals_and_methods() {
        let source = "local function leaf(x) return x end
            local function middle(x) return leaf(x) + 1 end
            function top(x)
              local s = 0
              for i = 1, x do s = s + middle(i) while s > 9 do s = s - leaf(s) end end
              return s
            end
            local C = {}
            function C:method() return top(1) end
            function C.new() return C end
            local object = C.new()
            return object:method(), print(leaf(1))";
        let found = calls(source);
        let expect =
            [(0, 10, 1), (0, 9, 1), (0, 1, 1), (2, 1, 1), (3, 2, 8), (3, 1, 64), (9, 3, 1)];
        assert_eq!(found, expect);
    }

    #[test]
    fn recursion_is_seen_and_ambiguity_is_not_guessed_at() {
        assert_eq!(
            calls("local function f(n)\nif n > 0 then return n + f(n - 1) end end"),
            [(1, 1, 1)]
        );
        let two = "local A, B = {}, {}
            function A:go() return 1 end
            function B:go() return 2 end
            return A:go() + B:go()";
        assert!(calls(two).is_empty());
        let changed = "local f = function() return 1 end
            f = function() return 2 end
            return f() + 1";
        assert!(calls(changed).is_empty());
    }
}
