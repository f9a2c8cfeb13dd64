//! Macros: calls that stand for loops and conditionals.
//!
//! A macro is expanded on the syntax tree, before names and types are looked at. All nodes that it makes have the place of the call.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SelectExpr, operators,
};
use cel::common::types::{CelBool, CelInt};

/// The variable that a loop gathers its result in; it cannot be written in an expression.
pub(crate) const ACCUMULATOR: &str = "@result";
/// Its name of old, still refused as a loop variable.
const OLD_ACCUMULATOR: &str = "__result__";
/// The variable of loops that never run, which is what `cel.bind` becomes.
const UNUSED: &str = "#unused";
/// Adds an entry, or all of a map, to a map.
pub(crate) const MAP_INSERT: &str = "cel.@mapInsert";
/// Sorts a list by the values in another.
pub(crate) const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";

/// Why a macro cannot be expanded, and at which node.
pub(crate) struct MacroError {
    pub(crate) node: u64,
    pub(crate) message: String,
}

type Expansion = Result<IdedExpr, MacroError>;

/// What `call` at the node `id` became.
pub(crate) enum Expanded {
    /// It is no macro.
    Call(CallExpr),
    /// It is one.
    Macro(Expansion),
}

/// Expands `call` if it is a macro; the arguments stay as they are.
pub(crate) fn expand(id: u64, mut call: CallExpr) -> Expanded {
    let make = Make(id);
    let Some(target) = call.target.take() else {
        if call.func_name == operators::HAS && call.args.len() == 1 {
            return Expanded::Macro(has(make, call.args));
        }
        return Expanded::Call(call);
    };
    let Some(expander) = receiver_macro(&call.func_name, call.args.len()) else {
        call.target = Some(target);
        return Expanded::Call(call);
    };
    if call.func_name == "bind" && !matches!(&target.expr, Expr::Ident(name) if name == "cel") {
        call.target = Some(target);
        return Expanded::Call(call);
    }
    Expanded::Macro(expander(make, *target, call.args))
}

/// Whether the expansion of `call` has its target twice.
pub(crate) fn doubles_target(call: &CallExpr) -> bool {
    matches!((call.func_name.as_str(), call.args.len()), ("optMap" | "optFlatMap", 2))
}

type Expander = fn(Make, IdedExpr, Vec<IdedExpr>) -> Expansion;

fn receiver_macro(name: &str, arguments: usize) -> Option<Expander> {
    Some(match (name, arguments) {
        ("all", 2 | 3) => all,
        ("exists", 2 | 3) => exists,
        ("exists_one", 2 | 3) | ("existsOne", 3) => exists_one,
        ("map", 2 | 3) => map,
        ("filter", 2) => filter,
        ("transformList", 3 | 4) => transform_list,
        ("transformMap", 3 | 4) => transform_map,
        ("transformMapEntry", 3 | 4) => transform_map_entry,
        ("optMap", 2) => opt_map,
        ("optFlatMap", 2) => opt_flat_map,
        ("bind", 3) => bind,
        ("sortBy", 2) => sort_by,
        _ => return None,
    })
}

fn has(make: Make, arguments: Vec<IdedExpr>) -> Expansion {
    let Some(argument) = arguments.into_iter().next() else {
        return Err(make.error("invalid argument to has() macro"));
    };
    match argument.expr {
        Expr::Select(SelectExpr { operand, field, .. }) => {
            Ok(make.node(Expr::Select(SelectExpr { operand, field, test: true })))
        }
        _ => Err(MacroError { node: argument.id, message: "invalid argument to has() macro".to_owned() }),
    }
}

fn all(make: Make, range: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let (variables, [test]) = Variables::split(arguments, QUANTIFIER)?;
    let condition = make.call(operators::NOT_STRICTLY_FALSE, vec![make.accumulator()]);
    let step = make.call(operators::LOGICAL_AND, vec![make.accumulator(), test]);
    Ok(make.fold(range, variables, make.boolean(true), condition, step, make.accumulator()))
}

fn exists(make: Make, range: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let (variables, [test]) = Variables::split(arguments, QUANTIFIER)?;
    let not_yet = make.call(operators::LOGICAL_NOT, vec![make.accumulator()]);
    let condition = make.call(operators::NOT_STRICTLY_FALSE, vec![not_yet]);
    let step = make.call(operators::LOGICAL_OR, vec![make.accumulator(), test]);
    Ok(make.fold(range, variables, make.boolean(false), condition, step, make.accumulator()))
}

fn exists_one(make: Make, range: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let (variables, [test]) = Variables::split(arguments, QUANTIFIER)?;
    let one_more = make.call(operators::ADD, vec![make.accumulator(), make.int(1)]);
    let step = make.call(operators::CONDITIONAL, vec![test, one_more, make.accumulator()]);
    let result = make.call(operators::EQUALS, vec![make.accumulator(), make.int(1)]);
    Ok(make.fold(range, variables, make.int(0), make.boolean(true), step, result))
}

