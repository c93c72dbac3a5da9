package reader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/reader"
	"github.com/leat-io/leat/receivers/receiverstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleLines() {
	ctx, stop := context.WithCancel(context.Background())
	lines := reader.Lines(strings.NewReader("to be\r\nor not to be"), reader.Options{Ended: stop})
	var sink receiverstest.Sink[string]
	err := lines.Receive(ctx, &sink)
	fmt.Printf("%q %v\n", sink.Records(), err)
	// Output: ["to be" "or not to be"] context canceled
}

var numbers = []string{"0", "1", "2", "3", "4", "5", "6", "7"}

// interruptible is an endless input whose reads wait for a line and are woken by a call.
type interruptible struct {
	lines chan string
	wake  chan struct{}
}

func (i *interruptible) Read(p []byte) (int, error) {
	select {
	case line := <-i.lines:
		return copy(p, line+"\n"), nil
	case <-i.wake:
		return 0, errors.New("interrupted")
	}
}

func TestLines(t *testing.T) {
	t.Run("woken by a deadline", func(t *testing.T) {
		receiverstest.Run(t, func(t *testing.T) receiverstest.Source[string] {
			in, out := net.Pipe()
			var sent atomic.Int64
			var writing sync.WaitGroup
			writing.Go(func() {
				for i := 0; ; i++ {
					if _, err := fmt.Fprintln(out, i); err != nil {
						return
					}
					sent.Add(1)
				}
			})
			t.Cleanup(func() { in.Close(); writing.Wait() })
			return receiverstest.Source[string]{Want: numbers, Read: func() int { return int(sent.Load()) }, Resumes: true,
				Receiver: reader.Lines(in, reader.Options{})}
		})
	})
	t.Run("woken by a function", func(t *testing.T) {
		receiverstest.Run(t, func(t *testing.T) receiverstest.Source[string] {
			in := &interruptible{make(chan string), make(chan struct{}, 1)}
			var sent atomic.Int64
			ended := make(chan struct{})
			var writing sync.WaitGroup
			writing.Go(func() {
				for i := 0; ; i++ {
					select {
					case in.lines <- fmt.Sprint(i):
						sent.Add(1)
					case <-ended:
						return
					}
				}
			})
			t.Cleanup(func() { close(ended); writing.Wait() })
			return receiverstest.Source[string]{Want: numbers, Read: func() int { return int(sent.Load()) }, Resumes: true,
				Receiver: reader.Lines(in, reader.Options{Interrupt: func() {
					select {
					case in.wake <- struct{}{}:
					default:
					}
				}})}
		})
	})
	t.Run("that never waits", func(t *testing.T) {
		receiverstest.RunReal(t, func(t *testing.T) receiverstest.Source[string] {
			text := strings.NewReader(strings.Join(numbers, "\n"))
			return receiverstest.Source[string]{Want: numbers, Resumes: true, Receiver: reader.Lines(text, reader.Options{})}
		})
	})
	t.Run("of a pipe of the system", func(t *testing.T) {
		receiverstest.RunReal(t, func(t *testing.T) receiverstest.Source[string] {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { in.Close(); out.Close() })
			if _, err := io.WriteString(out, strings.Join(numbers, "\n")+"\n"); err != nil {
				t.Fatal(err)
			}
			return receiverstest.Source[string]{Want: numbers, Resumes: true, Receiver: reader.Lines(in, reader.Options{})}
		})
	})
}

// The end of the input is told once and is no reason to start again.
func TestLines_ends_for_good(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		lines := reader.Lines(strings.NewReader("1\n2"), reader.Options{Ended: func() { ended++ }})
		starts := 0
		var blocks receiverstest.Blocks[string]
		sup, err := receivers.NewSupervisor(0, lines, &blocks, receivers.Options{Listener: receivers.Listener{
			Started: func(int32, int) { starts++ },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := sup.Run(ctx); err != nil {
			t.Errorf("Run = %v", err)
		}
		if starts != 1 || ended != 1 {
			t.Errorf("%d starts, the end told %d times", starts, ended)
		}
		if diff := cmp.Diff([]string{"1", "2"}, blocks.Records()); diff != "" {
			t.Errorf("records (-want +got):\n%s", diff)
		}
		again, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := lines.Receive(again, &receiverstest.Sink[string]{}); err != context.DeadlineExceeded || ended != 1 {
			t.Errorf("second Receive = %v, the end told %d times", err, ended)
		}
	})
}

// terminal is an input whose reads nothing wakes.
type terminal struct{ lines chan string }

func (t terminal) Read(p []byte) (int, error) {
	line, ok := <-t.lines
	if !ok {
		return 0, io.EOF
	}
	return copy(p, line), nil
}

// A read that cannot be woken does not hold up the stop, and what it returns later is not lost.
func TestLines_leaves_a_read_of_a_terminal_to_the_next_start(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := terminal{make(chan string)}
		lines := reader.Lines(in, reader.Options{})
		for i, want := range [][]string{{"1"}, {"2", "3"}} {
			ctx, cancel := context.WithCancel(t.Context())
			var sink receiverstest.Sink[string]
			ended := make(chan error, 1)
			go func() { ended <- lines.Receive(ctx, &sink) }()
			if i == 0 {
				in.lines <- "1\n"
			} else {
				in.lines <- "3\n"
			}
			synctest.Wait()
			cancel()
			if err := <-ended; err != context.Canceled {
				t.Errorf("Receive = %v", err)
			}
			if diff := cmp.Diff(want, sink.Records()); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if i == 0 {
				in.lines <- "2\n" // the read that was left behind takes it
			}
		}
		close(in.lines)
	})
}

