package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// clusterStatus prints what each of the drivers that are asked knows; those that do not answer are errors.
func clusterStatus(c *cobra.Command, p *printer, o *clusterFlags) error {
	client, err := o.client(c.ErrOrStderr())
	if err != nil {
		return err
	}
	var all error
	for _, address := range o.addresses {
		ctx, cancel := context.WithTimeout(c.Context(), o.timeout)
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
			fmt.Fprintf(&b, "\tleader %s, heard of %s ago", s.Leader.ID, s.LastContact)
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
