package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/folder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type factory struct{}

func (factory) Open(t *testing.T) blobstore.Store {
	return open(t, filepath.Join(t.TempDir(), "new", "store"))
}

func (factory) Reopen(t *testing.T, s blobstore.Store) blobstore.Store {
	return open(t, strings.TrimPrefix(s.String(), "folder "))
}

func open(t testing.TB, dir string) *folder.Store {
	t.Helper()
	s, err := folder.Open(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) { blobtest.Run(t, factory{}) }

func text(s string) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestFiles(t *testing.T) {
	t.Run("a_blob_is_the_file_of_its_name", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		if err := s.Put(t.Context(), "state/a:b/part-0", text("rows")); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "state", "a%3Ab", "part-0")); err != nil || string(data) != "rows" {
			t.Errorf("file = %q, %v", data, err)
		}
		if entries, err := os.ReadDir(filepath.Join(dir, ".leat-tmp")); err != nil || len(entries) != 0 {
			t.Errorf("left in the temporary folder: %v, %v", entries, err)
		}
	})
	t.Run("folders_go_with_their_last_blob", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		for _, name := range []string{"a/b/c/1", "a/b/c/2", "a/d"} {
			if err := s.Put(t.Context(), name, text("")); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Remove(t.Context(), "a/b/c/1", "a/b/c/2"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "a", "b")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the empty folder: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "a", "d")); err != nil {
			t.Error(err)
		}
	})
	t.Run("removing_does_not_wait_for_who_swaps", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		if err := s.Put(t.Context(), "a", text("")); err != nil {
			t.Fatal(err)
		}
		stopped, err := folder.OS{}.Lock(t.Context(), filepath.Join(dir, ".leat-lock")) // by a process that stands still
		if err != nil {
			t.Fatal(err)
		}
		defer stopped.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := s.Remove(ctx, "a"); err != nil {
			t.Error(err)
		}
	})
	t.Run("files_of_others_are_left_alone", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"100%", "a%zz", "%61", "a\nb"} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if page, err := open(t, dir).List(t.Context(), "", "", 0); err != nil || len(page) != 0 {
			t.Errorf("List = %v, %v; want nothing", page, err)
		}
	})
	t.Run("a_name_is_not_a_folder_of_another", func(t *testing.T) {
		s := open(t, t.TempDir())
		if err := s.Put(t.Context(), "a/b", text("b")); err != nil {
			t.Fatal(err)
		}
		if err := s.PutIfAbsent(t.Context(), "a", nil); err == nil || errors.Is(err, blobstore.ErrExists) {
			t.Errorf("PutIfAbsent of a folder = %v", err)
		}
		if err := s.Put(t.Context(), "a", text("")); err == nil {
			t.Error("Put of a folder was accepted")
		}
		if err := s.Put(t.Context(), "a/b/c", text("")); err == nil {
			t.Error("Put below a blob was accepted")
		}
		if err := s.Remove(t.Context(), "a", "a/b/c"); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"a", "a/b/c"} {
			if _, _, err := s.Read(t.Context(), name); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Read(%q) = %v", name, err)
			}
		}
		if data, _, err := s.Read(t.Context(), "a/b"); err != nil || string(data) != "b" {
			t.Errorf("Read = %q, %v", data, err)
		}
	})
	t.Run("a_name_that_grows_too_long_is_refused", func(t *testing.T) {
		s := open(t, t.TempDir())
		var bad *blobstore.NameError
		if err := s.Put(t.Context(), strings.Repeat(":", 100), text("")); !errors.As(err, &bad) {
			t.Errorf("Put = %v, want a *NameError", err)
		}
	})
	t.Run("old_leftovers_are_removed_by_open", func(t *testing.T) {
		dir := t.TempDir()
		open(t, dir)
		tmp := filepath.Join(dir, ".leat-tmp")
		for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "young": time.Hour} {
			if err := os.WriteFile(filepath.Join(tmp, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-age)
			if err := os.Chtimes(filepath.Join(tmp, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		open(t, dir)
		entries, err := os.ReadDir(tmp)
		if err != nil || len(entries) != 1 || entries[0].Name() != "young" {
			t.Errorf("left: %v, %v; want young", entries, err)
		}
	})
	t.Run("a_lock_that_is_held_is_waited_for_until_the_context_ends", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, dir)
		lock, err := folder.OS{}.Lock(t.Context(), filepath.Join(dir, ".leat-lock"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := s.CompareAndSwap(ctx, "a", blobstore.Absent, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("CompareAndSwap = %v", err)
		}
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CompareAndSwap(t.Context(), "a", blobstore.Absent, nil); err != nil {
			t.Error(err)
		}
	})
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := folder.Open(dir, folder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for part := range 2 {
		name := fmt.Sprintf("state/000042/part-%05d", part)
		err := store.Put(ctx, name, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "rows of partition %d", part)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	for _, driver := range []string{"driver-1", "driver-2"} {
		err := store.PutIfAbsent(ctx, "commits/000042", []byte(driver))
		fmt.Println(driver, "decides:", !errors.Is(err, blobstore.ErrExists))
	}
	_, err = store.CompareAndSwap(ctx, "owner", blobstore.Absent, []byte("driver-1, first"))
	fmt.Println("owner:", err)
	for info, err := range blobstore.All(ctx, store, "", "") {
		fmt.Println(info.Name, info.Size, err)
	}
	// Output:
	// driver-1 decides: true
	// driver-2 decides: false
	// owner: <nil>
	// commits/000042 8 <nil>
	// owner 15 <nil>
	// state/000042/part-00000 19 <nil>
	// state/000042/part-00001 19 <nil>
}

func TestReopenedStoreListsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a/2", "a/1"} {
		if err := open(t, dir).PutIfAbsent(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	page, err := open(t, dir).List(t.Context(), "", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(page))
	for i, info := range page {
		names[i] = info.Name
	}
	if want := []string{"a/1", "a/2", "b"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).PutIfAbsent(t.Context(), "a", []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".leat-tmp")); err != nil {
		t.Fatal(err)
	}
	s, err := folder.Open(dir, folder.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	data, tag, err := s.Read(t.Context(), "a")
	if err != nil || string(data) != "a" {
		t.Errorf("Read = %q, %v", data, err)
	}
	_, swapped := s.CompareAndSwap(t.Context(), "a", tag, []byte("b"))
	for call, err := range map[string]error{
		"Put": s.Put(t.Context(), "b", text("b")), "PutIfAbsent": s.PutIfAbsent(t.Context(), "a", nil), "Remove": s.Remove(t.Context(), "a"), "CompareAndSwap": swapped,
	} {
		var unsupported *blobstore.UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("%s = %v, want an UnsupportedError", call, err)
		}
	}
	page, err := s.List(t.Context(), "", "", 0)
	entries, rerr := os.ReadDir(dir)
	if err != nil || rerr != nil || len(page) != 1 || len(entries) != 1 {
		t.Errorf("blobs %v, files %v, %v, %v", page, entries, err, rerr)
	}
	if _, err := folder.Open(filepath.Join(dir, "none"), folder.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no folder = %v", err)
	}
	if _, err := folder.Open(filepath.Join(dir, "a"), folder.Options{ReadOnly: true}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Open of a file = %v", err)
	}
}
