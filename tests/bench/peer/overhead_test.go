package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

func TestEmptyTasks(t *testing.T) {
	for _, job := range append(workload.Overheads(), workload.Overhead{}, workload.Overhead{Stages: 1, Tasks: -1}) {
		t.Run(job.String(), func(t *testing.T) {
			if got, want := peer.EmptyTasks(job), job.Stages*max(job.Tasks, 0); got != want {
				t.Errorf("got %d tasks run, want %d", got, want)
			}
		})
	}
}

func TestAppendSync(t *testing.T) {
	t.Run("adds to what is there", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		for _, n := range []int{3, 2} {
			if got, err := peer.AppendSync(t.Context(), path, workload.LogAppendBytes, n); err != nil || got != n {
				t.Fatalf("got %d entries and error %v, want %d", got, err, n)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Size(), int64(5*workload.LogAppendBytes); got != want {
			t.Errorf("got %d bytes, want %d", got, want)
		}
	})
	t.Run("stops when the context does", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got, err := peer.AppendSync(ctx, filepath.Join(t.TempDir(), "log"), 1, 5)
		if got != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("got %d entries and error %v, want 0 and %v", got, err, context.Canceled)
		}
	})
	t.Run("reports a path that is not there", func(t *testing.T) {
		_, err := peer.AppendSync(t.Context(), filepath.Join(t.TempDir(), "none", "log"), 1, 5)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got error %v, want %v", err, fs.ErrNotExist)
		}
	})
}

func BenchmarkEmptyTasks(b *testing.B) {
	for _, job := range workload.Overheads() {
		b.Run(job.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := peer.EmptyTasks(job); got != job.Stages*job.Tasks {
					b.Fatalf("got %d tasks run", got)
				}
			}
			perRecord(b, job.Stages*job.Tasks)
		})
	}
}

func BenchmarkAppendSync(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	for b.Loop() {
		if _, err := peer.AppendSync(b.Context(), path, workload.LogAppendBytes, 16); err != nil {
			b.Fatal(err)
		}
	}
	perRecord(b, 16)
}

func ExampleEmptyTasks() {
	fmt.Println(peer.EmptyTasks(workload.Overhead{Stages: 2, Tasks: 4}))
	// Output:
	// 8
}

func ExampleAppendSync() {
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(peer.AppendSync(context.Background(), filepath.Join(dir, "log"), 512, 3))
	// Output:
	// 3 <nil>
}
