package local_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// entries returns what is in a folder.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// scratchJob runs f with a temporary file in a task.
func scratchJob(f func(lineage.Scratch) error) lineage.Job {
	job := emptyJob(1)
	job.Run = func(ctx context.Context, env lineage.Env, _ int) (lineage.Block, error) {
		s, err := env.Scratch()
		if err != nil {
			return nil, err
		}
		return nil, f(s)
	}
	return job
}

func TestFolder(t *testing.T) {
	t.Run("is_made_when_needed_and_removed_at_the_end", func(t *testing.T) {
		dir := t.TempDir()
		cluster := local.New(local.Options{Dir: dir, Executors: 2})
		s := scheduler.New(cluster, scheduler.Options{})
		defer s.Close()
		if err := s.Run(t.Context(), emptyJob(4)); err != nil {
			t.Fatal(err)
		}
		if names := entries(t, dir); len(names) > 0 || len(cluster.Files()) > 0 {
			t.Errorf("%v is there though nothing was written", names)
		}
		err := s.Run(t.Context(), scratchJob(func(lineage.Scratch) error {
			names, files := entries(t, dir), cluster.Files()
			if len(names) != 1 || !strings.HasPrefix(names[0], "leat-") || len(files) != 1 {
				t.Errorf("%v, files %v", names, files)
			}
			return nil
		}))
		if files := cluster.Files(); err != nil || len(files) > 0 {
			t.Errorf("%v; files %v are left", err, files)
		}
		s.Close()
		if names := entries(t, dir); len(names) > 0 {
			t.Errorf("%v is left", names)
		}
	})
	t.Run("cannot_be_made", func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{Dir: filepath.Join(t.TempDir(), "not", "there"), Isolate: true}), scheduler.Options{})
		defer s.Close()
		var fe *executor.FileError
		err := s.Run(t.Context(), scratchJob(func(lineage.Scratch) error { return nil }))
		if !errors.As(err, &fe) {
			t.Errorf("got %v, want a file error", err)
		}
	})
	t.Run("of_a_living_cluster_stays", func(t *testing.T) {
		dir := t.TempDir()
		s := scheduler.New(local.New(local.Options{Dir: dir}), scheduler.Options{})
		defer s.Close()
		err := s.Run(t.Context(), scratchJob(func(f lineage.Scratch) error {
			other := scheduler.New(local.New(local.Options{Dir: dir}), scheduler.Options{})
			if err := other.Run(t.Context(), emptyJob(1)); err != nil {
				t.Error(err)
			}
			other.Close() // its Run has looked round by then
			if names := entries(t, dir); len(names) != 1 {
				t.Errorf("%v is there", names)
			}
			_, err := f.Write([]byte("x"))
			return err
		}))
		if err != nil {
			t.Error(err)
		}
	})
}

// childDir is where the child of TestKilledProcess leaves its folder.
const childDir = "LEAT_TEST_CHILD_DIR"

// TestKilledProcess kills a process whose cluster has written files, and sees the next cluster remove them.
// Folders of others stay.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		s := scheduler.New(local.New(local.Options{Dir: dir, Memory: 1, Executors: 2}), scheduler.Options{})
		src, _ := evens(new(schedulertest.Graph))
		job, _ := schedulertest.Collect(new(schedulertest.Graph).Shuffle("final", src, 2))
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("written\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // for ever
		return
	}
	dir := t.TempDir()
	others := []string{"leat-checkpoints", "leat-123", "mine"}
	for _, name := range others {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	stdin, err := cmd.StdinPipe() // stays open
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if lines.Text() == "written" {
			break
		}
	}
	look := func(want int) {
		t.Helper()
		s := scheduler.New(local.New(local.Options{Dir: dir}), scheduler.Options{})
		if err := s.Run(t.Context(), emptyJob(1)); err != nil {
			t.Error(err)
		}
		s.Close()
		if names := entries(t, dir); len(names) != want {
			t.Errorf("%v is there, want %d folders", names, want)
		}
	}
	look(len(others) + 1) // it lives
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	look(len(others))
}
