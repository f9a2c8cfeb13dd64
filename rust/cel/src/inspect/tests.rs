use super::*;

/// What there is in an expression, a line each, with the pieces of text that the spans cover.
fn describe(source: &str) -> Vec<String> {
    let found = inspect(source);
    let text = |span: Span| source.get(span.start..span.end).unwrap_or("?");
    let key = |key: &Option<Key>| key.as_ref().map_or("?".to_owned(), |key| format!("{} {}", key.text, text(key.span)));
    let operand = |operand: &Operand| {
        let kind = match &operand.kind {
            OperandKind::Literal(value) => format!("Literal {value}"),
            OperandKind::Literals(values) => format!("Literals of {}", values.len()),
            other => format!("{other:?}"),
        };
        format!("{kind} {}", text(operand.span))
    };
    let mut lines = Vec::new();
    for slip in &found.slips {
        lines.push(format!("slip {:?} {} -> {}", slip.kind, text(slip.span), slip.replacement));
    }
    for access in &found.accesses {
        let guarded = if access.guarded { "guarded" } else { "unguarded" };
        let (domain, name) = (key(&access.domain), key(&access.name));
        lines.push(format!(
            "{:?} [{domain}] [{name}] {:?} {guarded}: {}",
            access.section,
            access.form,
            text(access.span)
        ));
    }
    for member in &found.members {
        let arguments = member.arguments.iter().flatten().map(operand).collect::<Vec<_>>().join(", ");
        let call = if member.arguments.is_some() { format!("({arguments})") } else { String::new() };
        lines.push(format!("member {} {}{call}: {}", member.access, text(member.name_span), text(member.span)));
    }
    for comparison in &found.comparisons {
        let Comparison { operator, operator_span, left, right, conjunction, span } = comparison;
        assert_eq!(text(*operator_span), *operator);
        let together = if *conjunction == 0 { "always" } else { "in a part" };
        lines.push(format!("{} {operator} {} {together}: {}", operand(left), operand(right), text(*span)));
    }
    for constant in &found.constants {
        lines.push(format!("constant {}: {}", constant.value, text(constant.span)));
    }
    lines.extend(found.always.map(|value| format!("always {value}")));
    lines
}

