package rdd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// written checkpoints an RDD and returns its folder.
func written[T any](t *testing.T, r *RDD[T]) string {
	t.Helper()
	if err := r.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	must(r.Count(t.Context()))
	return r.checkpoint.reader.Load().dir
}

func TestCheckpointFileFindsThePartitioner_C23_L11(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	pairs := Parallelize(c, []Pair[int, int]{kv(3, 1), kv(2, 2), kv(1, 3), kv(2, 4)}, 2)
	words := Parallelize(c, []Pair[string, int]{kv("b", 1), kv("a", 2), kv("c", 3)}, 2)
	fresh := func(t *testing.T) *Context { c, _ := inlineContext(t, Options{}); return c }
	t.Run("hash", func(t *testing.T) {
		placed := PartitionBy(pairs, Hash[int](2))
		dir := written(t, placed)
		same(t, "partitioner of the RDD itself", placed.Partitioner().Equal(Hash[int](2)), true)
		r := CheckpointFile[Pair[int, int]](fresh(t), dir)
		same(t, "rows", partsOf(t, r), partsOf(t, placed))
		p := r.Partitioner()
		if p == nil || p.String() != "hash:2" || !p.Equal(Hash[int](2)) || !Hash[int](2).Equal(p) || !p.Equal(placed.Partitioner()) {
			t.Fatalf("partitioner %v, want hash:2", p)
		}
		if p.Equal(Hash[int](3)) || p.Equal(Hash[string](2)) || Hash[int64](2).Equal(p) {
			t.Error("it equals others as well")
		}
		for what, child := range map[string]lineage.Node{
			"by default": ReduceByKey(r, add[int]).Node(), "asked for": GroupByKey(r, PartitionedBy(Hash[int](2))).Node(),
			"by count": ReduceByKey(r, add[int], NumPartitions(2)).Node(), "placed": PartitionBy(r, Hash[int](2)).Node(),
			"joined": SubtractByKey(r, r).Node(),
		} {
			for _, d := range child.Deps() {
				if d.Shuffle != nil {
					t.Errorf("%s: %s shuffles", what, child.Op())
				}
			}
		}
		same(t, "lookup", must(Lookup(t.Context(), r, 2)), []int{2, 4})
		// In another process the handles differ, and the codec's name is what they have in common.
		again := CheckpointFile[Pair[int, int]](r.Context(), dir)
		same(t, "two of them", must(Join(r, again, PartitionedBy(p)).Count(t.Context())), int64(6))
	})
	t.Run("range", func(t *testing.T) {
		sorted := must(SortByKey(t.Context(), words, SortPartitions(3), Descending()))
		dir := written(t, sorted)
		r := CheckpointFile[Pair[string, int]](fresh(t), dir)
		p := r.Partitioner()
		if p == nil || p.String() != "range:3" || !p.Equal(sorted.Partitioner()) || !sorted.Partitioner().Equal(p) {
			t.Fatalf("partitioner %v, want that of the sort", p)
		}
		typed, ok := typedPartitioner[string](p)
		if !ok {
			t.Fatal("it cannot be made again")
		}
		for _, k := range []string{"", "a", "b", "bb", "c", "d"} {
			same(t, "place of "+k, typed.PartitionFor(k), sorted.Partitioner().(Partitioner[string]).PartitionFor(k))
		}
		if _, ok := typedPartitioner[int](p); ok {
			t.Error("it takes integers")
		}
		same(t, "lookup", must(Lookup(t.Context(), r, "b")), []int{1})
	})
	t.Run("orders and functions of the program are not saved", func(t *testing.T) {
		byLength := must(SortByKeyFunc(t.Context(), words, func(a, b string) int { return len(a) - len(b) }))
		byFunc := PartitionBy(pairs, PartitionFunc("f", 2, func(k int) int { return k % 2 }))
		for _, dir := range []string{written(t, byLength), written(t, byFunc)} {
			if _, err := os.Stat(partitionerName(dir)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", dir, err)
			}
		}
	})
	t.Run("garbled, missing or of another folder", func(t *testing.T) {
		placed := PartitionBy(pairs, Hash[int](2))
		dir := written(t, placed)
		whole, err := os.ReadFile(partitionerName(dir))
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string) {
			t.Helper()
			r := CheckpointFile[Pair[int, int]](fresh(t), dir)
			if r.Partitioner() != nil {
				t.Errorf("%s: partitioner %v, want none", what, r.Partitioner())
			}
			same(t, what, partsOf(t, r), partsOf(t, placed))
		}
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x11
			if err := os.WriteFile(partitionerName(dir), damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprintf("byte %d garbled", i))
		}
		if err := savePartitioner(dir, Hash[int](5)); err != nil {
			t.Fatal(err)
		}
		check("of another count")
		if err := os.Remove(partitionerName(dir)); err != nil {
			t.Fatal(err)
		}
		check("missing")
	})
}

