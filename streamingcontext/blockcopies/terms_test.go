package blockcopies_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/streamingcontext"
)

// Terms follow each other, with drivers that crash in the middle of writing a copy, disks that are lost one at a time, copies that are damaged, cuts, and cleaning: each
// leader has all that was acknowledged and not cleaned, once, in the order of its addresses.
func TestManyTerms_D9(t *testing.T) {
	for seed := range uint64(12) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			names := []string{"a", "b", "c"}
			w := newWorld(t, names...)
			drivers := map[string]*driver{}
			for _, n := range names {
				drivers[n] = w.driver(n, small)
			}
			acked, next := kept{}, 0
			leader := "a"
			var log streamingcontext.BlockLog
			for epoch := uint64(5); epoch < 40; epoch += 1 + uint64(rnd.IntN(3)) {
				log = drivers[leader].lead(epoch)
				acked.within(t, found(t, log))
				if t.Failed() {
					t.Fatalf("seed %d, epoch %d, leader %s", seed, epoch, leader)
				}
				n := 1 + rnd.IntN(15)
				acked.store(t, log, next, next+n)
				next += n
				other := names[rnd.IntN(3)]
				for other == leader {
					other = names[rnd.IntN(3)]
				}
				switch rnd.IntN(4) {
				case 0: // a follower crashes, its last write is torn, and it is back
					drivers[other].stop()
					if len(w.files(other)) > 0 {
						tear(t, w.lastSegment(other), func(data []byte) []byte { return data[:len(data)-rnd.IntN(30)] })
					}
					drivers[other] = w.driver(other, small)
				case 1:
					w.cut(leader, other)
				case 2: // what is not needed any more goes
					all := slices.SortedFunc(maps.Values(acked), streamingcontext.BlockAddress.Compare)
					lowest := all[rnd.IntN(len(all))]
					if _, err := log.Clean(lowest); err != nil {
						t.Error(err)
					}
					maps.DeleteFunc(acked, func(_ string, at streamingcontext.BlockAddress) bool { return at.Compare(lowest) < 0 })
				}
				acked.store(t, log, next, next+n)
				next += n
				// The leader goes: with its disk, with its process, or only to sleep.
				was := leader
				for leader == was {
					leader = names[rnd.IntN(3)]
				}
				switch rnd.IntN(3) {
				case 0:
					drivers[was].lose()
				case 1:
					drivers[was].stop()
				default:
					w.cut(was, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == was })...)
				}
				log = drivers[leader].lead(epoch + 1)
				within := found(t, log)
				acked.within(t, within)
				if t.Failed() {
					t.Fatalf("seed %d, epoch %d after %s came %s", seed, epoch, was, leader)
				}
				drivers[was].stop()
				w.heal()
				drivers[was] = w.driver(was, small)
				settle(20 * time.Second) // all have everything again
				for _, n := range names {
					if n != leader {
						w.wantSame(leader, n)
					}
				}
				if err := log.Close(); err != nil {
					t.Error(err)
				}
				epoch++
			}
		})
	}
}