fn map(make: Make, range: IdedExpr, mut arguments: Vec<IdedExpr>) -> Expansion {
    let rest = arguments.split_off(1);
    let (variables, []) = Variables::split(arguments, TRANSFORM)?;
    Ok(make.gather(range, variables, rest, |make, element| {
        make.call(operators::ADD, vec![make.accumulator(), make.list(vec![element])])
    }))
}

fn filter(make: Make, range: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let element = arguments.first().map(|argument| argument.id);
    let (variables, [test]) = Variables::split(arguments, TRANSFORM)?;
    let element = Make(element.unwrap_or(make.0)).ident(&variables.first);
    Ok(make.gather(range, variables, vec![test, element], |make, element| {
        make.call(operators::ADD, vec![make.accumulator(), make.list(vec![element])])
    }))
}

fn transform_list(make: Make, range: IdedExpr, mut arguments: Vec<IdedExpr>) -> Expansion {
    let rest = arguments.split_off(2);
    let (variables, []) = Variables::split(arguments, QUANTIFIER)?;
    Ok(make.gather(range, variables, rest, |make, element| {
        make.call(operators::ADD, vec![make.accumulator(), make.list(vec![element])])
    }))
}

fn transform_map(make: Make, range: IdedExpr, mut arguments: Vec<IdedExpr>) -> Expansion {
    let rest = arguments.split_off(2);
    let (variables, []) = Variables::split(arguments, QUANTIFIER)?;
    let key = variables.first.clone();
    Ok(make.gather_entries(range, variables, rest, |make, value| {
        make.call(MAP_INSERT, vec![make.accumulator(), make.ident(&key), value])
    }))
}

fn transform_map_entry(make: Make, range: IdedExpr, mut arguments: Vec<IdedExpr>) -> Expansion {
    let rest = arguments.split_off(2);
    let (variables, []) = Variables::split(arguments, QUANTIFIER)?;
    Ok(make.gather_entries(range, variables, rest, |make, entries| {
        make.call(MAP_INSERT, vec![make.accumulator(), entries])
    }))
}

fn opt_map(make: Make, target: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let (condition, mapped) = opt_parts(make, target, arguments, "optMap")?;
    Ok(make.call(
        operators::CONDITIONAL,
        vec![condition, make.call("optional.of", vec![mapped]), make.call("optional.none", Vec::new())],
    ))
}

fn opt_flat_map(make: Make, target: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let (condition, mapped) = opt_parts(make, target, arguments, "optFlatMap")?;
    Ok(make.call(operators::CONDITIONAL, vec![condition, mapped, make.call("optional.none", Vec::new())]))
}

/// The test whether `target` has a value, and the argument with the value bound to its variable.
fn opt_parts(
    make: Make,
    target: IdedExpr,
    arguments: Vec<IdedExpr>,
    name: &str,
) -> Result<(IdedExpr, IdedExpr), MacroError> {
    let mut arguments = arguments.into_iter();
    let (Some(variable), Some(body)) = (arguments.next(), arguments.next()) else {
        return Err(make.error("missing argument"));
    };
    let message = || format!("{name}() variable name must be a simple identifier");
    let variable = simple_name(variable, message)?;
    let value = make.member("value", target.clone(), Vec::new());
    let bound = make.bind(&variable, value, body);
    Ok((make.member("hasValue", target, Vec::new()), bound))
}

fn bind(make: Make, _namespace: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    let mut arguments = arguments.into_iter();
    let (Some(variable), Some(value), Some(body)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err(make.error("missing argument"));
    };
    let variable = simple_name(variable, || "cel.bind() variable names must be simple identifiers".to_owned())?;
    Ok(make.bind(&variable, value, body))
}

fn sort_by(make: Make, target: IdedExpr, arguments: Vec<IdedExpr>) -> Expansion {
    const INPUT: &str = "@__sortBy_input__";
    if matches!(target.expr, Expr::Literal(_) | Expr::Map(_) | Expr::Struct(_)) {
        let message =
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression".to_owned();
        return Err(MacroError { node: target.id, message });
    }
    let keys = map(make, make.ident(INPUT), arguments)?;
    Ok(make.bind(INPUT, target, make.member(SORT_BY_KEYS, make.ident(INPUT), vec![keys])))
}

/// The message for a loop variable of a test that is no name.
const QUANTIFIER: &str = "argument must be a simple name";
/// The same for `map` and `filter`.
const TRANSFORM: &str = "argument is not an identifier";

/// The variables of a loop: the element, or key and value.
struct Variables {
    first: String,
    second: Option<String>,
}

