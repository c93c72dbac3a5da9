package peer

import "github.com/leat-io/leat/tests/bench/workload"

// A JoinSum is what is kept of a join: how many rows it has, and the sum of both values of each, with
// the key mixed in.
type JoinSum struct{ Rows, Sum int64 }

// Add takes in one row of a join.
func (s JoinSum) Add(key, left, right int64) JoinSum {
	return JoinSum{s.Rows + 1, s.Sum + (key ^ (left + 1000*right))}
}

// MapJoin joins left and right by key: a map of the left values of each key, and a look-up for each row
// of right.
func MapJoin(left, right []workload.Pair) JoinSum {
	values := make(map[int64][]int64)
	for _, p := range left {
		values[p.Key] = append(values[p.Key], p.Value)
	}
	var sum JoinSum
	for _, p := range right {
		for _, v := range values[p.Key] {
			sum = sum.Add(p.Key, v, p.Value)
		}
	}
	return sum
}

// ChainJoin is MapJoin with care taken: the map, which has its full size from the start, holds where the
// last row of each key is, and each row knows the one before it. No slice is made for a key.
func ChainJoin(left, right []workload.Pair) JoinSum {
	last := make(map[int64]int32, len(left))
	before := make([]int32, len(left))
	for i, p := range left {
		before[i] = last[p.Key] // 0 ends the chain: rows count from 1
		last[p.Key] = int32(i + 1)
	}
	var sum JoinSum
	for _, p := range right {
		for i := last[p.Key]; i != 0; i = before[i-1] {
			sum = sum.Add(p.Key, left[i-1].Value, p.Value)
		}
	}
	return sum
}
