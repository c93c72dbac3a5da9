package files_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

const (
	crashDir     = "/data/out"
	crashBatches = 4
)

// A driver is what survives the crashes of a test: the driver log.
type driver struct {
	epoch     uint64
	prepared  map[int64][]byte
	committed int64 // the last batch whose Commit returned nil, -1 at first
	again     int   // how often Commit is called again after an error
}

func newDriver() *driver { return &driver{prepared: make(map[int64][]byte), committed: -1} }

// crashRows returns the rows of a batch; they depend on nothing else. The last batches are empty, so that no later file has
// folders synced. Of the others one partition is empty, one longer than a block.
func crashRows(id int64) [][]string {
	if id > 1 {
		return [][]string{nil, nil}
	}
	long := make([]string, 40)
	for i := range long {
		long[i] = fmt.Sprintf("batch %d, row %d, of a long partition", id, i)
	}
	return [][]string{{fmt.Sprintf("batch %d", id)}, nil, long}
}

// run is the life of a process: it recovers, then runs all batches to the end.
func (d *driver) run(t *testing.T, fsys files.FS) error {
	d.epoch++
	s := files.New(crashDir, files.Options[string]{Format: files.TextFormat(), FS: fsys})
	mark, err := s.Last(t.Context(), "app", "out")
	if err != nil {
		return err
	}
	if mark.ID < d.committed {
		t.Errorf("INV-4: batch %d was committed, the sink knows only %d", d.committed, mark.ID)
	}
	for id := range int64(crashBatches) {
		b := batch(id)
		b.Epoch = d.epoch
		if d.prepared[id] == nil {
			// Each try has what a lost attempt left, too.
			w, err := s.Part(t.Context(), b, 0, fmt.Sprintf("%d-lost", d.epoch))
			if err == nil {
				err = s.Begin(t.Context(), b, 1)
			}
			if err == nil {
				err = w.Write([]string{"lost"})
			}
			if err == nil {
				_, err = w.Finish(t.Context())
			}
			if err != nil {
				return err
			}
			staged, err := tryStage(t, s, b, fmt.Sprintf("%d-won", d.epoch), crashRows(id)...)
			if err != nil {
				return err
			}
			d.prepared[id] = staged // the driver log is durable
		}
		err := s.Commit(t.Context(), b, d.prepared[id])
		for again := 0; err != nil && again < d.again; again++ {
			err = s.Commit(t.Context(), b, d.prepared[id])
		}
		if err != nil {
			return err
		}
		d.committed = max(d.committed, id)
		if err := s.Clean(t.Context(), b); err != nil {
			return err
		}
	}
	return nil
}

// check compares what a stranger reads with what may be there.
func (d *driver) check(t *testing.T, fsys files.FS, when string) {
	t.Helper()
	rows, err := rowsOf(crashDir, files.ReadOptions{FS: fsys}, readText)
	if err != nil {
		t.Errorf("%s: Read: %v", when, err)
		return
	}
	var batches int64
	if len(rows) > 0 {
		r, err := files.VerifyWith(crashDir, files.ReadOptions{FS: fsys})
		if err != nil || r.Err() != nil {
			t.Errorf("%s: Verify: %v, %v", when, err, r.Err())
		}
		batches = r.Batches
	}
	var want []sinktest.Row[string]
	for id := range batches {
		for part, values := range crashRows(id) {
			for _, v := range values {
				want = append(want, sinktest.Row[string]{App: "app", Output: "out", Batch: id, Partition: part, Value: v})
			}
		}
	}
	if !slices.Equal(rows, want) {
		t.Errorf("%s: INV-2: %d rows are not those of %d whole batches", when, len(rows), batches)
	}
	if batches-1 < d.committed {
		t.Errorf("%s: batch %d was committed, %d batches are there", when, d.committed, batches)
	}
	if batches > 0 && d.prepared[batches-1] == nil {
		t.Errorf("%s: INV-4: batch %d shows and was never prepared", when, batches-1)
	}
}

// ended checks that all is there and nothing else.
func (d *driver) ended(t *testing.T, fsys files.FS, when string) {
	t.Helper()
	d.committed = crashBatches - 1
	d.check(t, fsys, when)
	r, err := files.VerifyWith(crashDir, files.ReadOptions{FS: fsys})
	if err != nil || r.Err() != nil || len(r.Garbage)+len(r.Temporary)+len(r.Unexpected) > 0 {
		t.Errorf("%s: INV-17: %v, %v %v %v, %v", when, r, r.Garbage, r.Temporary, r.Err(), err)
	}
}

