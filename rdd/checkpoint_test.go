package rdd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

func TestCheckpoint(t *testing.T) {
	for _, r := range runners() {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			c := newTestContext(t, r.open(t), Options{CheckpointDir: dir})
			t.Run("C23 L7 L10", func(t *testing.T) {
				var calls atomic.Int64
				src := Parallelize(c, upTo(4), 2)
				r := FlatMap(src, func(x int) []int { calls.Add(1); return upTo(x) })
				if err := r.Checkpoint(); err != nil {
					t.Fatal(err)
				}
				if r.IsCheckpointed() || len(r.Deps()) != 1 || r.Deps()[0].Parent.ID() != src.Node().ID() {
					t.Error("a mark alone changes the lineage")
				}
				want := [][]int{{1, 1, 2}, {1, 2, 3, 1, 2, 3, 4}}
				same(t, "rows", partsOf(t, r), want)
				if !r.IsCheckpointed() || len(r.Deps()) != 1 || sizeOf(t, r) != 2 {
					t.Fatalf("checkpointed %t, %d parents, %d partitions; want the checkpoint as parent", r.IsCheckpointed(), len(r.Deps()), sizeOf(t, r))
				}
				origin := r.Deps()[0].Parent
				if n, err := origin.NumPartitions(); origin.Op() != "checkpoint" || n != 2 || err != nil || len(origin.Deps()) != 0 || origin.ID() == src.Node().ID() {
					t.Errorf("parent %v of %d partitions: %v", origin, n, err)
				}
				n := calls.Load()
				same(t, "rows from files", partsOf(t, r), want)
				same(t, "derived", must(r.Take(t.Context(), 1)), []int{1})
				if calls.Load() != n {
					t.Error("it is computed again")
				}
				folder := filepath.Join(dir, "rdd-"+r.Node().ID().String())
				fresh := newTestContext(t, newInlineRunner(false), Options{})
				same(t, "L12 in a fresh context", partsOf(t, CheckpointFile[int](fresh, folder)), want)
			})
			t.Run("behind a shuffle, either side", func(t *testing.T) {
				pairs := Map(Parallelize(c, upTo(6), 3), func(x int) Pair[int, int] { return kv(x%2, x) })
				placed := PartitionBy(pairs, Hash[int](2))
				for _, r := range []interface{ Checkpoint() error }{pairs, placed} {
					if err := r.Checkpoint(); err != nil {
						t.Fatal(err)
					}
				}
				want := [][]Pair[int, int]{{kv(0, 2), kv(0, 4), kv(0, 6)}, {kv(1, 1), kv(1, 3), kv(1, 5)}}
				same(t, "rows", partsOf(t, placed), want)
				if !placed.IsCheckpointed() || pairs.IsCheckpointed() {
					t.Errorf("L9 nearest %t, ancestor %t; want only the nearest", placed.IsCheckpointed(), pairs.IsCheckpointed())
				}
				if p := placed.Partitioner(); p == nil || !p.Equal(Hash[int](2)) {
					t.Errorf("partitioner %v, want hash:2", p)
				}
				same(t, "rows from files", partsOf(t, placed), want)
				other := PartitionBy(pairs, Hash[int](3))
				collect(t, other)
				if !pairs.IsCheckpointed() {
					t.Error("the parent of a shuffle is not written")
				}
				c.Forget(lineage.Scope{})
				same(t, "shuffled from files", collect(t, PartitionBy(pairs, Hash[int](1))), collect(t, pairs))
			})
			t.Run("C24", func(t *testing.T) {
				for _, all := range []bool{false, true} {
					c := newTestContext(t, r.open(t), Options{CheckpointDir: t.TempDir(), CheckpointAllMarked: all})
					r1 := Parallelize(c, upTo(4), 2)
					r2 := Map(r1, func(x int) int { return -x })
					if err := errors.Join(r1.Checkpoint(), r2.Checkpoint()); err != nil {
						t.Fatal(err)
					}
					must(r2.Count(t.Context()))
					if !r2.IsCheckpointed() || r1.IsCheckpointed() != all {
						t.Errorf("all marked %t: r2 %t, r1 %t", all, r2.IsCheckpointed(), r1.IsCheckpointed())
					}
				}
				none := Empty[int](c)
				if err := none.Checkpoint(); err != nil {
					t.Fatal(err)
				}
				must(none.Count(t.Context()))
				if !none.IsCheckpointed() {
					t.Error("an RDD without partitions is not checkpointed")
				}
			})
			t.Run("L10 a failed write leaves mark and lineage", func(t *testing.T) {
				blocked := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(blocked, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				c := newTestContext(t, r.open(t), Options{CheckpointDir: blocked})
				r := Map(Parallelize(c, upTo(4), 2), func(x int) int { return -x })
				if err := r.Checkpoint(); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Count(t.Context()); err == nil {
					t.Error("writing below a file succeeds")
				}
				if r.IsCheckpointed() || len(r.Deps()) != 1 {
					t.Error("the lineage is cut")
				}
				if err := os.Remove(blocked); err != nil {
					t.Fatal(err)
				}
				same(t, "rows", collect(t, r), []int{-1, -2, -3, -4})
				if !r.IsCheckpointed() {
					t.Error("the mark is gone")
				}
			})
		})
	}
	t.Run("L7 L8 refused", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		wantErr(t, "no folder", Parallelize(c, upTo(1), 1).Checkpoint(), ErrNoCheckpointDir)
		c, _ = inlineContext(t, Options{CheckpointDir: t.TempDir()})
		r := Parallelize(c, upTo(1), 1)
		child := Map(r, func(x int) int { return x })
		must(child.Count(t.Context()))
		wantErr(t, "after a job", child.Checkpoint(), ErrCheckpointTooLate)
		wantErr(t, "after a job on a child", r.Checkpoint(), ErrCheckpointTooLate)
	})
	t.Run("a later run with the same ids keeps what is there", func(t *testing.T) {
		dir := t.TempDir()
		for i := range 2 {
			c, _ := inlineContext(t, Options{CheckpointDir: dir})
			r := Parallelize(c, []int{i}, 1)
			if err := r.Checkpoint(); err != nil {
				t.Fatal(err)
			}
			must(r.Count(t.Context()))
		}
		c, _ := inlineContext(t, Options{})
		same(t, "first run", collect(t, CheckpointFile[int](c, filepath.Join(dir, "rdd-1"))), []int{0})
		same(t, "second run", collect(t, CheckpointFile[int](c, filepath.Join(dir, "rdd-1.2"))), []int{1})
	})
	t.Run("L12 gaps and damage", func(t *testing.T) {
		dir := t.TempDir()
		c, _ := inlineContext(t, Options{CheckpointDir: dir})
		r := Parallelize(c, upTo(6), 3)
		if err := r.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		must(r.Count(t.Context()))
		folder := filepath.Join(dir, "rdd-1")
		part := filepath.Join(folder, "part-00001")
		whole, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x40
			if err := os.WriteFile(part, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := CheckpointFile[int](c, folder).Collect(t.Context())
			wantErr(t, "damaged", err, codec.ErrCorrupt)
		}
		if err := os.Remove(part); err != nil {
			t.Fatal(err)
		}
		_, err = CheckpointFile[int](c, folder).Collect(t.Context())
		wantErr(t, "gap", err, fs.ErrNotExist)
		_, err = CheckpointFile[int](c, filepath.Join(dir, "none")).Collect(t.Context())
		wantErr(t, "missing", err, fs.ErrNotExist)
	})
}
