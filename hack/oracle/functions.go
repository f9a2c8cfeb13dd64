package main

import (
	"sort"

	"k8s.io/dynamic-resource-allocation/cel"
)

// functionsQuestion asks for all functions of the environment of stored expressions or, where Expression is given, for
// the overloads that it may call.
type functionsQuestion struct {
	Expression string `json:"expression"`
}

type functionsAnswer struct {
	CompileError string           `json:"compileError,omitempty"`
	Overloads    []overloadAnswer `json:"overloads,omitempty"`
	Called       []string         `json:"called,omitempty"`
}

type overloadAnswer struct {
	Function   string   `json:"function"`
	ID         string   `json:"id"`
	Member     bool     `json:"member"`
	Parameters []string `json:"parameters"`
	Result     string   `json:"result"`
}

func functions(asked functionsQuestion) any {
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true})
	if asked.Expression == "" {
		compiled := compiler.CompileCELExpression("true", cel.Options{})
		return functionsAnswer{Overloads: declared(compiled)}
	}
	// As a derived attribute, so that the result may have more types.
	compiled := compiler.CompileCELExpression(asked.Expression, cel.Options{DerivedAttribute: true})
	if compiled.Environment == nil {
		compiled = compiler.CompileCELExpression("true", cel.Options{})
	}
	ast, issues := compiled.Environment.Compile(asked.Expression)
	if issues != nil {
		return functionsAnswer{CompileError: issues.String()}
	}
	called := map[string]bool{}
	for _, reference := range ast.NativeRep().ReferenceMap() {
		for _, id := range reference.OverloadIDs {
			called[id] = true
		}
	}
	var given functionsAnswer
	for id := range called {
		given.Called = append(given.Called, id)
	}
	sort.Strings(given.Called)
	return given
}

func declared(compiled cel.CompilationResult) []overloadAnswer {
	var all []overloadAnswer
	for name, function := range compiled.Environment.Functions() {
		for _, overload := range function.OverloadDecls() {
			parameters := []string{}
			for _, parameter := range overload.ArgTypes() {
				parameters = append(parameters, parameter.String())
			}
			all = append(all, overloadAnswer{
				Function:   name,
				ID:         overload.ID(),
				Member:     overload.IsMemberFunction(),
				Parameters: parameters,
				Result:     overload.ResultType().String(),
			})
		}
	}
	// The overloads of a function stay in the order in which they are tried.
	sort.SliceStable(all, func(i, j int) bool { return all[i].Function < all[j].Function })
	return all
}
