//go:build linux

package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/streamingcontext"
)

// smallDisk mounts a file system in memory at a folder; false where this process may not.
func smallDisk(t *testing.T, dir string, size string) bool {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("no file system of its own for the test: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fill takes all room that there is but so many bytes. The ballast lies where no program looks.
func fill(t *testing.T, dir string, but int64) (free func()) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "ballast")
	if err := os.WriteFile(name, make([]byte, max(0, int64(fs.Bavail)*fs.Bsize-but)), 0o644); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// A disk that is full, whatever is written when it becomes so, ends the program loudly or holds it up; once there is room
// the next start goes on exactly.
func TestADiskThatIsFull_D4(t *testing.T) {
	want := undisturbed(t)
	for _, room := range []int64{0, 4 << 10, 8 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, 64 << 10, 96 << 10} {
		t.Run(fmt.Sprintf("%d KiB", room>>10), func(t *testing.T) {
			root := t.TempDir()
			if !smallDisk(t, root, "8m") {
				return
			}
			s := site{filepath.Join(root, "site")}
			if err := newProgram(s).run(t.Context(), 1, 8, streamingcontext.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			// What it reads is on the disk already: it is not the writer of that.
			before := newProgram(s)
			for n := int64(9); n <= last; n++ {
				if err := before.write(n); err != nil {
					t.Fatal(err)
				}
			}
			free := fill(t, root, room)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Second, errors.New("it hangs"))
			defer cancel()
			p := newProgram(s)
			fed, err := p.until(ctx, 9, last)
			if ctx.Err() != nil {
				t.Fatalf("%v: %v", context.Cause(ctx), err)
			}
			t.Logf("%d bytes: batches up to %d were fed, then %v", room, fed, err)
			if err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("it does not say that the disk is full: %v", err)
			}
			free()
			if err := newProgram(s).run(t.Context(), fed+1, behind, streamingcontext.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			if rows, err := s.shown(); err != nil || !cmp.Equal(rows, want) {
				t.Errorf("%v\n%s", err, cmp.Diff(rows, want))
			}
		})
	}
}
