package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// folders is what is done to a driver's folder while no program has it open. A function that is nil is not there.
type folders struct {
	// init makes an empty folder that of the first node of a new cluster.
	init func(ctx context.Context, dir string, o initOptions) (initReport, error)
	// recover makes the node that has the folder the only one of its cluster.
	recover func(ctx context.Context, dir string, o recoverOptions) (recoverReport, error)
}

// initOptions says what the first node is.
type initOptions struct {
	Name    string // of the node
	Address string // that others will dial
}

// initReport is a new cluster as it is printed.
type initReport struct {
	ID, Cluster, Address string
}

// recoverOptions says what the only node is.
type recoverOptions struct {
	Address string // that others will dial, "" for the one it had
	Check   bool   // only say what would be
}

// recoverReport is a recovered cluster as it is printed.
type recoverReport struct {
	ID, Cluster, Address string
	Index                uint64   // the last command that is kept
	Members              []string // ids of those that are not members any more
}

// lossWarning is said before anything that is done with it.
const lossWarning = "WARNING: decisions that other drivers had and this folder does not have are lost: batches that were committed may be run again,\n" +
	"and their output written a second time. The other drivers must never run again with their folders as they are: they would be a\n" +
	"second cluster. Use this only where a majority of the drivers' folders is gone for good.\n"

var errNotHere = errors.New("this leat was built without the replicated driver log")

func initCommand(p *printer, f folders) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init DIR -name NAME -address HOST:PORT", Short: "Make an empty folder that of the first driver of a new cluster", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case o.Address == "":
				return errors.New("-address HOST:PORT is what other drivers will dial")
			case f.init == nil:
				return errNotHere
			}
			r, err := f.init(c.Context(), args[0], o)
			if err != nil {
				return err
			}
			return p.print(r, "%s: driver %s of the new cluster %s, at %s", args[0], r.ID, r.Cluster, r.Address)
		},
	}
	c.Flags().StringVar(&o.Name, "name", "driver", "the name of the driver, which its certificate must have")
	c.Flags().StringVar(&o.Address, "address", "", "where other drivers reach it")
	return c
}

func recoverCommand(p *printer, f folders) *cobra.Command {
	var o recoverOptions
	var accept bool
	c := &cobra.Command{
		Use: "recover DIR -accept-loss", Short: "Go on with one driver where most of the others are gone for good", Args: cobra.ExactArgs(1),
		Long: "Makes the driver that has DIR the only one of its cluster; others join it afterwards, with empty folders. No program may have DIR open.\n" +
			"Without -accept-loss it only says what would be.\n\n" + lossWarning,
		RunE: func(c *cobra.Command, args []string) error {
			if f.recover == nil {
				return errNotHere
			}
			if _, err := fmt.Fprint(c.ErrOrStderr(), lossWarning); err != nil {
				return err
			}
			o.Check = !accept
			r, err := f.recover(c.Context(), args[0], o)
			if err != nil {
				return err
			}
			text := "is now the only one"
			if o.Check {
				text = "would be the only one"
			}
			if err := p.print(r, "%s: driver %s of cluster %s %s, at %s; the log ends at index %d; no members any more: %q",
				args[0], r.ID, r.Cluster, text, r.Address, r.Index, r.Members); err != nil {
				return err
			}
			if o.Check {
				return errors.New("nothing was done, see -accept-loss")
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Address, "address", "", "where other drivers will reach it; without it where they did")
	c.Flags().BoolVar(&accept, "accept-loss", false, "do it")
	return c
}
