package golden

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// An Answer is what an action returned. Matches returns nil if it is what a case wants, compared as
// cmp says, else an error that shows both.
type Answer interface {
	Matches(cmp string, want json.RawMessage) error
}

// differs says what was wanted and what came.
func differs(got string, want json.RawMessage) error {
	return fmt.Errorf("got %s, want %s", got, want)
}

// Parts are the records of all partitions.
type Parts [][]Value

// Matches compares partitions exactly, as multisets, or only their records and their number.
func (p Parts) Matches(cmp string, raw json.RawMessage) error {
	var want struct {
		Parts []json.RawMessage
		N     int
		Rows  json.RawMessage
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	if cmp == "bag" {
		rows, err := parseList(want.Rows)
		if err != nil {
			return err
		}
		got := sorted(slices.Concat(p...))
		if len(p) != want.N || !slices.Equal(got, sorted(rows)) {
			return differs(fmt.Sprintf("%d partitions with %s", len(p), ShowAll(got)), raw)
		}
		return nil
	}
	shown := make([]string, len(p))
	equal := len(p) == len(want.Parts)
	for i, rows := range p {
		if cmp != "ordered" {
			rows = sorted(rows)
		}
		shown[i] = ShowAll(rows)
		if i < len(want.Parts) {
			wanted, err := parseList(want.Parts[i])
			if err != nil {
				return err
			}
			equal = equal && slices.Equal(rows, wanted)
		}
	}
	if !equal {
		return differs("["+strings.Join(shown, ",")+"]", raw)
	}
	return nil
}

// Rows are records without partitions.
type Rows []Value

// Matches compares in order, or as multisets.
func (r Rows) Matches(cmp string, raw json.RawMessage) error {
	if cmp == "bag" {
		var counted struct{ Rows json.RawMessage }
		if json.Unmarshal(raw, &counted) == nil {
			raw = counted.Rows
		}
	}
	want, err := parseList(raw)
	if err != nil {
		return err
	}
	got := []Value(r)
	if cmp == "bag" {
		got, want = sorted(got), sorted(want)
	}
	if !slices.Equal(got, want) {
		return differs(ShowAll(got), raw)
	}
	return nil
}

// One is a single record.
type One struct{ Value Value }

// Matches compares the record.
func (o One) Matches(_ string, raw json.RawMessage) error {
	want, err := ParseValue(raw)
	if err != nil {
		return err
	}
	if o.Value != want {
		return differs(Show(o.Value), raw)
	}
	return nil
}

// Fact is something known of an RDD: a name, a list of names, a number or a truth.
type Fact struct{ Is any }

// Matches compares the fact as JSON.
func (f Fact) Matches(_ string, raw json.RawMessage) error {
	var got, want any
	text, err := json.Marshal(f.Is)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return differs(string(text), raw)
	}
	return nil
}

// Floats are numbers by name in small letters. The empty name is for a single number.
type Floats map[string][]float64

// Matches compares every number that the case names, up to rounding.
func (f Floats) Matches(_ string, raw json.RawMessage) error {
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	named, ok := want.(map[string]any)
	if !ok {
		named = map[string]any{"": want}
	}
	for name, x := range named {
		got, ok := f[strings.ToLower(name)]
		if !ok {
			return &NotBuiltError{What: "statistic", Name: name}
		}
		wanted, ok := x.([]any)
		if !ok {
			wanted = []any{x}
		}
		equal := len(got) == len(wanted)
		for i := range wanted {
			equal = equal && i < len(got) && near(got[i], wanted[i])
		}
		if !equal {
			return differs(fmt.Sprintf("%s %v", name, got), raw)
		}
	}
	return nil
}

// near reports whether a number is what a case writes, up to the rounding of another order of
// additions.
func near(got float64, want any) bool {
	var w float64
	switch x := want.(type) {
	case float64:
		w = x
	case string:
		switch x {
		case "NaN":
			return math.IsNaN(got)
		case "+Inf":
			w = math.Inf(1)
		case "-Inf":
			w = math.Inf(-1)
		default:
			return false
		}
	default:
		return false
	}
	return got == w || math.Abs(got-w) <= 1e-9*max(math.Abs(got), math.Abs(w))
}
