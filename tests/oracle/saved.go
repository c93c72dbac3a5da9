package oracle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// saved are the operations that go through files, and those that cut or keep lineage otherwise.
func saved() []operation {
	all := []operation{{
		name: "objectFile", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			dir := b.folder()
			if err := in[0].SaveAsObjectFile(b.ctx, dir, s.compression()...); err != nil {
				return nil, err
			}
			return rdd.ObjectFile[Row](b.c, dir), nil
		},
	}, {
		name: "textFile", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			dir := b.folder()
			lines := rdd.Map(in[0], func(r Row) string { b.tick(); return fmt.Sprint(strconv.Quote(r.Key), " ", r.Value) })
			if err := lines.SaveAsTextFile(b.ctx, dir, s.compression()...); err != nil {
				return nil, err
			}
			return rdd.TryMap(rdd.TextFile(b.c, dir, s.parts()), parse), nil
		},
	}, {
		name: "localCheckpoint", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			kept := rdd.MapValues(in[0], b.itself)
			// What executors alone hold must not be lost.
			if b.config.loses() {
				if err := kept.Persist(rdd.Replicated(rdd.MemoryAndDisk(), 2)); err != nil {
					return nil, err
				}
			} else if err := kept.LocalCheckpoint(); err != nil {
				return nil, err
			}
			return rdd.MapValues(kept, b.itself), nil
		},
	}, {
		name: "unpersist", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			kept := rdd.MapValues(in[0], b.itself)
			if err := kept.Persist(s.level()); err != nil {
				return nil, err
			}
			if _, err := kept.Count(b.ctx); err != nil {
				return nil, err
			}
			kept.Unpersist()
			if s.Arg%3 == 0 {
				return kept, kept.Persist(rdd.DiskOnly())
			}
			return kept, nil
		},
	}, {
		name: "coalesceShuffled", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.CoalesceShuffled(b.ctx, rdd.PartitionBy(in[0], rdd.Hash[string](8)), 16<<(s.Arg%12))
		},
	}, {
		name: "splitAndJoin", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			parts := in[0].RandomSplit([]float64{1, 2, 0.5}, uint64(s.Arg))
			return parts[0].Union(parts[1:]...), nil
		},
	}}
	for i := range all {
		all[i].inputs, all[i].family = 1, batchOnly
	}
	return all
}

func (s Step) compression() []rdd.SaveOption {
	switch s.Arg % 4 {
	case 1:
		return []rdd.SaveOption{rdd.Compress(rdd.Gzip)}
	case 2:
		return []rdd.SaveOption{rdd.Compress(rdd.Zstd)}
	}
	return nil
}

// parse reads a row as textFile wrote it.
func parse(line string) (Row, error) {
	at := strings.LastIndexByte(line, ' ')
	if at < 0 {
		return Row{}, fmt.Errorf("no row: %q", line)
	}
	key, err := strconv.Unquote(line[:at])
	if err != nil {
		return Row{}, fmt.Errorf("no row: %q", line)
	}
	v, err := strconv.ParseInt(line[at+1:], 10, 64)
	return Row{Key: key, Value: v}, err
}
