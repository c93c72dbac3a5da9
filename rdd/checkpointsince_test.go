package rdd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

// numbers is a record that knows what it was made from, so that it can be written as what changed.
type numbers struct {
	vals  []int64
	prior *numbers
}

func (n *numbers) Immutable() {}

func (n *numbers) MarshalBinary() ([]byte, error) {
	var data []byte
	for _, v := range n.vals {
		data = binary.AppendVarint(data, v)
	}
	return data, nil
}

func (n *numbers) UnmarshalBinary(data []byte) error {
	n.vals = nil
	for len(data) > 0 {
		v, size := binary.Varint(data)
		if size <= 0 {
			return codec.ErrCorrupt
		}
		n.vals, data = append(n.vals, v), data[size:]
	}
	return nil
}

// WriteSince puts a frame of how many there are, and one for each that is written. A slice is a quarter.
func (n *numbers) WriteSince(base *numbers, from int64, put func([]byte) error) (codec.Span, error) {
	size := int64(len(n.vals))
	span := codec.Span{Entries: size, To: size}
	a := n
	for a != nil && a != base {
		a = a.prior
	}
	if base != nil && a != nil {
		if from >= int64(len(base.vals)) {
			from = 0
		}
		span.From, span.To = from, min(from+(size+3)/4+size-int64(len(base.vals)), size)
	}
	if err := put(binary.AppendVarint(nil, size)); err != nil {
		return span, err
	}
	for i, v := range n.vals {
		if at := int64(i); span.From <= at && at < span.To || i >= len(base.vals) || base.vals[i] != v {
			if err := put(binary.AppendVarint(binary.AppendVarint(nil, at), v)); err != nil {
				return span, err
			}
		}
	}
	return span, nil
}