#[test]
fn accesses_are_found_in_every_form() {
    for (source, expected) in [
        (r#"device.attributes["d"].x"#, r#"Attributes [d "d"] [x x] Field unguarded: device.attributes["d"].x"#),
        (
            "device . capacity [ 'd' ] [\n'x' ]",
            "Capacity [d 'd'] [x 'x'] Index unguarded: device . capacity [ 'd' ] [\n'x' ]",
        ),
        ("device.attributes.d.x", "Attributes [d d] [x x] Field unguarded: device.attributes.d.x"),
        (
            r#"device.attributes["d"].?x.hasValue()"#,
            r#"Attributes [d "d"] [x x] OptionalField guarded: device.attributes["d"].?x"#,
        ),
        (
            r#"device.attributes[?"d"][?'x'].orValue(true)"#,
            r#"Attributes [d "d"] [x 'x'] OptionalIndex guarded: device.attributes[?"d"][?'x']"#,
        ),
        (r#"has(device.attributes["d"].x)"#, r#"Attributes [d "d"] [x x] Has guarded: device.attributes["d"].x"#),
        (r#""x" in device.attributes["d"]"#, r#"Attributes [d "d"] [x "x"] In guarded: "x" in device.attributes["d"]"#),
        (r#""d" in device.attributes"#, r#"Attributes [d "d"] [?] In guarded: "d" in device.attributes"#),
        (r#"device.attributes["x"].size() > 0"#, r#"Attributes [x "x"] [?] Whole guarded: device.attributes["x"]"#),
        ("device.attributes.size() > 0", "Attributes [?] [?] Whole guarded: device.attributes"),
        (r#"cel.bind(all, device.attributes["d"], all.x)"#, r#"Attributes [d "d"] [x x] Field unguarded: all.x"#),
        (
            r#"(device.attributes)[("d")].`a-b`"#,
            r#"Attributes [d "d"] [a-b `a-b`] Field unguarded: (device.attributes)[("d")].`a-b`"#,
        ),
    ] {
        let found = describe(source);
        assert_eq!(found.first().map_or("", String::as_str), expected, "{source}");
    }
}

#[test]
fn a_name_of_a_loop_is_not_the_device() {
    for source in [
        r#"[1].exists(device, device.attributes["d"].x)"#,
        r#"cel.bind(device, {"attributes": 1}, device.attributes["d"].x)"#,
    ] {
        assert_eq!(inspect(source).accesses, [], "{source}");
    }
}

#[test]
fn guards_are_seen_wherever_they_decide() {
    const X: &str = r#"device.attributes["d"].x"#;
    const Y: &str = r#"device.attributes["d"].y"#;
    for (source, guarded) in [
        ("has(X) && X == 1", true),
        ("X == 1 && has(X)", true),
        (r#""x" in device.attributes["d"] && X == 1"#, true),
        ("!has(X) || X == 1", true),
        ("has(X) ? X == 1 : false", true),
        ("!has(X) ? true : X == 1", true),
        ("has(X) == true && X == 1", true),
        ("!(has(X) == false) && X == 1", true),
        (r#"device.attributes["d"].?x.hasValue() && X == 1"#, true),
        ("has(X) && (X == 1 || X == 2)", true),
        ("has(X) && [1].exists(e, e == X)", true),
        ("cel.bind(has_it, has(X), has_it && X == 1)", true),
        ("false && X == 1", true),
        (r#"device.attributes["d"].?x.orValue(1) == 1"#, true),
        (r#"device.attributes["d"].?x.or(optional.of(1)).value() == 1"#, true),
        (r#"device.attributes["d"].?x.optMap(v, v == 1).orValue(false)"#, true),
        (r#"device.attributes["d"].?x.value() == 1"#, false),
        (r#"has(X) && device.attributes["d"].?x.value() == 1"#, true),
        ("optional.none().orValue(X) == 1", false),
        ("X == 1", false),
        ("has(Y) && X == 1", false),
        ("has(X) || X == 1", false),
        ("has(X) && Y == 1 || X == 1", false),
        (r#"device.driver == "d" && X == 1"#, false),
        (r#""d" in device.attributes && X == 1"#, false),
        ("has(Y) ? X == 1 : true", false),
        ("cel.bind(x, X, x == 1)", false),
    ] {
        let source = source.replace('X', X).replace('Y', Y);
        let found = inspect(&source);
        let reads = found.accesses.iter().filter(|access| matches!(access.form, Form::Field | Form::OptionalField));
        let of_x: Vec<&Access> =
            reads.filter(|access| access.name.as_ref().is_some_and(|name| name.text == "x")).collect();
        assert!(!of_x.is_empty(), "{source}");
        assert_eq!(of_x.iter().all(|access| access.guarded), guarded, "{source}");
    }
}

#[test]
fn many_accesses_are_told_apart() {
    let guarded = |index: usize| index.is_multiple_of(3);
    let parts: Vec<String> = (0..200)
        .map(|index| {
            let access = format!(r#"device.attributes["d"].x{index}"#);
            if guarded(index) { format!("(!has({access}) || {access} == 1)") } else { format!("{access} == 1") }
        })
        .collect();
    let found = inspect(&parts.join(" && "));
    let reads: Vec<bool> =
        found.accesses.iter().filter(|access| access.form == Form::Field).map(|access| access.guarded).collect();
    assert_eq!(reads, (0..200).map(guarded).collect::<Vec<_>>());
}

#[test]
fn comparisons_and_members_have_their_operands() {
    for (source, expected) in [
        (
            r#"device.driver == "gpu.example.com""#,
            vec![
                r#"Driver device.driver == Literal gpu.example.com "gpu.example.com" always: device.driver == "gpu.example.com""#,
            ],
        ),
        (
            r#"(device.attributes["d"].x.y) >= -5 || false"#,
            vec![
                r#"Attributes [d "d"] [x x] Field unguarded: device.attributes["d"].x"#,
                "member 0 y: .y",
                r#"Member(0) device.attributes["d"].x.y >= Literal -5 -5 in a part: (device.attributes["d"].x.y) >= -5"#,
            ],
        ),
        (
            r#"device.capacity["d"].m.compareTo(quantity("1Gi")) >= 0"#,
            vec![
                r#"Capacity [d "d"] [m m] Field unguarded: device.capacity["d"].m"#,
                r#"member 0 compareTo(Quantity("1Gi") quantity("1Gi")): .compareTo(quantity("1Gi"))"#,
                r#"Member(0) device.capacity["d"].m.compareTo(quantity("1Gi")) >= Literal 0 0 always: device.capacity["d"].m.compareTo(quantity("1Gi")) >= 0"#,
            ],
        ),
        (
            r#"device.capacity["d"].m.value() > semver("1.0", true)"#,
            vec![
                r#"Capacity [d "d"] [m m] Field unguarded: device.capacity["d"].m"#,
                "member 0 value(): .value()",
                r#"Member(0) device.capacity["d"].m.value() > Other semver("1.0", true) always: device.capacity["d"].m.value() > semver("1.0", true)"#,
            ],
        ),
        (
            r#"device.attributes["d"].?x.orValue("") in ["a", "b"]"#,
            vec![
                r#"Attributes [d "d"] [x x] OptionalField guarded: device.attributes["d"].?x"#,
                r#"Access(0) device.attributes["d"].?x.orValue("") in Literals of 2 ["a", "b"] always: device.attributes["d"].?x.orValue("") in ["a", "b"]"#,
            ],
        ),
        (
            r#"device.attributes["memory"].quantity() >= semver("1.0.0")"#,
            vec![
                r#"Attributes [memory "memory"] [?] Whole guarded: device.attributes["memory"]"#,
                "member 0 quantity(): .quantity()",
                r#"Member(0) device.attributes["memory"].quantity() >= Version("1.0.0") semver("1.0.0") always: device.attributes["memory"].quantity() >= semver("1.0.0")"#,
            ],
        ),
    ] {
        assert_eq!(describe(source), expected, "{source}");
    }
}

#[test]
fn parts_without_the_device_are_computed() {
    for (source, expected) in [
        ("true", vec!["always true"]),
        (
            "1 + 1 == 2",
            vec!["Other 1 + 1 == Literal 2 2 always: 1 + 1 == 2", "constant true: 1 + 1 == 2", "always true"],
        ),
        (
            "device.allowMultipleAllocations || !(1 > 2)",
            vec!["Literal 1 1 > Literal 2 2 in a part: 1 > 2", "constant true: !(1 > 2)", "always true"],
        ),
        ("device.allowMultipleAllocations && false", vec!["always false"]),
        ("device.allowMultipleAllocations || false", vec![]),
        ("!optional.none().hasValue()", vec![]),
        ("cel.bind(o, optional.none(), o.hasValue())", vec![]),
        (r#"["a"].size()"#, vec![]),
    ] {
        assert_eq!(describe(source), expected, "{source}");
    }
}

#[test]
fn what_is_from_other_languages_is_found() {
    for (source, expected) in [
        (
            "device.driver == \"d\" && # it's \"ours\nhas(device.attributes.d.x) # or not",
            vec![
                "slip Comment # -> //",
                "slip Comment # -> //",
                "Attributes [d d] [x x] Has guarded: device.attributes.d.x",
                "Driver device.driver == Literal d \"d\" always: device.driver == \"d\"",
            ],
        ),
        ("device.driver = 'd'", vec!["slip Operator = -> =="]),
        ("device.driver === 'd'", vec!["slip Operator = -> "]),
        (
            "a and not b or c.and & d",
            vec![
                "slip Operator and -> &&",
                "slip Operator not -> !",
                "slip Operator or -> ||",
                "slip Operator & -> &&",
            ],
        ),
        ("device.driver == “é”", vec!["slip Quote “ -> \"", "slip Quote ” -> \""]),
        (
            "[1].exists(or, or == 1) && '#' == '='",
            vec![
                "Other or == Literal 1 1 in a part: or == 1",
                "Literal # '#' == Literal = '=' always: '#' == '='",
                "constant false: '#' == '='",
                "always false",
            ],
        ),
        ("?!", vec![]),
    ] {
        assert_eq!(describe(source), expected, "{source}");
    }
}

#[test]
fn spans_lie_in_any_text() {
    let pieces = [
        "device",
        ".",
        "attributes",
        "[",
        "\"é\"",
        "]",
        "(",
        ")",
        ".?",
        "#",
        "é",
        "\n",
        "&&",
        "||",
        "?",
        ":",
        "has(",
        "-",
        "1",
        "'",
        "in",
        "x",
        "==",
        "{",
        "}",
        ",",
        "[?",
        "cel.bind(",
        ".exists(e, ",
        "// é\n",
        "r'",
        " ",
    ];
    let mut state = 1_u64;
    for _ in 0..20_000 {
        let mut source = String::new();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut random = state >> 20;
        for _ in 0..=random % 12 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            source.push_str(pieces[(random >> 33) as usize % pieces.len()]);
        }
        assert!(!describe(&source).iter().any(|line| line.contains(": ?")), "{source}");
    }
}
