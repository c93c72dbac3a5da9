package link

import (
	"fmt"
	"strings"
	"unicode"
)

// A Reason says why a connection is refused. The numbers are part of the format.
type Reason uint8

// The reasons.
const (
	Malformed       Reason = 1  // what was said first is not a hello
	Oversized       Reason = 2  // a frame over 1 KiB
	Late            Reason = 3  // the hello did not come in time
	WrongVersion    Reason = 4  // another version of the handshake
	UnknownProtocol Reason = 5  // nobody here speaks the protocol
	WrongCluster    Reason = 6  // a member of another cluster
	NoCluster       Reason = 7  // a node without a cluster asks for more than Admin
	WrongName       Reason = 8  // the certificate does not have the name
	BadCertificate  Reason = 9  // no certificate, or one that does not count
	BadTransport    Reason = 10 // one end speaks TLS and the other does not, or TLS fails otherwise
	Busy            Reason = 11 // too many connections
	HungUp          Reason = 12 // the other end closed the connection before it said all
	reasons         Reason = 13
)

var reasonTexts = [reasons]string{
	Malformed: "malformed hello", Oversized: "oversized hello", Late: "no hello in time", WrongVersion: "wrong version", UnknownProtocol: "unknown protocol",
	WrongCluster: "wrong cluster", NoCluster: "no cluster yet", WrongName: "name not in certificate", BadCertificate: "bad certificate",
	BadTransport: "TLS handshake", Busy: "too many connections", HungUp: "hung up",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r < reasons && reasonTexts[r] != "" {
		return reasonTexts[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// A RefusedError says that one end of a connection refused the other. Nothing of the protocol's was sent.
type RefusedError struct {
	Peer   Peer   // the other end, its address and what it said of itself until then
	Reason Reason // why
	Detail string // the facts, in the words of who refused
	Remote bool   // the other end refused this one
	Err    error  // the cause, if there is one: for certificates an error of crypto/x509
}

// Error returns who refused whom, and why.
func (e *RefusedError) Error() string {
	s := e.Reason.String()
	switch peer := e.Peer.String(); {
	case peer == "": // an end refuses what it has itself, as its own certificate
		s = "refused: " + s
	case e.Remote:
		s = "refused by " + peer + ": " + s
	default:
		s = "refused " + peer + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// refused returns a refusal by this end; the peer is filled in where it is known.
func refused(r Reason, detail string) *RefusedError { return &RefusedError{Reason: r, Detail: detail} }

// maxDetail is the size in bytes of the longest detail that is sent.
const maxDetail = 512

// appendRefusal appends the frame that tells the other end.
func appendRefusal(dst []byte, e *RefusedError) []byte {
	detail := e.Detail
	if detail == "" && e.Err != nil {
		detail = e.Err.Error()
	}
	detail = oneLine(detail)
	if len(detail) > maxDetail {
		detail = strings.ToValidUTF8(detail[:maxDetail], "")
	}
	return appendFrame(dst, refusalFrame, append([]byte{byte(e.Reason)}, detail...))
}

// decodeRefusal returns what the body of the other end's refusal says.
func decodeRefusal(body []byte) *RefusedError {
	if len(body) == 0 || !isText(string(body[1:]), maxDetail) {
		return refused(Malformed, "its refusal has no reason, or one that is no text")
	}
	return &RefusedError{Reason: Reason(body[0]), Detail: string(body[1:]), Remote: true}
}

// oneLine returns text that does nothing to a terminal or a log.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
