package receiverstest

import "os"

// Descriptors returns how many descriptors this process has open, and false where that cannot be told.
func Descriptors() (n int, ok bool) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, false
	}
	return len(entries) - 1, true // one was open to list them
}
