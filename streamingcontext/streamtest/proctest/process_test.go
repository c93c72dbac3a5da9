package proctest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// child is what the process under test does: it says that it is there, and then what it was told.
func child() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	fmt.Println("there")
	for range time.Tick(time.Millisecond) {
		select {
		case <-stop:
			fmt.Println("stopped in order")
			return
		default:
			fmt.Println("tick")
		}
	}
}

// start starts a child and returns its lines.
func start(t *testing.T) (*proctest.Process, chan string) {
	t.Helper()
	t.Setenv("PROCTEST_CHILD", "1")
	lines := make(chan string, 1<<16)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proctest.Start(proctest.Options{Path: self, Err: os.Stderr, Line: func(_ time.Time, line string) { lines <- line }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if got := <-lines; got != "there" {
		t.Fatalf("the first line is %q", got)
	}
	return p, lines
}

func TestAProcessIsKilled(t *testing.T) {
	p, _ := start(t)
	p.Kill()
	var exit *exec.ExitError
	if err := p.Wait(t.Context()); !errors.As(err, &exit) || exit.Success() {
		t.Errorf("Wait = %v, want how it was killed", err)
	}
	p.Kill()
}

func TestAProcessStopsInOrder(t *testing.T) {
	p, lines := start(t)
	if err := p.Terminate(); err != nil {
		if runtime.GOOS == "windows" {
			return // which knows no such signal
		}
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(lines)
	last := ""
	for line := range lines {
		last = line
	}
	if last != "stopped in order" {
		t.Errorf("the last line is %q", last)
	}
}

// While a process is paused nothing comes from it; its killing works all the same.
func TestAProcessIsPausedAndGoesOn(t *testing.T) {
	p, lines := start(t)
	if err := p.Pause(); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		t.Fatal(err)
	}
	for quiet := false; !quiet; { // what was on its way
		select {
		case <-lines:
		case <-time.After(50 * time.Millisecond):
			quiet = true
		}
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != "tick" {
		t.Errorf("got %q", got)
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	p.Kill()
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	if _, err := proctest.Start(proctest.Options{Path: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start = %v", err)
	}
}

func ExampleStart() {
	p, err := proctest.Start(proctest.Options{Path: "go", Args: []string{"env", "GOVERSION"}, Line: func(_ time.Time, line string) {
		fmt.Println(line[:2])
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	<-p.Ended()
	p.Kill()
	// Output: go
}
