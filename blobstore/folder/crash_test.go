package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// diskFS is a disk in memory as a file system of a store.
type diskFS struct {
	*disk.Disk
	locked *sync.Mutex
}

func onDisk(d *disk.Disk) diskFS { return diskFS{Disk: d, locked: new(sync.Mutex)} }

func (d diskFS) Create(name string) (folder.File, error) { return d.Disk.Create(name) }

func (d diskFS) Open(name string) (io.ReadCloser, int64, error) {
	f, err := d.Disk.Open(name)
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(f)
	return io.NopCloser(strings.NewReader(string(data))), int64(len(data)), err
}

type unlock struct{ mu *sync.Mutex }

func (u unlock) Close() error {
	u.mu.Unlock()
	return nil
}

func (d diskFS) Lock(ctx context.Context, _ string) (io.Closer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.locked.Lock()
	return unlock{d.locked}, nil
}

type diskFactory struct{}

func (diskFactory) Open(t *testing.T) blobstore.Store { return openDisk(t, disk.New()) }

func openDisk(t *testing.T, d *disk.Disk) *folder.Store {
	t.Helper()
	s, err := folder.Open("/data/store", folder.Options{FS: onDisk(d)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformanceOnADiskInMemory(t *testing.T) { blobtest.Run(t, diskFactory{}) }

// A step is one call on a store, and what the blob of its name holds after it; "-" is nothing.
type step struct {
	name, after string
	run         func(ctx context.Context, s blobstore.Store) error
}

func steps() []step {
	put := func(name, data string) step {
		return step{name, data, func(ctx context.Context, s blobstore.Store) error { return s.Put(ctx, name, text(data)) }}
	}
	create := func(name, data string) step {
		return step{name, data, func(ctx context.Context, s blobstore.Store) error { return s.PutIfAbsent(ctx, name, []byte(data)) }}
	}
	swap := func(name, data string) step {
		return step{name, data, func(ctx context.Context, s blobstore.Store) error {
			_, tag, err := s.Read(ctx, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			_, err = s.CompareAndSwap(ctx, name, tag, []byte(data))
			return err
		}}
	}
	remove := func(name string) step {
		return step{name, "-", func(ctx context.Context, s blobstore.Store) error { return s.Remove(ctx, name) }}
	}
	return []step{
		put("state/1/a", strings.Repeat("first ", 300)), put("state/1/a", strings.Repeat("second ", 200)), create("log/1", "entry"),
		swap("owner", "one"), swap("owner", "two"), put("state/1/b", "b"), remove("state/1/a"), create("log/2", "another"),
		remove("state/1/b"), put("state/1/b", "anew"), remove("log/1"),
	}
}

// holds returns what a name holds.
func holds(t *testing.T, s blobstore.Store, name string) string {
	t.Helper()
	data, _, err := s.Read(context.Background(), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "-"
	case err != nil:
		t.Fatal(err)
	}
	return string(data)
}

// each runs plan on a disk for the first call, the second and so on, until the steps make fewer calls. It hands check the step that
// failed, what each name held before it, and its error.
func each(t *testing.T, plan func(d *disk.Disk, n int), check func(t *testing.T, d *disk.Disk, s *folder.Store, st step, held map[string]string, err error)) {
	for n := 1; ; n++ {
		d := disk.New()
		s := openDisk(t, d)
		first := d.Calls()
		plan(d, n)
		held := map[string]string{}
		ended := false
		for _, st := range steps() {
			if err := st.run(t.Context(), s); err != nil {
				check(t, d, s, st, held, err)
				ended = true
				break
			}
			held[st.name] = st.after
		}
		if d.Calls()-first < n {
			if n < 50 {
				t.Errorf("only %d calls", n)
			}
			return
		}
		if !ended {
			continue // the call was one whose failure costs nothing
		}
		if t.Failed() {
			t.Fatalf("call %d: %v", n, d.Last())
		}
	}
}

func TestKilledBetweenAnyTwoCalls(t *testing.T) {
	for _, when := range []disk.When{disk.Before, disk.After} {
		for _, loss := range disk.Losses {
			t.Run(fmt.Sprintf("%v_the_call_%v", when, loss), func(t *testing.T) {
				each(t, func(d *disk.Disk, n int) { d.CrashAt(n, when) },
					func(t *testing.T, d *disk.Disk, _ *folder.Store, st step, held map[string]string, _ error) {
						for seed := range uint64(3) {
							s := openDisk(t, d.After(loss, seed))
							for _, name := range []string{"state/1/a", "state/1/b", "log/1", "log/2", "owner"} {
								before, was := held[name]
								if !was {
									before = "-"
								}
								got := holds(t, s, name)
								if got != before && (name != st.name || got != st.after) {
									t.Errorf("%s holds %.30q after the crash, want %.30q", name, got, before)
								}
							}
							for _, st := range steps() { // and it goes on
								if err := st.run(t.Context(), s); err != nil && !errors.Is(err, blobstore.ErrExists) {
									t.Errorf("%s after the crash: %v", st.name, err)
								}
							}
						}
					})
			})
		}
	}
}

func TestAFailedCallHasNoEffectUnlessItIsUnknown(t *testing.T) {
	unknown := 0
	each(t, func(d *disk.Disk, n int) { d.FailAt(n) },
		func(t *testing.T, d *disk.Disk, s *folder.Store, st step, held map[string]string, err error) {
			if !errors.Is(err, disk.ErrFault) {
				t.Errorf("error %v, want that of the disk", err)
			}
			before, was := held[st.name]
			if !was {
				before = "-"
			}
			got := holds(t, s, st.name)
			switch {
			case errors.Is(err, blobstore.ErrUnknown):
				unknown++
				if got != before && got != st.after {
					t.Errorf("%s holds %.30q", st.name, got)
				}
			case got != before && st.after != "-":
				t.Errorf("%s holds %.30q after %v, want %.30q", st.name, got, err, before)
			}
			for _, name := range list(t, s) {
				if strings.Contains(name, "tmp") {
					t.Errorf("lists %s", name)
				}
			}
			if err := st.run(t.Context(), s); err != nil && !errors.Is(err, blobstore.ErrExists) {
				t.Errorf("%s again: %v", st.name, err)
			}
		})
	if unknown == 0 {
		t.Error("no outcome was unknown")
	}
}

func list(t *testing.T, s blobstore.Store) (names []string) {
	t.Helper()
	for info, err := range blobstore.All(t.Context(), s, "", "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	return names
}

func TestFullDisk(t *testing.T) {
	d := disk.New()
	s := openDisk(t, d)
	if err := s.Put(t.Context(), "a", text("before")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "owner", blobstore.Absent, []byte("before")); err != nil {
		t.Fatal(err)
	}
	_, tag, err := s.Read(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 5000)
	for _, room := range []int64{0, 1, 2, 3, 100, 4999, 5000, 5001} {
		_, swapped := func() (blobstore.Tag, error) {
			d.SetRoom(room)
			return s.CompareAndSwap(t.Context(), "owner", tag, []byte(long))
		}()
		d.SetRoom(room)
		put := s.Put(t.Context(), "a", text(long))
		d.SetRoom(room)
		created := s.PutIfAbsent(t.Context(), fmt.Sprintf("dir/%d", room), []byte(long))
		for call, err := range map[string]error{"CompareAndSwap": swapped, "Put": put, "PutIfAbsent": created} {
			if full := room < 5000 || call == "PutIfAbsent"; full && (!errors.Is(err, syscall.ENOSPC) || errors.Is(err, blobstore.ErrUnknown)) {
				t.Errorf("%s with room for %d = %v, want ENOSPC", call, room, err)
			}
		}
		if room < 5000 {
			for _, name := range []string{"a", "owner"} {
				if got := holds(t, s, name); got != "before" {
					t.Errorf("with room for %d %s holds %.20q", room, name, got)
				}
			}
		}
	}
	d.SetRoom(-1)
	if err := s.PutIfAbsent(t.Context(), "dir/0", []byte(long)); err != nil {
		t.Error(err)
	}
	if got, want := list(t, s), []string{"a", "dir/0", "owner"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}
