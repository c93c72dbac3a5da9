package rdd

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// callSite is the file and line of the program's call: the first frame outside of leat's own
// packages.
func (c *Context) callSite() string {
	if c.site != "" {
		return c.site
	}
	return CallSite()
}

// CallSite returns the file and line, as in "main.go:12", of the innermost caller outside of
// leat's own packages; leat's tests and examples count as outside.
func CallSite() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.File != "" && !internalFrame(f) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "unknown:0"
		}
	}
}

func internalFrame(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	name, ok := strings.CutPrefix(f.Function, "github.com/leat-io/leat/")
	if !ok {
		return strings.HasPrefix(f.Function, "runtime.")
	}
	for _, own := range []string{"rdd.", "dstream.", "streamingcontext.", "streamingcontext/streamtest."} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return false
}
