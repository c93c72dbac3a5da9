package protocol_test

import (
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// A driver starts where an earlier one has died: batch 3 is prepared and batch 4 only begun.
func ExampleCore() {
	m := protocol.Manifest{Kind: protocol.Done, Outputs: 1, Staged: []protocol.Staged{{Output: "counts", Bytes: []byte("attempt 7")}}}
	prepared, _ := m.Append(nil, driverlog.MaxPayload)
	app := driverlog.App{Name: "app", Next: 5, Open: []driverlog.Batch{
		{ID: 3, Time: 3000, Begun: 20, Prepared: 21, Manifest: prepared}, {ID: 4, Time: 4000, Begun: 22},
	}}

	core := protocol.New(protocol.Options{App: "app", Epoch: 23})
	if err := core.Read(app, nil, true); err != nil {
		fmt.Println(err)
		return
	}
	for a := core.Recover(); a.Do != 0; a = core.Answered(a, protocol.Answer{}) {
		fmt.Println("batch", a.Batch.ID, a.Point)
	}
	for _, b := range core.Again() {
		fmt.Println("run again: batch", b.ID)
	}
	// Output:
	// batch 3 roll: commit
	// batch 3 roll: committed
	// batch 3 roll: clean
	// run again: batch 4
}
