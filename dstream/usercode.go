package dstream

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/leat-io/leat/rdd"
)

// called runs a function of the program that makes an RDD, and turns its end into an error however it
// ends. It runs on a goroutine of its own, for the one that generates the batches is needed further.
func called[U any](f func() (*rdd.RDD[U], error)) (r *rdd.RDD[U], err error) {
	err = ErrGoexit
	var wg sync.WaitGroup
	wg.Go(func() {
		userCode(func() { r, err = f() }, func(v any) { r, err = nil, &rdd.PanicError{Value: fmt.Sprint(v)} })
	})
	wg.Wait()
	return r, err
}

// apart runs a function of the program that makes nothing, as called does.
func apart(f func()) (err error) {
	err = ErrGoexit
	var wg sync.WaitGroup
	wg.Go(func() {
		var panicked error
		userCode(f, func(v any) { panicked = &rdd.PanicError{Value: fmt.Sprint(v)} })
		err = panicked
	})
	wg.Wait()
	return err
}

// userCode calls f and hands over what it panicked with. A streaming context looks for it in a stack, to see that
// a call comes from within a batch.
func userCode(f func(), panicked func(v any)) {
	defer func() {
		if v := recover(); v != nil {
			panicked(v)
		}
	}()
	f()
}

// made is called for functions that must give an RDD. They run without the graph's lock, for they may ask streams
// of the graph; inputs run with it, so that their methods do not overlap.
func made[U any](g *Graph, f func() (*rdd.RDD[U], error)) (*rdd.RDD[U], error) {
	g.mu.Unlock()
	defer g.mu.Lock()
	r, err := called(f)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ErrNilRDD
	}
	return r, r.Err()
}

// inUserCode reports whether the caller was called by userCode, directly or not.
func inUserCode() bool {
	pcs := make([]uintptr, 512)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "dstream.userCode") {
			return true
		}
		if !more {
			return false
		}
	}
}
