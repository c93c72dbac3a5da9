package codec_test

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/rdd/codec"
)

func TestCloneFunc_is_nil_when_assignment_copies(t *testing.T) {
	for name, isNil := range map[string]bool{
		"numbers":             codec.CloneFunc[Numbers]() == nil,
		"string":              codec.CloneFunc[string]() == nil,
		"pair":                codec.CloneFunc[Pair[string, [4]bool]]() == nil,
		"nothing":             codec.CloneFunc[struct{}]() == nil,
		"unexported pointers": codec.CloneFunc[time.Time]() == nil,
		"function":            codec.CloneFunc[func()]() == nil,
	} {
		if !isNil {
			t.Errorf("%s: got a function", name)
		}
	}
	for name, isNil := range map[string]bool{
		"pointer":   codec.CloneFunc[*int]() == nil,
		"slice":     codec.CloneFunc[Pair[string, []byte]]() == nil,
		"map":       codec.CloneFunc[[1]map[int]int]() == nil,
		"interface": codec.CloneFunc[any]() == nil,
		"tree":      codec.CloneFunc[Tree]() == nil,
	} {
		if isNil {
			t.Errorf("%s: got nil", name)
		}
	}
}

func TestCloneFunc_copies_equal_and_independent(t *testing.T) {
	clone := codec.CloneFunc[Nested]()
	for _, row := range nestedRows() {
		if got := clone(row); !reflect.DeepEqual(got, row) {
			t.Errorf("got %#v, want %#v", got, row)
		}
	}
	row := nestedRows()[1]
	got := clone(row)
	got.Names[0], got.Matrix[0][0], got.Next.Key, **got.Deep, *got.Ptrs[1] = "!", 9, "!", 9, "!"
	got.Index["b"][0] = 9
	got.Index["new"] = nil
	clear(got.Set)
	if want := nestedRows()[1]; !reflect.DeepEqual(row, want) {
		t.Errorf("a change of the clone changed the original: %#v", row)
	}
}

func TestCloneFunc_copies_what_interfaces_hold(t *testing.T) {
	clone := codec.CloneFunc[any]()
	inner := []int{1}
	row := map[string]any{"a": []any{inner, nil, 5, ptr("p")}, "b": error(nil)}
	got := clone(row)
	if !reflect.DeepEqual(got, any(row)) {
		t.Fatalf("got %v, want %v", got, row)
	}
	inner[0] = 2
	if n := got.(map[string]any)["a"].([]any)[0].([]int)[0]; n != 1 {
		t.Errorf("the clone sees a change of the original: %d", n)
	}
	if clone(nil) != nil {
		t.Error("nil is not nil any more")
	}
}

type node struct {
	N     int
	Next  *node
	Links []*node
	Named map[string]*node
	Any   any
}

func TestCloneFunc_keeps_cycles_and_sharing(t *testing.T) {
	clone := codec.CloneFunc[*node]()
	a, b := &node{N: 1}, &node{N: 2}
	a.Next, b.Next = b, a
	a.Links = []*node{a, b, a}
	a.Named = map[string]*node{"a": a}
	a.Any = a.Named
	got := clone(a)
	if got == a || got.Next == b {
		t.Fatal("not copied")
	}
	if got.Next.Next != got || got.Links[0] != got || got.Links[1] != got.Next || got.Named["a"] != got {
		t.Error("the cycle has another shape")
	}
	if reflect.ValueOf(got.Any).Pointer() != reflect.ValueOf(got.Named).Pointer() {
		t.Error("a shared map became two")
	}

	loop := make([]any, 1)
	loop[0] = loop
	copied := codec.CloneFunc[[]any]()(loop)
	if in := copied[0].([]any); &in[0] != &copied[0] || &copied[0] == &loop[0] {
		t.Error("a slice in itself has another shape")
	}
}

type secret struct {
	Shown  []int
	hidden []int
}

func TestCloneFunc_copies_unexported_fields_by_assignment(t *testing.T) {
	row := secret{[]int{1}, []int{2}}
	got := codec.CloneFunc[secret]()(row)
	if &got.Shown[0] == &row.Shown[0] || &got.hidden[0] != &row.hidden[0] {
		t.Error("exported fields must be copied, unexported ones assigned")
	}
}

func TestCloneFunc_from_many_goroutines(t *testing.T) {
	clone := codec.CloneFunc[any]()
	row := any([]any{treeRows(), anyRows(), nestedRows()})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !reflect.DeepEqual(clone(row), row) {
				t.Error("a clone differs")
			}
		})
	}
	wg.Wait()
}

type frozen struct{ N int }

func (f *frozen) Immutable() {}

func TestCloneFunc_shares_what_is_immutable(t *testing.T) {
	if codec.CloneFunc[*frozen]() != nil {
		t.Error("an immutable type got a clone function")
	}
	type row struct {
		Kept *frozen
		Own  []int
	}
	clone := codec.CloneFunc[row]()
	in := row{Kept: &frozen{}, Own: []int{1}}
	out := clone(in)
	if out.Kept != in.Kept {
		t.Error("an immutable field was copied")
	}
	if &out.Own[0] == &in.Own[0] {
		t.Error("a mutable field beside it was shared")
	}
}
