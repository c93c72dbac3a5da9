package proctest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
)

// FreeAddress returns an address of this machine, host:port, for a process that is started later, ended and started again. It is on loopback.
//
// Where all of 127.0.0.0/8 is this machine, as on Linux, the host is one of its own, taken at random: no connection of another process can take
// the port while nobody listens there, and two that ask hardly ever get the same. Elsewhere the host is 127.0.0.1, and the port one that was free just now.
func FreeAddress() (string, error) {
	var host [4]byte
	binary.BigEndian.PutUint32(host[:], 127<<24|1<<16|rand.Uint32N(1<<24-1<<16)) // 127.1.0.0 and above
	l, err := net.Listen("tcp", netip.AddrPortFrom(netip.AddrFrom4(host), 0).String())
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", fmt.Errorf("free address: %w", err)
	}
	return l.Addr().String(), l.Close()
}
