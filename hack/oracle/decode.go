package main

import (
	"encoding/json"
	"runtime"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// decodeQuestion has slices to be read, as upstream's clients read them from an API server that speaks JSON.
type decodeQuestion struct {
	Slices []json.RawMessage `json:"slices"`
}

// decodeAnswer says how long it took, and by how much the heap grew for what was read.
type decodeAnswer struct {
	Seconds   float64 `json:"seconds"`
	HeapBytes int64   `json:"heapBytes"`
}

func decodeSlices(asked decodeQuestion) any {
	before := heap()
	start := time.Now()
	slices := make([]*resourceapi.ResourceSlice, len(asked.Slices))
	for i, raw := range asked.Slices {
		slices[i] = &resourceapi.ResourceSlice{}
		if err := utiljson.Unmarshal(raw, slices[i]); err != nil {
			return malformed(err)
		}
	}
	seconds := time.Since(start).Seconds()
	after := heap()
	runtime.KeepAlive(slices)
	runtime.KeepAlive(asked)
	return decodeAnswer{Seconds: seconds, HeapBytes: after - before}
}

func heap() int64 {
	var statistics runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&statistics)
	return int64(statistics.HeapAlloc)
}
