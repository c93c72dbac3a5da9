package driverlog_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// terms is a Log that only leads: it hands out the terms sent to it.
type terms struct {
	driverlog.Log
	next chan driverlog.Term
}

func (l terms) Lead(ctx context.Context) (driverlog.Term, error) {
	select {
	case t := <-l.next:
		return t, nil
	case <-ctx.Done():
		return driverlog.Term{}, ctx.Err()
	}
}

func TestWhileLeading(t *testing.T) {
	boom := errors.New("boom")
	t.Run("returns_the_error_of_a_run_within_its_term", func(t *testing.T) {
		l := terms{next: make(chan driverlog.Term, 1)}
		l.next <- driverlog.Term{Epoch: 1, Lost: make(chan struct{})}
		err := driverlog.WhileLeading(t.Context(), l, func(context.Context, uint64) error { return boom })
		if err != boom {
			t.Errorf("WhileLeading = %v, want %v", err, boom)
		}
	})
	t.Run("a_lost_term_ends_the_run_before_the_next_begins", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := terms{next: make(chan driverlog.Term, 2)}
			lost := make(chan struct{})
			l.next <- driverlog.Term{Epoch: 1, Lost: lost}
			l.next <- driverlog.Term{Epoch: 9, Lost: make(chan struct{})}
			running := 0
			var epochs []uint64
			err := driverlog.WhileLeading(t.Context(), l, func(ctx context.Context, epoch uint64) error {
				running++
				defer func() { running-- }()
				if running != 1 {
					t.Errorf("%d runs at once", running)
				}
				epochs = append(epochs, epoch)
				if epoch == 1 {
					close(lost)
					<-ctx.Done()
					return boom
				}
				return nil
			})
			if err != nil || len(epochs) != 2 || epochs[1] != 9 {
				t.Errorf("WhileLeading = %v with epochs %v, want nil with 1 and 9", err, epochs)
			}
		})
	})
	t.Run("the_context_ends_a_run_and_the_wait_for_a_term", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := terms{next: make(chan driverlog.Term, 1)}
			ctx, cancel := context.WithCancel(t.Context())
			l.next <- driverlog.Term{Epoch: 1, Lost: make(chan struct{})}
			err := driverlog.WhileLeading(ctx, l, func(ctx context.Context, _ uint64) error {
				cancel()
				<-ctx.Done()
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("WhileLeading = %v, want context.Canceled", err)
			}
			if err := driverlog.WhileLeading(ctx, l, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("WhileLeading = %v, want context.Canceled", err)
			}
		})
	})
	t.Run("a_fenced_run_waits_for_another_epoch_and_does_not_spin", func(t *testing.T) {
		l := terms{next: make(chan driverlog.Term, 3)}
		for _, epoch := range []uint64{1, 2, 2} {
			l.next <- driverlog.Term{Epoch: epoch, Lost: make(chan struct{})}
		}
		runs := 0
		err := driverlog.WhileLeading(t.Context(), l, func(_ context.Context, epoch uint64) error {
			runs++
			return &driverlog.FencedError{Have: 5, Got: epoch}
		})
		var fenced *driverlog.FencedError
		if !errors.As(err, &fenced) || fenced.Got != 2 || runs != 2 {
			t.Errorf("WhileLeading = %v after %d runs, want the FencedError of epoch 2 after 2", err, runs)
		}
	})
}
