package link

import (
	"crypto/x509"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Admin is the protocol of requests to a node. It is the only one that a node without a cluster may ask for.
const Admin = "admin"

// A Peer is the other end of a connection, as it says in its hello. With TLS its certificate has its name.
type Peer struct {
	Address string // where it connects from, or was dialled
	ID      string // its name and 16 hex digits
	Name    string // the name within ID
	Cluster string // "" where it has none yet
	Build   string // what program it is, for people
}

// String returns the id and the address.
func (p Peer) String() string {
	if p.ID == "" {
		return p.Address
	}
	return p.ID + " at " + p.Address
}

// hello is what each end says first.
type hello struct {
	protocol, cluster, node, build string
}

// append appends the fields in their order, each with its size in a byte.
func (h hello) append(dst []byte) []byte {
	for _, s := range [...]string{h.protocol, h.cluster, h.node, h.build} {
		dst = append(dst, byte(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

// decodeHello returns the hello in a frame's body, every field in its bounds.
func decodeHello(body []byte) (hello, error) {
	var fields [4]string
	for i := range fields {
		if len(body) == 0 || len(body)-1 < int(body[0]) {
			return hello{}, refused(Malformed, fmt.Sprintf("field %d of the hello is cut off", i))
		}
		n := 1 + int(body[0])
		fields[i], body = string(body[1:n]), body[n:]
	}
	h := hello{fields[0], fields[1], fields[2], fields[3]}
	_, isNode := nameOf(h.node)
	switch {
	case len(body) > 0:
		return hello{}, refused(Malformed, fmt.Sprintf("%d bytes behind the hello", len(body)))
	case !isName(h.protocol, maxProtocol):
		return hello{}, refused(Malformed, fmt.Sprintf("protocol name %q", h.protocol))
	case h.cluster != "" && CheckCluster(h.cluster) != nil:
		return hello{}, refused(Malformed, fmt.Sprintf("cluster id %q", h.cluster))
	case !isNode:
		return hello{}, refused(Malformed, fmt.Sprintf("node id %q", h.node))
	case !isText(h.build, maxBuild):
		return hello{}, refused(Malformed, fmt.Sprintf("build %q", h.build))
	}
	return h, nil
}

func isText(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// checkCaller returns why an end of cluster own does not take a connection whose dialler says h.
func checkCaller(h hello, own string) error {
	switch {
	case h.protocol != Admin && h.cluster == "":
		return refused(NoCluster, fmt.Sprintf("a node without a cluster may ask for %s only, not for %s", Admin, h.protocol))
	case h.cluster != "" && own != "" && h.cluster != own:
		return refused(WrongCluster, fmt.Sprintf("it is of cluster %s, this end of %s", h.cluster, own))
	}
	return nil // an end without a cluster is taken into one through the connections of those that have one
}

// checkAnswer returns why a dialler does not take what was answered to its own hello.
func checkAnswer(own, h hello) error {
	switch {
	case h.protocol != own.protocol:
		return refused(Malformed, fmt.Sprintf("it answers for %s, not for %s", h.protocol, own.protocol))
	case h.cluster != "" && own.cluster != "" && h.cluster != own.cluster:
		return refused(WrongCluster, fmt.Sprintf("it is of cluster %s, this end of %s", h.cluster, own.cluster))
	}
	return nil
}

// checkName returns why a certificate is not that of the node that says h. The name is compared as a whole: a pattern in a certificate
// stands for nobody. nil without TLS.
func checkName(h hello, certificate *x509.Certificate) error {
	if certificate == nil {
		return nil
	}
	name, _ := nameOf(h.node)
	if !hasName(certificate, name) {
		return refused(WrongName, fmt.Sprintf("it says that it is %s, its certificate is for %q", name, certificate.DNSNames))
	}
	return nil
}

func hasName(certificate *x509.Certificate, name string) bool {
	for _, dns := range certificate.DNSNames {
		if strings.EqualFold(dns, name) {
			return true
		}
	}
	return false
}
