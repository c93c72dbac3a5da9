package streamingcontext_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

func wantBatches[T any](t *testing.T, out *streamtest.Output[T], want ...[]T) {
	t.Helper()
	got := out.Batches()
	for i := range got {
		if len(got[i]) == 0 {
			got[i] = nil
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("batches (-got +want):\n%s", diff)
	}
}

func TestQueueStream(t *testing.T) {
	type program struct {
		kit  *streamtest.Kit
		push func(...int)
		out  *streamtest.Output[int]
	}
	declare := func(t *testing.T, opts ...func(*streamtest.Kit) streamingcontext.QueueOption) program {
		kit := streamtest.New(t, streamtest.Options{})
		q := &queue.Queue[*rdd.RDD[int]]{}
		var o []streamingcontext.QueueOption
		for _, opt := range opts {
			o = append(o, opt(kit))
		}
		s := streamingcontext.QueueStream(kit.Context(), q, o...)
		push := func(xs ...int) {
			for _, x := range xs {
				q.Push(rdd.Parallelize(kit.Context().RDDs(), []int{x}, 1))
			}
		}
		return program{kit, push, streamtest.Collect(kit, s)}
	}
	all := func(*streamtest.Kit) streamingcontext.QueueOption { return streamingcontext.AllAtOnce() }
	nine := func(k *streamtest.Kit) streamingcontext.QueueOption {
		return streamingcontext.OtherwiseRDD(rdd.Parallelize(k.Context().RDDs(), []int{9}, 1))
	}
	t.Run("I1 one at a time", func(t *testing.T) {
		p := declare(t)
		p.push(1, 2, 3)
		p.kit.Advance(5)
		wantBatches(t, p.out, []int{1}, []int{2}, []int{3}, nil, nil)
	})
	t.Run("I2 all at once", func(t *testing.T) {
		p := declare(t, all)
		p.push(1, 2, 3)
		p.kit.Advance(1)
		p.push(4, 5)
		p.kit.Advance(2)
		wantBatches(t, p.out, []int{1, 2, 3}, []int{4, 5}, nil)
	})
	t.Run("I3 a default", func(t *testing.T) {
		p := declare(t, nine)
		p.push(1)
		p.kit.Advance(3)
		wantBatches(t, p.out, []int{1}, []int{9}, []int{9})
	})
}

func TestQueueStreamPartitionsWhenEmpty(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	q := &queue.Queue[*rdd.RDD[int]]{}
	one := dstream.Slice[int]
	a := streamingcontext.QueueStream(kit.Context(), q)
	b := streamingcontext.QueueStream(kit.Context(), q, streamingcontext.OtherwiseRDD[int](nil))
	discard(a)
	discard(b)
	kit.Advance(1)
	for want, s := range map[int]*dstream.DStream[int]{1: a, 0: b} {
		rdds, err := one(s, kit.Now(), kit.Now())
		if err != nil || len(rdds) != 1 {
			t.Fatalf("slice: %v, %v", rdds, err)
		}
		if n, err := rdds[0].NumPartitions(); n != want || err != nil {
			t.Errorf("%d partitions, want %d (%v)", n, want, err)
		}
	}
}

func TestQueueStreamFails(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	q := &queue.Queue[*rdd.RDD[int]]{}
	discard(streamingcontext.QueueStream(kit.Context(), q))
	q.Push(nil)
	wantErr(t, "a nil RDD", kit.TryAdvance(1), dstream.ErrNilRDD)
}

// folder writes files whose modification times are times of the manual clock.
type folder struct {
	t   *testing.T
	dir string
}

func (f folder) write(name string, modified int64, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Chtimes(path, time.UnixMilli(modified), time.UnixMilli(modified)); err != nil {
		f.t.Fatal(err)
	}
}

// filesAt12 is a program over the files of pattern, a batch every two seconds, made at clock 12000.
func filesAt12(t *testing.T, pattern string, opts ...streamingcontext.FileOption) (*streamtest.Output[string], func(to int64)) {
	kit := streamtest.New(t, streamtest.Options{Interval: 2 * time.Second})
	kit.Clock().Set(12000)
	ssc := kit.Context()
	out := streamtest.Collect(kit, ssc.TextFiles(pattern, opts...))
	started := false
	return out, func(to int64) {
		t.Helper()
		if !started {
			started = true
			if err := ssc.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		kit.Clock().Set(to)
		if err := ssc.Settled(t.Context(), dstream.Time(to)); err != nil {
			t.Fatal(err)
		}
		if err := ssc.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTextFiles(t *testing.T) {
	stamps := []int64{10000, 12000, 13000, 14000, 14001}
	present := func(f folder) {
		for _, m := range stamps {
			f.write(fmt.Sprint(m), m, fmt.Sprint(m, "\n"))
		}
	}
	t.Run("I7 new files only", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		present(f)
		out, to := filesAt12(t, f.dir)
		to(18000)
		wantBatches(t, out, []string{"13000", "14000"}, []string{"14001"}, nil)
	})
	t.Run("I8 existing ones as well", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		present(f)
		out, to := filesAt12(t, f.dir, streamingcontext.IncludeExisting())
		to(16000)
		wantBatches(t, out, []string{"10000", "12000", "13000", "14000"}, []string{"14001"})
	})
	t.Run("I9 visible late", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		out, to := filesAt12(t, f.dir)
		to(72000)
		f.write("a", 15000, "in time\n")
		to(74000)
		f.write("b", 15000, "too late\n")
		to(78000)
		if diff := cmp.Diff(out.At(74000), []string{"in time"}); diff != "" {
			t.Errorf("batch 74000 (-got +want):\n%s", diff)
		}
		if got := out.At(76000); len(got) > 0 {
			t.Errorf("batch 76000: %v", got)
		}
	})
	t.Run("I10 rewritten", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		f.write("a", 13000, "first\n")
		out, to := filesAt12(t, f.dir)
		to(14000)
		f.write("a", 15000, "second\n")
		to(90000)
		for _, b := range out.Times() {
			if got := out.At(b); len(got) > 0 && b != 14000 {
				t.Errorf("batch %v: %v", b, got)
			}
		}
		if diff := cmp.Diff(out.At(14000), []string{"first"}); diff != "" {
			t.Errorf("batch 14000 (-got +want):\n%s", diff)
		}
	})
	t.Run("I11 d0311 hidden names and sub-folders, D7", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		f.write(".x", 13000, "hidden\n")
		f.write("sub/deep", 13000, "deep\n")
		out, to := filesAt12(t, f.dir)
		all, toAll := filesAt12(t, f.dir, streamingcontext.FileFilter(func(string) bool { return true }))
		to(14000)
		toAll(14000)
		wantBatches(t, out, nil)
		wantBatches(t, all, []string{"hidden"})
	})
	t.Run("I12 a folder that moves into the pattern", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		f.write("away/old", 11000, "old\n")
		f.write("away/new", 15000, "new\n")
		out, to := filesAt12(t, filepath.Join(f.dir, "d*")+"/")
		to(14000)
		if err := os.Rename(filepath.Join(f.dir, "away"), filepath.Join(f.dir, "day1")); err != nil {
			t.Fatal(err)
		}
		to(16000)
		wantBatches(t, out, nil, []string{"new"})
	})
	t.Run("I13 a folder that is missing, comes, goes and comes again", func(t *testing.T) {
		f := folder{t, t.TempDir()}
		out, to := filesAt12(t, filepath.Join(f.dir, "later"))
		to(14000)
		f.write("later/a", 15000, "a\n")
		to(16000)
		if err := os.RemoveAll(filepath.Join(f.dir, "later")); err != nil {
			t.Fatal(err)
		}
		to(18000)
		f.write("later/b", 19000, "b\n")
		to(20000)
		wantBatches(t, out, nil, []string{"a"}, nil, []string{"b"})
	})
}

