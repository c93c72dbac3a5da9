package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A tenure is the one term that a context of Drive leads for. The nil tenure is that of a context that leads once, whoever led before.
type tenure struct {
	after uint64                    // the epoch of the last term of this driver, which has ended whatever the log says
	began func(term driverlog.Term) // called when a term has begun

	fruitful atomic.Bool // a batch was committed in it
	wanted   *wanted
}

// lead waits until the driver leads, in a term of its own.
//
// Errors: those of the log.
func (t *tenure) lead(ctx context.Context, log driverlog.Log) (driverlog.Term, error) {
	term, err := log.Lead(ctx)
	if err != nil || t == nil {
		return term, err
	}
	if term.Epoch <= t.after {
		// The log does not know that the term is over, as where the answer to a command got lost, which may have an effect yet: only a later
		// epoch keeps it off.
		if err := begin(ctx, log, term); err != nil {
			return driverlog.Term{}, err
		}
		if term, err = log.Lead(ctx); err != nil {
			return driverlog.Term{}, err
		}
		if term.Epoch <= t.after {
			return driverlog.Term{}, fmt.Errorf("%w: the log still has epoch %d", ErrTermLost, term.Epoch)
		}
	}
	t.began(term)
	return term, nil
}

// begin ends a term of this node by the beginning of another.
func begin(ctx context.Context, log driverlog.Log, term driverlog.Term) error {
	state, err := log.State(ctx)
	if err != nil {
		return err
	}
	if state.Epoch != term.Epoch {
		return nil // it is over, and the log is about to see it
	}
	_, err = log.Propose(ctx, driverlog.Command{Kind: driverlog.LeaderStart, Node: state.Leader})
	return err
}

// withTerm returns a context that ends with a term, and a function that frees what that takes.
func withTerm(ctx context.Context, term driverlog.Term) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-term.Lost:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watch.Wait()
	}
}

// stands reports whether the log still takes commands of an epoch, by one that it takes in no state.
//
// Cost: an entry of the log.
func stands(ctx context.Context, log driverlog.Log, app string, epoch uint64) bool {
	const never = 1 << 62 // no application has so many batches
	_, err := log.Propose(ctx, driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: app, Batch: never})
	_, dense := errors.AsType[*driverlog.DenseError](err)
	return dense
}
