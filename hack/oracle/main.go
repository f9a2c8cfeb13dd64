// The oracle answers what upstream would: it reads one JSON question a line and writes one JSON answer a line.
//
// A question has a member "kind": "allocate" (one call of the allocator), "cel" (one selector on one device),
// "functions" (what CEL has), "quantity" (arithmetic on quantities), "version" (order of versions) or "decode" (reading
// slices, for benchmarks). Everything else is described at the type that reads it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
)

// maxLine bounds a question: large inventories are a few megabytes of JSON.
const maxLine = 256 << 20

type question struct {
	Kind string `json:"kind"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), maxLine)
	answers := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(answers)
	encoder.SetEscapeHTML(false)
	for lines.Scan() {
		if err := encoder.Encode(answer(lines.Bytes())); err != nil {
			fail(err)
		}
		// Flushed each time: whoever asks may wait for the answer before the next question.
		if err := answers.Flush(); err != nil {
			fail(err)
		}
	}
	if err := lines.Err(); err != nil {
		fail(err)
	}
}

// answer never panics on a question: what goes wrong is the answer.
func answer(line []byte) (reply any) {
	defer func() {
		if problem := recover(); problem != nil {
			reply = map[string]string{"panic": fmt.Sprint(problem)}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return malformed(err)
	}
	ctx := context.Background()
	switch asked.Kind {
	case "allocate":
		return decode(line, func(q allocateQuestion) any { return allocate(ctx, q) })
	case "cel":
		return decode(line, func(q celQuestion) any { return evaluate(ctx, q) })
	case "functions":
		return decode(line, func(q functionsQuestion) any { return functions(q) })
	case "quantity":
		return decode(line, func(q quantityQuestion) any { return compute(q) })
	case "version":
		return decode(line, func(q versionQuestion) any { return compareVersions(q) })
	case "decode":
		return decode(line, func(q decodeQuestion) any { return decodeSlices(q) })
	}
	return malformed(fmt.Errorf("unknown kind %q", asked.Kind))
}

func decode[Q any](line []byte, reply func(Q) any) any {
	var asked Q
	if err := json.Unmarshal(line, &asked); err != nil {
		return malformed(err)
	}
	return reply(asked)
}

func malformed(err error) any {
	return map[string]string{"malformed": err.Error()}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}
