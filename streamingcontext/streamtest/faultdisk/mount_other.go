//go:build !linux

package faultdisk

import "runtime"

func (d *Disk) mount(string) error {
	return &UnavailableError{Reason: "it is used on Linux only, this is " + runtime.GOOS}
}
