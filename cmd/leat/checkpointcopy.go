package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/streamingcontext"
)

func cloneCommand(p *printer) *cobra.Command {
	return &cobra.Command{
		Use: "clone DIR NEW", Short: "Copy a folder, so that a program can go on from the copy", Args: cobra.ExactArgs(2),
		Long: "Makes NEW a copy of DIR that a program can go on from, whole and checked, or nothing. No program may have DIR open.\n" +
			"Both go on with the same batches: give the copy copies of the outputs, or use rewind -into.\n" +
			"What is in a store is copied with the store's own tools, while no program uses it: all names, the driver log's too.",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := onFolders("clone", args); err != nil {
				return err
			}
			r, err := streamingcontext.CloneCheckpoint(args[0], args[1])
			if err != nil {
				return err
			}
			return p.print(cloned{args[1], r}, "%s: %v", args[1], r)
		},
	}
}

// cloned is a copy as it is printed.
type cloned struct {
	Dir string
	streamingcontext.CheckpointReport
}

func rewindCommand(p *printer) *cobra.Command {
	var to, into string
	var list bool
	c := &cobra.Command{
		Use: "rewind DIR -to BATCH|TIME", Short: "Go back to an earlier batch, and run those after it again", Args: cobra.ExactArgs(1),
		Long: "Takes DIR back to a batch: a program that goes on from it runs the batches after that one again, with the input that they had.\n" +
			"The folder as it was is kept beside it, under the name that is printed; with -into DIR stays and NEW is made.\n" +
			"Outputs are not taken back. Sinks that have later batches are refused at the start: use new ones, or take them back as well.\n" +
			"No program may have DIR open, but for -list. What is in a store cannot be taken back.",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := onFolders("rewind", append(args, into)); err != nil {
				return err
			}
			if list {
				return listRewindPoints(p, args[0])
			}
			if to == "" {
				return errors.New("rewind needs -to BATCH|TIME, or -list")
			}
			return rewindTo(p, args[0], to, into)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the last batch that stays: its id, or a time as 1700000000000ms or in RFC 3339: the last batch up to it")
	c.Flags().StringVar(&into, "into", "", "make this folder, and leave DIR as it is")
	c.Flags().BoolVar(&list, "list", false, "print the batches that can be gone back to, the newest first")
	return c
}

func listRewindPoints(p *printer, dir string) error {
	points, err := streamingcontext.RewindPoints(dir)
	if err != nil {
		return err
	}
	for _, point := range points {
		if err := p.print(point, "%s", pointText(point)); err != nil {
			return err
		}
	}
	return nil
}

func pointText(point streamingcontext.RewindPoint) string {
	from := point.File
	if from == "" {
		from = "the beginning"
	}
	return fmt.Sprintf("batch %d\ttime %d\t%d batches run again\tfrom %s", point.Batch, int64(point.Time), point.Again, from)
}

func rewindTo(p *printer, dir, to, into string) error {
	id, err := strconv.ParseInt(to, 10, 64)
	if err != nil {
		if id, err = batchAt(dir, to); err != nil {
			return err
		}
	}
	r, err := streamingcontext.RewindCheckpoint(dir, streamingcontext.RewindOptions{To: id, Into: into})
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s", r.Dir, pointText(r.RewindPoint))
	if r.Old != "" {
		text += "\nas it was: " + r.Old
	}
	return p.print(r, "%s", text)
}

// batchAt returns the last batch up to a time.
func batchAt(dir, to string) (int64, error) {
	var ms int64
	if number, ok := strings.CutSuffix(to, "ms"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("-to %s: %w", to, err)
		}
		ms = n
	} else {
		at, err := time.Parse(time.RFC3339Nano, to)
		if err != nil {
			return 0, fmt.Errorf("-to %s: neither the id of a batch nor a time", to)
		}
		ms = at.UnixMilli()
	}
	points, err := streamingcontext.RewindPoints(dir)
	if err != nil {
		return 0, err
	}
	for _, point := range points {
		if int64(point.Time) <= ms {
			return point.Batch, nil
		}
	}
	return 0, fmt.Errorf("-to %s: no batch up to then can be gone back to, see -list", to)
}
