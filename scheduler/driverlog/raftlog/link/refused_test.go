package link_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// badHellos is what ends say that have a good certificate, or need none: each is told the reason.
var badHellos = []struct {
	name string
	say  [][]byte // each but the last is answered before the next is sent
	want link.Reason
	told link.Reason // 0 where there is nobody to tell, or it refused itself
}{
	{"wrong_cluster", [][]byte{hello("raft", foreign, idOf2, "")}, link.WrongCluster, link.WrongCluster},
	{"wrong_cluster_admin", [][]byte{hello("admin", foreign, idOf2, "")}, link.WrongCluster, link.WrongCluster},
	{"no_cluster", [][]byte{hello("raft", "", idOf2, "")}, link.NoCluster, link.NoCluster},
	{"version_0", [][]byte{frame('H', 0, len(goodHello)-9, string(goodHello[9:]))}, link.WrongVersion, link.WrongVersion},
	{"version_2", [][]byte{frame('H', 2, len(goodHello)-9, string(goodHello[9:]))}, link.WrongVersion, link.WrongVersion},
	{"version_2_with_another_body", [][]byte{frame('H', 2, 3, "abc")}, link.WrongVersion, link.WrongVersion},
	{"oversized_by_one", [][]byte{frame('H', 1, 1016, strings.Repeat("x", 1016))}, link.Oversized, link.Oversized},
	{"oversized", [][]byte{frame('H', 1, 65535, strings.Repeat("x", 65535))}, link.Oversized, link.Oversized},
	{"oversized_refusal", [][]byte{frame('R', 1, 65535, "")}, link.Oversized, link.Oversized},
	{"largest_frame_garbled", [][]byte{frame('H', 1, 1015, strings.Repeat("\xff", 1015))}, link.Malformed, link.Malformed},
	{"another_magic", [][]byte{append([]byte("RAFT"), goodHello[4:]...)}, link.Malformed, link.Malformed},
	{"http", [][]byte{[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")}, link.Malformed, link.Malformed},
	{"zeros", [][]byte{make([]byte, 100)}, link.Malformed, link.Malformed},
	{"unknown_frame", [][]byte{frame('X', 1, 0, "")}, link.Malformed, link.Malformed},
	{"go_before_hello", [][]byte{frame('G', 1, 0, "")}, link.Malformed, link.Malformed},
	{"empty_hello", [][]byte{frame('H', 1, 0, "")}, link.Malformed, link.Malformed},
	{"field_cut_off", [][]byte{frame('H', 1, 3, "\x04ra")}, link.Malformed, link.Malformed},
	{"field_missing", [][]byte{hello("raft", cluster, idOf2)}, link.Malformed, link.Malformed},
	{"bytes_behind", [][]byte{hello("raft", cluster, idOf2, "", "more")}, link.Malformed, link.Malformed},
	{"unknown_protocol", [][]byte{hello("blocks", cluster, idOf2, "")}, link.UnknownProtocol, link.UnknownProtocol},
	{"no_protocol", [][]byte{hello("", cluster, idOf2, "")}, link.Malformed, link.Malformed},
	{"protocol_with_spaces", [][]byte{hello("a b", cluster, idOf2, "")}, link.Malformed, link.Malformed},
	{"protocol_too_long", [][]byte{hello(strings.Repeat("p", 33), cluster, idOf2, "")}, link.Malformed, link.Malformed},
	{"cluster_short", [][]byte{hello("raft", "0011", idOf2, "")}, link.Malformed, link.Malformed},
	{"cluster_not_hex", [][]byte{hello("raft", strings.Repeat("z", 32), idOf2, "")}, link.Malformed, link.Malformed},
	{"node_missing", [][]byte{hello("raft", cluster, "", "")}, link.Malformed, link.Malformed},
	{"node_without_digits", [][]byte{hello("raft", cluster, "driver-2", "")}, link.Malformed, link.Malformed},
	{"node_in_capitals", [][]byte{hello("raft", cluster, "driver-2-0123456789ABCDEF", "")}, link.Malformed, link.Malformed},
	{"node_only_digits", [][]byte{hello("raft", cluster, "-0123456789abcdef", "")}, link.Malformed, link.Malformed},
	{"build_with_newline", [][]byte{hello("raft", cluster, idOf2, "a\nlevel=ERROR")}, link.Malformed, link.Malformed},
	{"build_too_long", [][]byte{hello("raft", cluster, idOf2, strings.Repeat("b", 129))}, link.Malformed, link.Malformed},
	{"build_not_text", [][]byte{hello("raft", cluster, idOf2, "\xff\xfe")}, link.Malformed, link.Malformed},
	{"nothing", nil, link.HungUp, 0},
	{"half_a_header", [][]byte{goodHello[:5]}, link.HungUp, 0},
	{"half_a_hello", [][]byte{goodHello[:20]}, link.HungUp, 0},
	{"refusal_first", [][]byte{frame('R', 1, 4, "\x06why")}, link.WrongCluster, 0},
	{"refusal_of_the_future", [][]byte{frame('R', 9, 4, "\x4dwhy")}, link.Malformed, 0},
	{"refusal_without_reason", [][]byte{frame('R', 1, 0, "")}, link.Malformed, link.Malformed},
	{"no_go", [][]byte{goodHello}, link.HungUp, 0},
	{"go_garbled", [][]byte{goodHello, []byte("RAFT more than a header")}, link.Malformed, link.Malformed},
	{"go_with_a_body", [][]byte{goodHello, frame('G', 1, 1, "x")}, link.Malformed, link.Malformed},
	{"hello_twice", [][]byte{goodHello, goodHello}, link.Malformed, link.Malformed},
	{"go_oversized", [][]byte{goodHello, frame('G', 1, 40000, "")}, link.Oversized, link.Oversized},
	{"answer_refused", [][]byte{goodHello, frame('R', 1, 1, "\x06")}, link.WrongCluster, 0},
}

func TestBadHellosAreRefusedAndOthersServed(t *testing.T) {
	ca := authority(t)
	for _, secure := range []bool{false, true} {
		name, opts, good := "plain", link.Options{Name: "driver-1", Cluster: ofCluster, HandshakeTimeout: time.Minute}, link.Options{Name: "driver-3", Cluster: ofCluster}
		if secure {
			name, opts.TLS, good.TLS = "tls", files(t, ca, named("driver-1")), files(t, ca, named("driver-3"))
		}
		t.Run(name, func(t *testing.T) {
			l := running(t, opts, "raft", "admin")
			d, err := link.NewDialer(good)
			if err != nil {
				t.Fatal(err)
			}
			bad := clientConfig(pair(t, ca, named("driver-2")))
			for _, tt := range badHellos {
				t.Run(tt.name, func(t *testing.T) {
					before, all := counted(l, tt.want)
					c := dialTCP(t, l)
					if secure {
						c = tls.Client(c, bad)
					}
					for i, b := range tt.say {
						if i > 0 {
							if kind, _, err := readFrame(c); kind != 'H' || err != nil {
								t.Fatalf("the hello is answered by %q, %v", kind, err)
							}
						}
						if _, err := c.Write(b); err != nil {
							t.Fatal(err)
						}
					}
					if len(tt.say) == 0 && secure {
						if err := c.(*tls.Conn).Handshake(); err != nil {
							t.Fatal(err)
						}
					}
					if tt.told == 0 {
						closeWrite(c) // else it is refused without being seen to end
					}
					if got, err := told(c); got != tt.told {
						t.Errorf("the peer is told %v, %v, want %v", got, err, tt.told)
					}
					if after, _ := counted(l, tt.want); after != before+1 {
						t.Errorf("%v is counted %d times, want %d", tt.want, after, before+1)
					}
					if _, after := counted(l, tt.want); after != all+1 {
						t.Errorf("%d refusals, want %d", after, all+1)
					}
					checkServes(t, d, "raft", l.Addr().String())
				})
			}
			if c := l.Counts(); c.Accepted != uint64(len(badHellos)) {
				t.Errorf("%d connections were agreed on, want %d", c.Accepted, len(badHellos))
			}
		})
	}
}

func TestBadCertificatesAreRefusedAndOthersServed(t *testing.T) {
	ca, other := authority(t), authority(t)
	l := running(t, link.Options{Name: "driver-1", Cluster: ofCluster, TLS: files(t, ca, named("driver-1"))}, "raft")
	d, err := link.NewDialer(link.Options{Name: "driver-3", Cluster: ofCluster, TLS: files(t, ca, named("driver-3"))})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	with := func(ca *linktest.CA, c linktest.Certificate) *tls.Config {
		c.Names = append(c.Names, "driver-2")
		return clientConfig(pair(t, ca, c))
	}
	changed := func(change func(*tls.Config)) *tls.Config {
		c := with(ca, linktest.Certificate{})
		change(c)
		return c
	}
	for _, tt := range []struct {
		name   string
		config *tls.Config // nil: no TLS
		say    []byte
		want   link.Reason
		told   link.Reason
		alert  string // what the peer's own TLS says, where it is told that way
	}{
		{"none", clientConfig(), goodHello, link.BadCertificate, 0, "certificate required"},
		{"other_authority", with(other, linktest.Certificate{}), goodHello, link.BadCertificate, 0, "certificate"},
		{"expired", with(ca, linktest.Certificate{From: now.AddDate(0, 0, -2), To: now.Add(-time.Minute)}), goodHello, link.BadCertificate, 0, "expired certificate"},
		{"not_yet_valid", with(ca, linktest.Certificate{From: now.Add(time.Hour)}), goodHello, link.BadCertificate, 0, "certificate"},
		{"for_servers_only", with(ca, linktest.Certificate{Usages: forServers}), goodHello, link.BadCertificate, 0, "bad certificate"},
		{"for_code", with(ca, linktest.Certificate{Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}), goodHello, link.BadCertificate, 0, "bad certificate"},
		{"tls_1.2", changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), goodHello, link.BadTransport, 0, "protocol version"},
		{"no_application_protocol", changed(func(c *tls.Config) { c.NextProtos = nil }), goodHello, link.BadTransport, 0, "bad certificate"},
		{"other_application_protocol", changed(func(c *tls.Config) { c.NextProtos = []string{"h2"} }), goodHello, link.BadTransport, 0, "no application protocol"},
		{"another_name", with(ca, linktest.Certificate{}), hello("raft", cluster, "driver-3-0123456789abcdef", ""), link.WrongName, link.WrongName, ""},
		{"part_of_the_name", with(ca, linktest.Certificate{}), hello("raft", cluster, "driver-0123456789abcdef", ""), link.WrongName, link.WrongName, ""},
		{"longer_name", with(ca, linktest.Certificate{}), hello("raft", cluster, "driver-2.example-0123456789abcdef", ""), link.WrongName, link.WrongName, ""},
		{"pattern", clientConfig(pair(t, ca, named("*.example"))), hello("raft", cluster, "a.example-0123456789abcdef", ""), link.WrongName, link.WrongName, ""},
		{"no_names", clientConfig(pair(t, ca, named())), goodHello, link.WrongName, link.WrongName, ""},
		{"plain_hello", nil, goodHello, link.BadTransport, link.BadTransport, ""},
		{"http", nil, []byte("GET / HTTP/1.1\r\n\r\n"), link.BadTransport, link.BadTransport, ""},
		{"nothing", nil, nil, link.HungUp, 0, ""},
		{"half_a_record", nil, []byte{22, 3, 1, 0, 200, 1}, link.HungUp, 0, ""},
		{"record_too_large", nil, append([]byte{22, 3, 1, 0xff, 0xff}, make([]byte, 1000)...), link.BadTransport, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, all := counted(l, tt.want)
			c := dialTCP(t, l)
			if tt.config != nil {
				c = tls.Client(c, tt.config)
			}
			_, werr := c.Write(tt.say)
			if tt.want == link.HungUp {
				closeWrite(c)
			}
			got, err := told(c)
			if got != tt.told {
				t.Errorf("the peer is told %v, %v, want %v", got, err, tt.told)
			}
			if tt.alert != "" {
				if err := errors.Join(werr, err); !strings.Contains(err.Error(), "remote error: tls: ") || !strings.Contains(err.Error(), tt.alert) {
					t.Errorf("the peer gets %v, want an alert of %q", err, tt.alert)
				}
			}
			if tcp, ok := c.(*tls.Conn); ok {
				_, _ = told(tcp.NetConn()) // until the link has closed it
			}
			if n, sum := counted(l, tt.want); n != before+1 || sum != all+1 {
				t.Errorf("%v is counted %d times of %d, want %d of %d", tt.want, n, sum, before+1, all+1)
			}
			checkServes(t, d, "raft", l.Addr().String())
		})
	}
}

func TestAddressesOfOthersAreRefusedWithoutTLS(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:0", "[::ffff:192.0.2.1]:0", "localhost.example.org:0"} {
		t.Run("listen_on_"+address, func(t *testing.T) {
			opts := link.Options{Address: address}
			if l, err := link.Listen(opts); !errors.Is(err, link.ErrNotLoopback) {
				t.Errorf("Listen returns %v, %v", l, err)
			}
			if err := opts.Validate(); !errors.Is(err, link.ErrNotLoopback) {
				t.Errorf("Validate returns %v", err)
			}
		})
	}
	d, err := link.NewDialer(link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"0.0.0.0:7000", ":7000", "192.0.2.1:7000", "example.org:7000", "[::ffff:192.0.2.1]:7000"} {
		t.Run("dial_"+address, func(t *testing.T) {
			if c, err := d.DialContext(t.Context(), link.Admin, address); !errors.Is(err, link.ErrNotLoopback) {
				t.Errorf("DialContext returns %v, %v", c, err)
			}
		})
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", "127.1.2.3:0"} {
		t.Run("listen_on_"+address, func(t *testing.T) {
			l := running(t, link.Options{Address: address}, link.Admin)
			checkServes(t, d, link.Admin, l.Addr().String())
		})
	}
	t.Run("tls_spoken_to_plain", func(t *testing.T) {
		l := running(t, link.Options{}, link.Admin)
		d, err := link.NewDialer(link.Options{TLS: files(t, authority(t), named("driver-2"))})
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.DialContext(t.Context(), link.Admin, l.Addr().String())
		if e := (*link.RefusedError)(nil); !errors.As(err, &e) || e.Reason != link.BadTransport {
			t.Errorf("DialContext returns %v", err)
		}
		if n, _ := counted(l, link.BadTransport); n != 1 {
			t.Errorf("%d refusals", n)
		}
		plain, err := link.NewDialer(link.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkServes(t, plain, link.Admin, l.Addr().String())
	})
}
