package dstream_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// churn returns batches for a state of some thousand keys, of which few change, some go and come back, and once most go. A value of
// -1 removes the key.
func churn(seed uint64, n int) [][]rdd.Pair[string, int] {
	random := rand.New(rand.NewPCG(seed, 1))
	var batches [][]rdd.Pair[string, int]
	for i := range n {
		var rows []rdd.Pair[string, int]
		switch {
		case i == 0 || i == n/2+5: // all
			for k := range 6000 {
				rows = append(rows, rdd.Pair[string, int]{Key: fmt.Sprint("key ", k), Value: k + 1})
			}
		case i == n/2: // most go
			for k := range 5000 {
				rows = append(rows, rdd.Pair[string, int]{Key: fmt.Sprint("key ", k), Value: -1})
			}
		case i%7 == 6:
			rows = []rdd.Pair[string, int]{}
		default:
			for range random.IntN(40) {
				p := rdd.Pair[string, int]{Key: fmt.Sprint("key ", random.IntN(7000)), Value: random.IntN(100) + 1}
				if random.IntN(4) == 0 {
					p.Value = -1
				}
				rows = append(rows, p)
			}
		}
		batches = append(batches, rows)
	}
	return batches
}

func statesThatChurn() map[string]func(s *counts) layout {
	return map[string]func(s *counts) layout{
		"updateStateByKey": func(s *counts) layout {
			return collect(keepIt(dstream.UpdateStateByKey(s, func(values []int, old rdd.Option[int]) rdd.Option[int] {
				if slices.Contains(values, -1) {
					return rdd.Option[int]{}
				}
				for _, v := range values {
					old.Value += v
				}
				return rdd.Option[int]{Value: old.Value, OK: true}
			}, dstream.TouchedOnly())))
		},
		"mapWithState": func(s *counts) layout {
			m := dstream.MapWithState(s, dstream.NewStateSpec(func(k string, v rdd.Option[int], s *dstream.State[int]) string {
				if v.Value == -1 {
					if s.Exists() {
						_ = s.Remove()
					}
					return k + " is removed"
				}
				_ = s.Update(s.Option().Value + v.Value)
				return k
			}))
			keepIt(m.DStream)
			both := both{collect(m.DStream), collect(m.StateSnapshots())}
			return both
		},
		"inverse window": func(s *counts) layout {
			return collect(keepIt(dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(4), 0)))
		},
	}
}

type both [2]layout

func (b both) at(t dstream.Time) string { return b[0].at(t) + " " + b[1].at(t) }

// sweepFolders removes the folders that no remembered checkpoint is or builds on, as the context does, and returns how many are left.
func sweepFolders(t testing.TB, d *driver) int {
	var needed []string
	for _, s := range d.graph.Checkpoint() {
		for _, f := range s.Files {
			for _, folder := range f.Folders() {
				needed = append(needed, folder.Dir)
			}
		}
	}
	entries, err := os.ReadDir(d.rdds.Options().CheckpointDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(needed, e.Name()) {
			if err := os.RemoveAll(filepath.Join(d.rdds.Options().CheckpointDir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return len(entries)
}

// Processes that die and leave files of what changed, each of which builds on those before: every batch is as in a process that
// never dies and writes nothing, the order of keys included. The files are few, and none is named that is not there.
func TestStateThatIsWrittenAsWhatChanged(t *testing.T) {
	const batches = 180
	for name, build := range statesThatChurn() {
		t.Run(name, func(t *testing.T) {
			rows := churn(uint64(len(name)), batches)
			launch := func(dir string) (*process, layout) {
				d := newDriver(t, setup{parallelism: 1, dir: dir, durable: dir != ""})
				in := &recordedInput{t: t, batches: rows, replayed: map[dstream.Time]bool{}}
				s := dstream.NewInput(d.graph, "recorded", "Recorded stream", in)
				d.graph.KeepCheckpoints(dir != "")
				return &process{driver: d, in: in}, build(s)
			}
			steady, want := launch("")
			steady.start()
			dir := t.TempDir()
			p, got := launch(dir)
			p.start()
			longest, whole := 0, 0
			for k := 1; k <= batches; k++ {
				steady.steps(1)
				p.steps(1)
				if got.at(sec(k)) != want.at(sec(k)) {
					t.Fatalf("batch %d differs", k)
				}
				files := p.graph.Checkpoint()
				for _, s := range files {
					newest := s.Files[len(s.Files)-1]
					longest = max(longest, len(newest.Folders()))
					if newest.Time == sec(k) && len(newest.Since) == 0 {
						whole++
					}
					if err := rdd.VerifyCheckpoint(filepath.Join(dir, newest.Dir), newest.Digest); err != nil {
						t.Fatalf("batch %d: %v", k, err)
					}
				}
				sweepFolders(t, p.driver)
				if k%23 == 0 {
					p, got = launch(dir)
					if err := p.goOn(k, k+1, files); err != nil {
						t.Fatalf("go on after batch %d: %v", k, err)
					}
				}
			}
			// The first, that in which most keys go, those with fewer than is worth while, and that in which all come: 64 builds on
			// the ones before as far as the slices do not come round.
			if longest < 30 || longest > 66 || whole > 20 {
				t.Errorf("at most %d folders, %d checkpoints whole", longest, whole)
			}
		})
	}
}

// With FullCheckpoints each stands alone, and a process that goes on may write the other kind.
func TestFullCheckpointsBuildOnNothing(t *testing.T) {
	dir := t.TempDir()
	rows := churn(1, 12)
	var files []dstream.StreamCheckpoint
	for i, full := range []bool{false, true, false} {
		d := newDriver(t, setup{parallelism: 1, dir: dir, durable: true})
		in := &recordedInput{t: t, batches: rows[:5], replayed: map[dstream.Time]bool{}}
		s := dstream.NewInput(d.graph, "recorded", "Recorded stream", in)
		d.graph.KeepCheckpoints(true)
		d.graph.FullCheckpoints(full)
		one(keepIt(runningSum(s, dstream.TouchedOnly())))
		p := &process{driver: d, in: in}
		if i == 0 {
			p.start()
		} else if err := p.goOn(4*i, 4*i+1, files); err != nil {
			t.Fatal(err)
		}
		p.steps(4)
		files = p.graph.Checkpoint()
		newest := files[0].Files[len(files[0].Files)-1]
		if full != (len(newest.Since) == 0) {
			t.Errorf("full %t: builds on %v", full, newest.Since)
		}
	}
}
