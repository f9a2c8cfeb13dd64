"""What random expressions of CEL are made of: templates that are simple, by the type of their value.

In templates `$int` stands for an expression of type int, `$bool[x:int]` for one that may use the variable `x` of that
type, `$any` for one of any type, and words in capitals for the texts below.
"""

from __future__ import annotations

WORDS = {
    "DOMAIN": "gpu.example.com",
    "SHARED": "net.example.com",
    "OWN": 'device.attributes["gpu.example.com"]',
    "CAPACITY": 'device.capacity["gpu.example.com"]',
}

# fmt: off
LEAVES: dict[str, tuple[str, ...]] = {
    "bool": (
        "true", "false", "$OWN.ecc", "device.allowMultipleAllocations", "has($OWN.model)", "has($OWN.nope)",
        'device.driver == "$DOMAIN"', '"$SHARED" in device.attributes', '"model" in $OWN', "$OWN.?ecc.orValue(false)",
        '$OWN.model == "A"', "$OWN.numa == 1", '$OWN.version == semver("1.2.3")',
        'device.attributes[?"$SHARED"].hasValue()', '"nope" in device.attributes', "$OWN.numa in [0, 2]",
        '$CAPACITY.memory == quantity("40Gi")', "$OWN.numa == 1.0", "$OWN.model > 0", "has(device.attributes)",
        'has(device.attributes["nope"].x)', "$OWN.tags.includes('a')", "$OWN.nodes.exists(n, n == 2)", "$OWN.odd == 1",
        "$OWN.numa != null", "$OWN == null", "device == null", "$OWN.model in ['A', 'B']", "$OWN.version in []",
    ),
    "int": (
        "0", "1", "2", "-3", "9223372036854775807", "$OWN.numa", 'device.attributes["$SHARED"].rail',
        "$OWN.?numa.orValue(7)", "$OWN.nope", "size($OWN)", '$OWN["numa"]', "0x1F", "-9223372036854775808", "-0x1",
        '$OWN["nodes"][0]', "1000000",
    ),
    "uint": (
        "1u", "7u", "0u", "18446744073709551615u", "0xFFu",
    ),
    "double": (
        "1.5", "-0.25", "1e3", "0.0", "-0.0", "1e308", "2.5", "1e-7", "123456789.125", "9223372036854775807.0", "3.0",
    ),
    "string": (
        '"A"', '"a,b"', '""', "'x-1'", r'"\u00e4ß"', r'r"\d"', "$OWN.model", '$OWN.?arch.orValue("none")',
        "device.driver", "$OWN.arch", '"10.1.2.3"', '"https://a.example.com:80/p?q=1"', '"1.2.3"', '"40Gi"',
        r'"\x41\101\n\t\"\\"', r"'''a'b\U0001F600'''", r'R"""x"y\n"""', '"true"', '"-12"', '"1.5e3"', '"1h30m"', '"12"',
        '"2024-02-29T23:59:59.5Z"', '"Europe/Berlin"', '"+02:30"', '"%d"', '"☃é"', '"   x "', '"Abc"', '"0"',
        '"::ffff:1.2.3.4"', '"10.0.0.0/8"', '"my-name"', r'"\a\b\f\r\v\?\`"', '"a"', '"b"', '"numa"',
    ),
    "bytes": (
        'b"abc"', r"b'\xff\x00\101'", 'b""', 'b"ä"', 'bytes("é")', r'br"\n"',
    ),
    "duration": (
        'duration("90m")', 'duration("1h")', 'duration("-1.5s")', 'duration("1ns")', 'duration("0s")',
        'duration("106751d")', 'duration("2562047h47m16.854775807s")', 'duration("1ms2us")',
    ),
    "time": (
        'timestamp("2024-02-03T04:05:06Z")', 'timestamp("2024-02-29T23:59:59.123456789+02:00")', "timestamp(0)",
        'timestamp("0001-01-01T00:00:00Z")', 'timestamp("9999-12-31T23:59:59Z")', "timestamp(-1)",
        'timestamp("2024-07-01T12:00:00-07:30")',
    ),
    "type": (
        "int", "string", "type(1)", "list", "map", "type", "bool", "double", "uint", "bytes", "null_type",
        "google.protobuf.Timestamp", "google.protobuf.Duration", "optional_type", "net.IP", "net.CIDR", "type($OWN)",
        "type(optional.none())",
    ),
    "null": (
        "null",
    ),
    "quantity": (
        "$CAPACITY.memory", "$CAPACITY.cores", 'quantity("40Gi")', 'quantity("1500m")', 'quantity("-1")',
        '$CAPACITY.?nope.orValue(quantity("0"))', "$CAPACITY.nope", 'quantity("9223372036854775807")',
        'quantity("1e20")', 'quantity("0.1n")', 'quantity("8Ei")', 'quantity("1000m")', 'quantity("1k")',
        'quantity("-9223372036854775809")', 'quantity("9223372036854775.8075k")',
    ),
    "version": (
        "$OWN.version", 'semver("1.2.3")', 'semver("1.2.3-rc.1+b")', 'semver("v1.2", true)', 'semver("10.0.0")',
        'semver("1.2.3+x")', 'semver("0.0.0-0")',
    ),
    "ints": (
        "[]", "[1]", "[3, 1, 2]", "[1, 1]", "$OWN.nodes", "lists.range(3)", "[0, -1]", "[9223372036854775807, 1]",
    ),
    "strings": (
        "[]", '["a"]', '["b", "a", "b"]', "$OWN.tags", '"a,b,c".split(",")', '["", "é", "z"]',
    ),
    "doubles": (
        "[1.5, -2.0]", "[]", "[0.0, -0.0]", "[1e300, 1e300]",
    ),
    "bools": (
        "[true, false]", "[false]", "[true, true]",
    ),
    "uints": (
        "[1u, 2u]", "[18446744073709551615u, 1u]", "[3u, 3u]",
    ),
    "lists": (
        "[[1], [2, 3]]", "[[], []]", "[[1], [1]]", "[$OWN.nodes, [1]]",
    ),
    "mixed": (
        "[dyn(1), dyn('a')]", "dyn([1, 1u, 1.0])", "[dyn(1), dyn(1.0), dyn(2u)]", "[dyn(null), dyn(null)]",
        "[dyn([1]), dyn([1.0])]", "dyn([])", "[dyn({1: 2}), dyn(true)]", "[dyn(1.5), dyn(1)]", "[dyn(b'a'), dyn('a')]",
        "[dyn(duration('1s')), dyn(duration('1s'))]", "dyn($OWN.nodes)", "[dyn(0.0 / 0.0), dyn(1)]",
    ),
    "objects": (
        "[quantity('1k'), quantity('1000')]", "[semver('1.2.3'), semver('1.2.3+b')]", "[ip('::1'), ip('::1')]",
        "[duration('1s'), duration('1ms')]", "[timestamp(1), timestamp(0)]", "[b'b', b'a']", "[{'a': 1}, {'a': 2}]",
        "[optional.of(1), optional.none()]", "[cidr('10.0.0.0/8')]", "[null, null]", "[type(1), int]",
        "[url('http://a/b'), url('http://a/b')]", "[$CAPACITY.memory, $CAPACITY.cores]",
    ),
    "map": (
        "$OWN", 'device.attributes["$SHARED"]', 'device.attributes["nope"]', '{"a": 1, "b": 2}', "{}", '{1: "a"}',
        "device.attributes", "{1: 1, 2u: 2}", "{true: 0, false: 1}", "$CAPACITY", "device.capacity", '{"a": 0}',
    ),
    "optional": (
        "optional.none()", "$OWN.?numa", "$OWN.?nope", '$OWN[?"numa"]', "optional.of(1)", "optional.of(0)",
        'device.attributes[?"nope"].?x', "$OWN.?nodes[?0]", "$OWN.?nodes[?9]", "optional.of(null)",
        "device.?attributes", '{"a": 1}.?a', "[1][?0]", "$OWN.?model.optMap(m, 1)",
    ),
    "dyn": (
        "dyn(1)", 'dyn("a")', "$OWN.numa", "$OWN.model", "$OWN.nodes", "$OWN.version", "dyn(null)", "dyn([1])",
        "dyn({'a': 1})", "$OWN.?odd.orValue(1)", "dyn(1.0)", "dyn(2u)", "$OWN.ecc",
    ),
    "ip": (
        'ip("10.1.2.3")', 'ip("::1")', 'cidr("10.1.0.0/16").ip()', 'ip("224.0.0.1")', 'ip("169.254.1.1")',
        'ip("fe80::1")', 'ip("0.0.0.0")', 'ip("ff02::1")', 'ip("2001:db8::1")',
    ),
    "cidr": (
        'cidr("10.0.0.0/8")', 'cidr("fd00::/64")', 'cidr("10.1.2.3/8").masked()', 'cidr("0.0.0.0/0")', 'cidr("::/128")',
    ),
    "url": (
        'url("https://u@a.example.com:80/p/q?x=1&x=2")', 'url("/relative")', 'url("http://[::1]:8080/a%20b?c=%41")',
        'url("mailto:/x")',
    ),
    "format": (
        "format.dns1123Label()", "format.dns1123Subdomain()", "format.qualifiedName()", "format.labelValue()",
        "format.uri()", "format.uuid()", "format.byte()", "format.date()", "format.datetime()", "format.dns1035Label()",
        "format.dns1123LabelPrefix()", "format.dns1123SubdomainPrefix()", "format.dns1035LabelPrefix()",
        'format.named("uri").value()', "format.named('nope').value()",
    ),
    "pattern": (
        '"[A-Z0-9.]+"', '"[0-9]+"', '"^a"', '""', '"(a|b)*c"', '"["', r"r'\bx\b'", r"r'\pL+'", '"a{2,3}?"', '"(?i)ABC"',
        '"."', '"(a)(b)?"', r'r"\d+$"',
    ),
    "zone": (
        '"UTC"', '"Europe/Berlin"', '"+05:30"', '"-08:00"', '"America/New_York"', '"Nowhere"', '"1:2"', '"25:99"', '""',
        '"Local"', '"Asia/Kathmandu"', '"02:00"', '"a:b"', '"europe/berlin"', '"EST"',
    ),
    "layout": (
        '"%s"', '"%d|%s"', '"%.2f"', '"%e"', '"%x"', '"%X"', '"%b"', '"%o"', '"%%"', '"%5s"', '"%q"', '"%.3e %s"',
        '"%"', '"%s %s %s"', '"%.0f"', '"%f"', '"plain"', '"ä%sß"', '"%.100f"', '"%.x"',
    ),
}
# fmt: on

ANY = tuple(sorted(set(LEAVES) - {"pattern", "zone", "layout"}))
"""The types that `$any` stands for."""
