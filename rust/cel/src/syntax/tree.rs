//! How deep and how large syntax trees are.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

use crate::syntax::MAX_DEPTH;

/// How deep upstream's visitor would recurse into a tree, counting what upstream counts: operators but `&&`, `||` and the unary ones, selections, member calls, indices and
/// conditionals. Stops one above the limit.
pub(super) fn depth(root: &IdedExpr) -> usize {
    let mut deepest = 0;
    let mut open = vec![(root, 0)];
    while let Some((node, outer)) = open.pop() {
        let depth = outer + usize::from(counts(&node.expr));
        deepest = deepest.max(depth);
        if deepest > MAX_DEPTH {
            break;
        }
        visit_children(&node.expr, |child| open.push((child, depth)));
    }
    deepest
}

/// The number of nodes of a tree.
pub(crate) fn size(root: &IdedExpr) -> usize {
    let mut size = 0;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        size += 1;
        visit_children(&node.expr, |child| open.push(child));
    }
    size
}

fn counts(expression: &Expr) -> bool {
    match expression {
        Expr::Select(_) => true,
        Expr::Call(call) => {
            call.target.is_some()
                || !matches!(call.func_name.as_str(), "_&&_" | "_||_" | "!_" | "-_")
                    && call.func_name.contains(['_', '@'])
        }
        _ => false,
    }
}

fn visit_children<'a>(expression: &'a Expr, mut visit: impl FnMut(&'a IdedExpr)) {
    match expression {
        Expr::Call(call) => {
            call.target.iter().for_each(|target| visit(target));
            call.args.iter().for_each(&mut visit);
        }
        Expr::Select(select) => visit(&select.operand),
        Expr::List(list) => list.elements.iter().for_each(&mut visit),
        Expr::Map(map) => map.entries.iter().for_each(|entry| visit_entry(&entry.expr, &mut visit)),
        Expr::Struct(object) => object.entries.iter().for_each(|entry| visit_entry(&entry.expr, &mut visit)),
        Expr::Comprehension(_) | Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn visit_entry<'a>(entry: &'a EntryExpr, visit: &mut impl FnMut(&'a IdedExpr)) {
    match entry {
        EntryExpr::MapEntry(entry) => {
            visit(&entry.key);
            visit(&entry.value);
        }
        EntryExpr::StructField(field) => visit(&field.value),
    }
}
