package streamingcontext_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
	"github.com/leat-io/leat/rdd"
)

// sourceInput gives up to five records a batch: those that come after all that batches it knows of have had.
type sourceInput struct {
	d       *driver
	batches map[dstream.Time][]string
}

func (in *sourceInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	rows, ok := in.batches[t]
	if !ok {
		err := in.d.do("plan", func() error {
			taken := 0
			for _, b := range in.batches {
				taken += len(b)
			}
			left := in.d.of.source[min(taken, len(in.d.of.source)):]
			rows = left[:min(5, len(left))]
			return nil
		})
		if err != nil {
			return nil, err
		}
		in.batches[t] = rows
	}
	return rdd.Parallelize(c, rows, 2), nil
}

func (in *sourceInput) Record(t dstream.Time) ([]byte, error) {
	return []byte(strings.Join(in.batches[t], " ")), nil
}

func (in *sourceInput) Replay(t dstream.Time, recorded []byte) error {
	in.batches[t] = strings.Fields(string(recorded))
	return nil
}

func (in *sourceInput) Save() ([]byte, error) {
	var b bytes.Buffer
	for _, t := range slices.Sorted(maps.Keys(in.batches)) {
		fmt.Fprintf(&b, "%d=%s\n", t, strings.Join(in.batches[t], " "))
	}
	return b.Bytes(), nil
}

func (in *sourceInput) Load(data []byte) error {
	for line := range strings.Lines(string(data)) {
		at, rows, _ := strings.Cut(strings.TrimSpace(line), "=")
		var t int64
		if _, err := fmt.Sscan(at, &t); err != nil {
			return err
		}
		in.batches[dstream.Time(t)] = strings.Fields(rows)
	}
	return nil
}

// gatedSink is a sink as a driver sees it.
type gatedSink struct {
	sink.Sink[string]
	d *driver
}

func (s gatedSink) Part(ctx context.Context, b sink.Batch, part int, attempt string) (w sink.Writer[string], err error) {
	err = s.d.do("sink part", func() error {
		w, err = s.Sink.Part(ctx, b, part, attempt)
		return err
	})
	return w, err
}

func (s gatedSink) Seal(ctx context.Context, b sink.Batch, notes [][]byte) (staged []byte, err error) {
	err = s.d.do("sink seal", func() error {
		staged, err = s.Sink.Seal(ctx, b, notes)
		return err
	})
	return staged, err
}

// Commit checks that what is committed is prepared. Shows I6.
func (s gatedSink) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	state := s.d.of.group.State()
	app := state.App(b.App)
	if open, ok := app.Batch(b.ID); b.ID >= app.Oldest() && (!ok || open.Prepared == 0) {
		s.d.of.breach("%v is committed in the sink and not prepared", b)
	}
	if refuses := s.d.of.refuses; refuses != nil {
		if err := refuses(s.d); err != nil {
			return err
		}
	}
	return s.d.do("sink commit", func() error { return s.Sink.Commit(ctx, b, staged) })
}

func (s gatedSink) Clean(ctx context.Context, b sink.Batch) error {
	return s.d.do("sink clean", func() error { return s.Sink.Clean(ctx, b) })
}

func (s gatedSink) Last(ctx context.Context, app, output string) (m sink.Mark, err error) {
	err = s.d.do("sink last", func() error {
		m, err = s.Sink.Last(ctx, app, output)
		return err
	})
	return m, err
}

// gatedStore is the store as a driver sees it.
type gatedStore struct {
	blobstore.Store
	d *driver
}

func (s *gatedStore) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	kind, _, _ := strings.Cut(name, "/")
	return s.d.do("store put "+kind, func() error { return s.Store.Put(ctx, name, write) })
}

func (s *gatedStore) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	kind, _, _ := strings.Cut(name, "/")
	return s.d.do("store put "+kind, func() error { return s.Store.PutIfAbsent(ctx, name, data) })
}

func (s *gatedStore) Remove(ctx context.Context, names ...string) error {
	return s.d.do("store remove", func() error { return s.Store.Remove(ctx, names...) })
}

// diskFS is the file system of sinks: a disk in memory.
type diskFS struct{ *disk.Disk }

func (d diskFS) Create(name string) (files.File, error) { return d.Disk.Create(name) }