func TestCheckpointIsWrittenInPieces(t *testing.T) {
	for _, plain := range []bool{false, true} {
		c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir(), PlainCheckpoints: plain})
		r := Map(Range(c, 0, 3*blockRows+5, 1, 1), func(x int64) string { return strings.Repeat("x", int(x%7)) })
		dir := written(t, r)
		frames, rows := 0, 0
		columns := must(codec.For[string]())
		err := readPart(t.Context(), nil, partName(dir, 0), 0, nil, func(frame []byte) (int, error) {
			got, err := columns.Decode(frame)
			frames, rows = frames+1, rows+len(got)
			return len(got), err
		})
		if err != nil || frames < 4 || rows != 3*blockRows+5 {
			t.Errorf("plain %t: %d frames of %d rows: %v", plain, frames, rows, err)
		}
		got := collect(t, CheckpointFile[string](c, dir))
		for i, s := range got {
			if len(s) != i%7 {
				t.Fatalf("plain %t: record %d is %q", plain, i, s)
			}
		}
		info, err := os.Stat(partName(dir, 0))
		if err != nil || len(got) != rows || (info.Size() < 20_000) == plain {
			t.Errorf("plain %t: %d rows in %v bytes: %v", plain, len(got), info.Size(), err)
		}
		same(t, "a reader that has enough", must(CheckpointFile[string](c, dir).Take(t.Context(), 2)), []string{"", "x"})
	}
}

func TestDamagedPartsAreFoundOut_L12(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	dir := written(t, Parallelize(c, []string{strings.Repeat("ab", 200), "c"}, 2))
	part := partName(dir, 0)
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) error {
		t.Helper()
		if err := os.WriteFile(part, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := CheckpointFile[string](c, dir).Collect(t.Context())
		return err
	}
	for n := range len(whole) {
		wantErr(t, fmt.Sprintf("cut off at %d", n), read(whole[:n]), codec.ErrCorrupt)
	}
	wantErr(t, "with more behind it", read(append(bytes.Clone(whole), 0)), codec.ErrCorrupt)
	// A frame less, everything else whole.
	size := int(binary.LittleEndian.Uint32(whole[partHeader+1:]))
	short := append(bytes.Clone(whole[:partHeader]), whole[partHeader+frameHeader+size:]...)
	wantErr(t, "without its frame", read(short), codec.ErrCorrupt)
	other, err := os.ReadFile(partName(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	wantErr(t, "another part's file", read(other), codec.ErrCorrupt)
	// A length that nobody has bytes for must not be believed.
	huge := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(huge[partHeader+1:], 1<<31)
	wantErr(t, "a huge frame", read(huge), codec.ErrCorrupt)
	if _, err := unpack(nil, append(binary.AppendUvarint(nil, 1<<31), 1, 2, 3)); !errors.Is(err, codec.ErrCorrupt) {
		t.Errorf("a frame that claims to grow: %v", err)
	}
	if err := read(whole); err != nil {
		t.Error(err)
	}
	_, err = CheckpointFile[int](c, dir).Collect(t.Context())
	wantErr(t, "of another type", err, codec.ErrCorrupt)
	if err := os.Remove(partName(dir, 1)); err != nil {
		t.Fatal(err)
	}
	_, err = CheckpointFile[string](c, dir).NumPartitions()
	wantErr(t, "the last part is missing", err, fs.ErrNotExist)
}

func TestAnAttemptThatComesSecondLeavesThePart_L11(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	seventh := newTask(t.Context(), &inlineEnv{runner: newInlineRunner(false), task: 7})
	first, second := Parallelize(c, []int{1}, 1), Parallelize(c, []int{2}, 1)
	for _, r := range []*RDD[int]{first, second} {
		if err := writePart(seventh, dir, 0, 1, true, r.frames); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "rows", collect(t, CheckpointFile[int](c, dir)), []int{1})
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v left behind: %v", entries, err)
	}
	boom := errors.New("boom")
	err = writePart(seventh, dir, 1, 2, true, func(*task, int, func([]byte, int) error) error {
		found, _ := filepath.Glob(filepath.Join(dir, "_temporary-00001-task-7-*"))
		if len(found) != 1 {
			t.Errorf("temporary files %v", found)
		}
		return boom
	})
	wantErr(t, "failed", err, boom)
	if left, _ := filepath.Glob(filepath.Join(dir, "_temporary-*")); len(left) != 0 {
		t.Errorf("%v left behind", left)
	}
	wantErr(t, "L11 count", verifyParts(dir, 2), fs.ErrNotExist)
}

func TestPersistedCheckpointIsReadFromWhereItIsKept_L4(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	r := Parallelize(c, upTo(4), 2).Cache()
	written(t, r)
	if err := r.RemoveCheckpoint(); err != nil {
		t.Fatal(err)
	}
	same(t, "kept", collect(t, r), upTo(4))
	r.Unpersist()
	_, err := r.Collect(t.Context())
	wantErr(t, "neither kept nor written", err, fs.ErrNotExist)
}
