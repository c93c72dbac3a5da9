package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
)

func sinkCommand(p *printer) *cobra.Command {
	var o files.ReadOptions
	var meta bool
	read := &cobra.Command{
		Use: "read DIR", Short: "Print the committed rows, in order of batch and partition", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return readSink(p, args[0], o, meta) },
	}
	read.Flags().BoolVar(&meta, "meta", false, "print batch and partition before each row, with tabs")
	verify := &cobra.Command{
		Use: "verify DIR", Short: "Compare every file with the manifest that names it", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return verifySink(p, args[0], o) },
	}
	for _, c := range []*cobra.Command{read, verify} {
		c.Flags().StringVar(&o.App, "app", "", "only this application")
		c.Flags().StringVar(&o.Output, "name", "", "only this output")
		c.Flags().Int64Var(&o.From, "from", 0, "the first batch id")
	}
	return group("sink", "A sink of files: rows that are committed", read, verify)
}

// sinkRow is a row as it is printed.
type sinkRow struct {
	App, Output string
	Batch       int64
	Partition   int
	Row         string
}

func readSink(p *printer, dir string, o files.ReadOptions, meta bool) error {
	o.Lines = parquetfiles.Lines
	for row, err := range files.Read(dir, o) {
		if err != nil {
			return err
		}
		switch {
		case p.format == "json":
			err = p.json(sinkRow{row.App, row.Output, row.Batch, row.Partition, string(row.Line)})
		case meta:
			_, err = fmt.Fprintf(p.w, "%d\t%d\t%s\n", row.Batch, row.Partition, row.Line)
		default:
			if _, err = p.w.Write(row.Line); err == nil {
				err = p.w.WriteByte('\n')
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sinkReport is a report as it is printed.
type sinkReport struct {
	Outputs                        int
	Batches, Files, Rows, Bytes    int64
	Problems                       []string
	Garbage, Temporary, Unexpected []string
}

func verifySink(p *printer, dir string, o files.ReadOptions) error {
	r, err := parquetfiles.Verify(dir, o)
	if err != nil {
		return err
	}
	out := sinkReport{r.Outputs, r.Batches, r.Files, r.Rows, r.Bytes, nil, r.Garbage, r.Temporary, r.Unexpected}
	for _, problem := range r.Problems {
		out.Problems = append(out.Problems, problem.Error())
	}
	if err := p.print(out, "%v", r); err != nil {
		return err
	}
	if n := len(r.Problems); n > 0 {
		return fmt.Errorf("%d problems: %w", n, r.Err())
	}
	return nil
}
