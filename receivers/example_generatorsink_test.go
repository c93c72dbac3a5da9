package receivers_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

// A receiver that tells its source how far it has stored: it notes the position when a block is cut, and acknowledges it
// when the block is stored.
func ExampleGeneratorSink() {
	acknowledged := make(chan int, 1)
	source := receivers.Func[string](func(ctx context.Context, sink receivers.Sink[string]) error {
		position, cut := 0, map[receivers.BlockID]int{}
		taken := make(chan receivers.BlockID, 1)
		gen, err := sink.(receivers.GeneratorSink[string]).NewGenerator(receivers.GeneratorOptions{
			Listener: receivers.BlockListener{
				Cut:    func(id receivers.BlockID, _ int) { cut[id] = position }, // no record can be added meanwhile
				Stored: func(id receivers.BlockID, _ int) { taken <- id },
			}})
		if err != nil {
			return err
		}
		if err := gen.Start(ctx); err != nil {
			return err
		}
		for _, line := range []string{"a", "b", "c"} {
			if err := gen.StoreThen(ctx, line, func() { position++ }); err != nil {
				return err
			}
		}
		if err := gen.Stop(ctx); err != nil { // stores what is left
			return err
		}
		acknowledged <- cut[<-taken]
		<-ctx.Done()
		return ctx.Err()
	})
	var blocks receiverstest.Blocks[string]
	// The clock stands still, so that the stop alone cuts a block.
	sup, err := receivers.NewSupervisor(0, source, &blocks, receivers.Options{Clock: &receiverstest.Clock{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- sup.Run(ctx) }()
	fmt.Println("stored up to", <-acknowledged, blocks.Records())
	cancel()
	fmt.Println(<-ended)
	// Output:
	// stored up to 3 [a b c]
	// <nil>
}
