package dstream

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// Operator returns the stream of what f makes of each batch's RDD, under a name of its own: it is what a package
// outside of this one builds operators with. op is the stable name of its kind, as in "topK". Errors, pages and the
// graph's fingerprint name it, and errors the place where the package's function is called. f runs as Transform's.
//
// Shape: as f's result; absent where the parent is.
// Errors: Start reports an empty op, and a nil f; a nil result is ErrNilRDD, which, like an error of f, fails the whole
// batch.
func Operator[T, U any](s *DStream[T], op string, f func(r *rdd.RDD[T], t Time) (*rdd.RDD[U], error)) *DStream[U] {
	err := nonNil(f != nil)
	if op == "" {
		err = fmt.Errorf("%w: an operator has no name", ErrArgument)
	}
	child := newStreamAt[U](s.graph, op, callerOfPackage(), err, s.node)
	child.compute = func(t Time) (*rdd.RDD[U], error) {
		r, err := s.rddAt(t)
		if r == nil || err != nil {
			return nil, err
		}
		return made(child.graph, func() (*rdd.RDD[U], error) { return f(r.In(child.rddsAt(t)), t) })
	}
	return child
}

// callerOfPackage returns the file and line that the package which calls Operator is called from; the package's
// tests count as outside of it. It is empty if the package is called by nobody.
func callerOfPackage() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]) // from the caller of Operator on
	pkg := ""
	for {
		f, more := frames.Next()
		name, own := packageOf(f.Function), strings.HasSuffix(f.File, "_test.go")
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			return ""
		case pkg == "" && !own:
			pkg = name
		case name != pkg || own:
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// packageOf returns the import path of a function's package.
func packageOf(function string) string {
	last := strings.LastIndexByte(function, '/') + 1
	name, _, _ := strings.Cut(function[last:], ".")
	return function[:last] + name
}
