package proctest_test

import (
	"net"
	"net/netip"
	"runtime"
	"testing"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

func TestFreeAddressesAreTakenByNobody(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		address, err := proctest.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().IsLoopback() {
			t.Fatalf("%s is not on loopback: %v", address, err)
		}
		if seen[address] {
			t.Errorf("%s twice", address)
		}
		seen[address] = true
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		// What connections come from is another host, so none of them takes a port here.
		if from := conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr(); runtime.GOOS == "linux" && from == at.Addr() {
			t.Errorf("a connection to %s comes from the same host", address)
		}
		_, _ = conn.Close(), l.Close() // nothing was written
	}
}
