// Package files is the sink of outputs that become files in a folder, a file for each partition that has rows, which a reader
// sees a batch at a time: all of it or nothing.
//
// A [Sink] writes rows in a [Format]: [Text], [JSON] and [CSV] make sinks of lines, [New] takes any format. A manifest says
// which files a batch consists of. A file that no manifest names is no output, whatever it holds: it is a try that
// failed, or one that is not decided yet. [Read] returns the lines of what is committed, [Verify] compares all of a folder with
// its manifests.
//
//	dir/<application>/<output>/data/<batch>/part-00000-<attempt>.txt   written by attempts, never changed
//	dir/<application>/<output>/commits/<batch>                         the manifest, created once and for all
//	dir/<application>/<output>/epochs/<epoch>                          the newest driver, an empty file
//	dir/<application>/<output>/tmp/                                    manifests that are being written
//
//	counts := stream.ReduceByKey(add).Map(format)
//	dstream.SaveTo(counts, "counts", files.Text("/data/out"))
//	...
//	for row, err := range files.Read("/data/out", files.ReadOptions{Output: "counts"}) {
//		if err != nil {
//			return err
//		}
//		fmt.Printf("%d %d %s\n", row.Batch, row.Partition, row.Line)
//	}
//
// Guarantees: those of package sink, for as long as the file system keeps what was synced. Part files and manifests are created
// exclusively and synced, with their folders, before anything relies on them; a manifest appears through a hard link, whole and
// never over another one, so two drivers cannot both decide a batch. Manifests hold the length and SHA-256 of each file, a
// checksum of their own and that of the manifest before, so that what is damaged, swapped or missing is refused by name. That the
// newest manifest is missing shows only in comparison with the driver log. Any name of an application or output is a safe folder
// name, and no two names share one. [Read] may run beside a driver that commits.
//
// The driver's calls come one at a time for an output; parts are written by many goroutines, and processes, at once.
//
// What is not here: compression, and formats that are no lines; they bring a Format, and read [Parts]. Package parquetfiles is one. File systems without hard links are refused by
// the first Commit. Nothing removes committed batches.
//
// Source: Gray and Reuter, "Transaction Processing", 1992, on shadow pages; Armbrust et al., "Delta Lake", VLDB 2020, on logs of
// what a table consists of.
package files
