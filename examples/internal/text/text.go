// Package text gives the examples their input: lines of files, of standard input or of a socket, as a
// stream that says when it has ended, or as one RDD.
package text

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/receivers/reader"
	"github.com/leat-io/leat/streamingcontext"
)

// A Source is where lines come from, as the flags say.
type Source struct {
	In    string    // file, folder, glob, or - for Stdin; empty: Addr, else the Go installation's sources
	Addr  string    // host:port of a server that sends lines
	Stdin io.Reader // what - reads
	// Batches is how many batches the lines of files are spread over. 0 means 12.
	Batches int
}

// Flags adds -in and -addr to a flag set.
func (s *Source) Flags(f *flag.FlagSet) {
	f.StringVar(&s.In, "in", "", "file, folder, glob, or - for standard input (default: the sources of the local Go installation)")
	f.StringVar(&s.Addr, "addr", "", "host:port of a server that sends lines")
}

// Stream declares the stream of the source's lines. ended is called once, when all lines have been
// given to batches and those have been processed; a socket has no end.
func (s Source) Stream(engine *streamingcontext.Engine, opts streamingcontext.Options, ended func()) (*streamingcontext.Context, *dstream.DStream[string], error) {
	opts.Engine = engine
	once := sync.OnceFunc(ended)
	switch {
	case s.Addr != "":
		// A server that is not there is tried again and again: say so.
		opts.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		ssc := streamingcontext.New(opts)
		return ssc, ssc.SocketText(s.Addr), nil
	case s.In == "-":
		ssc := streamingcontext.New(opts)
		return ssc, streamingcontext.Receive(ssc, reader.Lines(s.Stdin, reader.Options{Ended: once})), nil
	}
	groups, err := s.groups(engine.RDDs())
	if err != nil {
		return nil, nil, err
	}
	var q queue.Queue[*rdd.RDD[string]]
	q.Push(groups...)
	left := len(groups)
	if left == 0 {
		once()
	}
	opts.Listeners = append(opts.Listeners, streamingcontext.Listener{
		BatchCompleted: func(streamingcontext.BatchInfo) {
			if left--; left == 0 {
				once()
			}
		},
	})
	ssc := streamingcontext.New(opts)
	return ssc, streamingcontext.QueueStream(ssc, &q), nil
}

// RDD returns the source's lines as one RDD; standard input and sockets have to be streamed.
func (s Source) RDD(c *rdd.Context) (*rdd.RDD[string], error) {
	switch {
	case s.Addr != "":
		return nil, errors.New("-once needs files: a socket has no end")
	case s.In == "-":
		lines, err := readLines(s.Stdin)
		if err != nil {
			return nil, err
		}
		return rdd.Parallelize(c, lines, c.Parallelism()), nil
	case s.In == "":
		files, err := goSources()
		if err != nil {
			return nil, err
		}
		return rdd.TextFiles(c, files), nil
	}
	return rdd.TextFile(c, s.In, c.Parallelism()), nil
}

// groups cuts the source's files into RDDs of about equal size, one a batch, in order.
func (s Source) groups(c *rdd.Context) ([]*rdd.RDD[string], error) {
	all, err := s.RDD(c)
	if err != nil {
		return nil, err
	}
	batches := s.Batches
	if batches == 0 {
		batches = 12
	}
	if s.In != "" {
		all = rdd.TextFile(c, s.In, batches*c.Parallelism())
	}
	n, err := all.NumPartitions()
	if err != nil {
		return nil, err
	}
	var groups []*rdd.RDD[string]
	for g := range batches {
		from, to := g*n/batches, (g+1)*n/batches
		if from < to {
			groups = append(groups, all.PrunePartitions(func(part int) bool { return from <= part && part < to }))
		}
	}
	return groups, nil
}

// goSources lists the text files of the local Go installation, sorted.
func goSources() ([]string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find the Go installation: %w (give -in or -addr)", err)
	}
	root := strings.TrimSpace(string(out))
	var files []string
	err = filepath.WalkDir(filepath.Join(root, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if ext := filepath.Ext(path); d.Type().IsRegular() && (ext == ".go" || ext == ".md" || ext == ".txt" || ext == ".html") {
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no text files below %s", root)
	}
	return files, err
}

// readLines returns the lines of r.
func readLines(r io.Reader) (lines []string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
