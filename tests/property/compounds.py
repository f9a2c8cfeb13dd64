"""What random expressions of CEL are made of: templates with operands, by the type of their value.

The notation is that of the templates without operands, in `grammar`.
"""

from __future__ import annotations

# fmt: off
COMPOUNDS: dict[str, tuple[str, ...]] = {
    "bool": (
        "($bool && $bool)", "($bool || $bool)", "!$bool", "($bool ? $bool : $bool)", "($int == $int)", "($int != $int)",
        "($int < $int)", "($int >= $int)", "($string == $string)", "($string < $string)", "($quantity == $quantity)",
        "($version == $version)", "($ints == $ints)", "($double <= $double)", "($uint > $uint)", "($int in $ints)",
        "($string in $strings)", "($string in $map)", "$string.startsWith($string)", "$string.contains($string)",
        "$string.endsWith($string)", "$string.matches($pattern)", "matches($string, $pattern)",
        "$string.matches($string)", "$quantity.isGreaterThan($quantity)", "$quantity.isLessThan($quantity)",
        "$quantity.isInteger()", "$version.isLessThan($version)", "$version.isGreaterThan($version)",
        "isQuantity($string)", "isSemver($string)", "isSemver($string, $bool)", "isIP($string)", "isCIDR($string)",
        "isURL($string)", "$ints.exists(x, $bool[x:int])", "$ints.all(x, $bool[x:int])",
        "$ints.exists_one(x, $bool[x:int])", "$strings.exists(s, $bool[s:string])", "$map.exists(k, $bool[k:string])",
        "$ints.exists(i, x, $bool[i:int,x:int])", "$ints.all(i, x, $bool[i:int,x:int])", "$ints.includes($int)",
        "$strings.includes($string)", "[$int, $int].isSorted()", "sets.contains($ints, $ints)",
        "sets.intersects($ints, $ints)", "sets.equivalent($strings, $strings)", "cel.bind(b, $int, $bool[b:int])",
        "cel.bind(m, $map, $bool[m:map])", "$optional.hasValue()", "$optional.optMap(o, $bool[o:int]).orValue($bool)",
        "$cidr.containsIP($ip)", "$cidr.containsIP($string)", "$cidr.containsCIDR($cidr)",
        "$cidr.containsCIDR($string)", "$ip.isLoopback()", "$ip.isGlobalUnicast()", "$ip.isUnspecified()",
        "$ip.isLinkLocalMulticast()", "$ip.isLinkLocalUnicast()", "ip.isCanonical($string)",
        "$format.validate($string).hasValue()", '($string == "x" || $bool)', "(dyn($int) == $string)",
        "(type($any) == $type)", "($type == $type)", "($type != $type)", "bool($string)", "($duration > $duration)",
        "($optional == $optional)", "($map == $map)", "$ints.existsOne(i, x, $bool[i:int,x:int])",
        "$ints.exists_one(i, x, $bool[x:int])", "$map.exists_one(k, $bool[k:string])",
        "$map.all(k, v, $bool[k:string,v:int])", "$map.exists(k, v, $bool[k:string,v:dyn])",
        "$map.all(k, $bool[k:string])", "($any == $any)", "($any != $any)", "($dyn == $any)", "($any in $mixed)",
        "($any in $map)", "($any in $any)", "($dyn < $dyn)", "($dyn >= $any)", "($bytes < $bytes)",
        "($bytes == $bytes)", "($bool < $bool)", "($time < $time)", "($time <= $time)", "($duration <= $duration)",
        "($duration == $duration)", "($time == $time)", "($int < $double)", "($uint >= $int)", "($double > $uint)",
        "($int <= $uint)", "($double < $int)", "($uint < $double)", "($null == $any)", "($url == $url)", "($ip == $ip)",
        "($cidr == $cidr)", "($format == $format)", "($mixed == $ints)", "($lists == $lists)",
        "[$string, $string].isSorted()", "$doubles.isSorted()", "$bools.isSorted()", "[$time, $time].isSorted()",
        "dyn([$any, $any]).isSorted()", "$mixed.includes($any)", "$objects.includes($any)", "$dyn.includes($any)",
        "$any.includes($int)", "sets.contains($mixed, $ints)", "sets.equivalent($mixed, $mixed)",
        "sets.intersects($lists, $lists)", "has($map.a)", "has($dyn.a)", "has($any.a)", "has($optional.a)",
        "$dyn.exists(d, $bool[d:dyn])", "$any.all(d, $bool[d:dyn])",
        "$optional.optFlatMap(o, optional.of($bool[o:int])).value()", "$bools.exists(q, $bool[q:bool])", "$any", "$dyn",
        "bool($any)", "$ints.exists(device, $bool[device:int])", "$map.all(device, v, $bool[device:string,v:int])",
        "cel.bind(device, $map, $bool[device:map])", "$capacities.exists(q, $bool[q:quantity])", "isQuantity($any)",
        "isIP($any)", "$ints.exists(e, e > $int[e:int])", "$bools.min()", "$bools.max()", "$bools[$int]",
        "($mixed == $mixed)", "($objects == $objects)", "$ints.all(x, $ints.exists(y, $bool[x:int,y:int]))",
        "$map.exists(k, $map.all(l, $bool[k:string,l:string]))",
        "device.capacity.all(d, device.capacity[d].exists(c, $bool[d:string,c:string]))",
        "device.attributes.exists(d, n, n.exists(k, v, $bool[d:string,n:map,k:string,v:dyn]))", "($bool ? $any : $any)",
        "(!$any)", "($any && $bool)", "($bool || $any)", "$objects.exists(x, $bool[x:any])",
    ),
    "capacities": (
        "[$quantity, $quantity]", "$CAPACITY.map(c, $CAPACITY[c])", "$CAPACITY.transformList(k, v, v)", "[$quantity]",
        "$capacities.sort()", "$capacities.distinct()",
    ),
    "int": (
        "($int + $int)", "($int - $int)", "($int * $int)", "($int / $int)", "($int % $int)", "(-$int)", "size($string)",
        "$ints.size()", "$strings.size()", "$map.size()", "$string.indexOf($string)", "$string.lastIndexOf($string)",
        "$string.indexOf($string, $int)", "$string.lastIndexOf($string, $int)", "$quantity.sign()",
        "$quantity.asInteger()", "$quantity.compareTo($quantity)", "$string.size()", "$version.compareTo($version)",
        "$version.major()", "$version.minor()", "$version.patch()", "int($string)", "int($double)", "$ints.sum()",
        "$bytes.size()", "size($bytes)", "size($any)", "int($time)", "int($any)", "$ints.min()", "$ints.max()",
        "$ints[$int]", "$ints.indexOf($int)", "$ints.lastIndexOf($int)", "$optional.orValue($int)", "$optional.value()",
        "$ip.family()", "$cidr.prefixLength()", "($bool ? $int : $int)", "$ints.first().value()", "int($uint)",
        "cel.bind(b, $int, $int[b:int])", "$ints.last().orValue($int)", "$map[$string]", "$map.a", "$dyn",
        "$duration.getHours()", "$duration.getMinutes()", "$duration.getSeconds()", "$duration.getMilliseconds()",
        "$time.getFullYear()", "$time.getMonth()", "$time.getDate()", "$time.getDayOfMonth()", "$time.getDayOfWeek()",
        "$time.getDayOfYear()", "$time.getHours()", "$time.getMinutes()", "$time.getSeconds()",
        "$time.getMilliseconds()", "$time.getFullYear($zone)", "$time.getMonth($zone)", "$time.getDate($zone)",
        "$time.getDayOfMonth($zone)", "$time.getDayOfWeek($zone)", "$time.getDayOfYear($zone)", "$time.getHours($zone)",
        "$time.getMinutes($zone)", "$time.getSeconds($zone)", "$time.getMilliseconds($zone)", "$time.getHours($string)",
        "$mixed.indexOf($any)", "$strings.lastIndexOf($string)", "$objects.size()", "$map.map(k, $int[k:string]).sum()",
        "[$int, $int, $int][$int]", "$ints[$any]", "($any + $any)", "$mixed.sum()", "$mixed.min()", "$any.size()",
        "size($optional)", "$lists[$int][$int]", "$dyn[$int]",
    ),
    "uint": (
        "($uint + $uint)", "uint($int)", "($uint - $uint)", "($uint * $uint)", "($uint / $uint)", "($uint % $uint)",
        "uint($double)", "uint($string)", "$uints.sum()", "$uints.min()", "uint($any)", "$uints[$int]",
    ),
    "double": (
        "double($int)", "($double * $double)", "$quantity.asApproximateFloat()", "double($string)",
        "($double / $double)", "($double + $double)", "($double - $double)", "(-$double)", "double($uint)",
        "$doubles.sum()", "$doubles.max()", "double($any)", "$doubles[$int]", "double($mantissa)",
    ),
    "mantissa": (
        '"0x1p4"', '"1_000"', '"inf"', '"nan"', '"0x1.8p1"', '".5"', '"1e400"', '"+Infinity"', '"-0"', '"1e"', '"0x1"',
        '"0x_1.fp-2"', '"1e-400"', '"nano"', '"4.9e-324"', '"1."',
    ),
    "string": (
        "($string + $string)", "$string.lowerAscii()", "$string.upperAscii()", "$string.trim()", "$string.charAt($int)",
        "$string.substring($int)", "$string.substring($int, $int)", "$string.replace($string, $string)",
        "$string.replace($string, $string, $int)", "string($int)", "string($double)", "$strings.join()",
        "$strings.join($string)", "$string.find($pattern)", "$layout.format([$int, $string])", "$layout.format([$any])",
        "$layout.format([$double])", "$layout.format([])", "$layout.format([$int])", "$layout.format([$any, $any])",
        "$string.format([$any])", "$layout.format($mixed)", '"%s".format([$any])', '"%s".format([$objects])',
        '"%s %d".format([$map, $int])', '"%x".format([$bytes])', '"%.1f %s".format([$double, $ints])',
        "strings.quote($string)", "$layout.format($ints)", "$strings[$int]", "($bool ? $string : $string)",
        "$url.getHost()", "$url.getPort()", "$url.getScheme()", "$url.getHostname()", "$url.getEscapedPath()",
        "string($ip)", "string($cidr)", "string($bool)", "string($uint)", "string($bytes)", "string($time)",
        "string($duration)", "string($any)", "string($quantity)", "string($url)", "$strings.min()", "$strings.max()",
        "$optional.optMap(o, $string[o:int]).orValue($string)", "$string.find($string)",
        "$url.getQuery()[$string][$int]", "$format.validate($string).value()[0]", "string($string)", "$dyn.model",
        "$mixed.join()", "$strings.map(s, $string[s:string]).join()",
    ),
    "bytes": (
        "($bytes + $bytes)", "bytes($string)", "bytes($bytes)", "bytes($any)", "($bool ? $bytes : $bytes)",
    ),
    "duration": (
        "($duration + $duration)", "($duration - $duration)", "($time - $time)", "duration($string)",
        "duration($duration)", "duration($any)", "$durations.sum()", "$durations.min()", "duration($int)",
    ),
    "durations": (
        "[$duration, $duration]", "[duration('1s')]",
    ),
    "time": (
        "($time + $duration)", "($duration + $time)", "($time - $duration)", "timestamp($string)", "timestamp($int)",
        "timestamp($time)", "timestamp($any)", "[$time, $time].min()", "[$time].max()",
    ),
    "type": (
        "type($any)", "type($dyn)", "type($type)", "type($bool ? $any : $any)",
    ),
    "quantity": (
        "$quantity.add($quantity)", "$quantity.sub($quantity)", "quantity($string)", "$quantity.add($int)",
        "$quantity.sub($int)", "$capacities[$int]", "($bool ? $quantity : $quantity)",
    ),
    "version": (
        "semver($string)", "semver($string, $bool)", "($bool ? $version : $version)",
    ),
    "ints": (
        "[$int, $int]", "($ints + $ints)", "$ints.map(x, $int[x:int])", "$ints.filter(x, $bool[x:int])", "$ints.sort()",
        "$ints.map(x, $bool[x:int], $int[x:int])", "$ints.distinct()", "$ints.reverse()", "$ints.slice($int, $int)",
        "[$ints, $ints].flatten()", "$ints.sortBy(x, $int[x:int])", "lists.range($int)",
        "$strings.map(s, $int[s:string])", "$ints.transformList(i, x, $int[i:int,x:int])", "[?$optional]",
        "[?$optional, $int]", "$ints.transformList(i, x, $bool[i:int,x:int], $int[i:int,x:int])", "$lists.flatten()",
        "$lists.flatten($int)", "$map.map(k, $int[k:string])", "$map.transformList(k, v, $int[k:string,v:int])",
        "optional.unwrap([$optional, $optional])", "[$optional, $optional].unwrapOpt()", "$lists[$int]",
        "$ints.sortBy(x, $string[x:int])", "$map.map(k, $bool[k:string], $int[k:string])",
        "$ints.sortBy(x, $any[x:int])", "$strings.sortBy(s, $int[s:string]).map(s, $int[s:string])", "$mixed",
        "$map.filter(k, $bool[k:string])",
    ),
    "strings": (
        "[$string, $string]", "$string.split($string)", "$string.split($string, $int)", "$string.findAll($pattern)",
        "$strings.map(s, $string[s:string])", "$strings.filter(s, $bool[s:string])", "$strings.sort()",
        "$strings.distinct()", "($strings + $strings)", "$url.getQuery()[$string]", "$strings.reverse()",
        "$string.findAll($pattern, $int)", "$strings.slice($int, $int)", "$map.map(k, k)",
        "$map.filter(k, $bool[k:string])", "$strings.sortBy(s, $string[s:string])",
        "$format.validate($string).orValue($strings)", "$map.map(k, string(k))",
    ),
    "doubles": (
        "[$double, $double]", "($doubles + $doubles)", "$doubles.sort()", "$ints.map(x, double(x))",
        "$doubles.distinct()",
    ),
    "bools": (
        "[$bool, $bool]", "$ints.map(x, $bool[x:int])", "$bools.sort()", "$bools.distinct()",
    ),
    "uints": (
        "[$uint, $uint]", "$uints.sort()", "$ints.map(x, uint(x))",
    ),
    "lists": (
        "[$ints, $ints]", "$ints.map(x, [x, $int[x:int]])", "$lists.reverse()", "$lists.distinct()",
        "($lists + $lists)", "$lists.slice($int, $int)", "$lists.sort()",
        "$ints.map(x, $ints.map(y, $int[x:int,y:int]))",
    ),
    "mixed": (
        "[dyn($any), dyn($any)]", "[$any, $any]", "[$dyn, $dyn]", "$mixed.distinct()", "$mixed.sort()",
        "$mixed.reverse()", "$mixed.filter(d, $bool[d:dyn])", "$mixed.map(d, $any[d:dyn])", "dyn($any)",
        "$mixed.flatten()", "$any", "$mixed.sortBy(d, $any[d:dyn])", "($mixed + $mixed)", "$map.map(k, $any[k:string])",
        "[dyn($any)].flatten($int)", "($mixed + $any)", "$mixed.slice($int, $int)",
    ),
    "objects": (
        "[$any]", "$objects.sort()", "$objects.distinct()", "$objects.reverse()", "[$version, $version]", "[$ip, $ip]",
        "[$time, $time]", "[$duration, $duration]", "[$bytes, $bytes]", "[$optional, $optional]", "[$map, $map]",
        "[$url, $url]", "[$type, $type]", "($objects + $objects)",
    ),
    "map": (
        '{"a": $int}', "{$string: $int}", '{?"a": $optional}', "$map.transformMap(k, v, $int[k:string,v:int])",
        "$ints.transformMap(i, x, $int[i:int,x:int])", "$map.transformMap(k, v, $bool[k:string], $string[k:string])",
        "$map.transformMapEntry(k, v, {k: $int[k:string,v:int]})", "{$any: $any}", "{$any: $any, $any: $any}",
        "$ints.transformMapEntry(i, x, $bool[i:int,x:int], {$any[i:int,x:int]: $int[i:int,x:int]})", "{$int: $string}",
        "$ints.transformMapEntry(i, x, $any[i:int,x:int])", "{?$string: $optional}", '{"a": $any, "b": $any}',
        "{'b': {'a': $int}}.b", "$map.transformMapEntry(k, v, {v: k})", "$url.getQuery()", "$dyn", "{'a': $map}",
    ),
    "optional": (
        "optional.of($int)", "optional.ofNonZeroValue($int)", "$map[?$string]", "$ints[?$int]",
        "$optional.or($optional)", "$optional.optMap(o, $int[o:int])", "$optional.optFlatMap(o, $optional)",
        "$ints.first()", "$ints.last()", "optional.ofNonZeroValue($any)", "optional.of($any)", "$map.?a",
        "$optional.?a", "$optional[?$any]", "$optional[$int]", "$optional.a", "$any[?$any]", "$any.?model", "$dyn.?a",
        "$mixed.first()", "$optional.optFlatMap(o, $optional[o:int])", "$map[?$any].optMap(o, $any[o:dyn])",
        "$format.validate($string)", "format.named($string)", "($bool ? $optional : $optional)", "$any.or($optional)",
        "$lists[?$int][?$int]", "$map.?a[?$any].?b",
    ),
    "dyn": (
        "dyn($any)", "($bool ? $any : $any)", "$mixed[$int]", "$map[$any]", "$dyn.a", "$dyn[$any]", "$dyn.a.b",
        "$map[$string]", "$OWN[$string]", "device.attributes[$string][$string]", "$optional.orValue($any)",
        "cel.bind(d, $any, $any[d:dyn])", "$any[$any]", "$any.a",
    ),
    "ip": (
        "ip($string)", "$cidr.ip()", "ip($any)",
    ),
    "cidr": (
        "cidr($string)", "$cidr.masked()",
    ),
    "url": (
        "url($string)", "url($any)",
    ),
    "format": (
        "format.named($string).value()",
    ),
    "null": (
        "($bool ? null : null)",
    ),
    "pattern": (
        "$string", "($pattern + $pattern)",
    ),
    "zone": (
        "$string",
    ),
    "layout": (
        "$string", "($layout + $layout)",
    ),
}
# fmt: on
