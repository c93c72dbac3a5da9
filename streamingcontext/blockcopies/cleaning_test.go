package blockcopies_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext/blockcopies"
)

// What nobody needs goes on all drivers, on one that was away when it is back, and nothing else does.
func TestCleaning_R11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a, b, c := w.driver("a", small), w.driver("b", small), w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 60)
		synctest.Wait()
		c.stop()
		all := len(w.files("a"))
		removed, err := log.Clean(acked[string(block(30))])
		if err != nil || removed == 0 || len(w.files("a")) != all-removed {
			t.Errorf("removed %d of %d files, %d are left, %v", removed, all, len(w.files("a")), err)
		}
		synctest.Wait()
		w.wantSame("a", "b")
		w.driver("c")
		settle(10 * time.Second)
		w.wantSame("a", "c")
		a.lose()
		log = b.lead(9)
		later := kept{}
		for i := 30; i < 60; i++ {
			later[string(block(i))] = acked[string(block(i))]
		}
		later.within(t, found(t, log))
		later.store(t, log, 60, 70)
		if _, err := log.Clean(later[string(block(65))]); err != nil {
			t.Error(err)
		}
		settle(time.Second)
		w.wantSame("b", "c")
		for name := range w.files("c") {
			if filepath.Dir(name) != "00000000000000000009" {
				t.Errorf("%s is still there", name)
			}
		}
		if _, err := os.Stat(filepath.Join(w.dir("c"), "00000000000000000005")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of an old epoch: %v", err)
		}
	})
}

// A driver whose term goes on, while a context of it ends and another begins, goes on with its log. Another process of it does not.
func TestTheSameTermAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		a, b := w.driver("a"), w.driver("b")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 10)
		for i := 10; i < 30; i += 10 {
			if err := errors.Join(log.Close(), log.Close()); err != nil {
				t.Error(err)
			}
			log = a.lead(5)
			acked.within(t, found(t, log))
			acked.store(t, log, i, i+10)
			acked.within(t, found(t, log))
		}
		synctest.Wait()
		w.wantSame("a", "b")
		a.stop()
		var fenced *blockcopies.FencedError
		if _, err := w.driver("a").Lead(t.Context(), 5); !errors.As(err, &fenced) {
			t.Errorf("another process in the same epoch: %v", err)
		}
		acked.within(t, found(t, b.lead(6)))
	})
}

// A driver that was away while what it missed became needed by nobody leads, and takes nothing for lost.
func TestWhatWasCleanedIsNotLost_R11(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c")
		a, _, c := w.driver("a", small), w.driver("b"), w.driver("c")
		acked, log := kept{}, a.lead(5)
		acked.store(t, log, 0, 10)
		synctest.Wait()
		c.stop()
		acked.store(t, log, 10, 60)
		if _, err := log.Clean(acked[string(block(50))]); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		a.lose()
		log = w.driver("c").lead(9)
		later := kept{}
		for i := 50; i < 60; i++ {
			later[string(block(i))] = acked[string(block(i))]
		}
		later.within(t, found(t, log))
		w.wantSame("b", "c")
	})
}
