package streamingcontext_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/streamingcontext"
)

// numbersUntil runs a program that saves the number of each batch, until a time.
func numbersUntil(dir, out string, ms int64) error {
	ctx, clock := context.Background(), new(streamingcontext.ManualClock)
	opts := streamingcontext.Options{App: "numbers", Interval: time.Second, Clock: clock, KeepCheckpoints: 10}
	ssc, err := streamingcontext.GetOrCreate(dir, opts, func(ssc *streamingcontext.Context) error {
		numbers := dstream.SliceStream(ssc.Graph(), [][]string{{"one"}, {"two"}, {"three"}, {"four"}}, 1)
		dstream.SaveTo(numbers, "numbers", files.Text(out))
		return nil
	})
	if err != nil {
		return err
	}
	if err := ssc.Start(ctx); err != nil {
		return err
	}
	clock.Set(ms)
	if err := ssc.Settled(ctx, dstream.Time(ms)); err != nil {
		return err
	}
	return ssc.Stop(ctx, streamingcontext.StopOptions{})
}

func ExampleRewindCheckpoint() {
	root, err := os.MkdirTemp("", "rewind")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir := filepath.Join(root, "numbers")
	if err := numbersUntil(dir, filepath.Join(root, "out"), 3000); err != nil {
		log.Fatal(err)
	}
	r, err := streamingcontext.RewindCheckpoint(dir, streamingcontext.RewindOptions{To: 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d batches after that of %v run again; as it was: %s\n", r.Again, r.Time, filepath.Base(r.Old))
	// The outputs are new ones.
	if err := numbersUntil(dir, filepath.Join(root, "out-2"), 4000); err != nil {
		log.Fatal(err)
	}
	for row, err := range files.Read(filepath.Join(root, "out-2"), files.ReadOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s\n", row.Batch, row.Line)
	}
	// Output:
	// 2 batches after that of 1000 ms run again; as it was: numbers.before-rewind
	// 1 two
	// 2 three
	// 3 four
}

func ExampleCloneCheckpoint() {
	root, err := os.MkdirTemp("", "clone")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir, copied := filepath.Join(root, "numbers"), filepath.Join(root, "copy")
	if err := numbersUntil(dir, filepath.Join(root, "out"), 3000); err != nil {
		log.Fatal(err)
	}
	report, err := streamingcontext.CloneCheckpoint(dir, copied)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Apps, "application")
	points, err := streamingcontext.RewindPoints(copied)
	fmt.Println(len(points), "points to go back to,", err)
	// Output:
	// 1 application
	// 3 points to go back to, <nil>
}
