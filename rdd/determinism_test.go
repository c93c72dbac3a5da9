package rdd

import (
	"testing"

	"github.com/leat-io/leat/lineage"
)

func TestDeterminism_G9(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	class := func(what string, n interface{ Determinism() lineage.Determinism }, want lineage.Determinism) {
		t.Helper()
		if got := n.Determinism(); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	source := func() *RDD[int] { return Parallelize(c, upTo(4), 2) }
	key := func(x int) Pair[int, int] { return kv(x, x) }
	class("a source", source(), lineage.Determinate)
	class("repartitioned", source().Repartition(3), lineage.Determinate)

	unordered := DeclareDeterminism(source(), lineage.Unordered)
	class("declared", unordered, lineage.Unordered)
	class("a child", Map(unordered, key), lineage.Unordered)
	class("a union with others", source().Union(unordered, source()), lineage.Unordered)
	class("behind a shuffle", ReduceByKey(Map(unordered, key), add[int]), lineage.Unordered)
	class("repartitioned", unordered.Repartition(3), lineage.Indeterminate)
	class("numbered by position", ZipWithUniqueID(unordered), lineage.Indeterminate)
	indexed, err := ZipWithIndex(t.Context(), unordered)
	if err != nil {
		t.Fatal(err)
	}
	class("numbered by index", indexed, lineage.Indeterminate)
	class("a child of that", Keys(indexed), lineage.Indeterminate)
	class("coalesced", unordered.Coalesce(1), lineage.Unordered)
	class("a function of order", DeclareOrderSensitive(Glom(unordered)), lineage.Indeterminate)
	class("a function of order above sure rows", DeclareOrderSensitive(Glom(source())), lineage.Determinate)
	class("a function that answers differently", DeclareDeterminism(Map(source(), key), lineage.Indeterminate), lineage.Indeterminate)
	class("an unknown class", DeclareDeterminism(source(), 77), lineage.Indeterminate)

	r := Map(unordered, key)
	if err := r.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	class("marked", r, lineage.Unordered)
	must(r.Count(t.Context()))
	class("written", r, lineage.Determinate)
	class("below a written checkpoint", r.Repartition(2), lineage.Determinate)
	kept := Map(unordered, key)
	if err := kept.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	must(kept.Count(t.Context()))
	class("a local checkpoint", kept, lineage.Unordered)
	class("repartitioned below it", kept.Repartition(2), lineage.Indeterminate)
}

func TestDeterminismOfADeepGraph(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	r := DeclareDeterminism(Parallelize(c, upTo(2), 1), lineage.Unordered)
	for range 40 {
		r = r.Union(r).Coalesce(1) // 2^40 paths
	}
	if got := r.Determinism(); got != lineage.Unordered {
		t.Errorf("%s, want UNORDERED", got)
	}
}