// Each line is stored once, whatever the sink refuses in between.
func TestLines_goes_on_behind_what_the_sink_took(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintln(&text, i)
	}
	lines := reader.Lines(strings.NewReader(text.String()), reader.Options{})
	var got []string
	refused := errors.New("refused")
	for len(got) < 100 {
		sink := receiverstest.Sink[string]{Before: func(_ context.Context, taken int) error {
			if taken == 7 {
				return refused
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		if len(got)+7 >= 100 {
			cancel() // nothing is left to refuse: the receiver waits at the end of the input
			ctx, cancel = context.WithCancel(t.Context())
			go func() {
				_ = sink.Wait(ctx, 100-len(got))
				cancel()
			}()
		}
		if err := lines.Receive(ctx, &sink); err != refused && err != context.Canceled {
			t.Fatalf("Receive = %v", err)
		}
		cancel()
		got = append(got, sink.Records()...)
	}
	if strings.Join(got, "\n")+"\n" != text.String() {
		t.Errorf("got %q", got)
	}
}

// Shows F-13.
func TestLines_F13_reports_a_line_that_is_too_long_and_goes_on(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var sink receiverstest.Sink[string]
	long := strings.Repeat("x", 70_000)
	lines := reader.Lines(strings.NewReader("ok\n"+long+"\nlast\n"), reader.Options{MaxLine: 65_536, Ended: stop})
	if err := lines.Receive(ctx, &sink); err != context.Canceled {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"ok", "last"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if errs := sink.Errors(); len(errs) != 1 || errs[0].Error() != "read lines: line at byte 3 is longer than 65536 bytes" {
		t.Errorf("reported %v", errs)
	}
	whole := receiverstest.Sink[string]{}
	again, stop2 := context.WithCancel(t.Context())
	_ = reader.Lines(strings.NewReader("ok\n"+long+"\nlast\n"), reader.Options{Ended: stop2}).Receive(again, &whole)
	if diff := cmp.Diff([]string{"ok", long, "last"}, whole.Records()); diff != "" {
		t.Error("a long line is not taken by default")
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestLines_says_where_reading_failed(t *testing.T) {
	lines := reader.Lines(io.MultiReader(strings.NewReader("1\n2"), broken{}), reader.Options{})
	var sink receiverstest.Sink[string]
	err := lines.Receive(t.Context(), &sink)
	if err == nil || err.Error() != "read lines at byte 3: disk on fire" {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"1"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestLines_refuses_what_cannot_be_used(t *testing.T) {
	for _, r := range []receivers.Receiver[string]{reader.Lines(nil, reader.Options{}), reader.Lines(strings.NewReader(""), reader.Options{MaxLine: -1})} {
		if _, ok := errors.AsType[*receivers.OptionError](r.Receive(t.Context(), nil)); !ok {
			t.Error("no OptionError")
		}
	}
}

// hostile is a reader that does not come back as it should.
type hostile func()

func (h hostile) Read([]byte) (int, error) {
	h()
	return 0, io.EOF
}

func TestLines_says_that_the_reader_did_not_come_back(t *testing.T) {
	for want, end := range map[string]func(){"panicked: no": func() { panic("no") }, "ended its goroutine": runtime.Goexit} {
		var sink receiverstest.Sink[string]
		err := reader.Lines(hostile(end), reader.Options{}).Receive(t.Context(), &sink)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Receive = %v, want %q in it", err, want)
		}
	}
}
