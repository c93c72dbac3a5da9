package streamingcontext

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/file"
)

// TextFiles declares the stream of the lines of the files that appear in the folders which dirGlob
// matches. Files must appear whole: written elsewhere in the same file system and moved in.
//
// Shape: the files of a batch in the order of their paths, each as by rdd.TextFiles; without files an RDD
// without partitions. Never absent. Sub-folders are not looked into.
// Which files are read, Time and Cost: as FileStream.
// Errors: as FileStream: a file is checked for being what it was when it was selected before each read of it and after
// it. A compressed one that is damaged or cut short fails the batch with a *rdd.FileError. So no part of such a file is
// committed.
// Source: Spark Streaming Programming Guide, "File Streams".
func (c *Context) TextFiles(dirGlob string, opts ...FileOption) *dstream.DStream[string] {
	return fromFiles(c, "textFiles", dirGlob, opts, func(c *rdd.Context, files []file.File) *rdd.RDD[string] {
		selected := make(map[string]file.File, len(files))
		for _, f := range files {
			selected[f.Path] = f
		}
		return rdd.TextFilesChecked(c, paths(files), func(path string) error { return checkVersion(selected[path]) })
	})
}
