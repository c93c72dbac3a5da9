package raftlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "raftlog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log, err := raftlog.Open(dir, raftlog.Options{Name: "driver-1"}) // alone; with a Network it could be joined by others
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	ctx := context.Background()
	term, err := log.Lead(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd := driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "counts", Batch: 0, Time: 1000}
	fmt.Println(log.Propose(ctx, cmd))
	_, err = log.Propose(ctx, cmd)
	fmt.Println(err)
	s := log.Status()
	fmt.Println(s.Role, s.Index, s.Epoch, len(s.Members))
	// Output:
	// {2 1 false} <nil>
	// propose begin: application counts: begin of batch 0, next is 1
	// leader 2 1 1
}

func ExampleVerify() {
	_, err := raftlog.Verify("no-such-folder")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}
