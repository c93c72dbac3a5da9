package receivedlog_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// A write that fails is no record, and the block can be appended again; what was received before stays.
// Shows C-01.
func TestWriteFailsOnce_C01(t *testing.T) {
	for _, noTruncate := range []bool{false, true} {
		disk := newMemFS()
		log := open(t, "received", receivedlog.Options{FS: disk})
		put(t, log, "A", "B")
		disk.failWrites, disk.noTruncate = 1, noTruncate
		// Half of it is more than the record that comes next.
		if _, err := log.Append(t.Context(), 0, make([]byte, 1000), nil); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "0000000000000001.log") {
			t.Errorf("the append that fails: %v", err)
		}
		wantHeld(t, log, "A", "B")
		put(t, log, "C")
		wantHeld(t, log, "A", "B", "C")
		disk.noTruncate = false
		log = open(t, "received", receivedlog.Options{FS: disk.crash("none", nil)})
		if torn := log.Torn(); len(torn) > 0 {
			t.Errorf("torn: %v", torn)
		}
		wantHeld(t, log, "A", "B", "C")
	}
}

// After a flush that failed nothing is acknowledged in that segment, whatever the next flush says.
// Shows C-15.
func TestFlushFails_C15(t *testing.T) {
	for _, first := range []bool{false, true} {
		disk := newMemFS()
		log := open(t, "received", receivedlog.Options{FS: disk})
		var want []string
		if !first {
			want = append(want, "A")
			put(t, log, "A")
		}
		disk.failSyncs = 1
		if _, err := log.Append(t.Context(), 0, []byte("lost"), []byte("m:lost")); !errors.Is(err, errDisk) {
			t.Errorf("the append that fails: %v", err)
		}
		wantHeld(t, log, want...)
		at := put(t, log, "B")
		want = append(want, "B")
		if segment := uint64(len(want)); at[0].Segment != segment {
			t.Errorf("after a failed flush the log goes on in %v", at)
		}
		wantHeld(t, log, want...)
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk}), want...)
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk.crash("none", nil)}), want...)
	}
}

// Without room appends fail by name and readers go on; with room again the log goes on; a restart loses nothing. The disk
// fills at every byte of two records and the header before them.
// Shows C-16.
func TestDiskFull_C16(t *testing.T) {
	for room := range int64(150) {
		disk := newMemFS()
		disk.room = room
		log := open(t, "received", receivedlog.Options{FS: disk})
		var want []string
		for _, block := range numbered(1, 3) {
			_, err := log.Append(t.Context(), 0, []byte(block), []byte("m:"+block))
			if err == nil {
				want = append(want, block)
			} else if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "0000000000000001.log") {
				t.Fatalf("room for %d bytes: %v", room, err)
			}
			wantHeld(t, log, want...)
		}
		if len(want) == 3 {
			t.Fatalf("three records in %d bytes", room)
		}
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk.crash("torn", rand.New(rand.NewPCG(1, uint64(room))))}), want...)
		disk.room = -1
		put(t, log, "later")
		want = append(want, "later")
		wantHeld(t, log, want...)
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk.crash("none", nil)}), want...)
	}
}

// Random histories of appends, some together, on a disk that fails now and then, with crashes that leave some of what was not
// flushed: what was acknowledged is there, in order, and nothing is there that was not sent; a crash alone is never damage.
func TestCrashes(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(6, seed))
		disk := newMemFS()
		var mu sync.Mutex
		sent, acked := map[string]bool{}, map[string]receivedlog.Address{}
		next := 0
		for life := range 5 {
			log, err := receivedlog.Open("received", receivedlog.Options{FS: disk, SegmentBytes: 1 << 10})
			if err != nil {
				t.Fatalf("seed %d, life %d: %v", seed, life, err)
			}
			got, err := held(t, log)
			if err != nil {
				t.Fatalf("seed %d, life %d: %v; torn %v", seed, life, err, log.Torn())
			}
			for _, block := range got {
				if !sent[block] {
					t.Fatalf("seed %d: %q was never sent", seed, block)
				}
			}
			for block, at := range acked {
				if back, err := log.Read(at); err != nil || string(back) != block || !slices.Contains(got, block) {
					t.Fatalf("seed %d, life %d: %q at %v: %q, %v", seed, life, block, at, back, err)
				}
			}
			for range r.IntN(6) {
				disk.mu.Lock()
				disk.failSyncs, disk.failWrites, disk.noTruncate = max(0, r.IntN(6)-4), max(0, r.IntN(6)-4), r.IntN(4) == 0
				disk.mu.Unlock()
				var wait sync.WaitGroup
				for range 1 + r.IntN(4) {
					block := fmt.Sprintf("%d %s", next, strings.Repeat("x", r.IntN(200)))
					next++
					sent[block] = true
					wait.Go(func() {
						at, err := log.Append(t.Context(), 1, []byte(block), []byte("m:"+block[:min(20, len(block))]))
						if err == nil {
							mu.Lock()
							defer mu.Unlock()
							acked[block] = at
						}
					})
				}
				wait.Wait()
			}
			// The process goes in the middle of one more group, or at rest.
			disk.mu.Lock()
			disk.failSyncs, disk.failWrites, disk.noTruncate = r.IntN(2), 0, true
			disk.mu.Unlock()
			block := fmt.Sprintf("%d last", next)
			next++
			sent[block] = true
			if at, err := log.Append(t.Context(), 1, []byte(block), []byte("m:"+block)); err == nil {
				acked[block] = at
			}
			after := disk.crash([]string{"none", "torn", "half"}[r.IntN(3)], r)
			_ = log.Close() // of a process that is gone
			disk = after
		}
	}
}

// A group of several records that a crash has torn in its middle is cut off from there; it was not acknowledged.
func TestTornGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, disk, release, first := busy(t)
		var waiting []func() error
		for i := range 4 {
			block := fmt.Sprintf("%d %s", i, strings.Repeat("x", 100))
			waiting = append(waiting, later(func() error {
				_, err := log.Append(t.Context(), 0, []byte(block), []byte("m:"+block[:20]))
				return err
			}))
			synctest.Wait()
		}
		release()
		for _, wait := range append(waiting, first) {
			if err := wait(); err != nil {
				t.Fatal(err)
			}
		}
		before := must(held(t, log))(t)
		var offsets []int64
		if err := log.Scan(t.Context(), func(e receivedlog.Entry) error { offsets = append(offsets, e.Address.Offset); return nil }); err != nil {
			t.Fatal(err)
		}
		// Two of the group's four records did not get to the disk.
		path := "received/0000000000000001.log"
		data := slices.Clone(disk.files[path].data)
		clear(data[offsets[3]+30 : offsets[3]+60])
		clear(data[offsets[4] : offsets[4]+60])
		disk = newMemFS()
		disk.files[path] = &memFile{fs: disk, data: data}
		log = open(t, "received", receivedlog.Options{FS: disk})
		torn := log.Torn()
		if len(torn) != 1 || torn[0].Offset != offsets[3] || torn[0].Records != 1 {
			t.Errorf("torn: %v", torn)
		}
		wantHeld(t, log, before[:3]...)
		put(t, log, "after")
		wantHeld(t, open(t, "received", receivedlog.Options{FS: disk}), append(before[:3:3], "after")...)
	})
}

func must(got []string, err error) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return got
	}
}
