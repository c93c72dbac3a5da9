package driverlog_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// A batch is begun, decided and done; the driver that was replaced in between is refused.
func ExampleStep() {
	var s driverlog.State
	do := func(index uint64, cmd driverlog.Command) {
		_, err := driverlog.Step(&s, index, cmd)
		fmt.Printf("%d %s: %v\n", index, cmd.Kind, err)
	}
	do(1, driverlog.Command{Kind: driverlog.LeaderStart, Node: "driver-1"})
	do(2, driverlog.Command{Kind: driverlog.Begin, Epoch: 1, App: "counts", Batch: 0, Time: 1000})
	do(3, driverlog.Command{Kind: driverlog.Prepared, Epoch: 1, App: "counts", Batch: 0, Manifest: []byte("sha256:77")})
	do(4, driverlog.Command{Kind: driverlog.LeaderStart, Node: "driver-2"})
	do(5, driverlog.Command{Kind: driverlog.Committed, Epoch: 1, App: "counts", Batch: 0})
	do(6, driverlog.Command{Kind: driverlog.Committed, Epoch: 4, App: "counts", Batch: 0})
	// Output:
	// 1 leader start: <nil>
	// 2 begin: <nil>
	// 3 prepared: <nil>
	// 4 leader start: <nil>
	// 5 committed: epoch 1 is fenced off, epoch 4 leads
	// 6 committed: <nil>
}

// A registered application keeps the inputs of its batches until a checkpoint says that they are not needed any more.
func ExampleApp_Batch() {
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	ctx := context.Background()
	term, err := log.Lead(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	command := func(kind driverlog.Kind, batch int64) driverlog.Command {
		return driverlog.Command{Kind: kind, Epoch: term.Epoch, App: "counts", Batch: batch}
	}
	cmds := []driverlog.Command{command(driverlog.Application, 0)}
	for id := range int64(4) {
		begin := command(driverlog.Begin, id)
		begin.Time = 1000 * (id + 1)
		begin.Inputs = []driverlog.Input{{Stream: 1, Data: fmt.Appendf(nil, "offsets %d-%d", 10*id, 10*id+9)}}
		cmds = append(cmds, begin, command(driverlog.Prepared, id), command(driverlog.Committed, id))
	}
	checkpoint := command(driverlog.Checkpointed, 3)
	checkpoint.Keep = 2 // a window still reaches back to batch 2
	if _, err := log.ProposeAll(ctx, append(cmds, checkpoint)); err != nil {
		fmt.Println(err)
		return
	}
	state, err := log.State(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	app := state.App("counts")
	for id := range app.Next {
		if b, ok := app.Batch(id); ok {
			fmt.Printf("batch %d: %s\n", id, b.Inputs[0].Data)
		}
	}
	// Output:
	// batch 2: offsets 20-29
	// batch 3: offsets 30-39
}

// A new leader rolls forward what is prepared and runs again what is only begun.
func ExampleWhileLeading() {
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	err = driverlog.WhileLeading(context.Background(), log, func(ctx context.Context, epoch uint64) error {
		state, err := log.State(ctx)
		if err != nil {
			return err
		}
		app := state.App("counts")
		for _, b := range app.Open {
			fmt.Printf("epoch %d finds batch %d, prepared: %t\n", epoch, b.ID, b.Prepared != 0)
		}
		if len(app.Open) > 0 {
			return nil
		}
		for id := range int64(2) {
			begin := driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: "counts", Batch: id, Time: 1000 * (id + 1)}
			if _, err := log.Propose(ctx, begin); err != nil {
				return err
			}
		}
		decide := driverlog.Command{Kind: driverlog.Prepared, Epoch: epoch, App: "counts", Manifest: []byte("m")}
		if _, err := log.Propose(ctx, decide); err != nil {
			return err
		}
		log.StepDown() // the leader is lost here
		<-ctx.Done()
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// epoch 5 finds batch 0, prepared: true
	// epoch 5 finds batch 1, prepared: false
	// <nil>
}
