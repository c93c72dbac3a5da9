package faultdisk

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// maxRequest bounds the bytes of a read or a write.
const maxRequest = 128 << 10

// mount shows the folder real at d.dir.
func (d *Disk) mount(real string) error {
	if _, err := os.Stat(d.dir); errors.Is(err, syscall.ENOTCONN) {
		_ = unix.Unmount(d.dir, unix.MNT_DETACH) // whoever has served it is gone; where that was not it the next call says so
	}
	var st syscall.Stat_t
	for _, dir := range []string{real, d.dir} {
		if err := syscall.Stat(dir, &st); err != nil {
			return &os.PathError{Op: "stat", Path: dir, Err: err}
		}
	}
	// Not by the library, which would let child processes have the connection: the kernel keeps it for those as long as they are there.
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &UnavailableError{Reason: "/dev/fuse cannot be opened", Err: err}
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,max_read=%d", fd, st.Mode&syscall.S_IFMT, os.Geteuid(), os.Getegid(), maxRequest)
	if err := unix.Mount("faultdisk", d.dir, "fuse.faultdisk", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return &UnavailableError{Reason: "mounting is refused", Err: errors.Join(err, unix.Close(fd))}
	}
	root := &node{LoopbackNode: &fs.LoopbackNode{RootData: &fs.LoopbackRoot{Path: real}}, gate: d.gate}
	var never time.Duration
	server, err := fuse.NewServer(fs.NewNodeFS(root, &fs.Options{AttrTimeout: &never, EntryTimeout: &never}), fmt.Sprintf("/dev/fd/%d", fd), &fuse.MountOptions{
		MaxWrite: maxRequest, DisableXAttrs: true, Logger: log.New(io.Discard, "", 0), // it logs answers to callers that were closed off
		// Nothing is written to the real folder but through this, so the kernel need not look whether it was.
		ExplicitDataCacheControl: true,
	})
	if err != nil {
		return errors.Join(err, unix.Unmount(d.dir, unix.MNT_FORCE|unix.MNT_DETACH))
	}
	var serving sync.WaitGroup
	serving.Go(server.Serve)
	d.unmount = func() error {
		// Force ends the connection, so that nobody waits for it any more.
		err := unix.Unmount(d.dir, unix.MNT_FORCE|unix.MNT_DETACH)
		if errors.Is(err, unix.EINVAL) {
			err = nil // somebody else has unmounted it
		}
		if err == nil {
			serving.Wait()
		}
		return err
	}
	if err := errors.Join(server.WaitMount(), deafen(d.dir)); err != nil {
		return errors.Join(err, d.unmount())
	}
	return nil
}

// deafen has the kernel learn that files cannot be waited for. It would ask when this process opens one, at a moment at which Go's runtime may not be
// able to let the answer be given.
func deafen(dir string) error {
	// The library knows the name, and answers for it.
	fd, err := unix.Open(filepath.Join(dir, ".go-fuse-epoll-hack"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a file of the disk: %w", err)
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return errors.Join(err, unix.Close(fd))
}
