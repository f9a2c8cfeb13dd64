"""What of CEL random expressions are made of: for each type, templates that give a value of it.

`$int` stands for an expression of type int, `$bool[x:int]` for one that may use the variable `x` of that type, and
words in capitals for the texts below.
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
        '$CAPACITY.memory == quantity("40Gi")', "$OWN.numa == 1.0", "$OWN.model > 0",
    ),
    "int": (
        "0", "1", "2", "-3", "9223372036854775807", "$OWN.numa", 'device.attributes["$SHARED"].rail',
        "$OWN.?numa.orValue(7)", "$OWN.nope", "size($OWN)", '$OWN["numa"]', "0x1F",
    ),
    "uint": (
        "1u", "7u",
    ),
    "double": (
        "1.5", "-0.25", "1e3",
    ),
    "string": (
        '"A"', '"a,b"', '""', "'x-1'", r'"\u00e4ß"', r'r"\d"', "$OWN.model", '$OWN.?arch.orValue("none")',
        "device.driver", "$OWN.arch", '"10.1.2.3"', '"https://a.example.com:80/p?q=1"', '"1.2.3"', '"40Gi"',
    ),
    "quantity": (
        "$CAPACITY.memory", "$CAPACITY.cores", 'quantity("40Gi")', 'quantity("1500m")', 'quantity("-1")',
        '$CAPACITY.?nope.orValue(quantity("0"))', "$CAPACITY.nope",
    ),
    "version": (
        "$OWN.version", 'semver("1.2.3")', 'semver("1.2.3-rc.1+b")', 'semver("v1.2", true)', 'semver("10.0.0")',
    ),
    "ints": (
        "[]", "[1]", "[3, 1, 2]", "[1, 1]", "$OWN.nodes", "lists.range(3)",
    ),
    "strings": (
        "[]", '["a"]', '["b", "a", "b"]', "$OWN.tags", '"a,b,c".split(",")',
    ),
    "map": (
        "$OWN", 'device.attributes["$SHARED"]', 'device.attributes["nope"]', '{"a": 1, "b": 2}', "{}", '{1: "a"}',
    ),
    "optional": (
        "optional.none()", "$OWN.?numa", "$OWN.?nope", '$OWN[?"numa"]', "optional.of(1)",
    ),
    "ip": (
        'ip("10.1.2.3")', 'ip("::1")', 'cidr("10.1.0.0/16").ip()',
    ),
    "cidr": (
        'cidr("10.0.0.0/8")', 'cidr("fd00::/64")', 'cidr("10.1.2.3/8").masked()',
    ),
    "url": (
        'url("https://u@a.example.com:80/p/q?x=1&x=2")', 'url("/relative")',
    ),
}

COMPOUNDS: dict[str, tuple[str, ...]] = {
    "bool": (
        "($bool && $bool)", "($bool || $bool)", "!$bool", "($bool ? $bool : $bool)", "($int == $int)",
        "($int != $int)", "($int < $int)", "($int >= $int)", "($string == $string)", "($string < $string)",
        "($quantity == $quantity)", "($version == $version)", "($ints == $ints)", "($double <= $double)",
        "($uint > $uint)", "($int in $ints)", "($string in $strings)", "($string in $map)",
        "$string.startsWith($string)", "$string.contains($string)", '$string.endsWith("B")',
        '$string.matches("[A-Z0-9.]+")', "$quantity.isGreaterThan($quantity)", "$quantity.isLessThan($quantity)",
        "$quantity.isInteger()", "$version.isLessThan($version)", "$version.isGreaterThan($version)",
        "isQuantity($string)", "isSemver($string)", "isSemver($string, true)", "isIP($string)", "isCIDR($string)",
        "isURL($string)", "$ints.exists(x, $bool[x:int])", "$ints.all(x, $bool[x:int])",
        "$ints.exists_one(x, $bool[x:int])", "$strings.exists(s, $bool[s:string])", "$map.exists(k, $bool[k:string])",
        "$ints.exists(i, x, $bool[i:int,x:int])", "$ints.all(i, x, $bool[i:int,x:int])", "$ints.includes($int)",
        "$strings.includes($string)", "$ints.isSorted()", "sets.contains($ints, $ints)",
        "sets.intersects($ints, $ints)", "sets.equivalent($strings, $strings)", "cel.bind(b, $int, $bool[b:int])",
        "cel.bind(m, $map, $bool[m:map])", "$optional.hasValue()", "$optional.optMap(o, $bool[o:int]).orValue($bool)",
        "$cidr.containsIP($ip)", "$cidr.containsCIDR($cidr)", "$ip.isLoopback()", "$ip.isGlobalUnicast()",
        "ip.isCanonical($string)", "format.dns1123Label().validate($string).hasValue()", '($string == "x" || $bool)',
        "(dyn($int) == $string)", "(type($int) == int)", '(timestamp("2024-02-03T04:05:06Z").getMonth() == $int)',
        "bool($string)", '(duration("90m") > duration("1h"))', "($optional == $optional)", "($map == $map)",
        "$ints.existsOne(i, x, $bool[x:int])",
    ),
    "int": (
        "($int + $int)", "($int - $int)", "($int * $int)", "($int / $int)", "($int % $int)", "(-$int)",
        "size($string)", "$ints.size()", "$strings.size()", "$map.size()", "$string.indexOf($string)",
        "$string.lastIndexOf($string)", "$quantity.sign()", "$quantity.asInteger()", "$quantity.compareTo($quantity)",
        "$version.compareTo($version)", "$version.major()", "int($string)", "int($double)", "$ints.sum()",
        "$ints.min()", "$ints.max()", "$ints[$int]", "$ints.indexOf($int)", "$ints.lastIndexOf($int)",
        "$optional.orValue($int)", "$optional.value()", "$ip.family()", "$cidr.prefixLength()",
        "($bool ? $int : $int)", "$ints.first().value()", 'duration("90m").getMinutes()', "int($uint)",
        "cel.bind(b, $int, $int[b:int])", "$ints.last().orValue($int)",
    ),
    "uint": (
        "($uint + $uint)", "uint($int)", "($uint - $uint)",
    ),
    "double": (
        "double($int)", "($double * $double)", "$quantity.asApproximateFloat()", "double($string)",
        "($double / $double)",
    ),
    "string": (
        "($string + $string)", "$string.lowerAscii()", "$string.upperAscii()", "$string.trim()",
        "$string.charAt($int)", "$string.substring($int)", "$string.substring($int, $int)",
        "$string.replace($string, $string)", "$string.replace($string, $string, $int)", "string($int)",
        "string($double)", "$strings.join()", '$strings.join("-")', '$string.find("[0-9]+")',
        '"%s:%d".format([$string, $int])', '"%.1f %s".format([$double, $ints])', "strings.quote($string)",
        "$strings[$int]", "($bool ? $string : $string)", "$url.getHost()", "$url.getPort()", "$url.getScheme()",
        "$url.getEscapedPath()", "string($ip)", "string($bool)", '"%s".format([$map])',
    ),
    "quantity": (
        "$quantity.add($quantity)", "$quantity.sub($quantity)", "quantity($string)", "$quantity.add($int)",
    ),
    "version": (
        "semver($string)", "semver($string, true)",
    ),
    "ints": (
        "[$int, $int]", "($ints + $ints)", "$ints.map(x, $int[x:int])", "$ints.filter(x, $bool[x:int])",
        "$ints.sort()", "$ints.map(x, $bool[x:int], $int[x:int])", "$ints.distinct()", "$ints.reverse()",
        "$ints.slice($int, $int)", "[$ints, $ints].flatten()", "$ints.sortBy(x, $int[x:int])", "lists.range($int)",
        "$strings.map(s, $int[s:string])", "$ints.transformList(i, x, $int[i:int,x:int])", "[?$optional]",
        "[?$optional, $int]",
    ),
    "strings": (
        "[$string, $string]", "$string.split($string)", "$string.split($string, $int)", '$string.findAll("[a-z]")',
        "$strings.map(s, $string[s:string])", "$strings.filter(s, $bool[s:string])", "$strings.sort()",
        "$strings.distinct()", "($strings + $strings)", "$url.getQuery()[$string]", "$strings.reverse()",
        '$string.findAll("[0-9]", $int)',
    ),
    "map": (
        '{"a": $int}', "{$string: $int}", '{?"a": $optional}', "$map.transformMap(k, v, $int[k:string,v:int])",
        "$ints.transformMap(i, x, $int[i:int,x:int])", "$map.transformMap(k, v, $bool[k:string], $string[k:string])",
    ),
    "optional": (
        "optional.of($int)", "optional.ofNonZeroValue($int)", "$map[?$string]", "$ints[?$int]",
        "$optional.or($optional)", "$optional.optMap(o, $int[o:int])", "$optional.optFlatMap(o, $optional)",
        "$ints.first()", "$ints.last()",
    ),
    "ip": (
        "ip($string)", "$cidr.ip()",
    ),
    "cidr": (
        "cidr($string)", "$cidr.masked()",
    ),
    "url": (
        "url($string)",
    ),
}
# fmt: on
