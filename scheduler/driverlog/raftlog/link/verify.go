package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

// HTTPS returns how a server of HTTP takes connections with the same files, replaced or not: TLS 1.3, for those who show a certificate for clients
// of the authority. While files that do not go together are there, those before stay in use.
//
// Errors: those of the files, and of what they hold.
func HTTPS(files TLS, logger *slog.Logger) (*tls.Config, error) {
	c, err := newCertificates(files, "", true, logger)
	if err != nil {
		return nil, err
	}
	return c.serverConfig("http/1.1", nil), nil
}

// serverConfig returns how connections that come in are taken, for an application protocol: both ends show a certificate of the cluster's authority.
func (c *certificates) serverConfig(protocol string, check func(tls.ConnectionState) error) *tls.Config {
	config := func(now *credentials) *tls.Config {
		return &tls.Config{
			MinVersion: minTLS, NextProtos: []string{protocol},
			Certificates: []tls.Certificate{now.pair},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: now.roots,
			// Every connection proves itself: a resumed one would bring an identity that was checked against older files.
			SessionTicketsDisabled: true,
			VerifyConnection:       check,
		}
	}
	outer := config(c.current())
	outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return config(c.current()), nil }
	return outer
}

// clientConfig returns how others are dialled. Who answers at an address is known from its hello, not before: what is verified here
// is that the cluster's authority made its certificate, for a server; checkName compares the name.
func (c *certificates) clientConfig() *tls.Config {
	now := c.current()
	return &tls.Config{
		MinVersion: minTLS, NextProtos: []string{alpn},
		Certificates:       []tls.Certificate{now.pair},
		InsecureSkipVerify: true, // in favour of VerifyConnection, which leaves out nothing but the address
		VerifyConnection: func(s tls.ConnectionState) error {
			if err := verify(s.PeerCertificates, now.roots, x509.ExtKeyUsageServerAuth, time.Now()); err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
			}
			return checkALPN(s)
		},
	}
}

func checkALPN(s tls.ConnectionState) error {
	if s.NegotiatedProtocol != alpn {
		return errNoALPN
	}
	return nil
}

// verify returns why a chain, the node's own certificate first, is not one of these roots for this use.
func verify(chain []*x509.Certificate, roots *x509.CertPool, usage x509.ExtKeyUsage, now time.Time) error {
	if len(chain) == 0 {
		return errors.New("no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

// classify returns what an error of a handshake means, as a refusal: by this end, or by the other where its alert says so.
func classify(err error) *RefusedError {
	var already *RefusedError
	var unverified *tls.CertificateVerificationError
	var op *net.OpError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &unverified):
		return &RefusedError{Reason: BadCertificate, Err: unverified.Err}
	case errors.As(err, &op) && op.Op == "remote error": // how crypto/tls reports an alert
		reason := BadTransport
		if text := op.Err.Error(); strings.Contains(text, "certificate") {
			reason = BadCertificate
		}
		return &RefusedError{Reason: reason, Remote: true, Err: op.Err}
	case errors.As(err, &record) && record.Conn != nil:
		return &RefusedError{Reason: BadTransport, Detail: "it does not speak TLS, which is used here"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &RefusedError{Reason: Late, Err: err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe), errors.As(err, &op):
		return &RefusedError{Reason: HungUp, Err: err}
	case strings.HasPrefix(err.Error(), "tls: ") && strings.Contains(err.Error(), "certificate"):
		return &RefusedError{Reason: BadCertificate, Err: err} // none was shown
	}
	return &RefusedError{Reason: BadTransport, Err: err}
}
