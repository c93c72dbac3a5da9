package link_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

func TestListenRefusesCertificatesThatOthersWould(t *testing.T) {
	ca, other := authority(t), authority(t)
	now := time.Now()
	good := files(t, ca, named("driver-1"))
	damaged := func(which int, text []byte) *link.TLS {
		f := *files(t, ca, named("driver-1"))
		path := []string{f.CA, f.Certificate, f.Key}[which]
		if text == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	for _, tt := range []struct {
		name   string
		files  *link.TLS
		want   string
		client bool // a dialer is refused as well
	}{
		{"no_key_named", &link.TLS{CA: good.CA, Certificate: good.Certificate}, "TLS needs all of", true},
		{"no_authority_file", damaged(0, nil), "no such file", true},
		{"no_certificate_file", damaged(1, nil), "no such file", true},
		{"no_key_file", damaged(2, nil), "no such file", true},
		{"empty_authority", damaged(0, []byte{}), "holds no certificate", true},
		{"garbled_authority", damaged(0, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")), "holds no certificate", true},
		{"garbled_certificate", damaged(1, []byte("not PEM")), "tls: failed to find any PEM data", true},
		{"endless_file", damaged(1, bytes.Repeat([]byte("x"), 1<<20+1)), "is over 1048576 bytes", true},
		{"key_of_another", &link.TLS{CA: good.CA, Certificate: good.Certificate, Key: files(t, ca, named("driver-1")).Key}, "private key does not match", true},
		{"other_authority", &link.TLS{CA: files(t, other, named("x")).CA, Certificate: good.Certificate, Key: good.Key}, "unknown authority", true},
		{"expired", files(t, ca, linktest.Certificate{Names: []string{"driver-1"}, From: now.AddDate(0, 0, -2), To: now.AddDate(0, 0, -1)}), "expired", true},
		{"not_yet_valid", files(t, ca, linktest.Certificate{Names: []string{"driver-1"}, From: now.Add(time.Hour)}), "not yet valid", true},
		{"another_name", files(t, ca, named("driver-10")), "name not in certificate", true},
		{"for_servers_only", files(t, ca, linktest.Certificate{Names: []string{"driver-1"}, Usages: forServers}), "usage", true},
		{"for_clients_only", files(t, ca, linktest.Certificate{Names: []string{"driver-1"}, Usages: forClients}), "usage", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opts := link.Options{Name: "driver-1", TLS: tt.files}
			if _, err := link.Listen(opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Listen returns %v, want %q", err, tt.want)
			}
			if _, err := link.NewDialer(opts); (err != nil) != tt.client {
				t.Errorf("NewDialer returns %v", err)
			}
		})
	}
	d, err := link.NewDialer(link.Options{TLS: files(t, ca, linktest.Certificate{Names: []string{"*.example", "ops"}, Usages: forClients})})
	if err != nil || !strings.HasPrefix(d.ID(), "ops-") {
		t.Errorf("the name is not that of the certificate: %v, %v", d.ID(), err)
	}
	if _, err := link.NewDialer(link.Options{TLS: files(t, ca, named("*"))}); err == nil {
		t.Error("a certificate without a name for a node is taken")
	}
	var invalid x509.CertificateInvalidError
	if _, err := link.Listen(link.Options{TLS: files(t, ca, linktest.Certificate{Names: []string{"a"}, Usages: forClients})}); !errors.As(err, &invalid) {
		t.Errorf("Listen returns %v, no error of crypto/x509", err)
	}
}

// TestCertificatesAreReplacedWhileALinkRuns changes the authority under two nodes, in three steps as an operator does: each side
// believes both, each shows a new one, each believes the new one only.
func TestCertificatesAreReplacedWhileALinkRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged()
		before, after := authority(t), authority(t)
		n := new(linktest.Network)
		dirs := []string{t.TempDir(), t.TempDir()}
		write := func(i int, ca *linktest.CA, roots ...*linktest.CA) link.TLS {
			f, err := ca.Write(dirs[i], named([]string{"driver-1", "driver-2"}[i]))
			if err != nil {
				t.Fatal(err)
			}
			var all []byte
			for _, root := range roots {
				all = append(all, root.PEM()...)
			}
			if err := os.WriteFile(f.CA, all, 0o600); err != nil {
				t.Fatal(err)
			}
			return f
		}
		one, two := write(0, before, before), write(1, before, before)
		running(t, link.Options{Name: "driver-1", Address: "one", Network: n, TLS: &one, Cluster: ofCluster, Logger: logger}, "raft")
		d, err := link.NewDialer(link.Options{Name: "driver-2", Network: n, TLS: &two, Cluster: ofCluster})
		if err != nil {
			t.Fatal(err)
		}
		checkServes(t, d, "raft", "one")
		old, err := d.DialContext(t.Context(), "raft", "one")
		if err != nil {
			t.Fatal(err)
		}
		step := func(what string, change func()) {
			change()
			<-time.After(2 * time.Second)
			t.Log(what)
			checkServes(t, d, "raft", "one")
		}
		step("both believe both", func() { write(0, before, before, after); write(1, before, before, after) })
		step("one is new", func() { write(0, after, before, after) })
		step("both are new", func() { write(1, after, before, after) })
		step("the old one is gone", func() { write(0, after, after); write(1, after, after) })
		checkEchoes(t, old) // it was agreed on before

		key, err := os.ReadFile(one.Key)
		if err != nil {
			t.Fatal(err)
		}
		replaced := strings.Count(lines.String(), "certificates replaced")
		step("half written", func() {
			if err := os.WriteFile(one.Key, key[:20], 0o600); err != nil {
				t.Fatal(err)
			}
		})
		step("still half written", func() {})
		if got := strings.Count(lines.String(), "not usable"); got != 1 {
			t.Errorf("it is logged %d times:\n%s", got, lines)
		}
		step("gone", func() {
			if err := os.Remove(filepath.Join(dirs[0], "key.pem")); err != nil {
				t.Fatal(err)
			}
		})
		step("whole", func() { write(0, after, after) })
		if got := strings.Count(lines.String(), "certificates replaced"); got != replaced+1 {
			t.Errorf("replaced %d times, want %d:\n%s", got, replaced+1, lines)
		}
		write(1, before, before) // one that the other does not believe any more
		<-time.After(2 * time.Second)
		e := (*link.RefusedError)(nil)
		if _, err := d.DialContext(t.Context(), "raft", "one"); !errors.As(err, &e) || e.Reason != link.BadCertificate {
			t.Errorf("DialContext returns %v", err)
		}
	})
}

