package main

import (
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantityQuestion asks for everything about A, and about A and B where B is given. The float is a text: JSON knows
// no infinity.
type quantityQuestion struct {
	A string  `json:"a"`
	B *string `json:"b"`
}

type quantityAnswer struct {
	Error      string  `json:"error,omitempty"`
	Text       string  `json:"text,omitempty"`
	Format     string  `json:"format,omitempty"`
	Sign       int     `json:"sign"`
	Value      int64   `json:"value"`
	MilliValue int64   `json:"milliValue"`
	Float      string  `json:"float"`
	Compare    *int    `json:"compare,omitempty"`
	Sum        *string `json:"sum,omitempty"`
	Difference *string `json:"difference,omitempty"`
}

func compute(asked quantityQuestion) any {
	a, err := resource.ParseQuantity(asked.A)
	if err != nil {
		return quantityAnswer{Error: err.Error()}
	}
	given := quantityAnswer{
		Text:       a.String(),
		Format:     string(a.Format),
		Sign:       a.Sign(),
		Value:      a.Value(),
		MilliValue: a.MilliValue(),
		Float:      strconv.FormatFloat(a.AsApproximateFloat64(), 'g', -1, 64),
	}
	if asked.B == nil {
		return given
	}
	b, err := resource.ParseQuantity(*asked.B)
	if err != nil {
		return quantityAnswer{Error: err.Error()}
	}
	order := a.Cmp(b)
	sum, difference := a.DeepCopy(), a.DeepCopy()
	sum.Add(b)
	difference.Sub(b)
	added, subtracted := sum.String(), difference.String()
	given.Compare, given.Sum, given.Difference = &order, &added, &subtracted
	return given
}
