package rdd

import (
	"errors"
	"testing"
)

func TestZipRowsAll(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		concat := func(_ int, a Rows[int], bs []Rows[int], out func([]int) error) error {
			for i := len(bs) - 1; i >= 0; i-- {
				if err := bs[i].Each(out); err != nil {
					return err
				}
			}
			return a.Each(out)
		}
		two, more, three := FromBlocks(c, [][]int{{1}, {2}}), FromBlocks(c, [][]int{{3, 4}, {}}), FromBlocks(c, [][]int{{5}, {6}, {7}})
		t.Run("gives partition i of each input", func(t *testing.T) {
			r := ZipRowsAll(c, "concat", two, []*RDD[int]{more, two}, nil, concat)
			same(t, "parts", partsOf(t, r), [][]int{{1, 3, 4, 1}, {2, 2}})
		})
		t.Run("without a first input, and without second ones", func(t *testing.T) {
			same(t, "parts", partsOf(t, ZipRowsAll(c, "concat", nil, []*RDD[int]{more, two}, nil, concat)), [][]int{{1, 3, 4}, {2}})
			same(t, "parts", partsOf(t, ZipRowsAll(c, "concat", two, nil, nil, concat)), [][]int{{1}, {2}})
			_, err := ZipRowsAll[int, int](c, "concat", nil, nil, nil, concat).Collect(t.Context())
			wantErr(t, "no input", err, ErrArgument)
		})
		t.Run("other counts", func(t *testing.T) {
			_, err := ZipRowsAll(c, "concat", two, []*RDD[int]{more, three}, nil, concat).Collect(t.Context())
			wantErr(t, "third", err, ErrLengths)
			_, err = ZipRowsAll(c, "concat", nil, []*RDD[int]{three, more}, nil, concat).Collect(t.Context())
			wantErr(t, "second", err, ErrLengths)
		})
		t.Run("a panic is the program's", func(t *testing.T) {
			_, err := ZipRowsAll(c, "mine", two, []*RDD[int]{more}, nil, func(int, Rows[int], []Rows[int], func([]int) error) error {
				panic("no")
			}).Collect(t.Context())
			var user *UserError
			if !errors.As(err, &user) || user.Op != "mine" {
				t.Errorf("got %v", err)
			}
		})
	})
}