// Shows FS-01.
func TestCrashAtEveryCall_FS01(t *testing.T) {
	points, runs := 0, 0
	for _, when := range []disk.When{disk.Before, disk.After} {
		step := 1
		if testing.Short() {
			step = 5
		}
		for n := 1; ; n += step {
			fsys, d := disk.New(), newDriver()
			fsys.CrashAt(n, when)
			err := d.run(t, fsys)
			if !fsys.Crashed() {
				if err != nil {
					t.Fatal(err)
				}
				fsys.CrashAt(0, when)
				d.ended(t, fsys, "without a crash")
				break
			}
			points++
			op := fmt.Sprintf("crash %v %v", when, fsys.Last())
			for _, loss := range disk.Losses {
				for seed := range uint64(2) {
					if seed > 0 && loss < disk.Half {
						break // there is only one way
					}
					runs++
					d.recover(t, fsys.After(loss, seed), fmt.Sprintf("%s, %v, seed %d", op, loss, seed), uint64(n)*10+seed)
					if t.Failed() {
						return
					}
				}
			}
		}
	}
	t.Logf("%d crash points, %d runs with a second crash each", points, runs)
}

// recover goes on after a crash, with a second crash while it does.
func (d *driver) recover(t *testing.T, fsys *disk.Disk, op string, seed uint64) {
	t.Helper()
	log := &driver{epoch: d.epoch, prepared: make(map[int64][]byte), committed: d.committed}
	for id := range int64(crashBatches) {
		if staged := d.prepared[id]; staged != nil {
			log.prepared[id] = staged
		}
	}
	log.check(t, fsys, op)
	rng := rand.New(rand.NewPCG(seed, 1))
	fsys.CrashAt(1+rng.IntN(60), disk.When(rng.IntN(2)))
	if err := log.run(t, fsys); err != nil && !fsys.Crashed() {
		t.Errorf("%s: recovery: %v", op, err)
		return
	}
	if fsys.Crashed() {
		op = fmt.Sprintf("%s, and then %v", op, fsys.Last())
		fsys = fsys.After(disk.Losses[rng.IntN(4)], seed)
		log.check(t, fsys, op)
		if err := log.run(t, fsys); err != nil {
			t.Errorf("%s: second recovery: %v", op, err)
			return
		}
	}
	fsys.CrashAt(0, disk.Before)
	log.ended(t, fsys, op)
	// What was said to be committed outlives a power cut of the whole machine.
	cut := fsys.After(disk.All, seed)
	op += ", and a power cut at the end"
	log.check(t, cut, op)
	if err := log.run(t, cut); err != nil {
		t.Errorf("%s: the next start: %v", op, err)
	}
	log.ended(t, cut, op)
}

func TestAFaultOfAnyCallIsReportedAndOvercome(t *testing.T) {
	for n := 1; ; n++ {
		if !overcome(t, n, 0) {
			if n < 50 {
				t.Errorf("only %d calls", n)
			}
			break
		}
		overcome(t, n, 1)
	}
}

// overcome makes the n-th call fail. It returns false if there are fewer.
func overcome(t *testing.T, n, again int) bool {
	fsys, d := disk.New(), newDriver()
	d.again = again
	fsys.FailAt(n)
	err := d.run(t, fsys)
	if fsys.Calls() < n {
		return false
	}
	when := fmt.Sprintf("fault of call %d, Commit called again %d times", n, again)
	if err != nil && !errors.Is(err, disk.ErrFault) {
		t.Errorf("%s: %v does not tell of it", when, err)
	}
	d.check(t, fsys, when)
	if err := d.run(t, fsys); err != nil {
		t.Errorf("%s: the next start: %v", when, err)
	}
	d.ended(t, fsys, when)
	return true
}

// Shows C-16.
func TestAFullDiskStopsAndThenGoesOn_C16(t *testing.T) {
	stops := 0
	for room := int64(0); ; room += 97 {
		fsys, d := disk.New(), newDriver()
		fsys.SetRoom(room)
		err := d.run(t, fsys)
		when := fmt.Sprintf("room for %d bytes", room)
		if err == nil {
			break
		}
		stops++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v does not tell of it", when, err)
		}
		fsys.SetRoom(-1)
		if room > 20 { // the folder was made
			d.check(t, fsys, when)
		}
		if err := d.run(t, fsys); err != nil {
			t.Errorf("%s: with room again: %v", when, err)
		}
		d.ended(t, fsys, when)
	}
	if stops < 20 {
		t.Errorf("the disk was full %d times", stops)
	}
}

