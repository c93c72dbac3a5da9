package receiverstest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var want = []int{0, 1, 2, 3, 4, 5}

// counter is a receiver that keeps the contract.
func counter(read *int) receivers.Func[int] {
	return func(ctx context.Context, sink receivers.Sink[int]) error {
		for i := 0; ; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			*read = i + 1
			if err := sink.Store(ctx, i); err != nil {
				return err
			}
		}
	}
}

func goodSource(*testing.T) Source[int] {
	var read int
	return Source[int]{Receiver: counter(&read), Want: want, Read: func() int { return read }}
}

func TestRun_passes_a_receiver_that_keeps_the_contract(t *testing.T) { Run(t, goodSource) }

func TestRunReal_passes_a_receiver_that_keeps_the_contract(t *testing.T) {
	RunReal(t, func(t *testing.T) Source[int] {
		source := goodSource(t)
		source.Read = nil // the counter is not made for two goroutines, which only the bubble orders
		return source
	})
}

// Each receiver breaks one rule. The check of that rule must fail, with the text. release ends what the receiver left
// behind, so that the bubble can end.
func TestRun_fails_a_receiver_that(t *testing.T) {
	tests := []struct {
		name, check, text string
		source            func(release chan struct{}) Source[int]
	}{
		{"doubles a record", "stores each record once and in order", "stored [0 0", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				for i := 0; ; i++ {
					if err := sink.Store(ctx, i/2); err != nil {
						return err
					}
				}
			})}
		}},
		{"stores too little", "stores each record once and in order", "wait for 6 records", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				_ = sink.StoreBlock(ctx, want[:3])
				<-ctx.Done()
				return nil
			})}
		}},
		{"ignores its context", "returns when its context ends", "no return from Receive", func(release chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				_ = sink.StoreBlock(ctx, want)
				<-release
				return nil
			})}
		}},
		{"stores after it returned", "returns when its context ends", "after Receive had returned", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				_ = sink.StoreBlock(ctx, want)
				<-ctx.Done()
				time.AfterFunc(time.Millisecond, func() { _ = sink.Store(ctx, 7) })
				return nil
			})}
		}},
		{"does not look at its context first", "returns when its context has already ended", "no return from Receive", func(release chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(context.Context, receivers.Sink[int]) error {
				<-release
				return nil
			})}
		}},
		{"reads ahead without bound", "stops reading while the sink waits", "took 100 records", func(chan struct{}) Source[int] {
			read := 0
			return Source[int]{Want: want, Ahead: 10, Read: func() int { return read }, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				read = 100
				return sink.Store(ctx, 0)
			})}
		}},
		{"swallows the error of the sink", "returns the error of the sink", "Receive returned", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				for i := range want {
					if sink.Store(ctx, i) != nil {
						return errors.New("something")
					}
				}
				return nil
			})}
		}},
		{"carries on after the sink refused", "returns the error of the sink", "no return from Receive", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				for i := range want {
					_ = sink.Store(ctx, i)
				}
				<-ctx.Done()
				return nil
			})}
		}},
		{"does nothing when started again", "starts again after its end", "started again: wait for 1 records", func(chan struct{}) Source[int] {
			runs := 0
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				if runs++; runs == 1 {
					return sink.Store(ctx, 0)
				}
				<-ctx.Done()
				return ctx.Err()
			})}
		}},
		{"ignores its context when started again", "starts again after its end", "started again: no return from Receive", func(release chan struct{}) Source[int] {
			runs := 0
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				if runs++; runs == 2 {
					_ = sink.Store(ctx, 0)
					<-release
				}
				return nil
			})}
		}},
		{"doubles records when started again", "starts again after its end", "started again: stored [2 3 4], want [3 4 5]", func(chan struct{}) Source[int] {
			next := 0
			return Source[int]{Want: want, Resumes: true, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				for next = max(next-1, 0); ; next++ {
					if err := sink.Store(ctx, next); err != nil {
						return err
					}
				}
			})}
		}},
		{"gives up a block that was refused", "loses and doubles nothing under a supervisor", "stored [2 3", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				for i := 0; ctx.Err() == nil; i += 2 {
					_ = sink.StoreBlock(ctx, []int{i, i + 1})
				}
				return ctx.Err()
			})}
		}},
		{"stores too little for a supervisor", "loses and doubles nothing under a supervisor", "1 records stored within", func(chan struct{}) Source[int] {
			return Source[int]{Want: want, Receiver: receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
				if err := sink.Store(ctx, 0); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			})}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ran := false
			for _, c := range checks[int]() {
				if c.name != test.check {
					continue
				}
				ran = true
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					defer close(release)
					err := c.run(t.Context(), test.source(release), settle)
					if err == nil || !strings.Contains(err.Error(), test.text) {
						t.Errorf("check %q returned %v, want an error with %q", c.name, err, test.text)
					}
				})
			}
			if !ran {
				t.Fatalf("no check is named %q", test.check)
			}
		})
	}
}

func TestClock_releases_each_waiter_at_its_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock Clock
		var reached [3]bool
		for i := range reached {
			go func() { reached[i] = clock.WaitUntil(t.Context(), int64(10*(i+1))) == nil }()
		}
		clock.Advance(9)
		synctest.Wait()
		if reached != [3]bool{} {
			t.Errorf("at 9: %v", reached)
		}
		clock.Advance(11)
		synctest.Wait()
		if reached != [3]bool{true, true, false} {
			t.Errorf("at 20: %v", reached)
		}
		clock.Set(30)
		synctest.Wait()
		if reached != [3]bool{true, true, true} {
			t.Errorf("at 30: %v", reached)
		}
	})
}
