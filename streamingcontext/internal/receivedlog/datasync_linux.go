package receivedlog

import (
	"os"
	"syscall"
)

// dataSync flushes what was written and the size, but not the times.
func dataSync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
