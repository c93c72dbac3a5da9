package dstream_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
)

// A damaged file is named, by Recover or by the first batch that reads it, and no output is wrong.
func TestDamagedCheckpointsAreRefused(t *testing.T) {
	p := programs()["F9_updateStateByKey"]
	first := p.launch(t, "")
	first.run(5)
	files, dir := first.graph.Checkpoint(), first.rdds.Options().CheckpointDir
	if len(files) != 1 || len(files[0].Files) != 2 {
		t.Fatalf("checkpoints %v, want those of batches 2 and 4", files)
	}
	folder, older := filepath.Join(dir, files[0].Files[1].Dir), filepath.Join(dir, files[0].Files[0].Dir)
	names, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(names) != 4 {
		t.Fatalf("files %v: %v", names, err)
	}
	others, err := filepath.Glob(filepath.Join(older, "*"))
	if err != nil || len(others) != 4 {
		t.Fatalf("files %v: %v", others, err)
	}
	for i, name := range names {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		other, err := os.ReadFile(others[i])
		if err != nil {
			t.Fatal(err)
		}
		damages := map[string][]byte{"removed": nil, "empty": {}, "cut off": whole[:len(whole)-1]}
		if !bytes.Equal(other, whole) { // partitions without keys are alike
			damages["swapped with an older one"] = other
		}
		for at := 0; at < len(whole); at += 1 + len(whole)/5 {
			flipped := append([]byte(nil), whole...)
			flipped[at] ^= 4
			damages["a bit flipped in byte "+filepath.Base(name)+string(rune('a'+at%26))] = flipped
		}
		for what, data := range damages {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			want := codec.ErrCorrupt
			if data == nil {
				want = fs.ErrNotExist
			} else if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
			again := p.launch(t, dir)
			err := again.goOn(5, 6, files)
			if err == nil {
				err = again.step()
			} else if zero, started := again.graph.Zero(); started {
				t.Errorf("the graph is started, with zero %s", zero)
			}
			if !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: got %v, want %v that names it", filepath.Base(name), what, err, want)
			}
			if got := again.outs[0].at(sec(6)); got != "none" {
				t.Errorf("%s %s: batch 6 shows %s", filepath.Base(name), what, got)
			}
			if err := os.WriteFile(name, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := p.launch(t, dir)
	if err := again.goOn(5, 6, files); err != nil {
		t.Fatal(err)
	}
	again.steps(1)
}

func TestRecoverRefusesAnotherProgram(t *testing.T) {
	p := programs()["F9_updateStateByKey"]
	first := p.launch(t, "")
	first.run(4)
	files, dir := first.graph.Checkpoint(), first.rdds.Options().CheckpointDir
	state := files[0].Stream
	try := func(what string, p program, files []dstream.StreamCheckpoint, want error, text string) {
		t.Helper()
		again := p.launch(t, dir)
		err := again.graph.Recover(dstream.Recovery{Last: sec(4), Whole: true, Streams: files})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want %v with %q", what, err, want, text)
		}
	}
	other := program{rows: p.rows, build: func(_ *driver, s *counts) []layout { return one(dstream.ReduceByKey(s, add)) }}
	try("another operator", other, files, dstream.ErrChanged, "it was updateStateByKey, it is reduceByKey")
	moved := []dstream.StreamCheckpoint{{Stream: 9, Op: "updateStateByKey", Files: files[0].Files}}
	try("no such stream", p, moved, dstream.ErrChanged, "it was updateStateByKey, it is nothing")
	try("an output", p, []dstream.StreamCheckpoint{{Stream: state + 1, Op: "foreachRDD"}}, dstream.ErrChanged, "node 3")
	wider := p
	wider.parts = 4
	try("other partitions", wider, files, rdd.ErrPartitioner, "updateStateByKey[2] of batch 2000 ms")
	odd := []dstream.StreamCheckpoint{{Stream: state, Op: "updateStateByKey", Files: []dstream.CheckpointFile{{Time: 1500, Dir: "x"}}}}
	try("a time between two batches", p, odd, dstream.ErrArgument, "1500 ms")
	again := p.launch(t, dir)
	again.start()
	if err := again.graph.Recover(dstream.Recovery{}); !errors.Is(err, dstream.ErrContextActive) {
		t.Errorf("a graph that is started: %v", err)
	}
	none := newDriver(t, setup{})
	if err := none.graph.Recover(dstream.Recovery{}); !errors.Is(err, dstream.ErrNoOutputOps) {
		t.Errorf("a graph without outputs: %v", err)
	}
}

// A batch that is run again writes over what its first run has written.
func TestSavingAgainAfterARecovery_F17(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "out")
	p := program{rows: []string{"ab", "b"}, build: func(_ *driver, s *counts) []layout {
		dstream.SaveAsTextFiles(s, prefix, "")
		return nil
	}}
	p.launch(t, "").run(2)
	again := p.launch(t, "")
	if err := again.goOn(2, 2, nil); err != nil {
		t.Fatal(err)
	}
	again.steps(2)
	for k, want := range map[int]string{1: "(a,1)\n(b,1)\n", 2: "(b,1)\n", 3: ""} {
		parts, err := filepath.Glob(filepath.Join(dstream.FolderName(prefix, "", sec(k)), "part-*"))
		if err != nil || len(parts) == 0 {
			t.Fatalf("batch %d: %v, %v", k, parts, err)
		}
		got := ""
		for _, part := range parts {
			data, err := os.ReadFile(part)
			if err != nil {
				t.Fatal(err)
			}
			got += string(data)
		}
		equal(t, got, want)
	}
}

