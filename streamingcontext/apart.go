package streamingcontext

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/leat-io/leat/dstream"
)

// apart runs a function that calls the program's, and turns its end into an error however it ends. It
// runs on a goroutine of its own, so that runtime.Goexit ends that one and not a slot's or the listeners'.
func apart(f func() error) error {
	err := error(dstream.ErrGoexit)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
			}
		}()
		err = f()
	})
	wg.Wait()
	return err
}
