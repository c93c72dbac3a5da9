package rdd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
)

func TestDurableCheckpoint(t *testing.T) {
	for _, r := range runners() {
		t.Run(r.name, func(t *testing.T) {
			c := newTestContext(t, r.open(t), Options{CheckpointDir: t.TempDir(), DurableCheckpoints: true})
			pairs := Parallelize(c, []Pair[int, int]{kv(3, 1), kv(2, 2), kv(1, 3), kv(2, 4)}, 2)
			placed := PartitionBy(pairs, Hash[int](2))
			if dir, digest := placed.CheckpointFolder(); dir != "" || digest != "" {
				t.Errorf("folder %q, digest %q before there is one", dir, digest)
			}
			written(t, placed)
			dir, digest := placed.CheckpointFolder()
			if filepath.Dir(dir) != c.Options().CheckpointDir || len(digest) != 64 {
				t.Fatalf("folder %q, digest %q", dir, digest)
			}
			if err := VerifyCheckpoint(dir, digest); err != nil {
				t.Error(err)
			}
			want := partsOf(t, placed)
			fresh := newTestContext(t, r.open(t), Options{})
			restored := RestoreCheckpoint[Pair[int, int]](fresh, dir, digest, Hash[int](2))
			same(t, "restored", partsOf(t, restored), want)
			same(t, "read by folder", partsOf(t, CheckpointFile[Pair[int, int]](fresh, dir)), want)
			again, sum := restored.CheckpointFolder()
			if !restored.IsCheckpointed() || again != dir || sum != digest {
				t.Errorf("checkpointed %t in %q, %q", restored.IsCheckpointed(), again, sum)
			}
			for what, p := range map[string]AnyPartitioner{"restored": restored.Partitioner(), "by folder": CheckpointFile[Pair[int, int]](fresh, dir).Partitioner()} {
				if p == nil || !p.Equal(Hash[int](2)) {
					t.Errorf("%s: partitioner %v", what, p)
				}
			}
			own := PartitionFunc("own", 2, func(k int) int { return k % 2 })
			byFunc := PartitionBy(pairs, own)
			written(t, byFunc)
			dir, digest = byFunc.CheckpointFolder()
			if p := RestoreCheckpoint[Pair[int, int]](fresh, dir, digest, own).Partitioner(); p == nil || !p.Equal(own) {
				t.Errorf("partitioner %v, want that of the program", p)
			}
		})
	}
}

func TestRestoreRefusesOtherPartitions(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir(), DurableCheckpoints: true})
	dir := written(t, PartitionBy(Parallelize(c, []Pair[int, int]{kv(3, 1)}, 2), Hash[int](2)))
	for _, p := range []AnyPartitioner{Hash[int](3), Hash[string](2), PartitionFunc("own", 2, func(int) int { return 0 })} {
		wantErr(t, p.String(), RestoreCheckpoint[Pair[int, int]](c, dir, "", p).Err(), ErrPartitioner)
	}
}

// Every file of a checkpoint, damaged in every way, is found out by name, and no row of it is handed on as if it
// were whole.
func TestDamagedDurableCheckpoint(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir(), DurableCheckpoints: true})
	rows := []string{strings.Repeat("ab", 200), "c"}
	dir := written(t, Parallelize(c, rows, 2))
	older := written(t, Parallelize(c, []string{strings.Repeat("ba", 200), "d"}, 2))
	m, err := readManifest(t.Context(), nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := readManifest(t.Context(), nil, older)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{manifestName(dir): manifestName(older)}
	for i, p := range m.parts {
		files[filepath.Join(dir, p.Name)] = filepath.Join(older, before.parts[i].Name)
	}
	for file, other := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, change func() error, want error) {
			t.Helper()
			if err := change(); err != nil {
				t.Fatal(err)
			}
			r := RestoreCheckpoint[string](c, dir, m.digest, nil)
			_, err := r.Collect(t.Context())
			verified := VerifyCheckpoint(dir, m.digest)
			for _, err := range []error{err, verified} {
				if !errors.Is(err, want) || !strings.Contains(err.Error(), file) {
					t.Errorf("%s %s: %v, want %v that names it", filepath.Base(file), what, err, want)
				}
			}
			if err := os.WriteFile(file, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write := func(data []byte) func() error { return func() error { return os.WriteFile(file, data, 0o644) } }
		for i := range whole {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 0x10
			try("with a bit flipped", write(flipped), codec.ErrCorrupt)
		}
		for n := range len(whole) {
			try("cut off", write(whole[:n]), codec.ErrCorrupt)
		}
		try("with more behind it", write(append(bytes.Clone(whole), '\n')), codec.ErrCorrupt)
		swapped, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		try("swapped with an older one", write(swapped), codec.ErrCorrupt)
		try("removed", func() error { return os.Remove(file) }, fs.ErrNotExist)
	}
	same(t, "whole again", collect(t, RestoreCheckpoint[string](c, dir, m.digest, nil)), rows)
}

// What an attempt that did not count has left is neither read nor kept.
func TestAttemptsOfADurableCheckpointHaveFilesOfTheirOwn(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	seventh := newTask(t.Context(), &inlineEnv{runner: newInlineRunner(false), task: 7})
	var parts []checkpointPart
	for _, rows := range [][]int{{1}, {2}} {
		p, err := writeOwnPart(seventh, nil, dir, 0, 1, true, Parallelize(c, rows, 1).frames)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	m := &checkpointManifest{parts: parts[1:]}
	if err := errors.Join(m.sweep(dir), writeManifest(dir, m)); err != nil {
		t.Fatal(err)
	}
	same(t, "rows", collect(t, RestoreCheckpoint[int](c, dir, m.digest, nil)), []int{2})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v: %v, want the part and the manifest", entries, err)
	}
	boom := errors.New("boom")
	_, err := writeOwnPart(seventh, nil, dir, 1, 2, true, func(*task, int, func([]byte, int) error) error { return boom })
	wantErr(t, "failed", err, boom)
	if left, _ := filepath.Glob(filepath.Join(dir, "part-00001-*")); len(left) != 0 {
		t.Errorf("%v left behind", left)
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add((&checkpointManifest{parts: []checkpointPart{{Name: "part-00000-task-1-2", Size: 3, Sum: 4}}, partitioner: []byte("x")}).encode())
	f.Add((&checkpointManifest{}).encode())
	f.Add((&checkpointManifest{changes: true, since: []Folder{{"rdd-1", strings.Repeat("ab", 32)}}, parts: []checkpointPart{
		{Name: "part-00000-task-1-2", Size: 3, Sum: 4, Span: codec.Span{Entries: 5, From: 1, To: 5}, Back: 1}}}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			return
		}
		if again, err := parseManifest(m.encode()); err != nil || len(again.parts) != len(m.parts) {
			t.Errorf("%q is read, and written as something else: %v", data, err)
		}
	})
}
