package codec_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/vmihailenco/msgpack/v5"
)

const benchRows = 10_000

func pairs() []Pair[string, int64] {
	rows := make([]Pair[string, int64], benchRows)
	for i := range rows {
		rows[i] = Pair[string, int64]{fmt.Sprintf("key-%06d", i), int64(i)}
	}
	return rows
}

func perRecord(b *testing.B) {
	b.ReportAllocs()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/record")
}

// appendPlain is the loop one would write by hand for this type: row after row, no checks.
func appendPlain(dst []byte, rows []Pair[string, int64]) []byte {
	for i := range rows {
		dst = binary.AppendUvarint(dst, uint64(len(rows[i].Key)))
		dst = append(dst, rows[i].Key...)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(rows[i].Value))
	}
	return dst
}

func decodePlain(src []byte, n int) []Pair[string, int64] {
	rows := make([]Pair[string, int64], n)
	for i := range rows {
		l, k := binary.Uvarint(src)
		end := k + int(l)
		rows[i].Key = string(src[k:end])
		rows[i].Value = int64(binary.LittleEndian.Uint64(src[end:]))
		src = src[end+8:]
	}
	return rows
}

func benchAppend[T any](b *testing.B, rows []T) {
	c := newCodec[T](b)
	var dst []byte
	for b.Loop() {
		dst, _ = c.Append(dst[:0], rows)
	}
	perRecord(b)
}

func benchDecode[T any](b *testing.B, rows []T) {
	c := newCodec[T](b)
	frame := encode(b, c, rows)
	for b.Loop() {
		if _, err := c.Decode(frame); err != nil {
			b.Fatal(err)
		}
	}
	perRecord(b)
}

func BenchmarkAppend(b *testing.B) {
	rows := pairs()
	b.Run("rows=pair/plain_loop", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			dst = appendPlain(dst[:0], rows)
		}
		perRecord(b)
	})
	b.Run("rows=pair/msgpack", func(b *testing.B) {
		for b.Loop() {
			if _, err := msgpack.Marshal(rows); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b)
	})
	b.Run("rows=pair/codec", func(b *testing.B) { benchAppend(b, rows) })
	b.Run("rows=string/codec", func(b *testing.B) { benchAppend(b, keys(rows)) })
	b.Run("rows=int64/codec", func(b *testing.B) { benchAppend(b, values(rows)) })
	b.Run("rows=pair_list/codec", func(b *testing.B) { benchAppend(b, lists(rows)) })
	b.Run("rows=map/codec", func(b *testing.B) { benchAppend(b, maps(rows)) })
}

func BenchmarkDecode(b *testing.B) {
	rows := pairs()
	b.Run("rows=pair/plain_loop", func(b *testing.B) {
		src := appendPlain(nil, rows)
		for b.Loop() {
			decodePlain(src, len(rows))
		}
		perRecord(b)
	})
	b.Run("rows=pair/msgpack", func(b *testing.B) {
		src, err := msgpack.Marshal(rows)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			var got []Pair[string, int64]
			if err := msgpack.Unmarshal(src, &got); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b)
	})
	b.Run("rows=pair/codec", func(b *testing.B) { benchDecode(b, rows) })
	b.Run("rows=pair/codec_reused_rows", func(b *testing.B) {
		c := newCodec[Pair[string, int64]](b)
		frame := encode(b, c, rows)
		var got []Pair[string, int64]
		for b.Loop() {
			var err error
			if got, err = c.DecodeAppend(got[:0], frame); err != nil {
				b.Fatal(err)
			}
		}
		perRecord(b)
	})
	b.Run("rows=pair/only_the_memory", func(b *testing.B) {
		for b.Loop() {
			memory, text = make([]Pair[string, int64], len(rows)), make([]byte, 10*len(rows))
		}
		perRecord(b)
	})
	b.Run("rows=string/codec", func(b *testing.B) { benchDecode(b, keys(rows)) })
	b.Run("rows=int64/codec", func(b *testing.B) { benchDecode(b, values(rows)) })
	b.Run("rows=pair_list/codec", func(b *testing.B) { benchDecode(b, lists(rows)) })
	b.Run("rows=map/codec", func(b *testing.B) { benchDecode(b, maps(rows)) })
}

func BenchmarkCloneFunc(b *testing.B) {
	rows := lists(pairs())
	b.Run("rows=pair_list/plain_loop", func(b *testing.B) {
		for b.Loop() {
			for i := range rows {
				sink = rows[i]
				sink.Value = append([]int64(nil), rows[i].Value...)
			}
		}
		perRecord(b)
	})
	b.Run("rows=pair_list/clone", func(b *testing.B) {
		clone := codec.CloneFunc[Pair[string, []int64]]()
		for b.Loop() {
			for i := range rows {
				sink = clone(rows[i])
			}
		}
		perRecord(b)
	})
}

var (
	sink   Pair[string, []int64]
	memory []Pair[string, int64]
	text   []byte
)

func keys(rows []Pair[string, int64]) (out []string) {
	for _, r := range rows {
		out = append(out, r.Key)
	}
	return out
}

func values(rows []Pair[string, int64]) (out []int64) {
	for _, r := range rows {
		out = append(out, r.Value)
	}
	return out
}

func lists(rows []Pair[string, int64]) (out []Pair[string, []int64]) {
	for _, r := range rows {
		out = append(out, Pair[string, []int64]{r.Key, []int64{r.Value, 1, 2}})
	}
	return out
}

func maps(rows []Pair[string, int64]) (out []map[string]int64) {
	for _, r := range rows {
		out = append(out, map[string]int64{r.Key: r.Value, "b": 2, "a": 1})
	}
	return out
}
