package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func checkpointCommand(p *printer) *cobra.Command {
	return group("checkpoint", "What a program goes on from",
		placeCommand("ls", "List the checkpoints, the one that counts marked", func(ctx context.Context, pl place) error {
			return listCheckpoints(ctx, p, pl)
		}),
		placeCommand("verify", "Check the log, the checkpoint and all files that it names", func(ctx context.Context, pl place) error {
			r, err := pl.verify(ctx)
			if err != nil {
				return err
			}
			return p.print(r, "ok: %v", r)
		}),
		cloneCommand(p), rewindCommand(p))
}

func listCheckpoints(ctx context.Context, p *printer, pl place) error {
	all, err := pl.checkpoints(ctx)
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
