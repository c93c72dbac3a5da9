package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// clusterFlags says whom to ask, and how.
type clusterFlags struct {
	addresses     []string
	ca, cert, key string
	timeout       time.Duration
}

func clusterCommand(p *printer) *cobra.Command {
	o := new(clusterFlags)
	c := group("cluster", "The drivers of a cluster",
		&cobra.Command{
			Use: "status -addr HOST:PORT", Short: "Print what drivers know of the cluster", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error { return clusterStatus(c, p, o) },
		},
		&cobra.Command{
			Use: "join HOST:PORT -addr HOST:PORT", Short: "Take the driver at an address into the cluster of another", Args: cobra.ExactArgs(1),
			Long: "Takes the driver that runs at the first address into the cluster that -addr belongs to, and returns when it votes.\n" +
				"It must have been started on an empty folder, without a cluster of its own.",
			RunE: func(c *cobra.Command, args []string) error { return clusterJoin(c, p, o, args[0]) },
		},
		&cobra.Command{
			Use: "remove ID -addr HOST:PORT", Short: "Remove a driver, which may be gone", Args: cobra.ExactArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				return change(c, p, o, done{Request: "remove", ID: args[0]}, func(ctx context.Context, asked *admin.Client, address string) error {
					return asked.Remove(ctx, address, args[0])
				})
			},
		},
		&cobra.Command{
			Use: "transfer [ID] -addr HOST:PORT", Short: "Let another driver lead, any or that one", Args: cobra.MaximumNArgs(1),
			RunE: func(c *cobra.Command, args []string) error {
				id := ""
				if len(args) > 0 {
					id = args[0]
				}
				return change(c, p, o, done{Request: "transfer", ID: id}, func(ctx context.Context, asked *admin.Client, address string) error {
					return asked.Transfer(ctx, address, id)
				})
			},
		},
		&cobra.Command{
			Use: "snapshot -addr HOST:PORT", Short: "Let the leader write a snapshot of the driver log", Args: cobra.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return change(c, p, o, done{Request: "snapshot"}, func(ctx context.Context, asked *admin.Client, address string) error {
					return asked.Snapshot(ctx, address)
				})
			},
		})
	c.PersistentFlags().StringSliceVar(&o.addresses, "addr", nil, "where drivers of the cluster are reached, HOST:PORT, several with commas")
	c.PersistentFlags().StringVar(&o.ca, "ca", "", "the certificate of the cluster's authority, PEM; without it drivers on this machine only")
	c.PersistentFlags().StringVar(&o.cert, "cert", "", "a certificate of that authority for clients, PEM")
	c.PersistentFlags().StringVar(&o.key, "key", "", "its private key, PEM")
	c.PersistentFlags().DurationVar(&o.timeout, "timeout", time.Minute, "how long to wait for each driver that is asked; status: 5s")
	c.AddCommand(initCommand(p), recoverCommand(p))
	c.AddCommand(appCommands(p, o)...)
	return c
}

// client returns what asks drivers. It tells stderr where it is sent.
func (o *clusterFlags) client(stderr io.Writer) (*admin.Client, error) {
	if len(o.addresses) == 0 {
		return nil, errors.New("-addr HOST:PORT says which driver to ask")
	}
	var opts link.Options
	switch given := []string{o.ca, o.cert, o.key}; {
	case !slices.Contains(given, ""):
		opts.TLS = &link.TLS{CA: o.ca, Certificate: o.cert, Key: o.key}
	case slices.ContainsFunc(given, func(s string) bool { return s != "" }):
		return nil, errors.New("-ca, -cert and -key go together")
	default:
		opts.Name = "operator"
	}
	dialer, err := link.NewDialer(opts)
	if err != nil {
		return nil, err
	}
	return &admin.Client{
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, link.Admin, address)
		},
		Followed: func(address string, leader admin.Member) {
			_, _ = fmt.Fprintf(stderr, "leat: %s does not lead, asking %v\n", address, leader)
		},
	}, nil
}

// done is what was done, as it is printed.
type done struct {
	Request string
	ID      string        `json:",omitempty"`
	Member  *admin.Member `json:",omitempty"`
}

// change asks for a change, one address after the other until one is a driver that knows the leader. During an election none does, and all are
// asked again for a while.
func change(c *cobra.Command, p *printer, o *clusterFlags, what done, ask func(ctx context.Context, client *admin.Client, address string) error) error {
	client, err := o.client(c.ErrOrStderr())
	if err != nil {
		return err
	}
	for begin := time.Now(); ; {
		err := o.eachAddress(c.Context(), func(ctx context.Context, address string) error { return ask(ctx, client, address) })
		if err == nil {
			return p.print(what, "%s: done", what)
		}
		if !unled(err) || time.Since(begin) > min(o.timeout, electionWait) {
			return err
		}
		select {
		case <-c.Context().Done():
			return err
		case <-time.After(electionPause):
		}
	}
}

// How long a command waits for drivers to find a leader, and how often it asks.
const (
	electionWait  = 10 * time.Second
	electionPause = 250 * time.Millisecond
)

// eachAddress asks until one answers that it is done, or that no other could know better.
func (o *clusterFlags) eachAddress(ctx context.Context, ask func(ctx context.Context, address string) error) (all error) {
	for _, address := range o.addresses {
		ctx, cancel := context.WithTimeout(ctx, o.timeout)
		err := ask(ctx, address)
		cancel()
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
		if !elsewhereBetter(err) {
			break
		}
	}
	return all
}

// String returns what was done.
func (d done) String() string {
	text := d.Request
	if d.ID != "" {
		text += " " + d.ID
	}
	if d.Member != nil {
		text += " " + d.Member.String()
	}
	return text
}

// unled says whether a driver that was asked has done nothing, for it knows of no leader.
func unled(err error) bool {
	var elsewhere *admin.NotLeaderError
	return elsewhereBetter(err) && errors.As(err, &elsewhere) && elsewhere.Leader.Address == ""
}

// elsewhereBetter says whether another driver may know better than the one that was asked, which has done nothing.
func elsewhereBetter(err error) bool {
	var bad *admin.RequestError
	var failed *admin.NodeError
	return !errors.As(err, &bad) && !errors.As(err, &failed) && !errors.Is(err, admin.ErrUnknown)
}

func clusterJoin(c *cobra.Command, p *printer, o *clusterFlags, address string) error {
	client, err := o.client(c.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), o.timeout)
	fresh, err := client.Status(ctx, address)
	cancel()
	if err != nil {
		return err
	}
	m := admin.Member{ID: fresh.ID, Name: fresh.Name, Address: address, Voter: true}
	return change(c, p, o, done{Request: "join", Member: &m}, func(ctx context.Context, client *admin.Client, at string) error {
		if fresh.Cluster != "" {
			status, err := client.Status(ctx, at)
			if err != nil {
				return err
			}
			if status.Cluster != fresh.Cluster {
				return &admin.RequestError{What: fmt.Sprintf("%s at %s is of cluster %s already, not of %s", fresh.ID, address, fresh.Cluster, status.Cluster)}
			}
		}
		return client.Join(ctx, at, m)
	})
}
