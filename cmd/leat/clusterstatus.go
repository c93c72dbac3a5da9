package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// statusWait is how long a driver may take to say what it knows, unless -timeout says otherwise: one that stands still or is cut off must not hide the
// others from who looks for it.
const statusWait = 5 * time.Second

// clusterStatus prints what each of the drivers that are asked knows; those that do not answer are errors.
func clusterStatus(c *cobra.Command, p *printer, o *clusterFlags) error {
	client, err := o.client(c.ErrOrStderr())
	if err != nil {
		return err
	}
	limit := o.timeout
	if !c.Flags().Changed("timeout") {
		limit = statusWait
	}
	var all error
	for _, address := range o.addresses {
		ctx, cancel := context.WithTimeout(c.Context(), limit)
		status, err := client.Status(ctx, address)
		cancel()
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		if err := p.print(status, "%s", statusText(status)); err != nil {
			return err
		}
	}
	return all
}

// statusText is a line of the node and one of each member.
func statusText(s admin.Status) string {
	var b strings.Builder
	cluster := s.Cluster
	if cluster == "" {
		cluster = "none yet"
	}
	fmt.Fprintf(&b, "%s\t%s\tcluster %s\tterm %d\tepoch %d\tindex %d\tapplied %d", s.ID, s.Role, cluster, s.Term, s.Epoch, s.Index, s.Applied)
	if s.Role != admin.Leader {
		if s.Leader.ID == "" {
			b.WriteString("\tno leader is known")
		} else {
			fmt.Fprintf(&b, "\tleader %s, heard of %s ago", s.Leader.ID, s.LastContact.Round(time.Millisecond))
		}
	}
	if s.LowSpace {
		fmt.Fprintf(&b, "\tdisk: %d bytes free, too few to lead", s.Free)
	}
	if s.Build != "" {
		fmt.Fprintf(&b, "\tbuild %s", s.Build)
	}
	if s.Poisoned != "" {
		fmt.Fprintf(&b, "\tstorage: %s", s.Poisoned)
	}
	for _, m := range s.Members {
		fmt.Fprintf(&b, "\n\t%s\t%s\t%s", m.ID, m.Address, vote(m.Voter))
		if m.ID == s.Leader.ID {
			b.WriteString("\tleads")
		}
	}
	return b.String()
}