// While the certificates of HTTPS are being replaced, one file after the other, those before stay in use.
func TestHTTPSWhileCertificatesAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := authority(t)
		now, fresh := files(t, ca, named("a")), files(t, ca, named("a"))
		logger, _ := logged()
		config, err := link.HTTPS(*now, logger)
		if err != nil {
			t.Fatal(err)
		}
		shown := func() string {
			<-time.After(2 * time.Second) // files are looked at once a second
			c, err := config.GetConfigForClient(nil)
			if err != nil || c.ClientAuth != tls.RequireAndVerifyClientCert || c.MinVersion != tls.VersionTLS13 || c.ClientCAs == nil {
				t.Fatalf("config %+v, %v", c, err)
			}
			return string(c.Certificates[0].Certificate[0])
		}
		first := shown()
		read := func(path string) []byte {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		for _, step := range []struct {
			what, path string
			text       []byte
		}{
			{"a certificate whose key is to come", now.Certificate, read(fresh.Certificate)},
			{"half a certificate", now.Certificate, read(fresh.Certificate)[:100]},
			{"an empty authority", now.CA, nil},
			{"a file without end", now.CA, make([]byte, 1<<20+1)},
		} {
			if err := os.WriteFile(step.path, step.text, 0o600); err != nil {
				t.Fatal(err)
			}
			if shown() != first {
				t.Errorf("%s: what was there before is not in use", step.what)
			}
		}
		if err := os.Remove(now.Key); err != nil {
			t.Fatal(err)
		}
		if shown() != first {
			t.Error("without a key: what was there before is not in use")
		}
		for _, to := range []struct{ from, to string }{{fresh.CA, now.CA}, {fresh.Certificate, now.Certificate}, {fresh.Key, now.Key}} {
			if err := os.Rename(to.from, to.to); err != nil {
				t.Fatal(err)
			}
		}
		if shown() == first {
			t.Error("the new certificate is not in use")
		}
	})
}
