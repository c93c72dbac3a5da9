// Command cluster counts the words of files that appear in a folder. Started several times, on one machine or on several, it is one driver of
// several each time: one makes the batches, and where it is lost another goes on with the same one.
//
//	go run ./examples/cluster -data DIR -store DIR -in DIR -out DIR [-node NAME] [-listen HOST:PORT] [-address HOST:PORT] [-tls DIR]
//	    [-http HOST:PORT] [-batch 1s] [-bootstrap] [-resume]
//
// Every batch writes one row, "word<TAB>count<TAB>total", for each word of its files, to a sink of files below -out. Each driver has a folder of its own
// in -data; -store, -in and -out are for all. It is a program to copy: docs/operations.md says how it is operated.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/cluster"
	"github.com/leat-io/leat/streamingcontext/progress"
)

func main() {
	// Not given back before the end: a signal that comes while the process exits must not look like a bad end.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// run is one driver, until ctx ends: then it hands over.
func run(ctx context.Context, args []string, stderr io.Writer) (err error) {
	var opts cluster.Options
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&opts.Name, "node", "", "name of this driver; empty means driver")
	flags.StringVar(&opts.Listen, "listen", "", "address for other drivers and leat cluster; empty means a cluster of one")
	flags.StringVar(&opts.Advertise, "address", "", "where others reach it; empty means -listen")
	flags.StringVar(&opts.HTTP, "http", "", "address for health, status and metrics; empty means none")
	flags.BoolVar(&opts.Bootstrap, "bootstrap", false, "make a new cluster of an empty -data")
	flags.BoolVar(&opts.Resume, "resume", false, "go on where leat cluster stop was said")
	tls := flags.String("tls", "", "folder with ca.pem, cert.pem and key.pem; empty means this machine only")
	data := flags.String("data", "", "folder of this driver alone")
	store := flags.String("store", "", "folder for checkpoints, which all drivers reach")
	in := flags.String("in", "", "folder in which files of text appear, which all drivers reach")
	out := flags.String("out", "", "folder for the counts, which all drivers reach")
	batch := flags.Duration("batch", time.Second, "batch interval, the same on all")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil // the usage has been printed
	} else if err != nil {
		return err
	}
	if *data == "" || *store == "" || *in == "" || *out == "" || flags.NArg() > 0 {
		return errors.New("-data, -store, -in and -out are needed, and nothing behind the flags")
	}
	if d := *tls; d != "" {
		opts.TLS = &link.TLS{CA: filepath.Join(d, "ca.pem"), Certificate: filepath.Join(d, "cert.pem"), Key: filepath.Join(d, "key.pem")}
	}
	opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	opts.Progress = progress.New(progress.Options{App: "counts", Interval: *batch})
	checkpoints, err := folder.Open(*store, folder.Options{})
	if err != nil {
		return err
	}
	node, err := cluster.Open(*data, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	return node.Drive(ctx, streamingcontext.Options{App: "counts", Interval: *batch, Store: checkpoints, FileRemember: 24 * time.Hour,
		Missed: streamingcontext.MissedCoalesce, Logger: opts.Logger},
		func(ssc *streamingcontext.Context) error { return declare(ssc, *in, *out, *batch) })
}

// declare declares the streams. The drivers must agree on them.
func declare(ssc *streamingcontext.Context, in, out string, batch time.Duration) error {
	lines := ssc.TextFiles(in, streamingcontext.IncludeExisting())
	counts := dstream.CountByValue(dstream.FlatMap(lines, strings.Fields))
	totals := dstream.MapWithState(counts, dstream.NewTryStateSpec(addUp))
	dstream.SaveTo(totals.DStream, "counts", files.Text(out))
	return totals.DStream.Checkpoint(10 * batch)
}

// addUp adds a word's count to its total and returns the row of both.
func addUp(_ dstream.Time, word string, count rdd.Option[int64], total *dstream.State[int64]) (rdd.Option[string], error) {
	n := total.Option().Value + count.Value
	return rdd.Option[string]{Value: fmt.Sprintf("%s\t%d\t%d", word, count.Value, n), OK: true}, total.Update(n)
}
