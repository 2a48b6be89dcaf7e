//! Whether a chunk assigns its own `_ENV`.

use perilune_syntax::ast::{Block, Chunk, ExprKind, StmtKind, UpvalueSource};

/// Whether some function of the chunk assigns the main function's upvalue `_ENV`.
pub(super) fn is_assigned(chunk: &Chunk) -> bool {
    // is_env[f][u]: upvalue u of function f is that one. Parents come before their functions.
    let mut is_env: Vec<Vec<bool>> = Vec::with_capacity(chunk.functions.len());
    for function in &chunk.functions {
        let flags = match function.parent {
            None => vec![true],
            Some(parent) => function
                .upvalues
                .iter()
                .map(|u| match u.source {
                    UpvalueSource::ParentUpvalue(i) => is_env[parent.0 as usize][i as usize],
                    UpvalueSource::ParentLocal(_) => false,
                })
                .collect(),
        };
        is_env.push(flags);
    }
    chunk
        .functions
        .iter()
        .zip(&is_env)
        .any(|(function, is_env)| block_assigns(chunk, &function.body, is_env))
}

fn block_assigns(chunk: &Chunk, block: &Block, is_env: &[bool]) -> bool {
    let target_is_env = |id: &perilune_syntax::ast::ExprId| matches!(chunk.exprs[id.0 as usize].kind, ExprKind::Upvalue(i) if is_env[i as usize]);
    let inner = |block: &Block| block_assigns(chunk, block, is_env);
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().any(target_is_env),
        StmtKind::Function { target, .. } => target_is_env(target),
        StmtKind::Do(body)
        | StmtKind::While { body, .. }
        | StmtKind::Repeat { body, .. }
        | StmtKind::NumericFor { body, .. }
        | StmtKind::GenericFor { body, .. } => inner(body),
        StmtKind::If { arms, otherwise } => {
            arms.iter().any(|arm| inner(&arm.body)) || otherwise.as_ref().is_some_and(inner)
        }
        StmtKind::Local { .. }
        | StmtKind::Call(_)
        | StmtKind::LocalFunction { .. }
        | StmtKind::Return { .. }
        | StmtKind::Goto(_)
        | StmtKind::Label { .. } => false,
    })
}
