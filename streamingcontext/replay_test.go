package streamingcontext_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// recorder is an input that a program can be recovered with.
type recorder[T any] interface {
	dstream.Input[T]
	Record(t dstream.Time) ([]byte, error)
	Replay(t dstream.Time, recorded []byte) error
}

// recoverable is the input of a file stream.
type recoverable interface {
	recorder[string]
	dstream.InputForgetter
	Save() ([]byte, error)
	Load(saved []byte) error
}

// life is one run of a program that is driven by hand: what its input gives to each batch.
type life struct {
	t   *testing.T
	kit *streamtest.Kit
	in  recoverable
}

// runAt starts a life at a time, with a batch every two seconds.
func runAt(t *testing.T, now int64, declare func(*streamingcontext.Context)) life {
	t.Helper()
	kit := streamtest.New(t, streamtest.Options{Interval: 2 * time.Second})
	kit.Clock().Set(now)
	declare(kit.Context())
	in, ok := streamingcontext.Inputs(kit.Context())[0].Input.(recoverable)
	if !ok {
		t.Fatal("the input of a file stream cannot be recovered")
	}
	return life{t, kit, in}
}

func textFiles(dir string, opts ...streamingcontext.FileOption) func(*streamingcontext.Context) {
	return func(ssc *streamingcontext.Context) { ssc.TextFiles(dir, opts...) }
}

// batch returns the lines of a batch and what is recorded of it.
func (r life) batch(at dstream.Time) (lines []string, recorded []byte) {
	r.t.Helper()
	records, err := r.lines(at)
	if err != nil {
		r.t.Fatal(err)
	}
	recorded, err = r.in.Record(at)
	if err != nil {
		r.t.Fatal(err)
	}
	return records, recorded
}

func (r life) lines(at dstream.Time) ([]string, error) {
	of, err := r.in.RDD(r.kit.Context().RDDs(), at)
	if err != nil {
		return nil, err
	}
	return of.Collect(r.t.Context())
}

func (r life) replay(at dstream.Time, recorded []byte) {
	r.t.Helper()
	if err := r.in.Replay(at, recorded); err != nil {
		r.t.Fatal(err)
	}
}

// Files 1, 2, 3 are read, and the program stops while the batch of 3 runs; 4, 5, 6 come in the downtime and 7, 8, 9 after it. The
// running total takes on the values it would have without a stop, and the files recorded are 1 to 9, each once.
// Shows F11.
func TestFilesAcrossAStop_F11(t *testing.T) {
	for name, saves := range map[string]bool{"from batches alone": false, "from a checkpoint and batches": true} {
		t.Run(name, func(t *testing.T) {
			f := folder{t, t.TempDir()}
			arrive := func(number, modified int64) { f.write(fmt.Sprint(number), modified, fmt.Sprintf("%d\n", number)) }
			total, totals := 0, map[int]bool{}
			add := func(lines []string) {
				for _, line := range lines {
					n, err := strconv.Atoi(line)
					if err != nil {
						t.Fatal(err)
					}
					total += n
					totals[total] = true
				}
			}
			first := runAt(t, 12_000, textFiles(f.dir))
			var files []string
			var saved []byte
			log := map[dstream.Time][]byte{}
			for i := range int64(3) {
				at := dstream.Time(14_000 + 2000*i)
				arrive(i+1, int64(at)-500)
				lines, recorded := first.batch(at)
				log[at] = recorded
				_, paths, _ := any(first.in).(dstream.InputReporter).Report(at)
				files = append(files, filepath.Base(paths))
				if at < 18_000 { // the third batch has not ended
					add(lines)
					first.in.Forget(at - 2000)
				}
				if saves && at == 14_000 {
					var err error
					if saved, err = first.in.Save(); err != nil {
						t.Fatal(err)
					}
				}
			}
			// Ten minutes go by; files are remembered for one.
			for i := range int64(3) {
				arrive(4+i, 100_000+1000*i)
			}
			second := runAt(t, 618_000, textFiles(f.dir))
			if saves {
				if err := second.in.Load(saved); err != nil {
					t.Fatal(err)
				}
			}
			for _, at := range []dstream.Time{14_000, 16_000, 18_000} {
				second.replay(at, log[at])
			}
			lines, recorded := second.batch(18_000) // once more
			if diff := cmp.Diff(log[18_000], recorded); diff != "" {
				t.Errorf("record of the batch that is run again (-first +second):\n%s", diff)
			}
			add(lines)
			for i := range int64(4) {
				at := dstream.Time(620_000 + 2000*i)
				if i > 0 {
					arrive(6+i, int64(at)-500)
				}
				lines, _ := second.batch(at)
				add(lines)
				_, paths, _ := any(second.in).(dstream.InputReporter).Report(at)
				for _, path := range strings.Split(paths, "\n") {
					files = append(files, filepath.Base(path))
				}
				second.in.Forget(at - 2000)
			}
			for want, sum := 0, 0; want < 9; {
				want++
				sum += want
				if !totals[sum] {
					t.Errorf("the total was never %d", sum)
				}
			}
			if diff := cmp.Diff([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}, files); diff != "" || total != 45 || len(totals) != 9 {
				t.Errorf("files (-want +got):\n%s\ntotal %d, totals %v", diff, total, totals)
			}
		})
	}
}

