package streamingcontext

import (
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// stagedOf returns what a manifest says that outputs have staged, and of other outputs when they did last. get reads blobs.
func stagedOf(m []byte, get func(reference []byte) ([]byte, error)) ([]protocol.Staged, []protocol.Mark, error) {
	read, reference, err := protocol.ReadManifest(m)
	if err != nil {
		return nil, nil, err
	}
	if reference != nil {
		list, err := get(reference)
		if err != nil {
			return nil, nil, err
		}
		if err := read.ReadList(list, protocol.Listed(m)); err != nil {
			return nil, nil, err
		}
	}
	return read.Staged, read.Marks, nil
}

// marksOf returns the marks after batch b, whose manifest is known.
func marksOf(b driverlog.Batch, get func(reference []byte) ([]byte, error)) ([]protocol.Mark, error) {
	if len(b.Manifest) == 0 {
		return nil, nil
	}
	staged, marks, err := stagedOf(b.Manifest, get)
	if err != nil {
		return nil, err
	}
	return protocol.Marked(marks, b.ID, staged), nil
}
