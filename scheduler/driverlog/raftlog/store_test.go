package raftlog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// A countingDisk counts writes, and fails or hangs.
type countingDisk struct {
	raft.LogStore
	raft.StableStore
	writes, closed int
	err            error
	hang           chan struct{}
}

func (d *countingDisk) StoreLogs([]*raft.Log) error {
	d.writes++
	if d.hang != nil {
		<-d.hang
	}
	return d.err
}

func (d *countingDisk) DeleteRange(uint64, uint64) error { d.writes++; return nil }
func (d *countingDisk) Set([]byte, []byte) error         { d.writes++; return nil }
func (d *countingDisk) SetUint64([]byte, uint64) error   { d.writes++; return nil }
func (d *countingDisk) GetLog(uint64, *raft.Log) error   { return nil }
func (d *countingDisk) Close() error                     { d.closed++; return nil }
func everything(s *store) []error {
	return []error{s.StoreLogs(nil), s.StoreLog(nil), s.DeleteRange(1, 2), s.Set(nil, nil), s.SetUint64(nil, 1)}
}

func TestStore(t *testing.T) {
	open := func(d *countingDisk) *store {
		return newStore(d, "dir", 10*time.Second, nil, func() error { return nil })
	}
	t.Run("nothing_is_written_after_the_first_error", func(t *testing.T) {
		d := &countingDisk{err: errors.New("input/output error")}
		s := open(d)
		var poison *PoisonError
		if err := s.StoreLogs(nil); !errors.As(err, &poison) || !errors.Is(err, d.err) {
			t.Errorf("StoreLogs = %v, want a PoisonError", err)
		}
		cause := d.err
		d.err = nil
		for i, err := range everything(s) {
			if !errors.Is(err, cause) {
				t.Errorf("write %d = %v, want the first error", i, err)
			}
		}
		// Nor is one that was on its way when the first failed.
		late := write{run: func() error { d.writes++; return nil }, done: make(chan error, 1)}
		s.work <- late
		if err := <-late.done; !errors.Is(err, cause) {
			t.Errorf("a write on its way = %v, want the first error", err)
		}
		if d.writes != 1 {
			t.Errorf("%d writes, want 1", d.writes)
		}
		if err := s.GetLog(1, nil); err != nil {
			t.Errorf("GetLog = %v", err)
		}
		if err := errors.Join(s.close(), s.close()); err != nil || d.closed != 1 {
			t.Errorf("close = %v, closed %d times", err, d.closed)
		}
	})
	t.Run("a_write_that_was_given_up_is_not_followed_by_another", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &countingDisk{hang: make(chan struct{})}
			s := open(d)
			results := make(chan error, 2)
			for range 2 { // the second waits behind the first
				go func() { results <- s.StoreLogs(nil) }()
			}
			before := time.Now()
			for range 2 {
				var stall *StallError
				if err := <-results; !errors.As(err, &stall) {
					t.Errorf("StoreLogs = %v, want a StallError", err)
				}
			}
			if d := time.Since(before); d != 10*time.Second {
				t.Errorf("the writes took %s, want 10s", d)
			}
			close(d.hang)
			synctest.Wait()
			for i, err := range everything(s) {
				if err == nil {
					t.Errorf("write %d after a hang took place", i)
				}
			}
			if d.writes != 1 {
				t.Errorf("%d writes, want 1", d.writes)
			}
			if err := s.close(); err != nil || d.closed != 1 {
				t.Errorf("close = %v, closed %d times", err, d.closed)
			}
		})
	})
	t.Run("a_vote_that_cannot_be_written_ends_the_goroutine_and_not_the_process", func(t *testing.T) {
		d := &countingDisk{err: errors.New("input/output error")}
		s := open(d)
		s.running.Store(true)
		_ = s.StoreLogs(nil)
		ended := make(chan bool, 1)
		go func() {
			returned := false
			defer func() { ended <- returned }()
			_ = s.SetUint64(nil, 1)
			returned = true
		}()
		if <-ended {
			t.Error("SetUint64 returned")
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
}