// A batch that is replayed reads the version of each file that was recorded, or fails and names the file. One that is not computed
// again may have lost its files.
// Shows F-19.
func TestReplayedFilesAreTheRecordedOnes_F19(t *testing.T) {
	for name, declare := range map[string]func(dir string) func(*streamingcontext.Context){
		"TextFiles": func(dir string) func(*streamingcontext.Context) { return textFiles(dir) },
		"FileStream": func(dir string) func(*streamingcontext.Context) {
			return func(ssc *streamingcontext.Context) { streamingcontext.FileStream(ssc, dir, words) }
		},
	} {
		for what, change := range map[string]func(f folder){
			"gone":      func(f folder) { _ = os.Remove(filepath.Join(f.dir, "x")) },
			"grown":     func(f folder) { f.write("x", 13_000, "word more") },
			"shorter":   func(f folder) { f.write("x", 13_000, "w") },
			"emptied":   func(f folder) { f.write("x", 13_000, "") },
			"same size": func(f folder) { f.write("x", 13_001, "ward") },
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				f := folder{t, t.TempDir()}
				f.write("x", 13_000, "word")
				f.write("y", 13_000, "other")
				_, recorded := runAt(t, 12_000, declare(f.dir)).batch(14_000)
				change(f)
				r := runAt(t, 20_000, declare(f.dir))
				r.replay(14_000, recorded)
				if lines, recorded := r.batch(22_000); len(lines) > 0 || len(recorded) == 0 {
					t.Errorf("a later batch has %v", lines)
				}
				lines, err := r.lines(14_000)
				changed, ok := errors.AsType[*streamingcontext.FileChangedError](err)
				if what == "gone" {
					ok = errors.Is(err, fs.ErrNotExist) && strings.Contains(err.Error(), filepath.Join(f.dir, "x"))
				} else {
					ok = ok && changed.Path == filepath.Join(f.dir, "x") && changed.Was == 4 && changed.WasTime == 13_000
				}
				if !ok {
					t.Errorf("%v, %v", lines, err)
				}
			})
		}
	}
}

// A file that is changed between the selection and the end of its reading fails a batch of TextFiles, as one of FileStream.
// Shows F-19.
func TestTextFilesOneVersion_F19(t *testing.T) {
	f := folder{t, t.TempDir()}
	f.write("x", 13_000, strings.Repeat("a line\n", 10_000))
	r := runAt(t, 12_000, textFiles(f.dir))
	of, err := r.in.RDD(r.kit.Context().RDDs(), 14_000)
	if err != nil {
		t.Fatal(err)
	}
	changes := rdd.Map(of, func(line string) string {
		_ = os.Chtimes(filepath.Join(f.dir, "x"), time.UnixMilli(15_000), time.UnixMilli(15_000)) // seen below
		return line
	})
	_, err = changes.Collect(t.Context())
	if changed, ok := errors.AsType[*streamingcontext.FileChangedError](err); !ok || changed.WasTime != 13_000 || changed.ModTime != 15_000 {
		t.Errorf("got %v", err)
	}
}

