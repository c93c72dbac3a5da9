package main

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// secure makes the operator's dialer, and with -tls an authority for it and the nodes.
func (c *group) secure() (err error) {
	opts := link.Options{Name: "operator"}
	if c.tls {
		if c.ca, err = linktest.NewCA(); err != nil {
			return err
		}
		if opts.TLS, err = c.certify("operator"); err != nil {
			return err
		}
	}
	if c.dialer, err = link.NewDialer(opts); err != nil {
		return err
	}
	c.admin.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		return c.dialer.DialContext(ctx, link.Admin, address)
	}
	return nil
}

// certify makes a certificate for a name, in a folder of that name.
func (c *group) certify(name string) (*link.TLS, error) {
	dir := filepath.Join(c.dir, "certificates", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, err := c.ca.Write(dir, linktest.Certificate{Names: []string{name}})
	return &files, err
}
