package dstream

import (
	"errors"
	"testing"
)

// E9: an input reports a batch once.
func TestAnInputReportsABatchOnce_E9(t *testing.T) {
	g := &Graph{infos: map[Time][]InputInfo{}}
	for stream, records := range []int64{100, 300} {
		if err := g.report(1000, InputInfo{Stream: stream, Records: records}); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.report(1000, InputInfo{Stream: 0, Records: 1}); !errors.Is(err, ErrDuplicateInputInfo) {
		t.Errorf("reported again: %v", err)
	}
	if got := g.InputInfos(1000); len(got) != 2 || got[0].Records != 100 || got[1].Records != 300 {
		t.Errorf("infos %+v", got)
	}
}