// A batch may have more files than fit into a log entry. The record says them all.
func TestRecordOfManyFiles(t *testing.T) {
	f := folder{t, t.TempDir()}
	const files = 2000
	for i := range files {
		f.write(fmt.Sprintf("%s-%04d", strings.Repeat("long", 40), i), 13_000, "")
	}
	_, recorded := runAt(t, 12_000, textFiles(f.dir)).batch(14_000)
	if len(recorded) < 256<<10 {
		t.Fatalf("%d bytes", len(recorded))
	}
	r := runAt(t, 20_000, textFiles(f.dir))
	r.replay(14_000, recorded)
	_, paths, _ := any(r.in).(dstream.InputReporter).Report(14_000)
	if n := strings.Count(paths, "\n") + 1; n != files {
		t.Errorf("%d files", n)
	}
}

func TestFilesRefuseWhatIsNoRecord(t *testing.T) {
	r := runAt(t, 12_000, textFiles(t.TempDir()))
	saved, err := r.in.Save()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{{9}, saved[:len(saved)-1], append(slices.Clone(saved), 0), []byte("some text")} {
		if err := r.in.Replay(14_000, bad); err == nil {
			t.Errorf("%q is replayed", bad)
		}
		if err := r.in.Load(bad); err == nil {
			t.Errorf("%q is loaded", bad)
		}
	}
	if err := errors.Join(r.in.Load(saved), r.in.Replay(14_000, nil)); err != nil {
		t.Error(err)
	}
}

// A queue cannot give an RDD again; batches without one can be run again.
// Shows I4.
func TestQueueIsNotReplayable_I4(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	q := &queue.Queue[*rdd.RDD[int]]{}
	streamingcontext.QueueStream(kit.Context(), q)
	q.Push(rdd.Parallelize(kit.Context().RDDs(), []int{1}, 1))
	in := streamingcontext.Inputs(kit.Context())[0].Input.(recorder[int])
	records := map[dstream.Time][]byte{}
	for at := dstream.Time(1000); at <= 3000; at += 1000 {
		var err error
		if at < 3000 { // nobody asked for the third
			if _, err = in.RDD(kit.Context().RDDs(), at); err != nil {
				t.Fatal(err)
			}
		}
		if records[at], err = in.Record(at); err != nil {
			t.Fatal(err)
		}
	}

	kit = streamtest.New(t, streamtest.Options{})
	q = &queue.Queue[*rdd.RDD[int]]{}
	streamingcontext.QueueStream(kit.Context(), q)
	q.Push(rdd.Parallelize(kit.Context().RDDs(), []int{2}, 1))
	in = streamingcontext.Inputs(kit.Context())[0].Input.(recorder[int])
	err := in.Replay(1000, records[1000])
	if !errors.Is(err, streamingcontext.ErrNotReplayable) || !errors.Is(err, streamingcontext.ErrQueueNotRecoverable) ||
		!strings.Contains(err.Error(), "Queue stream [0], declared at ") {
		t.Errorf("a batch with an RDD: %v", err)
	}
	if err := errors.Join(in.Replay(2000, records[2000]), in.Replay(3000, records[3000])); err != nil {
		t.Error(err)
	}
	for i, want := range [][]int{{}, {}, {2}} {
		at := dstream.Time(2000 + 1000*i)
		of, err := in.RDD(kit.Context().RDDs(), at)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := of.Collect(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("batch %v: %v, %v", at, got, err)
		}
	}
	if in.Replay(5000, nil) == nil || in.Replay(5000, []byte{0, 0}) == nil {
		t.Error("what is no record is replayed")
	}
}
