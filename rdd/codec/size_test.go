package codec_test

import (
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

type sized struct {
	N    int
	Name string
	Tags []string
	By   map[string]int64
	Next *sized
	Any  any
}

func TestSizeFunc(t *testing.T) {
	if codec.SizeFunc[int64]() != nil || codec.SizeFunc[[4]struct{ A, B int8 }]() != nil {
		t.Error("values that refer to nothing have a size function")
	}
	text := strings.Repeat("x", 1000)
	if got := codec.SizeFunc[string]()(&text); got != 1000 {
		t.Errorf("string: %d", got)
	}
	ints := make([]int32, 10, 20)
	if got := codec.SizeFunc[[]int32]()(&ints); got != 80 {
		t.Errorf("slice: %d, want what is allocated", got)
	}
	x := sized{Name: text, Tags: []string{text, text}, By: map[string]int64{text: 1}, Any: text}
	got := codec.SizeFunc[sized]()(&x)
	if got < 5000 || got > 5600 {
		t.Errorf("struct: %d, want 5 texts and a little", got)
	}
	x.Next = &x // a cycle ends
	if with := codec.SizeFunc[sized]()(&x); with < 2*got-600 || with > 20*got {
		t.Errorf("cycle: %d", with)
	}
}