// forgetful is a disk whose folders are never synced, or its files.
type forgetful struct {
	*disk.Disk
	folders bool
}

func (f forgetful) SyncDir(name string) error {
	if f.folders {
		return nil
	}
	return f.Disk.SyncDir(name)
}

func (f forgetful) Create(name string) (files.File, error) {
	file, err := f.Disk.Create(name)
	if err != nil || f.folders {
		return file, err
	}
	return unsynced{file}, nil
}

type unsynced struct{ files.File }

func (unsynced) Sync() error { return nil }

// The checks above can fail: without a sync a committed batch does not outlive a power cut.
func TestTheDiskTellsWhoDoesNotSync(t *testing.T) {
	for _, folders := range []bool{false, true} {
		fsys, d := disk.New(), newDriver()
		if err := d.run(t, forgetful{fsys, folders}); err != nil {
			t.Fatal(err)
		}
		rows, err := rowsOf(crashDir, files.ReadOptions{FS: fsys.After(disk.All, 0)}, readText)
		if err == nil && len(rows) == 2*41 {
			t.Errorf("folders %v: all is there without a sync", folders)
		}
	}
}

func TestTwoDriversDecideABatchOnce(t *testing.T) {
	// Both have seen that it is not committed; the second one's link comes late.
	fsys := disk.New()
	open := func(fsys files.FS) *files.Sink[string] {
		return files.New(crashDir, files.Options[string]{Format: files.TextFormat(), FS: fsys})
	}
	first := open(fsys)
	one, two := stage(t, first, batch(0), "a", []string{"a"}), stage(t, first, batch(0), "b", []string{"b"})
	for _, c := range []struct {
		staged   []byte
		conflict bool
	}{{one, false}, {two, true}} {
		fsys := fsys.After(disk.Nothing, 0)
		late := open(racing{fsys, func() {
			if err := open(fsys).Commit(t.Context(), batch(0), one); err != nil {
				t.Error(err)
			}
		}})
		err := late.Commit(t.Context(), batch(0), c.staged)
		var conflict *sink.ConflictError
		if errors.As(err, &conflict) != c.conflict || !c.conflict && err != nil {
			t.Errorf("the slower driver: %v, want a conflict: %v", err, c.conflict)
		}
		rows, err := rowsOf(crashDir, files.ReadOptions{FS: fsys}, readText)
		if err != nil || len(rows) != 1 || rows[0].Value != "a" {
			t.Errorf("rows %v, %v", rows, err)
		}
	}
}

// racing is a disk where another driver commits just before a manifest is linked.
type racing struct {
	*disk.Disk
	before func()
}

func (r racing) Create(name string) (files.File, error) { return r.Disk.Create(name) }

func (r racing) Link(oldname, newname string) error {
	if strings.Contains(newname, "commits") {
		r.before()
	}
	return r.Disk.Link(oldname, newname)
}

// Removing that a killed process did not make durable is made so by the next one, before a manifest says that the batch is clean.
func TestCleanOfAKilledProcessIsMadeDurable(t *testing.T) {
	fsys := disk.New()
	open := func() *files.Sink[string] {
		return files.New(crashDir, files.Options[string]{Format: files.TextFormat(), FS: fsys})
	}
	first := open()
	stage(t, first, batch(0), "lost", []string{"x"})
	put(t, first, batch(0))
	folder := crashDir + "/app/out/data/00000000000000000000"
	for _, name := range []string{folder + "/part-00000-lost.txt", folder} {
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	second := open()
	for id := range int64(2) {
		put(t, second, batch(id))
		if err := second.Clean(t.Context(), batch(0)); err != nil {
			t.Fatal(err)
		}
	}
	fsys = fsys.After(disk.All, 0)
	if err := open().Clean(t.Context(), batch(1)); err != nil {
		t.Fatal(err)
	}
	r, err := files.VerifyWith(crashDir, files.ReadOptions{FS: fsys})
	if err != nil || r.Batches != 2 || len(r.Garbage) > 0 {
		t.Errorf("%v, %v, %v", r, r.Garbage, err)
	}
}
