package recovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/streamingcontext"
)

// keeping is a program that keeps so many checkpoints.
func keeping(s site, n int) *program {
	p := newProgram(s)
	p.opts = func(o *streamingcontext.Options) { o.KeepCheckpoints = n }
	return p
}

// ranAt runs batches from first to last.
func ranAt(t *testing.T, s site, n int, first, last int64) {
	t.Helper()
	if err := keeping(s, n).run(t.Context(), first, last, streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
}

func rowsAt(t *testing.T, s site) map[int64][]string {
	t.Helper()
	rows, err := s.shown()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// withoutBreak returns the rows of a program that runs batches 1 to last.
func withoutBreak(t *testing.T, last int64) map[int64][]string {
	t.Helper()
	s := site{t.TempDir()}
	ranAt(t, s, 1, 1, last)
	return rowsAt(t, s)
}

// from returns the rows of batches from an id on.
func from(id int64, rows map[int64][]string) map[int64][]string {
	some := map[int64][]string{}
	for batch, r := range rows {
		if batch >= id {
			some[batch] = r
		}
	}
	return some
}

// unread removes input of batches after n, as if it had not come yet.
func (s site) unread(t *testing.T, n int64) {
	t.Helper()
	entries, err := os.ReadDir(s.in())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() > fmt.Sprintf("%03d", n) {
			if err := os.Remove(filepath.Join(s.in(), e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// move puts a folder in the place of another.
func move(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

func TestACloneAndItsOriginalGoOnAlike(t *testing.T) {
	s := site{t.TempDir()}
	ranAt(t, s, 1, 1, 8)
	clone, outCopy := filepath.Join(s.root, "clone"), filepath.Join(s.root, "out-copy")
	if err := os.Mkdir(clone, 0o755); err != nil { // an empty folder will do
		t.Fatal(err)
	}
	r, err := streamingcontext.CloneCheckpoint(s.dir(), clone)
	if err != nil || r.Checkpoints != 1 || r.Folders == 0 {
		t.Fatalf("%v, %v", r, err)
	}
	if err := os.CopyFS(outCopy, os.DirFS(s.out())); err != nil {
		t.Fatal(err)
	}
	want := withoutBreak(t, 14)
	ranAt(t, s, 1, 9, 14)
	if diff := cmp.Diff(rowsAt(t, s), want); diff != "" {
		t.Errorf("the original (-got +want):\n%s", diff)
	}
	move(t, clone, s.dir())
	move(t, outCopy, s.out())
	s.unread(t, 8)
	ranAt(t, s, 1, 9, 14)
	if diff := cmp.Diff(rowsAt(t, s), want); diff != "" {
		t.Errorf("the copy (-got +want):\n%s", diff)
	}
}

func TestRewoundBatchesGiveTheSameRows(t *testing.T) {
	want := withoutBreak(t, 13)
	for _, to := range []int64{8, 5, 2, 0, -1} {
		t.Run(fmt.Sprint(to), func(t *testing.T) {
			s := site{t.TempDir()}
			ranAt(t, s, 20, 1, 10)
			r, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: to})
			if err != nil {
				t.Fatal(err)
			}
			if r.Dir != s.dir() || r.Again != int(9-to) || r.Batch != to || int64(r.Time) != (to+1)*1000 {
				t.Errorf("%+v", r)
			}
			if _, err := streamingcontext.VerifyCheckpoint(r.Old); err != nil {
				t.Errorf("the folder as it was: %v", err)
			}
			// The outputs have those batches: nothing is written.
			err = keeping(s, 20).run(t.Context(), 11, 12, streamingcontext.StopOptions{})
			if !errors.Is(err, streamingcontext.ErrSinkAhead) {
				t.Fatalf("with outputs that are ahead: %v", err)
			}
			move(t, s.out(), filepath.Join(s.root, "out-before"))
			ranAt(t, s, 20, 11, 13)
			if diff := cmp.Diff(rowsAt(t, s), from(to+1, want)); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

// What was begun, and what was prepared, when the process ended is run again as well.
func TestRewindOfOpenBatches(t *testing.T) {
	want := withoutBreak(t, 13)
	for _, where := range []string{"begun", "prepared"} {
		t.Run(where, func(t *testing.T) {
			s := site{t.TempDir()}
			p := keeping(s, 20)
			if where == "begun" {
				p.holdJobs = 8000
			} else {
				p.holdCommits = 8000
			}
			if err := p.run(t.Context(), 1, 10, streamingcontext.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			points, err := streamingcontext.RewindPoints(s.dir())
			if err != nil || len(points) != 9 || points[0].Batch != 7 || points[0].Again != 2 || points[8].Batch != -1 || points[8].File != "" {
				t.Fatalf("points %+v, %v", points, err)
			}
			into := filepath.Join(s.root, "into")
			r, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: 4, Into: into})
			if err != nil || r.Old != "" || r.Dir != into {
				t.Fatalf("%+v, %v", r, err)
			}
			if again, err := streamingcontext.RewindPoints(s.dir()); err != nil || !cmp.Equal(again, points) {
				t.Errorf("the folder has changed: %+v, %v", again, err)
			}
			move(t, into, s.dir())
			move(t, s.out(), filepath.Join(s.root, "out-before"))
			ranAt(t, s, 20, 11, 13)
			if diff := cmp.Diff(rowsAt(t, s), from(5, want)); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

func TestKeepCheckpointsSaysHowFarARewindGoes(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := site{t.TempDir()}
			ranAt(t, s, n, 1, 7)
			ranAt(t, s, n, 8, 20) // what was kept is found again
			all, err := streamingcontext.Checkpoints(s.dir())
			if err != nil || len(all) != n || !all[0].Counts {
				t.Fatalf("checkpoints %+v, %v", all, err)
			}
			oldest := all[n-1].Batch
			points, err := streamingcontext.RewindPoints(s.dir())
			if err != nil || n > 1 && (len(points) == 0 || points[len(points)-1].Batch != oldest) {
				t.Fatalf("points %+v, %v, the oldest checkpoint is of batch %d", points, err, oldest)
			}
			_, err = streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: oldest - 1})
			var refused *driverlog.RewindError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "KeepCheckpoints") {
				t.Errorf("further back: %v", err)
			}
			if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 3 { // app, in and out
				t.Errorf("a refusal has left something: %v, %v", entries, err)
			}
			// Files of state of other checkpoints do not stay.
			r, err := streamingcontext.VerifyCheckpoint(s.dir())
			if err != nil {
				t.Fatal(err)
			}
			folders, err := os.ReadDir(filepath.Join(s.dir(), "state"))
			if err != nil || len(folders) > (n+1)*r.Folders+3 {
				t.Errorf("%d folders of state, one checkpoint has %d, %v", len(folders), r.Folders, err)
			}
		})
	}
}

func TestRewindAndCloneRefuse(t *testing.T) {
	s := site{t.TempDir()}
	p := keeping(s, 3)
	p.clock.Set(0)
	ssc, err := p.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(s.root, "to")
	var locked *boltlog.LockedError
	if _, err := streamingcontext.CloneCheckpoint(s.dir(), to); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("clone beside a program: %v", err)
	}
	if _, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: -1}); !errors.As(err, &locked) {
		t.Errorf("rewind beside a program: %v", err)
	}
	if err := p.batches(t.Context(), ssc, 1, 6); err != nil {
		t.Fatal(err)
	}
	if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	var refused *driverlog.RewindError
	if _, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: 6}); !errors.As(err, &refused) {
		t.Errorf("rewind to a batch that is to come: %v", err)
	}
	if _, err := streamingcontext.CloneCheckpoint(s.dir(), s.out()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("clone into a folder that holds something: %v", err)
	}
	if _, err := streamingcontext.CloneCheckpoint(s.dir(), filepath.Join(s.dir(), "state", "x")); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("clone into itself: %v", err)
	}
	if _, err := streamingcontext.CloneCheckpoint(s.in(), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("clone of something else: %v", err)
	}
	// A file of state is gone: the copy would be of no use.
	folders, err := os.ReadDir(filepath.Join(s.dir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range folders {
		if err := os.RemoveAll(filepath.Join(s.dir(), "state", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := streamingcontext.CloneCheckpoint(s.dir(), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("clone of a damaged folder: %v", err)
	}
	if entries, err := os.ReadDir(s.root); err != nil || len(entries) != 3 {
		t.Errorf("refusals have left something: %v, %v", entries, err)
	}
}

// As many batches as can be begun at once.
func TestRewindByAWindow(t *testing.T) {
	const last = 70
	s, quiet := site{t.TempDir()}, site{t.TempDir()}
	ranAt(t, quiet, 1, 1, last+2)
	ranAt(t, s, last, 1, last)
	points, err := streamingcontext.RewindPoints(s.dir())
	if err != nil || len(points) != driverlog.Window {
		t.Fatalf("%d points, %v", len(points), err)
	}
	far := points[len(points)-1].Batch
	if far != last-1-driverlog.Window {
		t.Errorf("the oldest point is of batch %d", far)
	}
	if _, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: far - 1}); !errors.As(err, new(*driverlog.RewindError)) {
		t.Errorf("further than a window: %v", err)
	}
	if _, err := streamingcontext.RewindCheckpoint(s.dir(), streamingcontext.RewindOptions{To: far}); err != nil {
		t.Fatal(err)
	}
	move(t, s.out(), filepath.Join(s.root, "out-before"))
	ranAt(t, s, 1, last+1, last+2)
	if diff := cmp.Diff(rowsAt(t, s), from(far+1, rowsAt(t, quiet))); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
