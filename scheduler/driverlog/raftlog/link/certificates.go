package link

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLS names the files, PEM, that a node shows and believes. They may be replaced while it runs: new connections use what is there,
// at most a second later. Connections that exist go on.
type TLS struct {
	CA          string // the certificates of the cluster's authority; during a change of it, the old one and the new one
	Certificate string // the node's own, and those between it and the authority
	Key         string // its private key
}

// String returns the names of the files.
func (t TLS) String() string {
	return fmt.Sprintf("CA %s, certificate %s, key %s", t.CA, t.Certificate, t.Key)
}

const (
	maxPEM     = 1 << 20     // bytes of a file, at most
	lookEvery  = time.Second // how often the files are looked at, at most
	alpn       = "leat"      // the one application protocol: other servers' connections with the same certificates are not taken for ours
	minTLS     = tls.VersionTLS13
	whichFiles = 3
)

// certificates is what the files of a TLS hold, read again when they have changed.
type certificates struct {
	files  TLS
	server bool // the certificate is shown to those who dial, too
	logger *slog.Logger

	mu     sync.Mutex // guards what follows; nothing else is locked under it
	name   string     // that the certificate must have
	looked time.Time
	stats  [whichFiles]os.FileInfo // of the files as they were read
	failed string                  // why the files as they are now are not used, said once
	now    *credentials
}

// credentials is one reading of the files.
type credentials struct {
	pair  tls.Certificate
	leaf  *x509.Certificate
	roots *x509.CertPool
}

// newCertificates reads the files. An empty name stands for the first name in the certificate.
func newCertificates(files TLS, name string, server bool, logger *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, server: server, logger: logger, name: name}
	if err := c.read(time.Now()); err != nil {
		return nil, err
	}
	return c, nil
}

// current returns the files' content, as it was at most a second ago. Where it is not usable now, that is the last that was.
func (c *certificates) current() *credentials {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if since := now.Sub(c.looked); since < lookEvery && since >= 0 {
		return c.now
	}
	if !c.changed() {
		c.looked = now
		return c.now
	}
	if err := c.read(now); err == nil {
		c.failed = ""
		c.logger.Info("certificates replaced", "node", c.name, "until", c.now.leaf.NotAfter.UTC().Format(time.RFC3339))
	} else if c.failed != err.Error() {
		c.failed = err.Error()
		c.logger.Warn("new certificates are not usable, the old ones stay in use", "node", c.name, "error", err)
	}
	return c.now
}

func (c *certificates) paths() [whichFiles]string {
	return [...]string{c.files.CA, c.files.Certificate, c.files.Key}
}

// changed says whether a file is another than the one that was read. A file that is missing is being replaced.
func (c *certificates) changed() bool {
	for i, path := range c.paths() {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if was := c.stats[i]; !os.SameFile(was, info) || was.Size() != info.Size() || !was.ModTime().Equal(info.ModTime()) {
			return true
		}
	}
	return false
}

// read replaces what is in use by what the files hold, all of it or nothing.
func (c *certificates) read(now time.Time) error {
	c.looked = now
	var stats [whichFiles]os.FileInfo
	var texts [whichFiles][]byte
	for i, path := range c.paths() {
		var err error
		if stats[i], texts[i], err = readPEM(path); err != nil {
			return fmt.Errorf("read certificates: %w", err)
		}
	}
	fresh := &credentials{roots: x509.NewCertPool()}
	if !fresh.roots.AppendCertsFromPEM(texts[0]) {
		return fmt.Errorf("read certificates: %s holds no certificate", c.files.CA)
	}
	var err error
	if fresh.pair, err = tls.X509KeyPair(texts[1], texts[2]); err != nil {
		return fmt.Errorf("read certificates: %s with key %s: %w", c.files.Certificate, c.files.Key, err)
	}
	fresh.leaf = fresh.pair.Leaf
	name := c.name
	if name == "" {
		if name = firstName(fresh.leaf); name == "" {
			return fmt.Errorf("read certificates: %s has no name that a node may have", c.files.Certificate)
		}
	}
	if err := fresh.check(name, c.server, now); err != nil {
		return fmt.Errorf("certificate %s: %w", c.files.Certificate, err)
	}
	c.name, c.stats, c.now = name, stats, fresh
	return nil
}

// check returns why other members would not take the certificate.
func (c *credentials) check(name string, server bool, now time.Time) error {
	if !hasName(c.leaf, name) {
		return refused(WrongName, fmt.Sprintf("the node is %s, its certificate is for %q", name, c.leaf.DNSNames))
	}
	chain := make([]*x509.Certificate, 0, len(c.pair.Certificate))
	for _, der := range c.pair.Certificate {
		one, err := x509.ParseCertificate(der)
		if err != nil {
			return err
		}
		chain = append(chain, one)
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if server {
		usages = append(usages, x509.ExtKeyUsageServerAuth)
	}
	for _, usage := range usages {
		if err := verify(chain, c.roots, usage, now); err != nil {
			return err
		}
	}
	return nil
}

func firstName(leaf *x509.Certificate) string {
	for _, name := range leaf.DNSNames {
		if CheckName(name) == nil {
			return name
		}
	}
	return ""
}

// readPEM reads a file, which must be of a sane size.
func readPEM(path string) (os.FileInfo, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if n, err := io.Copy(&b, io.LimitReader(f, maxPEM+1)); err != nil {
		return nil, nil, err
	} else if n > maxPEM {
		return nil, nil, fmt.Errorf("%s is over %d bytes", path, maxPEM)
	}
	return info, b.Bytes(), nil
}

var errNoALPN = errors.New("the other end does not ask for the application protocol " + alpn)
