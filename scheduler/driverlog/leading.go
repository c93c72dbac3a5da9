package driverlog

import (
	"context"
	"errors"
	"sync"
)

// WhileLeading returns what run returned in the last term, after calling run once in each term of
// this node, one after the other.
//
// The context given to run ends when the term does; run must then return, and nothing starts
// anew before it has. A run that ends with its term, or with a *FencedError, is followed by a wait for the
// next term. A run that returns within its term ends WhileLeading.
//
// Errors: run's error; the context's error; the error of log.Lead.
func WhileLeading(ctx context.Context, log Log, run func(ctx context.Context, epoch uint64) error) error {
	var last uint64
	var fenced error
	for {
		term, err := log.Lead(ctx)
		if err != nil {
			return err
		}
		if fenced != nil && term.Epoch == last {
			// The log still believes in an epoch that the state has left: going on would spin.
			return fenced
		}
		last = term.Epoch
		lost, err := runTerm(ctx, term, run)
		var f *FencedError
		switch {
		case ctx.Err() != nil:
			if err != nil {
				return err
			}
			return ctx.Err()
		case errors.As(err, &f):
			fenced = err
		case !lost:
			return err
		}
	}
}

// runTerm calls run under a context that ends with the term and says whether the term had ended.
func runTerm(ctx context.Context, term Term, run func(ctx context.Context, epoch uint64) error) (lost bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() {
		select {
		case <-term.Lost:
			cancel()
		case <-ctx.Done():
		}
	})
	err = run(ctx, term.Epoch)
	select {
	case <-term.Lost:
		return true, err
	default:
		return false, err
	}
}
