package schedulertest

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A Result is what a job made by Collect has brought. mu guards rows and times.
type Result struct {
	mu    sync.Mutex
	rows  [][]int64
	times []int
}

// Rows returns the rows by position of the job's partitions.
func (r *Result) Rows() [][]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([][]int64(nil), r.rows...)
}

// Times returns how often each position was given a result.
func (r *Result) Times() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int(nil), r.times...)
}

// Collect returns a job that brings home the rows of parts of node: of all its partitions if none
// are named.
func Collect(node *Node, parts ...int) (lineage.Job, *Result) {
	if parts == nil {
		for p := range node.parts {
			parts = append(parts, p)
		}
	}
	return CollectParts(node, parts)
}

// CollectParts is Collect for a list of partitions that may be empty.
func CollectParts(node *Node, parts []int) (lineage.Job, *Result) {
	res := &Result{rows: make([][]int64, len(parts)), times: make([]int, len(parts))}
	return lineage.Job{
		Name: "collect", Site: "test.go:1", Scope: node.id.Scope, Final: node, Parts: parts, Codec: Codec{},
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			rows, err := node.Rows(ctx, env, part)
			return rows, err
		},
		Done: func(i int, b lineage.Block) error {
			res.mu.Lock()
			defer res.mu.Unlock()
			res.times[i]++
			res.rows[i], _ = b.([]int64)
			return nil
		},
	}, res
}

// Codec carries []int64 as eight bytes a row.
type Codec struct{}

var _ lineage.Codec = Codec{}

// Encode returns the rows as bytes.
func (Codec) Encode(b lineage.Block) ([]byte, error) {
	rows, ok := b.([]int64)
	if !ok {
		return nil, fmt.Errorf("encode %T as rows", b)
	}
	data := make([]byte, 0, 8*len(rows))
	for _, r := range rows {
		data = binary.LittleEndian.AppendUint64(data, uint64(r))
	}
	return data, nil
}

// Decode returns the rows that Encode wrote.
func (Codec) Decode(data []byte) (lineage.Block, error) {
	if len(data)%8 != 0 {
		return nil, fmt.Errorf("decode rows: %d bytes are no whole number of rows", len(data))
	}
	rows := make([]int64, len(data)/8)
	for i := range rows {
		rows[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return rows, nil
}

// Size returns eight bytes a row.
func (Codec) Size(b lineage.Block) int64 {
	rows, _ := b.([]int64)
	return 8 * int64(len(rows))
}
