package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// Row is what flows between the steps of a plan. Other types live inside of operations.
type Row = rdd.Pair[string, int64]

// compareRows is a total order: rows that compare equal are equal.
func compareRows(a, b Row) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
}

func sorted(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, compareRows)
	return rows
}

// differ returns how got differs from want, nil if it does not: in order, or as multisets.
func differ(got, want []Row, ordered bool) error {
	if !ordered {
		got, want = sorted(got), sorted(want)
	}
	if slices.Equal(got, want) {
		return nil
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	how := "sorted"
	if ordered {
		how = "in order"
	}
	return fmt.Errorf("%d rows, want %d; %s they differ at %d:\n  got  %v\n  want %v",
		len(got), len(want), how, at, excerpt(got, at), excerpt(want, at))
}

// excerpt returns the rows around a place, for messages.
func excerpt(rows []Row, at int) []Row {
	return rows[min(max(at-2, 0), len(rows)):min(at+10, len(rows))]
}
