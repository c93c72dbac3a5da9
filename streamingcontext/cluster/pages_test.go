package cluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

// served opens a node, lets it serve while ask runs, and closes it.
func served(t *testing.T, opts cluster.Options, ask func(at string)) {
	t.Helper()
	opts.HTTP = "127.0.0.1:0"
	n, err := cluster.Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Serve(t.Context(), func(context.Context) error { ask(n.HTTPAddr()); return nil }); err != nil {
		t.Errorf("Serve = %v", err)
	}
	if err := errors.Join(n.Close(), n.Close()); err != nil {
		t.Error(err)
	}
}

// get returns the status and the body of an answer.
func get(t *testing.T, c *http.Client, url, host string) (int, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.Close = host, true
	answer, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}

// Others see a driver by the same id as the members of the cluster.
func TestANodeSaysWhoItIs(t *testing.T) {
	n, err := cluster.Open(t.TempDir(), cluster.Options{Name: "a", Listen: "127.0.0.1:0", Bootstrap: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	dialer, err := link.NewDialer(link.Options{Name: "ops"})
	if err != nil {
		t.Fatal(err)
	}
	defer dialer.Close()
	err = n.Serve(t.Context(), func(ctx context.Context) error {
		c, err := dialer.DialContext(ctx, link.Admin, n.Addr())
		if err != nil {
			return err
		}
		if got := c.(*link.Conn).Peer().ID; got != n.Log().ID() {
			t.Errorf("it says it is %s, and is %s", got, n.Log().ID())
		}
		return c.Close()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPagesOfThisMachine(t *testing.T) {
	served(t, cluster.Options{}, func(at string) {
		code, body, err := get(t, http.DefaultClient, "http://"+at+"/metrics", "localhost")
		if err != nil || code != http.StatusOK || !strings.Contains(body, "leat_cluster_leader ") {
			t.Errorf("%d %q, %v", code, body, err)
		}
		if code, _, err := get(t, http.DefaultClient, "http://"+at+"/status", "elsewhere.example"); err != nil || code != http.StatusForbidden {
			t.Errorf("another host: %d, %v", code, err)
		}
	})
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80"} {
		if _, err := cluster.Open(t.TempDir(), cluster.Options{HTTP: address}); !errors.Is(err, link.ErrNotLoopback) {
			t.Errorf("%s: %v", address, err)
		}
	}
	n, err := cluster.Open(t.TempDir(), cluster.Options{HTTP: "127.0.0.1:0"}) // never serves
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func TestPagesForThoseWithACertificate(t *testing.T) {
	ca, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := ca.Write(dir, linktest.Certificate{Names: []string{"a", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM())
	client := func(config *tls.Config) *http.Client {
		config.RootCAs = roots
		return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	}
	pair := func(c linktest.Certificate, of *linktest.CA) tls.Certificate {
		certificate, key, err := of.Issue(c)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	stranger, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	served(t, cluster.Options{Name: "a", Listen: "127.0.0.1:0", TLS: &files, Bootstrap: true}, func(at string) {
		at = strings.Replace(at, "127.0.0.1", "localhost", 1)
		ask := func(what string, c *tls.Config, answered bool) {
			code, _, err := get(t, client(c), "https://"+at+"/healthz", "")
			if answered != (err == nil && code == http.StatusServiceUnavailable) { // it drives nothing
				t.Errorf("%s: %d, %v", what, code, err)
			}
		}
		ask("a scraper", &tls.Config{Certificates: []tls.Certificate{pair(linktest.Certificate{Names: []string{"scraper"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, ca)}}, true)
		ask("nobody", &tls.Config{}, false)
		ask("one of another authority", &tls.Config{Certificates: []tls.Certificate{pair(linktest.Certificate{Names: []string{"a"}}, stranger)}}, false)
		ask("a server", &tls.Config{Certificates: []tls.Certificate{pair(linktest.Certificate{Names: []string{"a"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ca)}}, false)
		ask("an expired one", &tls.Config{Certificates: []tls.Certificate{pair(linktest.Certificate{Names: []string{"a"}, To: time.Now().Add(-time.Minute)}, ca)}}, false)
		// Files that are replaced are read within a second or so.
		if _, err := stranger.Write(dir, linktest.Certificate{Names: []string{"a", "localhost"}}); err != nil {
			t.Fatal(err)
		}
		roots.AppendCertsFromPEM(stranger.PEM())
		one := client(&tls.Config{Certificates: []tls.Certificate{pair(linktest.Certificate{Names: []string{"b"}}, stranger)}})
		var code int
		for begin := time.Now(); code == 0 && time.Since(begin) < time.Minute; {
			code, _, err = get(t, one, "https://"+at+"/healthz", "")
		}
		if err != nil || code != http.StatusServiceUnavailable {
			t.Errorf("one of the new authority: %d, %v", code, err)
		}
	})
}