// visit is a state of the program's own.
type visit struct {
	Page string
	N    int
}

func TestNodes(t *testing.T) {
	build := func(window int, parts int, checkpoint bool, outName string) *dstream.Graph {
		d := newDriver(t, setup{parallelism: 2})
		in := input(d, letters("a"))
		s := dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(window), 0, dstream.Partitioned(rdd.NumPartitions(parts)))
		m := dstream.MapWithState(s, dstream.NewStateSpec(func(string, rdd.Option[int], *dstream.State[visit]) bool { return true }))
		if checkpoint {
			keepIt(m.DStream)
		}
		dstream.SaveTo(m.DStream, outName, &memorySink[bool]{})
		return d.graph
	}
	g := build(4, 3, false, "visits")
	before := g.Nodes()
	if err := g.Start(0); err != nil {
		t.Fatal(err)
	}
	if err := dstream.DiffNodes(before, g.Nodes()); err != nil {
		t.Errorf("Start changes what is told: %v", err)
	}
	text := ""
	for _, n := range before {
		text += n.String() + "\n"
	}
	const here = "github.com/leat-io/leat/"
	equal(t, strings.ReplaceAll(text, here, ""), `slices[1]: slide 1000 ms, records rdd/keyed.Pair[string,int]{Key string; Value int}
reduceByKey[2]: slide 1000 ms, of 1
reduceByKeyAndWindow[3]: slide 1000 ms, of 2, window 4000 ms, keys by hash:3, records rdd/keyed.Pair[string,int]{Key string; Value int}, checkpoint 10000 ms
mapWithState states[4]: slide 1000 ms, of 3, keys by hash:2, records *dstream.stateStep[string,dstream_test.visit,bool], holds string, holds dstream_test.visit{Page string; N int}, holds bool, checkpoint 10000 ms
mapWithState[5]: slide 1000 ms, of 4
saveTo[6]: slide 1000 ms, of 5, output "visits", records bool
`)
	for what, c := range map[string]struct {
		g    *dstream.Graph
		node int32
	}{
		"window": {build(5, 3, false, "visits"), 3}, "partitions": {build(4, 2, false, "visits"), 3},
		"checkpoint": {build(4, 3, true, "visits"), 4}, "output": {build(4, 3, false, "views"), 6},
	} {
		err := dstream.DiffNodes(before, c.g.Nodes())
		var changed *dstream.ChangedError
		if !errors.As(err, &changed) || changed.Node != c.node || changed.Was == "" || changed.Is == "" {
			t.Errorf("%s: got %v, want node %d", what, err, c.node)
		}
		if c.g.Fingerprint() == g.Fingerprint() {
			t.Errorf("%s: the fingerprint is the same", what)
		}
	}
	if err := dstream.DiffNodes(before[:5], before); err == nil || !strings.Contains(err.Error(), "node 6: it was nothing, it is saveTo[6]") {
		t.Errorf("a node more: %v", err)
	}
	if g.Fingerprint() != build(4, 3, false, "visits").Fingerprint() {
		t.Error("the same graph has two fingerprints")
	}
}
