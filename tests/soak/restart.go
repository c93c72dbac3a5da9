package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/leat-io/leat/streamingcontext"
)

// restart starts and stops the program many times, every other time in order.
func restart(ctx context.Context, o options) error {
	dir := filepath.Join(o.dir, "restart")
	if err := folders(dir); err != nil {
		return err
	}
	var before footprint
	for i := range o.cycles {
		if err := once(ctx, dir, i%2 == 1); err != nil {
			return fmt.Errorf("the %dth: %w", i+1, err)
		}
		if i == min(10, o.cycles-1) {
			before = look() // what the first ones leave is the runtime's
		}
	}
	after := settled(before)
	if after.goroutines > before.goroutines || after.descriptors > before.descriptors || after.heap > before.heap+moreHeap {
		return fmt.Errorf("something is left: %+v, before %+v", after, before)
	}
	return left(filepath.Join(dir, "blocks"))
}

// once starts the program, makes two batches, and stops it.
func once(ctx context.Context, dir string, graceful bool) error {
	p := newProgram(dir, 1)
	if err := p.ssc.Start(ctx); err != nil {
		return err
	}
	want := newModel()
	for k := 1; k <= 2; k++ {
		if err := p.batch(ctx, k); err != nil {
			return err
		}
		want.add(k)
	}
	if err := want.check(p); err != nil {
		return err
	}
	if !graceful {
		return p.ssc.Stop(ctx, streamingcontext.StopOptions{})
	}
	stopped := make(chan error, 1)
	go func() { stopped <- p.ssc.Stop(ctx, streamingcontext.StopOptions{Graceful: true}) }()
	for { // an orderly stop makes the batches that are due
		select {
		case err := <-stopped:
			return err
		default:
			p.clock.Advance(1000)
			runtime.Gosched()
		}
	}
}

// left returns an error if there is a file in a folder or below.
func left(dir string) error {
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("files are left: %v", found)
	}
	return err
}
