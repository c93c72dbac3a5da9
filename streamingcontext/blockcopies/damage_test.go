package blockcopies_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/blockcopies"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

func flip(data []byte) []byte { data[len(data)/2] ^= 1; return data }

// wantSomeLost checks that a log has most of 30 blocks, and says that others are lost.
func wantSomeLost(t *testing.T, log streamingcontext.BlockLog) {
	t.Helper()
	n := 0
	err := log.Scan(t.Context(), func(streamingcontext.BlockEntry) error { n++; return nil })
	var lost *receivedlog.ScanError
	if !errors.As(err, &lost) || n < 20 || n >= 30 {
		t.Errorf("%d blocks, %v", n, err)
	}
}

// The only copy became damaged since its driver has looked at it, a follower's or that of a leader whose log is open. What is whole is taken, also behind the damage,
// and the rest is said to be lost.
func TestDamageSinceItWasLooked_C11(t *testing.T) {
	for _, holder := range []string{"a", "b"} {
		t.Run(holder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, "a", "b", "c")
				a, _, c := w.driver("a"), w.driver("b"), w.driver("c")
				log := a.lead(5)
				kept{}.store(t, log, 0, 30)
				synctest.Wait()
				tear(t, w.lastSegment(holder), flip)
				for _, other := range []string{"a", "b"} {
					if other != holder {
						w.cut("c", other)
					}
				}
				w.cut("a", "b")
				c.lose()
				wantSomeLost(t, w.driver("c").lead(9))
			})
		})
	}
}

// A block that is damaged before it was sent is not acknowledged, nor is any behind it. One that was sent to the others is no reason to stop.
func TestDamageOfTheLeadersOwn_C11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a, _, c := w.driver("a"), w.driver("b"), w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 30)
		synctest.Wait()
		c.lose()
		tear(t, w.lastSegment("a"), flip)
		w.driver("c")
		settle(10 * time.Second)
		acked.store(t, log, 30, 35)
		if !w.saw("are damaged here") {
			t.Error("nothing was damaged")
		}
		for data, at := range acked {
			if got, err := log.Read(at); err != nil || string(got) != data { // the copy of b
				t.Errorf("%v: %.20q, %v", at, got, err)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a := w.driver("a")
		w.driver("b")
		w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 1)
		synctest.Wait()
		w.cut("a", "b", "c")
		var work sync.WaitGroup
		work.Go(func() {
			var damage *receivedlog.DamageError
			if at, err := log.Append(t.Context(), 0, block(1), nil); !errors.As(err, &damage) {
				t.Errorf("acknowledged at %v, %v", at, err)
			}
		})
		synctest.Wait()
		tear(t, w.lastSegment("a"), func(data []byte) []byte { data[len(data)-1] ^= 1; return data })
		w.heal()
		work.Wait()
		var damage *receivedlog.DamageError
		if s := a.Status(); !errors.As(s.Err, &damage) {
			t.Errorf("status %+v", s)
		}
	})
}

// What an append that failed has left behind in a segment counts for nobody: the header of the next one says how far it does.
func TestWhatNeverCountedIsNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		dir := filepath.Join(w.dir("a"), "00000000000000000005")
		write := func(dir string, blocks ...int) {
			log, err := receivedlog.Open(dir, receivedlog.Options{Now: func() time.Time { return time.UnixMilli(1) }})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range blocks {
				if _, err := log.Append(t.Context(), 0, block(i), nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
		write(dir, 1, 2)
		write(dir, 4) // in a segment of its own
		longer := t.TempDir()
		write(longer, 1, 2, 3)
		data, err := os.ReadFile(filepath.Join(longer, receivedlog.SegmentName(1)))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, receivedlog.SegmentName(1)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		b := w.driver("b")
		for _, d := range []*driver{w.driver("a"), b} {
			all := found(t, d.lead(9+d.Status().Promised))
			for i, want := range map[int]bool{1: true, 2: true, 3: false, 4: true} {
				if _, got := all[string(block(i))]; got != want {
					t.Errorf("%s: block %d is found: %t", d.name, i, got)
				}
			}
			synctest.Wait()
			d.stop()
		}
	})
}

// The promise is on the disk before it is given, and one that is damaged is not taken for none.
func TestThePromiseIsDurable_D9(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a, b := w.driver("a"), w.driver("b")
		a.lead(7)
		synctest.Wait()
		b.stop()
		b = w.driver("b")
		if got := b.Status().Promised; got != 7 {
			t.Errorf("promised %d", got)
		}
		var fenced *blockcopies.FencedError
		if _, err := b.Lead(t.Context(), 6); !errors.As(err, &fenced) || fenced.By != 7 {
			t.Errorf("an older epoch: %v", err)
		}
		b.stop()
		tear(t, filepath.Join(w.dir("b"), "promise"), flip)
		if _, err := blockcopies.New(nil, w.dir("b"), blockcopies.Options{Copies: 1}); err == nil {
			t.Error("a damaged promise was taken")
		}
		if err := os.Remove(filepath.Join(w.dir("b"), "promise")); err != nil {
			t.Error(err)
		}
	})
}

func TestOptions(t *testing.T) {
	members := func() []blockcopies.Member { return nil }
	for name, o := range map[string]blockcopies.Options{
		"no_members":  {},
		"no_id":       {Members: members},
		"copies":      {ID: "a", Members: members, Copies: -1},
		"timeout":     {ID: "a", Members: members, Timeout: -1},
		"connections": {ID: "a", Members: members, MaxConns: -1},
		"segment":     {ID: "a", Members: members, SegmentBytes: -1},
	} {
		if _, err := blockcopies.New(&port{}, t.TempDir(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := blockcopies.New(nil, t.TempDir(), blockcopies.Options{ID: "a", Members: members}); err == nil {
		t.Error("no network: no error")
	}
	if got, want := (blockcopies.Options{ID: "a"}).String(), "driver a, 2 copies, timeout 10s, tried again after 500ms, at most 16 connections"; got != want {
		t.Errorf("options %s", got)
	}
}
