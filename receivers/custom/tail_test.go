package custom_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/custom"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleTail() {
	dir, _ := os.MkdirTemp("", "tail")
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "app.log")
	_ = os.WriteFile(log, []byte("one\ntwo\nthr"), 0o600) // the third line is still being written
	ctx, cancel := context.WithCancel(context.Background())
	var sink receiverstest.Sink[string]
	ended := make(chan error, 1)
	go func() { ended <- custom.Tail(log, custom.Options{Poll: time.Millisecond}).Receive(ctx, &sink) }()
	_ = sink.Wait(ctx, 2)
	f, _ := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	fmt.Fprintln(f, "ee")
	f.Close()
	_ = sink.Wait(ctx, 3)
	cancel()
	fmt.Println(sink.Records(), <-ended)
	// Output: [one two three] context canceled
}

func TestTail(t *testing.T) {
	numbers := []string{"0", "1", "2", "3", "4", "5", "6", "7"}
	receiverstest.Run(t, func(t *testing.T) receiverstest.Source[string] {
		f := file{t, filepath.Join(t.TempDir(), "log")}
		f.write(strings.Join(numbers, "\n") + "\n")
		// The file is on disk: what the receiver reads ahead costs a buffer.
		return receiverstest.Source[string]{Want: numbers, Resumes: true, Receiver: custom.Tail(f.path, custom.Options{})}
	})
}

// file is a file that a test changes.
type file struct {
	t    *testing.T
	path string
}

func (f file) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f file) write(text string) { f.t.Helper(); f.check(os.WriteFile(f.path, []byte(text), 0o600)) }

func (f file) add(text string) {
	f.t.Helper()
	out, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	f.check(err)
	_, err = out.WriteString(text)
	f.check(errors.Join(err, out.Close()))
}

// follow runs a Tail of a file in a bubble while do changes it, and compares what was stored in the end. look lets the
// receiver see the file.
func follow(t *testing.T, opts custom.Options, before func(f file), do func(f file, look func()), want ...string) *receiverstest.Sink[string] {
	t.Helper()
	var sink receiverstest.Sink[string]
	synctest.Test(t, func(t *testing.T) {
		f := file{t, filepath.Join(t.TempDir(), "foo.log")}
		if before != nil {
			before(f)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- custom.Tail(f.path, opts).Receive(ctx, &sink) }()
		look := func() {
			<-time.After(time.Second)
			synctest.Wait()
		}
		look()
		do(f, look)
		look()
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("Receive = %v", err)
		}
	})
	if diff := cmp.Diff(want, sink.Records()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	return &sink
}

// Shows F-17.
func TestTail_F17_waits_for_the_end_of_a_line(t *testing.T) {
	follow(t, custom.Options{}, func(f file) { f.write("a\nb") }, func(f file, look func()) { f.add("c\r\n") }, "a", "bc")
}

func TestTail_waits_for_a_file_that_is_not_there(t *testing.T) {
	follow(t, custom.Options{FromEnd: true}, nil, func(f file, look func()) { f.write("new\n") }, "new")
}

func TestTail_from_the_end(t *testing.T) {
	follow(t, custom.Options{FromEnd: true}, func(f file) { f.write("old\n") }, func(f file, look func()) { f.add("new\n") }, "new")
}

// Shows F-16.
func TestTail_F16_every_byte_once(t *testing.T) {
	t.Run("three bytes", func(t *testing.T) {
		follow(t, custom.Options{}, func(f file) { f.write("ab\n") }, func(f file, look func()) {}, "ab")
	})
	t.Run("rotated", func(t *testing.T) {
		follow(t, custom.Options{}, func(f file) { f.write("1\n") }, func(f file, look func()) {
			old := file{f.t, f.path + ".1"}
			f.check(os.Rename(f.path, old.path))
			old.add("2\n3") // the writer has not noticed yet
			f.write("4\n")
			look()
			f.add("5\n")
		}, "1", "2", "3", "4", "5")
	})
	t.Run("a number that comes again", func(t *testing.T) {
		follow(t, custom.Options{}, func(f file) { f.write("first file\n") }, func(f file, look func()) {
			for _, text := range []string{"second file\n", "third file, longer than the others\n"} {
				f.check(os.Remove(f.path)) // its number is free
				look()
				f.write(text)
				look()
			}
		}, "first file", "second file", "third file, longer than the others")
	})
	t.Run("truncated", func(t *testing.T) {
		follow(t, custom.Options{}, func(f file) { f.write("one\ntwo\nbegun") }, func(f file, look func()) {
			f.check(os.Truncate(f.path, 0))
			look()
			f.add("three\n")
		}, "one", "two", "three")
	})
	t.Run("truncated and grown past its size", func(t *testing.T) {
		follow(t, custom.Options{}, func(f file) { f.write("one\ntwo\n") }, func(f file, look func()) {
			f.check(os.Truncate(f.path, 0))
			f.add("three, which is longer\nfour\n")
		}, "one", "two", "three, which is longer", "four")
	})
}

func TestTail_goes_on_where_it_was_when_it_is_started_again(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := file{t, filepath.Join(t.TempDir(), "log")}
		lines := custom.Tail(f.path, custom.Options{})
		for i, step := range []struct {
			do   func()
			want []string
		}{
			{func() { f.write("1\n2\n3") }, []string{"1", "2"}},
			{func() { f.add("3\n4\n") }, []string{"33", "4"}},
			{func() {}, nil},
			{func() { f.write("other\n") }, []string{"other"}},                     // shorter
			{func() { f.write("another, longer\n") }, []string{"another, longer"}}, // known by its beginning
		} {
			step.do()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			var sink receiverstest.Sink[string]
			if err := lines.Receive(ctx, &sink); err != context.DeadlineExceeded {
				t.Errorf("start %d: Receive = %v", i, err)
			}
			cancel()
			if diff := cmp.Diff(step.want, sink.Records()); diff != "" {
				t.Errorf("start %d: lines (-want +got):\n%s", i, diff)
			}
		}
	})
}

func TestTail_reports_a_line_that_is_too_long(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, max := range []int{10, 150_000} {
		sink := follow(t, custom.Options{MaxLine: max}, func(f file) { f.write("1\n" + long[:100_000]) }, func(f file, look func()) {
			f.add(long[100_000:])
			look()
			f.add("\n2\n")
		}, "1", "2")
		if errs := sink.Errors(); len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), fmt.Sprintf("foo.log: line at byte 2 is longer than %d bytes", max)) {
			t.Errorf("reported %v", errs)
		}
	}
	follow(t, custom.Options{}, func(f file) { f.write(long) }, func(f file, look func()) { f.add("y\n") }, long+"y")
}

func TestTail_refuses_what_it_cannot_follow(t *testing.T) {
	if err := custom.Tail(t.TempDir(), custom.Options{}).Receive(t.Context(), nil); err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	err := custom.Tail("x", custom.Options{Poll: -1, MaxLine: -1}).Receive(t.Context(), nil)
	if _, ok := errors.AsType[*receivers.OptionError](err); !ok {
		t.Errorf("options: %v", err)
	}
}
