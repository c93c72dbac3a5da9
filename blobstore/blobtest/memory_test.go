package blobtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type factory struct{ page int }

func (f factory) Open(*testing.T) blobstore.Store {
	m := blobtest.NewMemory()
	m.SetPage(f.page)
	return m
}

func (factory) Reopen(_ *testing.T, s blobstore.Store) blobstore.Store { return s }

func TestConformance(t *testing.T) {
	t.Run("pages_of_1000", func(t *testing.T) { blobtest.Run(t, factory{1000}) })
	t.Run("pages_of_2", func(t *testing.T) { blobtest.Run(t, factory{2}) })
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		fault         blobtest.Fault
		unknown       bool
		effect, later bool
	}{
		{fault: blobtest.Fail},
		{fault: blobtest.Lost, unknown: true, effect: true, later: true},
		{fault: blobtest.Dropped, unknown: true},
		{fault: blobtest.Late, unknown: true, later: true},
	} {
		t.Run(tt.fault.String(), func(t *testing.T) {
			m := blobtest.NewMemory()
			m.SetPlan(func(op blobtest.Op) blobtest.Fault {
				if op.N == 1 {
					return tt.fault
				}
				return blobtest.None
			})
			err := m.PutIfAbsent(t.Context(), "a", []byte("x"))
			if !errors.Is(err, blobtest.ErrFault) || errors.Is(err, blobstore.ErrUnknown) != tt.unknown {
				t.Errorf("PutIfAbsent = %v", err)
			}
			if got := slices.Contains(m.Names(), "a"); got != tt.effect {
				t.Errorf("takes effect at once: %v, want %v", got, tt.effect)
			}
			m.Deliver()
			if got := slices.Contains(m.Names(), "a"); got != tt.later {
				t.Errorf("takes effect in the end: %v, want %v", got, tt.later)
			}
		})
	}
	t.Run("a_late_creation_loses_against_another", func(t *testing.T) {
		m := blobtest.NewMemory()
		m.SetPlan(func(op blobtest.Op) blobtest.Fault {
			if op.N == 1 {
				return blobtest.Late
			}
			return blobtest.None
		})
		_ = m.PutIfAbsent(t.Context(), "a", []byte("late"))
		if err := m.PutIfAbsent(t.Context(), "a", []byte("early")); err != nil {
			t.Fatal(err)
		}
		m.Deliver()
		if data, _, err := m.Read(t.Context(), "a"); err != nil || string(data) != "early" {
			t.Errorf("Read = %q, %v", data, err)
		}
	})
	t.Run("a_slow_call_ends_with_its_context", func(t *testing.T) {
		m := blobtest.NewMemory()
		ctx, cancel := context.WithCancel(t.Context())
		m.SetPlan(func(blobtest.Op) blobtest.Fault { cancel(); return blobtest.Slow })
		if err := m.PutIfAbsent(ctx, "a", nil); !errors.Is(err, context.Canceled) || !errors.Is(err, blobstore.ErrUnknown) {
			t.Errorf("PutIfAbsent = %v", err)
		}
	})
}
