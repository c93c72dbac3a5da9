package files_test

import (
	"io/fs"
	"testing"

	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// A batch costs as many calls after many batches as at first, and none of them lists what grows.
// Shows FS-03.
func TestABatchCostsTheSameHoweverManyThereWere_FS03(t *testing.T) {
	fsys := disk.New()
	counting := &listing{Disk: fsys}
	s := files.New("/out", files.Options[string]{Format: files.TextFormat(), FS: counting})
	var early int
	for id := range int64(2000) {
		before := fsys.Calls()
		put(t, s, batch(id), []string{"a"}, []string{"b"})
		if err := s.Clean(t.Context(), batch(id)); err != nil {
			t.Fatal(err)
		}
		switch calls := fsys.Calls() - before; {
		case id == 10:
			early, counting.longest = calls, 0
		case id > 10 && calls != early:
			t.Fatalf("batch %d took %d calls, batch 10 took %d", id, calls, early)
		}
	}
	if counting.longest > 4 {
		t.Errorf("a folder of %d names was listed", counting.longest)
	}
	// The next start lists the manifests once, and looks at nothing that was cleaned.
	before := fsys.Calls()
	next := files.New("/out", files.Options[string]{Format: files.TextFormat(), FS: counting})
	put(t, next, batch(2000), []string{"a"})
	if err := next.Clean(t.Context(), batch(2000)); err != nil {
		t.Fatal(err)
	}
	if calls := fsys.Calls() - before; calls > 80 {
		t.Errorf("the first batch of the next start took %d calls", calls)
	}
	t.Logf("%d calls a batch of two parts", early)
}

// listing is a disk that remembers the longest folder listed.
type listing struct {
	*disk.Disk
	longest int
}

func (l *listing) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := l.Disk.ReadDir(name)
	l.longest = max(l.longest, len(entries))
	return entries, err
}
