package linktest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

// A CA is a certificate authority. It is made by NewCA.
type CA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Certificate says what a certificate is like. The zero value is one without a name, for both ends, valid from an hour ago for a day.
type Certificate struct {
	Names    []string           // DNS names
	Usages   []x509.ExtKeyUsage // nil means those of servers and of clients
	From, To time.Time          // zero means an hour ago, and a day after From
}

// NewCA returns an authority that is valid for ten years around now.
func NewCA() (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "leat test authority"},
		NotBefore: now.AddDate(-5, 0, 0), NotAfter: now.AddDate(5, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	return &CA{certificate: certificate, key: key}, nil
}

// PEM returns the authority's certificate.
func (ca *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.certificate.Raw})
}

// Issue returns a certificate of the authority and its key, both PEM.
func (ca *CA) Issue(c Certificate) (certificate, key []byte, err error) {
	if c.From.IsZero() {
		c.From = time.Now().Add(-time.Hour)
	}
	if c.To.IsZero() {
		c.To = c.From.AddDate(0, 0, 1)
	}
	if c.Usages == nil {
		c.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate for %q: %w", c.Names, err)
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "leat test node"}, DNSNames: c.Names,
		NotBefore: c.From, NotAfter: c.To, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: c.Usages,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, &private.PublicKey, ca.key)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate for %q: %w", c.Names, err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate for %q: %w", c.Names, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), nil
}

// Write makes a certificate and writes ca.pem, cert.pem and key.pem to a folder, in the place of those that are there, and returns their
// names.
func (ca *CA) Write(dir string, c Certificate) (link.TLS, error) {
	certificate, key, err := ca.Issue(c)
	if err != nil {
		return link.TLS{}, err
	}
	files := link.TLS{CA: filepath.Join(dir, "ca.pem"), Certificate: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for _, f := range []struct {
		path string
		text []byte
	}{{files.CA, ca.PEM()}, {files.Certificate, certificate}, {files.Key, key}} {
		fresh := f.path + ".new"
		if err := os.WriteFile(fresh, f.text, 0o600); err != nil {
			return link.TLS{}, fmt.Errorf("write certificates: %w", err)
		}
		if err := os.Rename(fresh, f.path); err != nil {
			return link.TLS{}, fmt.Errorf("write certificates: %w", err)
		}
	}
	return files, nil
}

// serial returns a random number of 120 bits.
func serial() *big.Int {
	var b [15]byte
	_, _ = rand.Read(b[:]) // never fails
	return new(big.Int).SetBytes(b[:])
}
