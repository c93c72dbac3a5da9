package streamtest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// printing stands for the *testing.T of a test, which an example does not have.
type printing struct {
	testing.TB
	cleanups []func()
}

func (p *printing) Helper()          {}
func (p *printing) Name() string     { return "example" }
func (p *printing) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }
func (p *printing) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		p.Fatalf("%v", err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
func (p *printing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printing) end() {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
}

func Example() {
	t := &printing{}
	defer t.end()

	// The test of a count over a window of two seconds.
	kit := streamtest.New(t, streamtest.Options{})
	words := streamtest.Input[string](kit)
	counts := streamtest.Collect(kit, dstream.CountByWindow(words.Stream(), 2*time.Second, time.Second))
	words.Push("ada", "bo")
	kit.Advance(1)
	words.Push("ada")
	kit.Advance(2)
	fmt.Println(counts.Batches())
	// Output:
	// [[2] [3] [1]]
}
