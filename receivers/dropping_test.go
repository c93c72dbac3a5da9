package receivers_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
)

// closedBlocks takes blocks and keeps none.
type closedBlocks struct{ receiverstest.Blocks[int] }

func (*closedBlocks) Dropping() bool { return true }

func TestSink_does_not_acknowledge_what_a_closed_block_store_drops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var whole, single error
		sup, err := receivers.NewSupervisor(0, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			whole, single = sink.StoreBlock(ctx, upTo(3)), sink.Store(ctx, 4)
			<-ctx.Done()
			return nil
		}), &closedBlocks{}, receivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- sup.Run(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err) // the generator comes to its end all the same
		}
		if !errors.Is(whole, receivers.ErrDropped) || single != nil {
			t.Errorf("StoreBlock = %v, Store = %v", whole, single)
		}
	})
}
