package boltlog_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// TestPowerFailure plays a machine that fails within a transaction: any part of what it wrote may be on the disk. Then the log
// holds the state before it or after it, and goes on.
func TestPowerFailure(t *testing.T) {
	const sector = 512
	rng := rand.New(rand.NewPCG(1, 2))
	// mixes calls check with images that lie between before and after: every choice of pages if there are few, and choices
	// of sectors.
	mixes := func(before, after []byte, check func(what string, mix []byte)) (n int) {
		old := make([]byte, len(after)) // a file grows before anything is written to it
		copy(old, before)
		var pages, sectors []int
		for at := 0; at < len(after); at += sector {
			if bytes.Equal(old[at:at+sector], after[at:at+sector]) {
				continue
			}
			sectors = append(sectors, at)
			if page := at / boltlog.PageSize * boltlog.PageSize; len(pages) == 0 || pages[len(pages)-1] != page {
				pages = append(pages, page)
			}
		}
		try := func(what string, units []int, size int, take func(i int) bool) {
			mix := bytes.Clone(old)
			for i, at := range units {
				if take(i) {
					copy(mix[at:at+size], after[at:])
				}
			}
			n++
			check(what, mix)
		}
		for choice := range 1 << min(len(pages), 6) {
			try(fmt.Sprintf("pages %v chosen by %b", pages, choice), pages, boltlog.PageSize,
				func(i int) bool { return choice>>(i%6)&1 == 1 })
		}
		for i := range 100 {
			try(fmt.Sprintf("sectors, choice %d", i), sectors, sector, func(int) bool { return rng.IntN(10) < i%10 })
		}
		return n
	}

	for _, every := range []int{5, 1024} {
		t.Run(fmt.Sprintf("D2_unsynced_writes_lost_or_half_kept/snapshot_every_%d", every), func(t *testing.T) {
			dir := t.TempDir()
			path, broken := filepath.Join(dir, "driver.db"), filepath.Join(dir, "broken.db")
			log := open(t, path, every)
			defer log.Close()
			r := lead(t, log)
			r.propose(t, r.application())
			tried, went := 0, map[string]int{}
			for i := range 40 {
				img := readImage(t, path)
				before, err := log.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				cmds := []driverlog.Command{r.begin(r.next), r.prepared(r.next), r.committed(r.next)}
				cmds[0].Inputs[0].Data = bytes.Repeat([]byte("i"), 1+i*i*15) // so that pages split and flow over
				r.next++
				r.all(t, cmds...)
				now := readImage(t, path)
				if i%6 != 0 && len(now.file) == len(img.file) {
					continue
				}
				was := before.Digest()
				tried += mixes(img.file, now.file, func(what string, mix []byte) {
					c := image{file: mix, tail: img.tail}
					c.write(t, broken)
					info, err := boltlog.Verify(broken)
					if err != nil {
						t.Fatalf("batch %d, %s: Verify: %v", i, what, err)
					}
					switch info.State.Digest() {
					case was:
						went["before"]++
					case now.digest:
						went["after"]++
					default:
						t.Fatalf("batch %d, %s: a state of index %d, want %d or %d", i, what, info.State.Index, before.Index, now.last)
					}
					if info.Damaged != nil {
						went["damaged"]++
					}
					if n := went["before"] + went["after"]; n%25 == 0 || went["damaged"] == 1 { // opening flushes, which is slow
						went["opened"]++
						c.digest, c.last = info.State.Digest(), info.State.Index
						if c.check(t, broken, what) {
							t.Fatalf("batch %d, %s: Open refuses what Verify accepts", i, what)
						}
					}
				})
			}
			t.Logf("%d images: %v", tried, went)
			if went["before"] == 0 || went["after"] == 0 || went["damaged"] == 0 {
				t.Error("not all outcomes were met")
			}
		})
	}
	t.Run("D2_while_the_log_is_made", func(t *testing.T) {
		dir := t.TempDir()
		path, broken := filepath.Join(dir, "driver.db"), filepath.Join(dir, "broken.db")
		log := open(t, path, 0)
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		n := mixes(boltlog.FirstPages(), after, func(what string, mix []byte) {
			c := image{file: mix}
			c.write(t, broken)
			log, err := boltlog.Open(broken, boltlog.Options{})
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%d images", n)
	})
	t.Run("an_answered_transaction_that_is_damaged_is_not_taken_for_one", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "driver.db")
		log := open(t, path, 1024)
		r := lead(t, log)
		r.batches(t, 3)
		before := readImage(t, path)
		r.batches(t, 1)
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		now := readImage(t, path)
		broken := filepath.Join(dir, "broken.db")
		found := 0
		mixes(before.file, now.file, func(what string, mix []byte) {
			c := now
			c.file = mix
			c.write(t, broken)
			if info, err := boltlog.Verify(broken); err != nil {
				found++
			} else if info.State.Digest() != now.digest {
				t.Fatalf("%s: a state of index %d, want %d or a refusal", what, info.State.Index, now.last)
			}
		})
		if found == 0 {
			t.Error("no damage was found")
		}
	})
}
