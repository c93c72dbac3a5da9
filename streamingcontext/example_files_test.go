package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// Five files are there; a batch takes two of them, the oldest first.
func ExampleMaxFilesPerBatch() {
	dir, _ := os.MkdirTemp("", "files")
	defer os.RemoveAll(dir)
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	show(ssc.TextFiles(dir, streamingcontext.MaxFilesPerBatch(2)))
	for i := range 5 {
		appears(dir, fmt.Sprint("part-", i), fmt.Sprintf("line %d\n", i), 500+int64(i))
	}
	run(ssc, clock, 3)
	// Output:
	// 1000 ms [line 0 line 1]
	// 2000 ms [line 2 line 3]
	// 3000 ms [line 4]
}

// Batches may cover up to five seconds while they take longer than one. A window that is due at every batch time could not be shown
// for those that are left out, so such a program does not start.
func ExampleDynamicInterval() {
	opts := streamingcontext.Options{Interval: time.Second,
		DynamicInterval: streamingcontext.DynamicInterval{Enabled: true, Max: 5 * time.Second}}
	fmt.Println(opts.DynamicInterval)

	ssc := streamingcontext.New(opts)
	dstream.Print(dstream.Window(ssc.TextFiles("in"), 10*time.Second, 0), os.Stdout, 10)
	err := ssc.Start(context.Background())
	if refused, ok := errors.AsType[*dstream.CoalesceError](err); ok {
		fmt.Println(refused.Op, refused.Err)
	}
	// Output:
	// at most 5s, 0.8 full, shrinks after 3 batches
	// window its window is to be shown for every batch time: give it a longer slide
}
