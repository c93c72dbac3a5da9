package dstream

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// SaveAsTextFiles writes every batch to a folder of text files, one a partition, named by
// FolderName. A batch that is run again replaces what its first run wrote.
//
// Cost: as rdd.RDD.SaveAsTextFile.
func SaveAsTextFiles[T any](s *DStream[T], prefix, suffix string) *Output {
	return output(s, "saveAsTextFiles", func(ctx context.Context, r *rdd.RDD[T], t Time) error {
		return r.OverwriteTextFile(ctx, FolderName(prefix, suffix, t))
	})
}

// FolderName returns "prefix-t.suffix" with the time in milliseconds; an empty prefix or suffix goes
// with its mark.
func FolderName(prefix, suffix string, t Time) string {
	name := fmt.Sprint(int64(t))
	if prefix != "" {
		name = prefix + "-" + name
	}
	if suffix != "" {
		name += "." + suffix
	}
	return name
}
