package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// initReport is a new cluster as it is printed.
type initReport struct {
	ID, Cluster string
}

// recoverReport is a recovered cluster as it is printed.
type recoverReport struct {
	ID, Cluster string
	Index       uint64   // the last command that is kept
	Epoch       uint64   // its epoch
	Members     []string // ids of those that are not members any more
}

// lossWarning is said before anything that is done with it.
const lossWarning = "WARNING: decisions that other drivers had and this folder does not have are lost: batches that were committed may be run again,\n" +
	"and their output written a second time. The other drivers must never run again with their folders as they are: they would be a\n" +
	"second cluster. Use this only where a majority of the drivers' folders is gone for good.\n"

func initCommand(p *printer) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "init DIR -name NAME", Short: "Make an empty folder that of the first driver of a new cluster",
		Long: "Makes DIR, the folder that cluster.Open is given, that of the first driver of a new cluster. It is for whoever starts the programs by a\n" +
			"manifest, in which all of them are the same: none needs an option that makes a cluster.", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := initCluster(c.Context(), args[0], name)
			if err != nil {
				return err
			}
			return p.print(r, "%s: driver %s of the new cluster %s", args[0], r.ID, r.Cluster)
		},
	}
	c.Flags().StringVar(&name, "name", raftlog.DefaultName, "the name of the driver, which its certificate must have")
	return c
}

// initCluster makes a cluster of one, which the driver that is started on the folder can be reached in.
func initCluster(ctx context.Context, dir, name string) (r initReport, err error) {
	dir = filepath.Join(dir, "raft")
	if _, err := os.Stat(dir); err == nil {
		if _, err := raftlog.Verify(dir); !errors.Is(err, fs.ErrNotExist) {
			return r, errors.Join(fmt.Errorf("%s is a driver's folder already", dir), err)
		}
	}
	log, err := raftlog.Open(dir, raftlog.Options{Name: name})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	if _, err := log.Lead(ctx); err != nil {
		return r, err
	}
	return initReport{ID: log.ID(), Cluster: log.Cluster()}, nil
}

// initTimeout bounds how long a cluster of one takes to decide something.
const initTimeout = 30 * time.Second

func recoverCommand(p *printer) *cobra.Command {
	var address string
	var accept bool
	c := &cobra.Command{
		Use: "recover DIR -accept-loss", Short: "Go on with one driver where most of the others are gone for good", Args: cobra.ExactArgs(1),
		Long: "Makes the driver that has DIR the only one of its cluster; others join it afterwards, with empty folders. No program may have DIR open.\n" +
			"Without -accept-loss it only says what would be.\n\n" + lossWarning,
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := fmt.Fprint(c.ErrOrStderr(), lossWarning); err != nil {
				return err
			}
			dir := raftFolder(args[0])
			if dir == "" {
				return fmt.Errorf("%s is no driver's folder: %w", args[0], fs.ErrNotExist)
			}
			var last raftlog.Entry
			info, err := raftlog.Dump(dir, func(e raftlog.Entry) error { last = e; return nil })
			if err == nil && accept {
				var report raftlog.RecoverReport
				report, err = raftlog.Recover(dir, raftlog.RecoverOptions{Address: address})
				info = report.Info
			}
			if err != nil {
				return err
			}
			r := recoverReport{ID: info.ID, Cluster: info.Cluster, Index: info.State.Index, Epoch: info.State.Epoch, Members: others(info.Members, info.ID)}
			if !accept {
				if err := p.print(r, "%s: driver %s of cluster %s would be the only member; %s; members no more: %s", args[0], r.ID, r.Cluster,
					end(info, last), listed(r.Members)); err != nil {
					return err
				}
				return errors.New("nothing was done, see -accept-loss")
			}
			return p.print(r, "%s: driver %s of cluster %s is now the only member; %s; members no more: %s", args[0], r.ID, r.Cluster, end(info, last),
				listed(r.Members))
		},
	}
	c.Flags().StringVar(&address, "address", "", "where other drivers will reach it; without it where the program says when it is started")
	c.Flags().BoolVar(&accept, "accept-loss", false, "do it")
	return c
}
