package rdd_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
)

// journal is a record that only gets longer: what it has that an earlier one had not are its last lines.
type journal struct{ Lines []int64 }

func (j *journal) Immutable() {}

func (j *journal) WriteSince(base *journal, _ int64, put func([]byte) error) (codec.Span, error) {
	n, from := int64(len(j.Lines)), int64(0)
	if base != nil && len(base.Lines) > 4 { // what is short is written whole
		from = int64(len(base.Lines))
	}
	frame := binary.AppendVarint(nil, from)
	for _, line := range j.Lines[from:] {
		frame = binary.AppendVarint(frame, line)
	}
	return codec.Span{Entries: n, From: from, To: n}, put(frame)
}

func (j *journal) Restored(files int, read func(file int, yield func([]byte) error) error) (*journal, error) {
	out := new(journal)
	for f := range files {
		if err := read(f, func(frame []byte) error {
			for first := true; len(frame) > 0; first = false {
				x, n := binary.Varint(frame)
				switch {
				case n <= 0 || first && x != int64(len(out.Lines)):
					return codec.ErrCorrupt
				case !first:
					out.Lines = append(out.Lines, x)
				}
				frame = frame[n:]
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func ExampleRDD_CheckpointSince() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	c, end := inProcess(rdd.Options{CheckpointDir: root, DurableCheckpoints: true})
	defer end()

	var before *rdd.RDD[*journal]
	now := rdd.FromBlocks(c, [][]*journal{{{Lines: []int64{1, 2, 3, 4, 5}}}})
	for range 3 {
		if err := now.Persist(rdd.MemoryOnly()); err != nil {
			log.Fatal(err)
		}
		if err := now.CheckpointSince(before); err != nil {
			log.Fatal(err)
		}
		if _, err := now.Count(context.Background()); err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(now.CheckpointFolders()), "folders")
		before = now
		now = rdd.Map(before, func(j *journal) *journal {
			return &journal{Lines: append(j.Lines[:len(j.Lines):len(j.Lines)], int64(len(j.Lines)+1))}
		})
	}
	newest := before.CheckpointFolders()[0]
	restored := rdd.RestoreCheckpoint[*journal](c, newest.Dir, newest.Digest, nil)
	all, err := restored.Collect(context.Background())
	fmt.Println(all[0].Lines, err, filepath.Dir(newest.Dir) == root)
	// Output:
	// 1 folders
	// 2 folders
	// 3 folders
	// [1 2 3 4 5 6 7] <nil> true
}
