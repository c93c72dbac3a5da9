package disk_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

func write(t *testing.T, d *disk.Disk, name, text string, sync bool) {
	t.Helper()
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(d *disk.Disk, name string) string {
	f, err := d.Open(name)
	if err != nil {
		return "no file"
	}
	data, _ := io.ReadAll(f)
	return string(data)
}

func TestPowerCutKeepsWhatWasSynced(t *testing.T) {
	d := disk.New()
	write(t, d, "/both", "x", true)
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	write(t, d, "/noname", "x", true)
	for seed := range uint64(20) {
		for _, loss := range disk.Losses {
			if got := read(d.After(loss, seed), "/both"); got != "x" {
				t.Errorf("%v: synced file and name: %q", loss, got)
			}
		}
	}
	if got := read(d.After(disk.All, 0), "/noname"); got != "no file" {
		t.Errorf("a name that was not synced was kept: %q", got)
	}
	if got := read(d.After(disk.Nothing, 0), "/noname"); got != "x" {
		t.Errorf("a killed process lost a file: %q", got)
	}
	if got := read(d.After(disk.Nothing, 0).After(disk.All, 0), "/noname"); got != "no file" {
		t.Errorf("a kill made a name durable: %q", got)
	}
}

func TestPowerCutLosesWhatWasNotSynced(t *testing.T) {
	d := disk.New()
	write(t, d, "/f", strings.Repeat("a", 2000), false)
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	if got := read(d.After(disk.All, 0), "/f"); got != "" {
		t.Errorf("bytes that were not synced were kept: %d", len(got))
	}
	lengths := make(map[int]bool)
	zeros := false
	for seed := range uint64(64) {
		got := read(d.After(disk.Half, seed), "/f")
		lengths[len(got)] = true
		zeros = zeros || strings.ContainsRune(got, 0)
		torn := read(d.After(disk.Torn, seed), "/f")
		if len(torn) < 1536 || len(torn) >= 2000 || strings.Trim(torn, "a") != "" {
			t.Errorf("torn file has %d bytes", len(torn))
		}
		if again := read(d.After(disk.Half, seed), "/f"); again != got {
			t.Errorf("seed %d gives two disks", seed)
		}
	}
	if len(lengths) < 3 || !zeros {
		t.Errorf("half of the blocks: lengths %v, zeros %v", lengths, zeros)
	}
}

func TestRenameIsKeptOrLostAsAWhole(t *testing.T) {
	d := disk.New()
	write(t, d, "/new", "new", true)
	write(t, d, "/old", "old", true)
	if err := d.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	if err := d.Rename("/new", "/old"); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for seed := range uint64(32) {
		after := d.After(disk.Half, seed)
		seen[read(after, "/new")+","+read(after, "/old")]++
	}
	if len(seen) != 2 || seen["new,old"] == 0 || seen["no file,new"] == 0 {
		t.Errorf("after a power cut: %v", seen)
	}
}

func TestPlans(t *testing.T) {
	t.Run("crash", func(t *testing.T) {
		for _, when := range []disk.When{disk.Before, disk.After} {
			d := disk.New()
			d.CrashAt(1, when)
			if err := d.Mkdir("/a"); !errors.Is(err, disk.ErrCrashed) || !d.Crashed() {
				t.Errorf("Mkdir = %v", err)
			}
			if _, err := d.Stat("/"); !errors.Is(err, disk.ErrCrashed) {
				t.Errorf("Stat after the crash = %v", err)
			}
			_, err := d.After(disk.Nothing, 0).Stat("/a")
			if there := err == nil; there != (when == disk.After) {
				t.Errorf("crash %v the call: folder there: %v", when, there)
			}
		}
	})
	t.Run("fault", func(t *testing.T) {
		d := disk.New()
		d.FailAt(2)
		f, err := d.Create("/a")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := f.Write([]byte("1234")); n != 2 || !errors.Is(err, disk.ErrFault) {
			t.Errorf("Write = %d, %v", n, err)
		}
		if n, err := f.Write([]byte("56")); n != 2 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	})
	t.Run("full", func(t *testing.T) {
		d := disk.New()
		d.SetRoom(3)
		f, err := d.Create("/a")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := f.Write([]byte("1234")); n != 2 || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Write = %d, %v", n, err)
		}
		if err := d.Mkdir("/b"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Mkdir = %v", err)
		}
		d.SetRoom(-1)
		if err := d.Mkdir("/b"); err != nil {
			t.Errorf("Mkdir = %v", err)
		}
	})
}

func TestNames(t *testing.T) {
	d := disk.New()
	if err := d.Mkdir("/a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Mkdir without its parent = %v", err)
	}
	if err := d.Mkdir("/a"); err != nil {
		t.Fatal(err)
	}
	write(t, d, "/a/f", "1", true)
	if _, err := d.Create("/a/f"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of a file that is there = %v", err)
	}
	if err := d.Link("/a/f", "/a/g"); err != nil {
		t.Fatal(err)
	}
	if err := d.Link("/a/f", "/a/g"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Link to a name that is there = %v", err)
	}
	if err := d.Remove("/a"); !errors.Is(err, syscall.ENOTEMPTY) {
		t.Errorf("Remove of a folder that is not empty = %v", err)
	}
	if err := d.Remove("/a/f"); err != nil {
		t.Fatal(err)
	}
	if got := read(d, "/a/g"); got != "1" {
		t.Errorf("second name of a file = %q", got)
	}
	entries, err := d.ReadDir("/a")
	if err != nil || len(entries) != 1 || entries[0].Name() != "g" || entries[0].IsDir() {
		t.Errorf("ReadDir = %v, %v", entries, err)
	}
}

func ExampleDisk_After() {
	d := disk.New()
	f, _ := d.Create("/log")
	_ = d.SyncDir("/")
	_, _ = io.WriteString(f, "kept ")
	_ = f.Sync()
	_, _ = io.WriteString(f, "lost")
	for _, loss := range []disk.Loss{disk.Nothing, disk.All} {
		r, _ := d.After(loss, 1).Open("/log")
		text, _ := io.ReadAll(r)
		fmt.Printf("%v: %s\n", loss, text)
	}
	// Output:
	// nothing lost: kept lost
	// all unsynced lost: kept
}
