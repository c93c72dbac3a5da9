package dstream

import (
	"errors"
	"fmt"
	"sync"

	"github.com/leat-io/leat/rdd"
)

// ErrGoexit fails a batch in which a function of the program ended its goroutine, as runtime.Goexit and a
// failing test assertion do.
var ErrGoexit = errors.New("the function ended its goroutine")

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

// made is called for functions that must give an RDD.
func made[U any](f func() (*rdd.RDD[U], error)) (*rdd.RDD[U], error) {
	r, err := called(f)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ErrNilRDD
	}
	return r, r.Err()
}
