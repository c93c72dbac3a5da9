//go:build !linux

package receivedlog

import "os"

func dataSync(f *os.File) error { return f.Sync() }
