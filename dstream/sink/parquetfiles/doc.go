// Package parquetfiles writes Parquet files with a sink of package files, and reads what is committed.
//
// [New] returns a sink whose rows are structs; [Format] is the format of it, for a sink with options. [Read] returns the committed
// rows as structs again, [Lines] makes JSON of them for files.Read, which needs no Go type, and [Verify] is files.Verify that
// also opens every file. Folders, manifests, attempts and commits are those of package files.
//
//	type Count struct {
//		Word string `parquet:"word"`
//		N    int64  `parquet:"n"`
//	}
//
//	dstream.SaveTo(counts, "counts", parquetfiles.New[Count]("/data/out"))
//	...
//	for row, err := range parquetfiles.Read[Count]("/data/out", files.ReadOptions{Output: "counts"}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(row.Batch, row.Value.Word, row.Value.N)
//	}
//
// The schema is that of the struct, by the tags of parquet-go: a name, and optional, list, timestamp, uuid, dict and others. Pages are
// compressed with zstd. A file has a row group for each [Options].RowGroupBytes, so a writer holds about that much, and a
// reader a page of each column.
//
// Guarantees: those of package files. A file is compared with the length and the checksum in its manifest before it is read.
// Whatever it holds, opening it ends with a *files.DamageError that names it: lengths are compared with what is there before anything is
// allocated for them, and no panic of the decoder leaves this package. What compressed pages unpack to is bounded by the
// codec, so files of strangers are better opened by somebody else.
//
// Any goroutine may call anything; an encoder and an iterator belong to the goroutine that uses them.
//
// What is not here: other codecs, sorted and encrypted files, bloom filters; a program that needs them brings a files.Format.
//
// Source: Apache Parquet, file format specification (parquet.apache.org); Melnik et al., "Dremel", VLDB 2010, section on record
// assembly; package github.com/parquet-go/parquet-go.
package parquetfiles
