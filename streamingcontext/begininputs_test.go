package streamingcontext

import (
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

func TestInputsTooLongForTheLogAreADigest(t *testing.T) {
	var w inputWriter
	infos := []dstream.InputInfo{
		{Stream: 0, Records: 1, Description: "short"},
		{Stream: 1, Description: strings.Repeat("long", driverlog.MaxPayload)},
		{Stream: 2, Records: 2, Description: "short"},
	}
	for range 2 { // the second time in memory used before
		inputs, err := w.write(1000, nil, infos)
		if err != nil {
			t.Fatal(err)
		}
		cmd := driverlog.Command{Kind: driverlog.Begin, Epoch: 1, App: "app", Time: 1000, Inputs: inputs}
		if err := cmd.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct {
			kind byte
			size int
		}{{inputInfo, 9}, {inputDigest, 34}, {inputInfo, 9}} {
			if d := inputs[i].Data; inputs[i].Stream != int32(i) || d[0] != inputVersion || d[1] != want.kind || len(d) != want.size {
				t.Errorf("input %d: stream %d, %d bytes % x...", i, inputs[i].Stream, len(d), d[:2])
			}
		}
	}
}
