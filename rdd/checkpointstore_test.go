package rdd

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/rdd/codec"
)

var _ CheckpointStore = blobstore.Store(nil)

func stored(store CheckpointStore) Options {
	return Options{CheckpointDir: "state", CheckpointStore: store, DurableCheckpoints: true}
}

// What is checkpointed to a store is read there by another context, with its partitioner, and can be removed.
func TestCheckpointInAStore(t *testing.T) {
	for _, run := range runners() {
		t.Run(run.name, func(t *testing.T) {
			store := blobtest.NewMemory()
			c := newTestContext(t, run.open(t), stored(store))
			pairs := Parallelize(c, []Pair[int, int]{kv(3, 1), kv(2, 2), kv(1, 3), kv(2, 4)}, 2)
			placed := PartitionBy(pairs, Hash[int](2))
			written(t, placed)
			dir, digest := placed.CheckpointFolder()
			names := store.Names()
			if !strings.HasPrefix(dir, "state/rdd-") || len(names) != 3 || !slices.Contains(names, dir+"/_manifest") {
				t.Fatalf("folder %q, names %q", dir, names)
			}
			if err := VerifyStoredCheckpoint(t.Context(), store, dir, digest); err != nil {
				t.Error(err)
			}
			fresh := newTestContext(t, run.open(t), stored(store))
			restored := RestoreCheckpoint[Pair[int, int]](fresh, dir, digest, Hash[int](2))
			same(t, "restored", partsOf(t, restored), partsOf(t, placed))
			same(t, "read by folder", partsOf(t, CheckpointFile[Pair[int, int]](fresh, dir)), partsOf(t, placed))
			if err := restored.RemoveCheckpoint(); err != nil {
				t.Fatal(err)
			}
			same(t, "names", store.Names(), []string{})
		})
	}
}

func TestCheckpointSinceInAStore(t *testing.T) {
	store := blobtest.NewMemory()
	c, _ := inlineContext(t, stored(store))
	r := ofNumbers(t, c, 16, 3)
	writtenSince(t, r, nil)
	longest := 0
	for i := range 9 {
		next := changed(t, r, i, i%3 == 0)
		folders := writtenSince(t, next, r)
		longest = max(longest, len(folders))
		fresh, _ := inlineContext(t, stored(store))
		restored := RestoreCheckpoint[*numbers](fresh, folders[0].Dir, folders[0].Digest, nil)
		same(t, "restored", valsOf(t, restored), valsOf(t, next))
		same(t, "folders", restored.CheckpointFolders(), folders)
		if err := VerifyStoredCheckpoint(t.Context(), store, folders[0].Dir, folders[0].Digest); err != nil {
			t.Error(err)
		}
		r = next
	}
	if longest < 3 {
		t.Errorf("at most %d folders", longest)
	}
}

// Whatever a store does to a call, a checkpoint is whole or there is none.
func TestCheckpointInAStoreThatFails(t *testing.T) {
	for _, fault := range []blobtest.Fault{blobtest.Fail, blobtest.Lost, blobtest.Dropped} {
		t.Run(fault.String(), func(t *testing.T) {
			made, refused := 0, 0
			for n := 1; ; n++ {
				store := blobtest.NewMemory()
				c, _ := inlineContext(t, stored(store))
				store.SetPlan(func(op blobtest.Op) blobtest.Fault {
					if op.N >= n && op.N < n+2 {
						return fault
					}
					return blobtest.None
				})
				r := Parallelize(c, upTo(4), 2)
				if err := r.Checkpoint(); err != nil {
					t.Fatal(err)
				}
				_, err := r.Count(t.Context())
				calls := store.Calls()
				store.SetPlan(nil)
				same(t, "rows", collect(t, r), upTo(4))
				if err == nil {
					made++
				} else if refused++; !errors.Is(err, blobtest.ErrFault) {
					t.Errorf("call %d: %v", n, err)
				}
				dir, digest := r.CheckpointFolder()
				if dir == "" {
					t.Errorf("call %d: no checkpoint though the store works again", n)
				} else if err := VerifyStoredCheckpoint(t.Context(), store, dir, digest); err != nil {
					t.Errorf("call %d: %v", n, err)
				}
				if n > calls {
					break
				}
			}
			if made == 0 || refused == 0 {
				t.Errorf("%d made, %d refused", made, refused)
			}
		})
	}
}

func TestDamagedCheckpointInAStore(t *testing.T) {
	store := blobtest.NewMemory()
	c, _ := inlineContext(t, stored(store))
	written(t, Parallelize(c, upTo(100), 2))
	names := store.Names()
	dir, _, _ := strings.Cut(strings.TrimPrefix(names[0], "state/"), "/")
	dir = "state/" + dir
	m, err := readManifest(t.Context(), store, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for what, want := range map[string]error{"flipped": codec.ErrCorrupt, "cut off": codec.ErrCorrupt, "removed": fs.ErrNotExist} {
			damaged := store.Copy()
			data, _, err := damaged.Read(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			switch what {
			case "removed":
				err = damaged.Remove(t.Context(), name)
			case "cut off":
				data = data[:len(data)-1]
			default:
				data[len(data)/2] ^= 1
			}
			if what != "removed" {
				err = damaged.Put(t.Context(), name, func(w io.Writer) error {
					_, err := w.Write(data)
					return err
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			fresh, _ := inlineContext(t, stored(damaged))
			_, err = RestoreCheckpoint[int](fresh, dir, m.digest, nil).Collect(t.Context())
			for _, err := range []error{err, VerifyStoredCheckpoint(t.Context(), damaged, dir, m.digest)} {
				if !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s %s: %v", name, what, err)
				}
			}
		}
	}
}

func TestCheckpointStoreDoesNotGoWithCleanCheckpoints(t *testing.T) {
	if err := (Options{CheckpointStore: blobtest.NewMemory(), CleanCheckpoints: true}).Validate(); err == nil {
		t.Error("accepted")
	}
}
