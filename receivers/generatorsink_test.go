package receivers_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/receivers"
)

// Case R1 through a generator of the receiver's own, which it leaves running.
func TestAReceiverMakesAGeneratorOfItsOwn_R1(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		var own *receivers.Generator[int]
		var old receivers.GeneratorSink[int]
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			old = sink.(receivers.GeneratorSink[int])
			gen, err := old.NewGenerator(receivers.GeneratorOptions{Listener: receivers.BlockListener{
				Cut: func(receivers.BlockID, int) { notes = append(notes, "cut") },
			}})
			if err != nil {
				return err
			}
			own = gen
			if err := gen.Start(ctx); err != nil {
				return err
			}
			if err := gen.StoreAllThen(ctx, upTo(3), func() { notes = append(notes, "added") }); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		}, receivers.Options{})
		if own.Rate() != 0 {
			t.Errorf("rate %d", own.Rate())
		}
		s.SetRate(70)
		if own.Rate() != 70 || s.Rate() != 70 {
			t.Errorf("rates %d and %d, want 70", own.Rate(), s.Rate())
		}
		if err := s.stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
		if diff := cmp.Diff(upTo(3), s.blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		if !slices.Equal(notes, []string{"added", "cut"}) || own.State() != receivers.StoppedAll {
			t.Errorf("%v, %v", notes, own.State())
		}
		if _, err := old.NewGenerator(receivers.GeneratorOptions{}); !errors.Is(err, receivers.ErrSinkClosed) {
			t.Errorf("NewGenerator after Receive = %v", err)
		}
		if _, err := old.NewGenerator(receivers.GeneratorOptions{BlockQueue: -1}); err == nil {
			t.Error("NewGenerator took a negative queue")
		}
	})
}

// Case R5 for the generators of a receiver: one made later starts at the rate that holds then.
func TestRatesOfAllGenerators_R5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		make1 := make(chan struct{})
		made := make(chan *receivers.Generator[int], 1)
		s := supervise(t, &supervised{}, func(ctx context.Context, sink receivers.Sink[int]) error {
			<-make1
			gen, err := sink.(receivers.GeneratorSink[int]).NewGenerator(receivers.GeneratorOptions{MaxRate: 7})
			if err != nil {
				return err
			}
			made <- gen
			<-ctx.Done()
			return nil
		}, receivers.Options{Generator: receivers.GeneratorOptions{MaxRate: 100, InitialRate: 20}})
		rates := []int64{s.Rate()}
		s.SetRate(50)
		close(make1)
		gen := <-made
		rates = append(rates, s.Rate(), gen.Rate())
		for _, rate := range []int64{105, 0, -5} {
			s.SetRate(rate)
			rates = append(rates, s.Rate(), gen.Rate())
		}
		if want := []int64{20, 50, 50, 100, 100, 100, 100, 100, 100}; !slices.Equal(rates, want) {
			t.Errorf("rates %v, want %v", rates, want)
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
}
