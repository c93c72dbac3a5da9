package faultdisk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// Programs that use a disk are this one again.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "bolt":
		commit(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "mount":
		_, err := faultdisk.Mount(os.Args[2], os.Args[3])
		fmt.Println("mounted", err)
		select {} // until it is killed
	default:
		goleak.VerifyTestMain(m)
	}
}

// mount mounts a disk, or is content with the error where this machine cannot.
func mount(t *testing.T) (disk *faultdisk.Disk, real string, ok bool) {
	t.Helper()
	real = t.TempDir()
	disk, err := faultdisk.Mount(t.TempDir(), real)
	if err == nil {
		t.Cleanup(func() {
			if err := errors.Join(disk.Close(), disk.Close()); err != nil {
				t.Error(err)
			}
		})
		return disk, real, true
	}
	var unavailable *faultdisk.UnavailableError
	if !errors.As(err, &unavailable) || unavailable.Reason == "" {
		t.Fatalf("Mount = %v, want it to work, or an UnavailableError", err)
	}
	t.Log("not tested:", err)
	return nil, "", false
}

func TestAvailable(t *testing.T) {
	err := faultdisk.Available()
	var unavailable *faultdisk.UnavailableError
	if err != nil && !errors.As(err, &unavailable) {
		t.Errorf("Available = %v", err)
	}
	if _, err := faultdisk.Mount(filepath.Join(t.TempDir(), "none"), t.TempDir()); err == nil {
		t.Error("a disk is mounted where no folder is")
	}
}

// What is done on the disk is done in the real folder.
func TestFilesAreInTheRealFolder(t *testing.T) {
	disk, real, ok := mount(t)
	if !ok {
		return
	}
	at := func(name string) string { return filepath.Join(disk.Dir(), name) }
	err := errors.Join(os.MkdirAll(at("a/b"), 0o755), os.WriteFile(at("a/b/one"), []byte("1"), 0o644), os.WriteFile(at("two"), []byte("22"), 0o644),
		os.Rename(at("two"), at("a/b/three")), os.Truncate(at("a/b/three"), 1), os.Symlink("one", at("a/b/link")), os.Link(at("a/b/one"), at("a/b/same")),
		os.WriteFile(at("gone"), nil, 0o644), os.Remove(at("gone")))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, dir := range []string{real, disk.Dir()} {
		entries, err := os.ReadDir(filepath.Join(dir, "a/b"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		data, err := os.ReadFile(filepath.Join(dir, "a/b/three"))
		if err != nil || string(data) != "2" {
			t.Errorf("%s has %q, %v", dir, data, err)
		}
	}
	if want := []string{"link", "one", "same", "three"}; !slices.Equal(names, slices.Concat(want, want)) {
		t.Errorf("%v, want %v twice", names, want)
	}
	if left, err := os.ReadDir(real); err != nil || len(left) != 1 {
		t.Errorf("%v in the real folder, %v; want one", left, err)
	}
}

// A write of this process fails, or hangs, as the fault says.
func TestWritesGoWrong(t *testing.T) {
	disk, real, ok := mount(t)
	if !ok {
		return
	}
	path := filepath.Join(disk.Dir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func() error {
		_, err := f.WriteAt([]byte("x"), 0)
		return errors.Join(err, f.Sync())
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}

	disk.Set(faultdisk.FlushErrors())
	if err := write(); !errors.Is(err, syscall.EIO) {
		t.Errorf("flush = %v, want EIO", err)
	}
	disk.Set(faultdisk.Full())
	if err := write(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write = %v, want ENOSPC", err)
	}
	if err := os.WriteFile(filepath.Join(disk.Dir(), "new"), nil, 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a new file = %v, want ENOSPC", err)
	}
	disk.Set(faultdisk.Fault{Calls: faultdisk.AllCalls, Under: "elsewhere", Err: syscall.EIO})
	if err := write(); err != nil {
		t.Errorf("a write elsewhere = %v", err)
	}

	disk.Set(faultdisk.Hung())
	done := make(chan error, 1)
	go func() { done <- write() }()
	if err := disk.AwaitHeld(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		t.Fatalf("a write on a disk that hangs = %v", err)
	default:
	}
	if c := disk.Counts(); c.Held != 1 || c.Refused != 3 {
		t.Errorf("counts %+v, want one held and three refused", c)
	}
	disk.Set(faultdisk.Fault{})
	if err := <-done; err != nil {
		t.Errorf("the write that hung = %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(real, "file")); err != nil || string(data) != "x" {
		t.Errorf("the real file has %q, %v", data, err)
	}

	// Nobody waits any more for a disk that is closed.
	disk.Set(faultdisk.Hung())
	go func() { done <- write() }()
	if err := disk.AwaitHeld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a write on a disk that was closed has no error")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close the file is there still: %v", err)
	}
}

// A process that is killed leaves its disk mounted, which answers nobody. Another takes its place.
func TestADiskTakesThePlaceOfOneThatWasLeft(t *testing.T) {
	if _, _, ok := mount(t); !ok {
		return
	}
	dir, real := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(real, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 8)
	p, err := proctest.Start(proctest.Options{Path: self, Args: []string{"mount", dir, real}, Err: os.Stderr, Line: func(_ time.Time, line string) { lines <- line }})
	if err != nil {
		t.Fatal(err)
	}
	if line := <-lines; line != "mounted <nil>" {
		t.Errorf("the other process: %s", line)
	}
	p.Kill()
	if _, err := os.Stat(dir); !errors.Is(err, syscall.ENOTCONN) {
		t.Errorf("Stat of what is left = %v", err)
	}
	disk, err := faultdisk.Mount(dir, real)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
}
