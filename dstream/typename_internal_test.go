package dstream

import (
	"container/list"
	"reflect"
	"testing"
	"time"
)

// tall is a type without a name whose text is long.
type tall = struct {
	A, B, C, D, E, F, G, H struct{ A, B, C, D, E, F, G, H map[float64][]string }
}

func TestTypeText(t *testing.T) {
	for _, c := range []struct {
		of   reflect.Type
		want string
	}{
		{typeOf[int](), "int"},
		{typeOf[[]byte](), "[]uint8"},
		{typeOf[[3]*bool](), "[3]*bool"},
		{typeOf[time.Time](), "time.Time"},
		{typeOf[*time.Time](), "*time.Time"},
		{typeOf[time.Duration](), "time.Duration int64"},
		{typeOf[any](), "interface {}"},
		{typeOf[error](), "error"},
		{typeOf[map[string]struct{ X, Y int }](), "map[string]{X int; Y int}"},
		{typeOf[func(int) string](), "func(int) string"},
		{typeOf[*Graph](), "*github.com/leat-io/leat/dstream.Graph"},
		{typeOf[list.List](), "container/list.List{root container/list.Element{next *container/list.Element; prev *container/list.Element; " +
			"list *container/list.List; Value interface {}}; len int}"},
	} {
		if got := typeText(c.of); got != c.want {
			t.Errorf("%v: %s, want %s", c.of, got, c.want)
		}
	}
	if long := typeText(typeOf[tall]()); len(long) != maxTypeText+4+64 || long != typeText(typeOf[tall]()) {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