func TestInputNumbers_I14(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	ssc := kit.Context()
	discard(streamingcontext.Receive(ssc, idle()))
	discard(ssc.SocketText("localhost:1"))
	discard(nothing(ssc))
	discard(ssc.TextFiles(t.TempDir()))
	discard(streamtest.Input[int](kit).Stream())
	var names []string
	for i, in := range ssc.Graph().Inputs() {
		if in.ID != i {
			t.Errorf("input %d has id %d", i, in.ID)
		}
		names = append(names, in.Name)
	}
	want := []string{"Receiver stream [0]", "Socket stream [1]", "Slice stream [2]", "File stream [3]", "Feed [4]"}
	if diff := cmp.Diff(names, want); diff != "" {
		t.Errorf("names (-got +want):\n%s", diff)
	}
}

func TestUnusedInput_C6(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	used := streamtest.Input[int](kit)
	streamtest.Input[int](kit)
	out := streamtest.Collect(kit, used.Stream())
	used.Push(1)
	kit.Advance(1)
	used.Push(2)
	kit.Advance(1)
	wantBatches(t, out, []int{1}, []int{2})
}

func TestAbsentIsNotEmpty(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	out := streamtest.Collect(kit, streamingcontext.Slices(kit.Context(), [][]int{{1}, nil, {}}, 2))
	kit.Advance(4)
	if diff := cmp.Diff(out.Times(), []dstream.Time{1000, 3000, 4000}); diff != "" {
		t.Errorf("batches with an RDD (-got +want):\n%s", diff)
	}
}

// idle is a receiver without records.
func idle() receivers.Receiver[int] { return receivers.Func[int](waitForEnd) }
