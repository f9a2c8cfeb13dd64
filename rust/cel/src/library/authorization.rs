//! Functions of the authorizer. They are declared, but no value that they take can exist in a device selector.

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Overload};
use crate::types::Type;

const AUTHORIZER: Type = Type::Object("kubernetes.authorization.Authorizer");
const PATH: Type = Type::Object("kubernetes.authorization.PathCheck");
const GROUP: Type = Type::Object("kubernetes.authorization.GroupCheck");
const RESOURCE: Type = Type::Object("kubernetes.authorization.ResourceCheck");
const DECISION: Type = Type::Object("kubernetes.authorization.Decision");

pub(super) fn functions() -> Vec<Function> {
    vec![
        function("path", vec![member([AUTHORIZER, Type::String], PATH, Cost::One)]),
        function("group", vec![member([AUTHORIZER, Type::String], GROUP, Cost::One)]),
        function("serviceAccount", vec![member([AUTHORIZER, Type::String, Type::String], AUTHORIZER, Cost::One)]),
        function("resource", vec![member([GROUP, Type::String], RESOURCE, Cost::One)]),
        function("subresource", vec![member([RESOURCE, Type::String], RESOURCE, Cost::One)]),
        function("namespace", vec![member([RESOURCE, Type::String], RESOURCE, Cost::One)]),
        function("name", vec![member([RESOURCE, Type::String], RESOURCE, Cost::One)]),
        function(
            "check",
            vec![
                member([PATH, Type::String], DECISION, Cost::Authorize),
                member([RESOURCE, Type::String], DECISION, Cost::Authorize),
            ],
        ),
        function("errored", vec![member([DECISION], Type::Bool, Cost::One)]),
        function("error", vec![member([DECISION], Type::String, Cost::One)]),
        function("allowed", vec![member([DECISION], Type::Bool, Cost::One)]),
        function("reason", vec![member([DECISION], Type::String, Cost::One)]),
        function("fieldSelector", vec![member([RESOURCE, Type::String], RESOURCE, Cost::ParseSelector)]),
        function("labelSelector", vec![member([RESOURCE, Type::String], RESOURCE, Cost::ParseSelector)]),
    ]
}

fn function(name: &'static str, overloads: Vec<Overload>) -> Function {
    Function::new(name, overloads)
}

fn member<const N: usize>(parameters: [Type; N], result: Type, cost: Cost) -> Overload {
    Overload::member("authorization", parameters, result, cost, |_| Err(Fault::no_such_overload()))
}
