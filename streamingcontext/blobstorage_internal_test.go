package streamingcontext

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
)

// A blob of one term is not that of another, though both have the same bytes: the one removes its own, the other's stays.
func TestBlobsOfTerms_D9(t *testing.T) {
	store := blobtest.NewMemory()
	older, newer := newDurable("", Options{Store: store}), newDurable("", Options{Store: store})
	older.blobs.epoch, newer.blobs.epoch = 9, 10
	data := []byte("what inputs have recorded")
	var reference []byte
	for _, d := range []*durable{older, newer, newer} {
		var err error
		if reference, err = d.blobs.write(data); err != nil {
			t.Fatal(err)
		}
	}
	names, err := older.storage.files(checkpointsFolder)
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	mine := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !older.mayRemove(name, 9) })
	if len(mine) != 1 || !strings.HasSuffix(mine[0], "-9") {
		t.Errorf("the older one may remove %q of %q", mine, names)
	}
	for _, name := range names {
		if got, err := newer.blobs.read(reference); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read %q, %v", got, err)
		}
		// The other one serves where one is damaged.
		in := checkpointsFolder + "/" + name
		_, tag, err := store.Read(t.Context(), in)
		if err == nil {
			_, err = store.CompareAndSwap(t.Context(), in, tag, []byte("x"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newer.blobs.read(reference); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), blobName(reference)) {
		t.Errorf("both damaged: %v", err)
	}
	if _, err := newer.blobs.read(make([]byte, 32)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not there: %v", err)
	}
}

func TestStorageWritesOnceWhateverTheStoreAnswers(t *testing.T) {
	for _, fault := range []blobtest.Fault{blobtest.Fail, blobtest.Lost, blobtest.Dropped} {
		store := blobtest.NewMemory()
		store.SetPlan(func(op blobtest.Op) blobtest.Fault {
			if op.N <= 2 {
				return fault
			}
			return blobtest.None
		})
		s := blobStorage{store: store}
		if err := s.write("checkpoints/a", []byte("a")); err != nil {
			t.Errorf("%v: %v", fault, err)
		}
		if err := s.write("checkpoints/a", []byte("b")); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v: another under the same name: %v", fault, err)
		}
		if got, err := s.read("checkpoints/a", 1); err != nil || string(got) != "a" {
			t.Errorf("%v: %q, %v", fault, got, err)
		}
	}
	s := blobStorage{store: blobtest.NewMemory()}
	large := make([]byte, blobstore.MaxData+1)
	if err := s.write("large", large); err != nil {
		t.Fatal(err)
	}
	if _, err := s.read("large", blobstore.MaxData); !errors.Is(err, ErrDamaged) {
		t.Errorf("longer than the limit: %v", err)
	}
	if got, err := s.read("large", maxBlob); err != nil || !bytes.Equal(got, large) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
