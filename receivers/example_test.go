package receivers_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

// A receiver of words, supervised until its context ends.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	words := receivers.Func[string](func(ctx context.Context, sink receivers.Sink[string]) error {
		for _, w := range []string{"a", "b", "c"} {
			if err := sink.Store(ctx, w); err != nil {
				return err
			}
		}
		cancel() // the example ends here; a real receiver goes on
		<-ctx.Done()
		return ctx.Err()
	})
	var blocks receiverstest.Blocks[string]
	s, err := receivers.NewSupervisor(0, words, &blocks, receivers.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Run(ctx), blocks.Records())
	// Output: <nil> [a b c]
}

// Records gathered on a clock that the program moves.
func ExampleGenerator() {
	var clock receiverstest.Clock
	var blocks receiverstest.Blocks[int]
	stored := make(chan struct{}, 1)
	gen, err := receivers.NewGenerator(0, &blocks, receivers.GeneratorOptions{
		Clock:    &clock,
		Listener: receivers.BlockListener{Stored: func(receivers.BlockID, int) { stored <- struct{}{} }},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	_ = gen.Start(ctx)
	_ = gen.Store(ctx, 1)
	_ = gen.Store(ctx, 2)
	clock.Advance(200) // one block interval
	<-stored
	_ = gen.Store(ctx, 3)
	_ = gen.Stop(ctx)
	for _, block := range blocks.All() {
		fmt.Println(block.ID, block.Records)
	}
	// Output:
	// 1 [1 2]
	// 200 [3]
}

// A receiver whose source can replay stores blocks and acknowledges the source afterwards.
func ExampleSink() {
	acknowledged := 0
	ctx, cancel := context.WithCancel(context.Background())
	replayable := receivers.Func[string](func(ctx context.Context, sink receivers.Sink[string]) error {
		page := []string{"x", "y"}
		if err := sink.StoreBlock(ctx, page); err != nil {
			return err // the source will send the page again
		}
		acknowledged += len(page)
		cancel()
		return nil
	})
	var blocks receiverstest.Blocks[string]
	s, _ := receivers.NewSupervisor(0, replayable, &blocks, receivers.Options{})
	_ = s.Run(ctx)
	fmt.Println(acknowledged, blocks.Records())
	// Output: 2 [x y]
}

func ExampleOptions_String() {
	fmt.Println(receivers.Options{})
	// Output: block interval 200ms, queue 10 blocks, at most 262144 records a block, max rate 0/s, initial rate 0/s, retry after 1s, start again after 2s, flush within 10s
}
