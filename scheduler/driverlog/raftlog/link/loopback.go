package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrNotLoopback is returned for an address that is not this machine's own, without TLS.
var ErrNotLoopback = errors.New("address is not of the loopback interface and there is no TLS")

// CheckLoopback returns ErrNotLoopback for a host and port that may be another machine's. Names other than localhost are not looked up.
func CheckLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %.200q: %w", address, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return fmt.Errorf("address %.200q: %w", address, ErrNotLoopback)
	}
	return nil
}

// onlyLoopback is a net.Dialer's Control that lets no connection leave the machine, whatever localhost stands for.
func onlyLoopback(_, address string, _ syscall.RawConn) error { return CheckLoopback(address) }