impl Variables {
    /// Takes the variables from the front of `arguments`, leaving `N` others.
    fn split<const N: usize>(arguments: Vec<IdedExpr>, message: &str) -> Result<(Self, [IdedExpr; N]), MacroError> {
        let names = arguments.len() - N;
        let mut arguments = arguments.into_iter();
        let mut variables = Vec::with_capacity(names);
        for variable in arguments.by_ref().take(names) {
            let id = variable.id;
            variables.push((id, simple_name(variable, || message.to_owned())?));
        }
        if let [(_, first), (id, second)] = variables.as_slice()
            && first == second
        {
            return Err(MacroError { node: *id, message: format!("duplicate variable name: {first}") });
        }
        if let Some((id, _)) = variables.iter().find(|(_, name)| name == ACCUMULATOR || name == OLD_ACCUMULATOR) {
            return Err(MacroError {
                node: *id,
                message: "iteration variable overwrites accumulator variable".to_owned(),
            });
        }
        let mut variables = variables.into_iter().map(|(_, name)| name);
        let variables = Self { first: variables.next().unwrap_or_default(), second: variables.next() };
        let rest: Vec<IdedExpr> = arguments.collect();
        match rest.try_into() {
            Ok(rest) => Ok((variables, rest)),
            Err(_) => Err(MacroError { node: 0, message: message.to_owned() }),
        }
    }
}

fn simple_name(node: IdedExpr, message: impl FnOnce() -> String) -> Result<String, MacroError> {
    match node.expr {
        Expr::Ident(name) => Ok(name),
        _ => Err(MacroError { node: node.id, message: message() }),
    }
}

/// Makes nodes in the place of one call.
#[derive(Clone, Copy)]
struct Make(u64);

impl Make {
    fn node(self, expr: Expr) -> IdedExpr {
        IdedExpr { id: self.0, expr }
    }

    fn error(self, message: &str) -> MacroError {
        MacroError { node: self.0, message: message.to_owned() }
    }

    fn boolean(self, value: bool) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Boolean(CelBool::from(value))))
    }

    fn int(self, value: i64) -> IdedExpr {
        self.node(Expr::Literal(LiteralValue::Int(CelInt::from(value))))
    }

    fn ident(self, name: &str) -> IdedExpr {
        self.node(Expr::Ident(name.to_owned()))
    }

    fn accumulator(self) -> IdedExpr {
        self.ident(ACCUMULATOR)
    }

    fn list(self, elements: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::List(ListExpr::new(elements)))
    }

    fn call(self, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
    }

    fn member(self, name: &str, target: IdedExpr, args: Vec<IdedExpr>) -> IdedExpr {
        self.node(Expr::Call(CallExpr { func_name: name.to_owned(), target: Some(Box::new(target)), args }))
    }

    fn fold(
        self,
        range: IdedExpr,
        variables: Variables,
        init: IdedExpr,
        condition: IdedExpr,
        step: IdedExpr,
        result: IdedExpr,
    ) -> IdedExpr {
        self.node(Expr::Comprehension(Box::new(ComprehensionExpr {
            iter_range: range,
            iter_var: variables.first,
            iter_var2: variables.second,
            accu_var: ACCUMULATOR.to_owned(),
            accu_init: init,
            loop_cond: condition,
            loop_step: step,
            result,
        })))
    }

    /// A loop over all that adds to a list: `rest` is what to add, after the test whether to add it when there is one.
    fn gather(
        self,
        range: IdedExpr,
        variables: Variables,
        rest: Vec<IdedExpr>,
        add: impl FnOnce(Self, IdedExpr) -> IdedExpr,
    ) -> IdedExpr {
        let step = self.gather_step(rest, add);
        self.fold(range, variables, self.list(Vec::new()), self.boolean(true), step, self.accumulator())
    }

    /// The same for a map.
    fn gather_entries(
        self,
        range: IdedExpr,
        variables: Variables,
        rest: Vec<IdedExpr>,
        add: impl FnOnce(Self, IdedExpr) -> IdedExpr,
    ) -> IdedExpr {
        let step = self.gather_step(rest, add);
        let empty = self.node(Expr::Map(MapExpr { entries: Vec::new() }));
        self.fold(range, variables, empty, self.boolean(true), step, self.accumulator())
    }

    fn gather_step(self, mut rest: Vec<IdedExpr>, add: impl FnOnce(Self, IdedExpr) -> IdedExpr) -> IdedExpr {
        let step = add(self, rest.pop().unwrap_or_default());
        match rest.pop() {
            Some(test) => self.call(operators::CONDITIONAL, vec![test, step, self.accumulator()]),
            None => step,
        }
    }

    /// `body` with `variable` bound to `value`: a loop that never runs.
    fn bind(self, variable: &str, value: IdedExpr, body: IdedExpr) -> IdedExpr {
        self.node(Expr::Comprehension(Box::new(ComprehensionExpr {
            iter_range: self.list(Vec::new()),
            iter_var: UNUSED.to_owned(),
            iter_var2: None,
            accu_var: variable.to_owned(),
            accu_init: value,
            loop_cond: self.boolean(false),
            loop_step: self.ident(variable),
            result: body,
        })))
    }
}
