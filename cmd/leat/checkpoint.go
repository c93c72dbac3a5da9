package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/streamingcontext"
)

func checkpointCommand(p *printer) *cobra.Command {
	return group("checkpoint", "What a program goes on from",
		&cobra.Command{
			Use: "ls DIR", Short: "List the checkpoints, the one that counts marked", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return listCheckpoints(p, args[0]) },
		},
		&cobra.Command{
			Use: "verify DIR", Short: "Check the log, the checkpoint and all files that it names", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				r, err := streamingcontext.VerifyCheckpoint(args[0])
				if err != nil {
					return err
				}
				return p.print(r, "ok: %v", r)
			},
		}, cloneCommand(p), rewindCommand(p))
}

func listCheckpoints(p *printer, dir string) error {
	all, err := streamingcontext.Checkpoints(dir)
	if err != nil {
		return err
	}
	for _, c := range all {
		mark := ""
		if c.Counts {
			mark = "\tcounts"
		}
		if c.Damage != "" {
			mark += "\t" + c.Damage
		}
		line := fmt.Sprintf("%s\tbatch %d\ttime %d\t%d files of state%s", c.File, c.Batch, int64(c.Time), c.Files, mark)
		if err := p.print(c, "%s", line); err != nil {
			return err
		}
	}
	return nil
}
