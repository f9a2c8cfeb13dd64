package main

import (
	"context"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

// celQuestion is one expression on one device. Environment is "stored" (the scheduler's, the default) or "new" (the
// API server's); Derived compiles the expression as a derived attribute, which is not evaluated. Repeat evaluates that
// many times more, to find out how long one takes.
type celQuestion struct {
	Expression  string `json:"expression"`
	Environment string `json:"environment"`
	Derived     bool   `json:"derived"`
	Repeat      int    `json:"repeat"`
	Device      struct {
		Driver                   string                                                    `json:"driver"`
		Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
		Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
		AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	} `json:"device"`
}

// celAnswer has compileError, or match, or matchError; Cost is what the evaluation cost, also one that failed, and
// MaxCost the static estimate. Seconds is what one evaluation took, when several were asked for.
type celAnswer struct {
	CompileError string  `json:"compileError,omitempty"`
	Match        *bool   `json:"match,omitempty"`
	MatchError   string  `json:"matchError,omitempty"`
	Cost         *uint64 `json:"cost,omitempty"`
	MaxCost      *uint64 `json:"maxCost,omitempty"`
	Seconds      float64 `json:"seconds,omitempty"`
}

func evaluate(ctx context.Context, asked celQuestion) any {
	kind := environment.StoredExpressions
	if asked.Environment == "new" {
		kind = environment.NewExpressions
	}
	// The gates that are on by default in 1.37; stored expressions may use everything all the same.
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	compiled := compiler.CompileCELExpression(asked.Expression, cel.Options{EnvType: &kind, DerivedAttribute: asked.Derived})
	if compiled.Error != nil {
		return celAnswer{CompileError: compiled.Error.Error()}
	}
	given := celAnswer{MaxCost: &compiled.MaxCost}
	if asked.Derived {
		return given
	}
	device := cel.Device{
		Driver:                   asked.Device.Driver,
		AllowMultipleAllocations: asked.Device.AllowMultipleAllocations,
		Attributes:               asked.Device.Attributes,
		Capacity:                 asked.Device.Capacity,
	}
	match, details, err := compiled.DeviceMatches(ctx, device)
	if details != nil {
		given.Cost = details.ActualCost()
	}
	if err != nil {
		given.MatchError = err.Error()
	} else {
		given.Match = &match
	}
	if asked.Repeat > 0 {
		start := time.Now()
		for range asked.Repeat {
			_, _, _ = compiled.DeviceMatches(ctx, device) // The answer is known already.
		}
		given.Seconds = time.Since(start).Seconds() / float64(asked.Repeat)
	}
	return given
}
