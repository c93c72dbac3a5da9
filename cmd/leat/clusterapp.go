package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// appCommand returns a command that sets the status of an application.
func appCommand(p *printer, o *clusterFlags, use, short, long string, status driverlog.Status) *cobra.Command {
	return &cobra.Command{
		Use: use + " APP -addr HOST:PORT", Short: short, Long: short + ".\n" + long, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return change(c, p, o, done{Request: use, ID: args[0]}, func(ctx context.Context, asked *admin.Client, address string) error {
				return asked.SetStatus(ctx, address, args[0], status)
			})
		},
	}
}

// appCommands are those of applications.
func appCommands(p *printer, o *clusterFlags) []*cobra.Command {
	return []*cobra.Command{
		appCommand(p, o, "pause", "Let an application begin no more batches", "What is under way goes on. Times that pass are treated as its Options.Missed says.", driverlog.Paused),
		appCommand(p, o, "resume", "Let an application go on that was paused", "One that was stopped has no drivers that could be asked: they are started with cluster.Options.Resume.", driverlog.Running),
		appCommand(p, o, "stop", "Let all drivers of an application end", "It stays stopped: a driver that is started again ends at once, unless it has cluster.Options.Resume.", driverlog.Stopped),
	}
}
