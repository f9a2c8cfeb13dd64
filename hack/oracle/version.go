package main

import "github.com/blang/semver/v4"

// versionQuestion asks whether A is a semantic version and, where B is given, how the two compare.
type versionQuestion struct {
	A string  `json:"a"`
	B *string `json:"b"`
}

type versionAnswer struct {
	Error   string `json:"error,omitempty"`
	Text    string `json:"text,omitempty"`
	Compare *int   `json:"compare,omitempty"`
}

func compareVersions(asked versionQuestion) any {
	a, err := semver.Parse(asked.A)
	if err != nil {
		return versionAnswer{Error: err.Error()}
	}
	given := versionAnswer{Text: a.String()}
	if asked.B == nil {
		return given
	}
	b, err := semver.Parse(*asked.B)
	if err != nil {
		return versionAnswer{Error: err.Error()}
	}
	order := a.Compare(b)
	given.Compare = &order
	return given
}
