package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocateQuestion is one call of the allocator, in the shape of the conformance cases. Implementation is "stable",
// "incubating" or "experimental"; empty lets upstream choose by the features. Nodes asks for several nodes on
// one allocator, as the scheduler does. Limit bounds the search on a node, in seconds; 0 is no bound.
type allocateQuestion struct {
	Features       []string                     `json:"features"`
	Implementation string                       `json:"implementation"`
	Node           *v1.Node                     `json:"node"`
	Nodes          []*v1.Node                   `json:"nodes"`
	Classes        []*resourceapi.DeviceClass   `json:"classes"`
	Slices         []*resourceapi.ResourceSlice `json:"slices"`
	Claims         []*resourceapi.ResourceClaim `json:"claims"`
	Allocated      allocatedState               `json:"allocated"`
	Limit          float64                      `json:"limit"`
}

type allocatedState struct {
	Devices          []string                                                   `json:"devices"`
	Shared           []sharedDevice                                             `json:"shared"`
	ConsumedCapacity map[string]map[resourceapi.QualifiedName]resource.Quantity `json:"consumedCapacity"`
}

type sharedDevice struct {
	Driver  string    `json:"driver"`
	Pool    string    `json:"pool"`
	Device  string    `json:"device"`
	ShareID types.UID `json:"shareID"`
}

// allocateAnswer has results (null: does not fit) or an error, and what it took: seconds, and steps, the calls of
// upstream's recursive function. Interrupted: the limit was reached. With several nodes, Nodes has an answer for each.
type allocateAnswer struct {
	Results     []resourceapi.AllocationResult `json:"results"`
	Error       *allocateError                 `json:"error,omitempty"`
	Interrupted bool                           `json:"interrupted,omitempty"`
	Seconds     float64                        `json:"seconds"`
	Steps       int64                          `json:"steps"`
	Nodes       map[string]allocateAnswer      `json:"nodes,omitempty"`
}

type allocateError struct {
	Message   string `json:"message"`
	NodeLocal bool   `json:"nodeLocal"`
}

func allocate(ctx context.Context, asked allocateQuestion) any {
	features, err := parseFeatures(asked.Features)
	if err != nil {
		return malformed(err)
	}
	if asked.Implementation == "" {
		structured.EnableAllocators()
	} else {
		structured.EnableAllocators(asked.Implementation)
	}
	state, err := asked.Allocated.parse()
	if err != nil {
		return malformed(err)
	}
	start := time.Now()
	cache := cel.NewCache(10, cel.Features{EnableConsumableCapacity: features.ConsumableCapacity, EnableListTypeAttributes: features.ListTypeAttributes})
	allocator, err := structured.NewAllocator(ctx, features, state, classLister(asked.Classes), asked.Slices, cache)
	if err != nil {
		return allocateAnswer{Error: describe(err)}
	}
	limit := time.Duration(asked.Limit * float64(time.Second))
	if len(asked.Nodes) == 0 {
		return onNode(ctx, allocator, asked.Node, asked.Claims, limit)
	}
	whole := allocateAnswer{Nodes: map[string]allocateAnswer{}}
	for _, node := range asked.Nodes {
		given := onNode(ctx, allocator, node, asked.Claims, limit)
		whole.Nodes[node.Name] = given
		whole.Steps += given.Steps
	}
	whole.Seconds = time.Since(start).Seconds()
	return whole
}

func onNode(ctx context.Context, allocator structured.Allocator, node *v1.Node, claims []*resourceapi.ResourceClaim, limit time.Duration) allocateAnswer {
	if limit > 0 {
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = bounded
	}
	start, before := time.Now(), steps(allocator)
	results, err := allocator.Allocate(ctx, node, claims)
	given := allocateAnswer{Results: results, Seconds: time.Since(start).Seconds(), Steps: steps(allocator) - before}
	if ctx.Err() != nil {
		given.Interrupted = true
	} else if err != nil {
		given.Error = describe(err)
	}
	return given
}

// steps reads upstream's counter of calls so far. Its type is internal to upstream, which leaves reflection.
func steps(allocator structured.Allocator) int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return 0
	}
	return method.Call(nil)[0].FieldByName("NumAllocateOneInvocations").Int()
}

func describe(err error) *allocateError {
	return &allocateError{Message: err.Error(), NodeLocal: errors.Is(err, structured.ErrFailedAllocationOnNode)}
}

func (s allocatedState) parse() (structured.AllocatedState, error) {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, text := range s.Devices {
		id, err := parseDeviceID(text)
		if err != nil {
			return state, err
		}
		state.AllocatedDevices.Insert(id)
	}
	for _, shared := range s.Shared {
		id := structured.MakeDeviceID(shared.Driver, shared.Pool, shared.Device)
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &shared.ShareID))
	}
	for text, consumed := range s.ConsumedCapacity {
		id, err := parseDeviceID(text)
		if err != nil {
			return state, err
		}
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, consumed))
	}
	return state, nil
}

// parseDeviceID cuts "driver/pool/device" at the first and the last slash: names of pools may hold slashes.
func parseDeviceID(text string) (structured.DeviceID, error) {
	driver, rest, found := strings.Cut(text, "/")
	last := strings.LastIndex(rest, "/")
	if !found || last < 0 {
		return structured.DeviceID{}, fmt.Errorf("device %q is not driver/pool/device", text)
	}
	return structured.MakeDeviceID(driver, rest[:last], rest[last+1:]), nil
}

func parseFeatures(names []string) (structured.Features, error) {
	var features structured.Features
	for _, name := range names {
		field, known := map[string]*bool{
			"DRAAdminAccess":               &features.AdminAccess,
			"DRAConsumableCapacity":        &features.ConsumableCapacity,
			"DRADerivedAttributes":         &features.DerivedAttributes,
			"DRADeviceBindingConditions":   &features.DeviceBindingAndStatus,
			"DRADeviceCompatibilityGroups": &features.CompatibilityGroups,
			"DRADeviceTaints":              &features.DeviceTaints,
			"DRAFractionalCapacityRange":   &features.FractionalCapacityRange,
			"DRAListTypeAttributes":        &features.ListTypeAttributes,
			"DRAOptionalNodeOperations":    &features.OptionalNodeOperations,
			"DRAPartitionableDevices":      &features.PartitionableDevices,
			"DRAPrioritizedList":           &features.PrioritizedList,

			"DRADeviceBindingConditions+DRAResourceClaimDeviceStatus": &features.DeviceBindingAndStatus,
		}[name]
		if !known {
			return features, fmt.Errorf("unknown feature %q", name)
		}
		*field = true
	}
	return features, nil
}

type classLister []*resourceapi.DeviceClass

func (l classLister) List() ([]*resourceapi.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, notFound(name)
}

// notFound is what a lister of the API server's client gives.
func notFound(class string) error {
	return apierrors.NewNotFound(resourceapi.Resource("deviceclass"), class)
}
