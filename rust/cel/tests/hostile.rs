//! Expressions written to exhaust stack, memory or time end in an error, or are cheap. A failure of these tests is a crash or a hang.

use std::fmt::Write as _;

use drayman_api::Device;
use drayman_cel::{CelDevice, Environment, RuntimeError, Selector};

const SIZE_LIMIT: &str = "operation cancelled: size limit exceeded";
const COST_LIMIT: &str = "operation cancelled: actual cost limit exceeded";
const TOO_LARGE_TYPE: &str =
    "compilation failed: ERROR: <input>:-1:0: expression is too large: a type in it has too many parts";

fn device() -> CelDevice {
    CelDevice::new("gpu.example.com", &Device::default())
}

/// What becomes of an expression: its value, or the first line of an error.
fn outcome(expression: &str) -> String {
    let text = match Selector::compile_derived(expression, Environment::Stored) {
        Ok(selector) => match selector.evaluate(&device()).value {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// `body` with the names `v1`, `v2`, … bound to what `step` makes of the one before; `v0` is bound to `first`.
fn bound(count: usize, first: &str, step: impl Fn(&str) -> String, body: &str) -> String {
    let mut text = format!("cel.bind(v0, {first}, ");
    for index in 1..=count {
        let value = step(&format!("v{}", index - 1));
        write!(text, "cel.bind(v{index}, {value}, ").expect("writing to a text succeeds");
    }
    text + body + &")".repeat(count + 1)
}

#[test]
fn deep_nesting_is_refused() {
    let limit = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
    let deep = "compilation failed: ERROR: <input>:-1:0: max recursion depth exceeded";
    for (expression, expected) in [
        (format!("{}1{}", "(".repeat(30_000), ")".repeat(30_000)), limit),
        (format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000)), limit),
        (format!("{}1{}", "{1:".repeat(20_000), "}".repeat(20_000)), limit),
        ("true ? ".repeat(300) + "1" + &" : 1".repeat(300), limit),
        ("f(".repeat(20_000), limit),
        (format!("1{}", " + 1".repeat(20_000)), deep),
        (format!("device{}", ".a".repeat(40_000)), deep),
        (format!("device{}", "[0]".repeat(30_000)), deep),
        (format!("device{}", ".f()".repeat(20_000)), deep),
    ] {
        assert_eq!(outcome(&expression), expected, "{}", &expression[..20]);
    }
}

#[test]
fn long_flat_expressions_are_fine() {
    let many = |part: &str, separator: &str, count: usize| vec![part; count].join(separator);
    for (expression, expected) in [
        (many("true", " && ", 11_000), "true"),
        (many("false", " || ", 11_000), "false"),
        (format!("{}true", "!".repeat(90_000)), "true"),
        (format!("[{}].size()", many("1", ",", 45_000)), "45000"),
        (format!("{{{}}}.size()", (0..9_000).map(|key| format!("{key}:1")).collect::<Vec<_>>().join(",")), "9000"),
        (format!("\"{}\".size()", "a".repeat(99_000)), "99000"),
    ] {
        assert_eq!(outcome(&expression), expected, "{}", &expression[..20]);
    }
    assert_eq!(
        outcome(&" ".repeat(100_001)),
        "compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000"
    );
}

#[test]
fn numbers_beyond_all_ranges_are_refused() {
    for (expression, expected) in [
        ("9".repeat(90_000), "compilation failed: ERROR: <input>:1:1: invalid int literal"),
        ("1e999999999 > 1.0".to_owned(), "compilation failed: ERROR: <input>:1:1: invalid double literal"),
        ("quantity(\"1e999999999\").isInteger()".to_owned(), "false"),
        ("isQuantity(\"1e-999999999\")".to_owned(), "true"),
        (format!("isSemver(\"{}.0.0\")", "9".repeat(90_000)), "false"),
    ] {
        assert_eq!(outcome(&expression), expected, "{}", &expression[..expression.len().min(40)]);
    }
}

#[test]
fn types_that_double_with_each_name_are_refused() {
    let doubling = bound(60, "{1: 1}", |previous| format!("{{{previous}: {previous}}}"), "v60 == v60");
    assert_eq!(outcome(&doubling), TOO_LARGE_TYPE);
    let unknown = bound(60, "{}", |previous| format!("{{{previous}: {previous}}}"), "[v60, v59].size() == 1");
    assert_eq!(outcome(&unknown), TOO_LARGE_TYPE);
    let deep =
        bound(100, "[1]", |previous| format!("{}{previous}{}", "[".repeat(100), "]".repeat(100)), "v100 == v100");
    assert_eq!(outcome(&deep), TOO_LARGE_TYPE);
}

#[test]
fn values_that_double_with_each_name_are_not_walked_over() {
    for body in [
        "v60 == v60",
        "v60 != v60",
        "v60 in [v60]",
        "[v60].indexOf(v60) == 0",
        "[v60].distinct() == []",
        "sets.contains([v60], [v60])",
        "\"%s\".format([v60]) == \"\"",
        "[?v60] == []",
        "{1: v60} == {1: v60}",
        "[1, 2].transformMapEntry(i, v, {v60: 1}) == {}",
        "optional.of(v60) == optional.of(v60)",
        "v60",
        "v60.flatten(100).size() == 1",
    ] {
        let expression = bound(60, "dyn([1])", |previous| format!("dyn([{previous}, {previous}])"), body);
        assert_eq!(outcome(&expression), SIZE_LIMIT, "{body}");
    }
}

#[test]
fn values_that_nest_with_each_name_are_refused() {
    let lists = bound(
        100,
        "dyn([1])",
        |previous| format!("dyn({}{previous}{})", "[".repeat(100), "]".repeat(100)),
        "v100 == v100",
    );
    assert_eq!(outcome(&lists), SIZE_LIMIT);
    let optionals = bound(
        100,
        "dyn(1)",
        |previous| format!("dyn({}{previous}{})", "optional.of(".repeat(50), ")".repeat(50)),
        "v100 == v100",
    );
    assert_eq!(outcome(&optionals), SIZE_LIMIT);
}

#[test]
fn results_that_double_end_at_a_limit() {
    for (expression, expected) in [
        (bound(60, "\"abcdefgh\"", |previous| format!("{previous} + {previous}"), "v60.size()"), COST_LIMIT),
        (bound(60, "[1]", |previous| format!("{previous} + {previous}"), "v60.size()"), SIZE_LIMIT),
        (bound(20, "\"aa\"", |previous| format!("{previous}.replace(\"a\", {previous})"), "v20.size()"), SIZE_LIMIT),
        ("lists.range(1000000).map(x, lists.range(1000000)).size()".to_owned(), COST_LIMIT),
        ("[1].map(x, lists.range(999999)).size()".to_owned(), COST_LIMIT),
    ] {
        assert_eq!(outcome(&expression), expected, "{}", &expression[..30]);
    }
}

#[test]
fn loops_within_loops_end_at_the_cost_limit() {
    let list = format!("[{}]", vec!["1"; 1_000].join(","));
    for test in ["a + b + c == 3", "true"] {
        assert_eq!(outcome(&format!("{list}.all(a, {list}.all(b, {list}.all(c, {test})))")), COST_LIMIT);
    }
}

#[test]
fn macros_that_double_their_target_end() {
    let too_large = "compilation failed: ERROR: <input>:-1:0: expression is too large: more than 200000 parts after expansion of macros";
    let light = "optional.of(1)".to_owned() + &".optMap(x, x + 1)".repeat(100);
    assert_eq!(outcome(&light), too_large);
    let heavy = format!("optional.of([{}])", vec!["1"; 30_000].join(",")) + &".optMap(x, x)".repeat(100);
    assert_eq!(outcome(&heavy), too_large);
}

#[test]
fn heavy_regular_expressions_are_limited() {
    let nested = outcome("\"a\".matches(\"(a{1000}){1000}\")");
    assert_eq!(nested, "compilation failed: ERROR: <input>:1:13: invalid matches argument");
    let many = vec!["\"a\".matches(\"\\\\pL{1000}\")"; 300].join(" || ");
    assert!(outcome(&many).contains("invalid matches argument"), "{}", outcome(&many));
    let computed = "lists.range(10000).exists(i, \"a\".matches(\"\\\\pL{9\" + string(i % 10) + \"9}\"))";
    assert_eq!(outcome(computed), SIZE_LIMIT);
}

#[test]
fn limits_are_not_absorbed() {
    let doubling = |body: &str| bound(60, "dyn([1])", |previous| format!("dyn([{previous}, {previous}])"), body);
    assert_eq!(outcome(&doubling("true || v60 == v60")), "true");
    for body in ["v60 == v60 || true", "[1].exists(x, v60 == v60 || true)"] {
        let selector = Selector::compile(&doubling(body), Environment::Stored).expect("the expression compiles");
        assert_eq!(selector.matches(&device()), Err(RuntimeError::SizeLimit), "{body}");
    }
}
