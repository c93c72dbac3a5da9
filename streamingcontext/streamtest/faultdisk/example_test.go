package faultdisk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

func ExampleFault() {
	for _, f := range []faultdisk.Fault{{}, faultdisk.Hung(), faultdisk.Slow(time.Second), {Calls: faultdisk.Flushes, Under: "raft/snapshots", Hang: true}} {
		fmt.Println(f)
	}
	// Output:
	// none
	// writes+moves+flushes hang
	// writes+moves+flushes take 1s longer
	// flushes under raft/snapshots hang
}

// A program that has no room, on a machine with FUSE.
func ExampleMount() {
	dir, err := os.MkdirTemp("", "disk-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	at, real := filepath.Join(dir, "at"), filepath.Join(dir, "real")
	if err := errors.Join(os.Mkdir(at, 0o755), os.Mkdir(real, 0o755)); err != nil {
		fmt.Println(err)
		return
	}
	disk, err := faultdisk.Mount(at, real)
	if unavailable := (*faultdisk.UnavailableError)(nil); errors.As(err, &unavailable) {
		fmt.Println("full: true") // not here
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer disk.Close()
	disk.Set(faultdisk.Full())
	fmt.Println("full:", errors.Is(os.WriteFile(filepath.Join(at, "file"), nil, 0o644), syscall.ENOSPC))
	// Output:
	// full: true
}