func (n *numbers) Restored(files int, read func(int, func([]byte) error) error) (*numbers, error) {
	got := map[int64]int64{}
	size := int64(-1)
	for f := range files {
		first := true
		if err := read(f, func(frame []byte) error {
			at, k := binary.Varint(frame)
			v, l := binary.Varint(frame[k:])
			if first {
				size = at
			} else if l > 0 {
				got[at] = v
			}
			first = false
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if size < 0 || int64(len(got)) != size {
		return nil, codec.ErrCorrupt
	}
	out := new(numbers)
	for i := range size {
		out.vals = append(out.vals, got[i])
	}
	return out, nil
}

// ofNumbers returns a persisted RDD of one record in each partition but the last, which has none.
func ofNumbers(t *testing.T, c *Context, size, parts int) *RDD[*numbers] {
	blocks := make([][]*numbers, parts)
	for part := range parts - 1 {
		n := new(numbers)
		for i := range size {
			n.vals = append(n.vals, int64(1000*part+i))
		}
		blocks[part] = []*numbers{n}
	}
	return persisted(t, FromBlocks(c, blocks))
}

func persisted(t *testing.T, r *RDD[*numbers]) *RDD[*numbers] {
	t.Helper()
	if err := r.Persist(MemoryOnly()); err != nil {
		t.Fatal(err)
	}
	return r
}

// changed returns r with one number changed and perhaps one more.
func changed(t *testing.T, r *RDD[*numbers], at int, grow bool) *RDD[*numbers] {
	return persisted(t, Map(r, func(n *numbers) *numbers {
		next := &numbers{vals: slices.Clone(n.vals), prior: n}
		next.vals[at%len(next.vals)] += 100_000
		if grow {
			next.vals = append(next.vals, int64(at))
		}
		return next
	}))
}

func writtenSince(t *testing.T, r, base *RDD[*numbers]) []Folder {
	t.Helper()
	if err := r.CheckpointSince(base); err != nil {
		t.Fatal(err)
	}
	must(r.Count(t.Context()))
	return r.CheckpointFolders()
}

func valsOf(t *testing.T, r *RDD[*numbers]) [][]int64 {
	t.Helper()
	var all [][]int64
	for _, part := range partsOf(t, r) {
		var vals []int64
		for _, n := range part {
			vals = append(vals, n.vals...)
		}
		all = append(all, vals)
	}
	return all
}

func TestCheckpointSince(t *testing.T) {
	for _, run := range runners() {
		t.Run(run.name, func(t *testing.T) {
			shares := !strings.HasSuffix(run.name, "isolate") // elsewhere each reader has a record of its own
			dir := t.TempDir()
			c := newTestContext(t, run.open(t), Options{CheckpointDir: dir, DurableCheckpoints: true})
			r := ofNumbers(t, c, 16, 3)
			writtenSince(t, r, nil)
			longest := 1
			for i := range 12 {
				next := changed(t, r, i, i%3 == 0)
				folders := writtenSince(t, next, r)
				longest = max(longest, len(folders))
				for j, f := range folders[1:] {
					if had := r.CheckpointFolders(); had[j] != f {
						t.Fatalf("folder %d is %v, that of the base %v", j, f, had[j])
					}
				}
				if err := VerifyCheckpoint(folders[0].Dir, folders[0].Digest); err != nil {
					t.Fatal(err)
				}
				fresh := newTestContext(t, run.open(t), Options{CheckpointDir: dir, DurableCheckpoints: true})
				restored := RestoreCheckpoint[*numbers](fresh, folders[0].Dir, folders[0].Digest, nil)
				same(t, "restored", valsOf(t, restored), valsOf(t, next))
				same(t, "folders of the restored one", restored.CheckpointFolders(), folders)
				same(t, "read by folder", valsOf(t, CheckpointFile[*numbers](fresh, folders[0].Dir)), valsOf(t, next))
				// What nobody needs may go.
				for _, old := range r.CheckpointFolders() {
					if !slices.Contains(folders, old) {
						if err := os.RemoveAll(old.Dir); err != nil {
							t.Fatal(err)
						}
					}
				}
				r = next
				if i%5 == 4 { // another process goes on
					c, r = fresh, persisted(t, restored)
				}
			}
			if shares && (longest < 4 || longest > 6) || !shares && longest != 1 {
				t.Errorf("at most %d folders", longest)
			}
		})
	}
}

func TestCheckpointSinceWritesAllWhereTheBaseCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	opts := Options{CheckpointDir: dir, DurableCheckpoints: true}
	c, _ := inlineContext(t, opts)
	whole := func(what string, next, base *RDD[*numbers]) {
		t.Helper()
		if folders := writtenSince(t, next, base); len(folders) != 1 {
			t.Errorf("%s: builds on %v", what, folders[1:])
		}
		same(t, what, valsOf(t, CheckpointFile[*numbers](next.Context(), next.CheckpointFolders()[0].Dir)), valsOf(t, next))
	}
	r := ofNumbers(t, c, 16, 2)
	whole("no base", r, nil)
	whole("a base without a checkpoint", changed(t, r, 1, false), ofNumbers(t, c, 16, 2))
	whole("a base of other records", changed(t, r, 1, false), func() *RDD[*numbers] {
		other := ofNumbers(t, c, 16, 2)
		writtenSince(t, other, nil)
		return other
	}())
	old := ofNumbers(t, c, 16, 2)
	written(t, old)
	whole("a base that was written as rows", changed(t, old, 1, false), old)
	three := ofNumbers(t, c, 16, 3)
	writtenSince(t, three, nil)
	whole("a base of more partitions", changed(t, r, 1, false), three)
	next := changed(t, r, 1, false)
	must(next.Count(t.Context()))
	r.Unpersist()
	whole("a base that is not held", changed(t, next, 1, false), r)

	// Where files are cleaned, or are not durable, it is an ordinary checkpoint.
	for _, opts := range []Options{{CheckpointDir: dir}, {CheckpointDir: dir, DurableCheckpoints: true, CleanCheckpoints: true}} {
		c, _ := inlineContext(t, opts)
		r := ofNumbers(t, c, 16, 2)
		writtenSince(t, r, nil)
		if files := r.checkpoint.reader.Load(); files.manifest != nil && files.manifest.changes {
			t.Errorf("%+v: changes are written", opts)
		}
	}
	plain := Parallelize(c, []int{1, 2}, 2)
	if err := plain.CheckpointSince(nil); err != nil {
		t.Fatal(err)
	}
	must(plain.Count(t.Context()))
	if files := plain.checkpoint.reader.Load(); files.manifest.changes {
		t.Error("numbers are written as changes")
	}
	two := Parallelize(c, []*numbers{{}, {}}, 1)
	if err := two.CheckpointSince(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Count(t.Context()); err == nil || !strings.Contains(err.Error(), "more than one record") {
		t.Errorf("two records: %v", err)
	}
	none, _ := inlineContext(t, Options{DurableCheckpoints: true})
	wantErr(t, "without a folder", ofNumbers(t, none, 1, 2).CheckpointSince(nil), ErrNoCheckpointDir)
}

// Every file of every link of a chain, damaged, swapped or away, is found out by name, and so is a link that is another checkpoint.
func TestDamagedChainOfCheckpoints(t *testing.T) {
	dir := t.TempDir()
	c, _ := inlineContext(t, Options{CheckpointDir: dir, DurableCheckpoints: true})
	r := ofNumbers(t, c, 8, 2)
	writtenSince(t, r, nil)
	for i := range 2 {
		next := changed(t, r, i, false)
		writtenSince(t, next, r)
		r = next
	}
	folders := r.CheckpointFolders()
	if len(folders) != 3 {
		t.Fatalf("%d folders", len(folders))
	}
	top := folders[0]
	fails := func(what, file string, want error) {
		t.Helper()
		_, err := RestoreCheckpoint[*numbers](c, top.Dir, top.Digest, nil).Collect(t.Context())
		for _, err := range []error{err, VerifyCheckpoint(top.Dir, top.Digest)} {
			if !errors.Is(err, want) || !strings.Contains(err.Error(), file) {
				t.Errorf("%s of %s: %v, want %v that names it", what, file, err, want)
			}
		}
	}
	for link, f := range folders {
		var names []string
		for _, e := range must(os.ReadDir(f.Dir)) {
			names = append(names, filepath.Join(f.Dir, e.Name()))
		}
		for i, name := range names {
			if link > 0 && strings.Contains(name, "part-00001") {
				continue // it holds no record, and nobody needs it
			}
			whole := must(os.ReadFile(name))
			put := func(data []byte) {
				if err := os.WriteFile(name, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for at := range whole {
				flipped := bytes.Clone(whole)
				flipped[at] ^= 0x10
				put(flipped)
				fails("a flipped bit", name, codec.ErrCorrupt)
			}
			put(whole[:len(whole)-1])
			fails("the end cut off", name, codec.ErrCorrupt)
			other := must(os.ReadDir(folders[(link+1)%3].Dir))
			if swapped := must(os.ReadFile(filepath.Join(folders[(link+1)%3].Dir, other[i].Name()))); !bytes.Equal(swapped, whole) {
				put(swapped)
				fails("the file of another link", name, codec.ErrCorrupt)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			fails("the loss", name, fs.ErrNotExist)
			put(whole)
		}
		if err := os.Rename(f.Dir, f.Dir+"-away"); err != nil {
			t.Fatal(err)
		}
		fails("the loss", f.Dir, fs.ErrNotExist)
		if err := os.Rename(f.Dir+"-away", f.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := VerifyCheckpoint(top.Dir, top.Digest); err != nil {
		t.Errorf("whole again: %v", err)
	}
	_, err := RestoreCheckpoint[int](c, top.Dir, top.Digest, nil).Collect(t.Context())
	if err == nil || !strings.Contains(err.Error(), top.Dir) {
		t.Errorf("read as ints: %v", err)
	}
}

func TestManifestsOfChangesThatCannotBeAreRefused(t *testing.T) {
	folder := Folder{"rdd-1", strings.Repeat("ab", 32)}
	part := checkpointPart{Name: "part-00000-task-1-2", Size: 3, Sum: 4, Span: codec.Span{Entries: 5, To: 5}}
	long := make([]Folder, maxBack+1)
	for i := range long {
		long[i] = folder
	}
	for what, m := range map[string]*checkpointManifest{
		"a folder elsewhere":     {since: []Folder{{"../rdd-1", folder.Digest}}},
		"a folder of a folder":   {since: []Folder{{"a/b", folder.Digest}}},
		"the folder around":      {since: []Folder{{".", folder.Digest}}},
		"no folder":              {since: []Folder{{"", folder.Digest}}},
		"no digest":              {since: []Folder{{"rdd-1", "ab"}}},
		"more back than is":      {since: []Folder{folder}, parts: []checkpointPart{{Name: part.Name, Span: part.Span, Back: 2}}},
		"negative":               {since: []Folder{folder}, parts: []checkpointPart{{Name: part.Name, Span: part.Span, Back: -1}}},
		"a slice past the end":   {parts: []checkpointPart{{Name: part.Name, Span: codec.Span{Entries: 5, To: 6}}}},
		"a slice that goes back": {parts: []checkpointPart{{Name: part.Name, Span: codec.Span{Entries: 5, From: 4, To: 3}}}},
		"too many folders":       {since: long, parts: []checkpointPart{part}},
	} {
		m.changes = true
		if _, err := parseManifest(m.encode()); !errors.Is(err, codec.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	good := &checkpointManifest{changes: true, since: []Folder{folder}, parts: []checkpointPart{part}}
	if got, err := parseManifest(good.encode()); err != nil || len(got.since) != 1 || got.parts[0] != part {
		t.Errorf("%+v, %v", got, err)
	}
}
