package dstream

import (
	"context"

	"github.com/leat-io/leat/rdd"
)

// SaveAsObjectFiles writes every batch to a folder of files of encoded records, one a partition, named by FolderName;
// rdd.ObjectFile reads them back. A batch that is run again replaces what its first run wrote.
//
// Cost and Errors: as rdd.RDD.SaveAsObjectFile.
func SaveAsObjectFiles[T any](s *DStream[T], prefix, suffix string) *Output {
	return output(s, "saveAsObjectFiles", func(ctx context.Context, r *rdd.RDD[T], t Time) error {
		return r.SaveAsObjectFile(ctx, FolderName(prefix, suffix, t), rdd.Overwrite())
	})
}

// SaveAsJSONFiles writes every batch to a folder of files with one JSON value a line, named by FolderName. A batch that
// is run again replaces what its first run wrote.
//
// Cost and Errors: as rdd.RDD.SaveAsJSON.
func SaveAsJSONFiles[T any](s *DStream[T], prefix, suffix string) *Output {
	return output(s, "saveAsJSONFiles", func(ctx context.Context, r *rdd.RDD[T], t Time) error {
		return r.SaveAsJSON(ctx, FolderName(prefix, suffix, t), rdd.Overwrite())
	})
}

// SaveAsCSVFiles writes every batch to a folder of CSV files, named by FolderName. A batch that is run again replaces
// what its first run wrote.
//
// Cost and Errors: as rdd.SaveAsCSV; options that Validate refuses fail the first batch.
func SaveAsCSVFiles(s *DStream[[]string], prefix, suffix string, o rdd.CSVSaveOptions) *Output {
	return output(s, "saveAsCSVFiles", func(ctx context.Context, r *rdd.RDD[[]string], t Time) error {
		return rdd.SaveAsCSV(ctx, r, FolderName(prefix, suffix, t), o, rdd.Overwrite())
	})
}

// SavePairs writes every batch to a folder of text files, named by FolderName, with the line that format gives for each
// pair. A batch that is run again replaces what its first run wrote.
//
// Cost and Errors: as SaveAsTextFiles; Start reports a nil format; a panic of format fails the batch with a
// *rdd.UserError.
func SavePairs[K, V any](s *DStream[rdd.Pair[K, V]], prefix, suffix string, format func(key K, value V) string) *Output {
	var save func(ctx context.Context, r *rdd.RDD[rdd.Pair[K, V]], t Time) error
	if format != nil {
		save = func(ctx context.Context, r *rdd.RDD[rdd.Pair[K, V]], t Time) error {
			lines := rdd.Map(r, func(p rdd.Pair[K, V]) string { return format(p.Key, p.Value) })
			return lines.OverwriteTextFile(ctx, FolderName(prefix, suffix, t))
		}
	}
	return output(s, "savePairs", save)
}
