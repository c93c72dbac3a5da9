package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// maxPEM bounds the bytes of a file of certificates.
const maxPEM = 1 << 20

// certificates are what a node shows over HTTPS, and whose certificates it takes. The files may be replaced, so each connection reads them.
type certificates struct {
	files  link.TLS
	logger *slog.Logger

	mu     sync.Mutex  // guards the fields below
	last   *tls.Config // of the last files that were usable
	failed string      // why those that are there now are not, "" where they are
}

// readCertificates returns what is in the files.
//
// Errors: those of the files, and of what they hold.
func readCertificates(files link.TLS, logger *slog.Logger) (*certificates, error) {
	last, err := credentials(files)
	if err != nil {
		return nil, err
	}
	return &certificates{files: files, logger: logger, last: last}, nil
}

// current returns what the files hold. They are replaced one after the other: while they do not go together, those before stay in use.
func (c *certificates) current() *tls.Config {
	fresh, err := credentials(c.files)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.last, c.failed = fresh, ""
	case c.failed != err.Error():
		c.failed = err.Error()
		c.logger.Warn("new certificates for HTTPS are not usable, the old ones stay in use", "error", err)
	}
	return c.last
}

// credentials reads what a node shows over HTTPS, and whom it answers.
func credentials(files link.TLS) (*tls.Config, error) {
	var texts [3][]byte
	for i, path := range []string{files.CA, files.Certificate, files.Key} {
		var err error
		if texts[i], err = readPEM(path); err != nil {
			return nil, fmt.Errorf("read certificates for HTTPS: %w", err)
		}
	}
	pair, err := tls.X509KeyPair(texts[1], texts[2])
	if err != nil {
		return nil, fmt.Errorf("read certificates for HTTPS: %s with key %s: %w", files.Certificate, files.Key, err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(texts[0]) {
		return nil, fmt.Errorf("read certificates for HTTPS: %s has no certificate", files.CA)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true}, nil // whoever comes again is looked at again
}

// readPEM reads a file of a sane size.
func readPEM(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxPEM+1))
	if err == nil && len(text) > maxPEM {
		err = fmt.Errorf("%s is over %d bytes", path, maxPEM)
	}
	return text, err
}
