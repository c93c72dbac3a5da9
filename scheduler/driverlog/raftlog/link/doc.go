// Package link connects the nodes of a cluster: one port for each, several protocols behind it, both ends of every connection known.
//
// A [Link] is the port, made by [Listen] from [Options]. A [Protocol] is what one protocol has of it: a listener, and a way to dial others.
// A [Conn] knows its [Peer]. A [Dialer] is for tools that nobody dials. [TLS] names the files of certificates. A [RefusedError] says which end
// refused the other, with a [Reason].
//
//	l, err := link.Listen(link.Options{Address: ":7000", Name: "driver-1", ID: id, TLS: &files, Cluster: cluster})
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	raft, admin := l.Protocol("raft"), l.Protocol(link.Admin)
//	return l.Run(ctx) // meanwhile others accept from raft and admin, and dial with them
//
// Guarantees: without TLS connections come from this machine and go to it, and Listen and Dial refuse any other address. With TLS it is
// version 1.3, both ends show certificates of the cluster's authority that are valid now and for the end that shows them, and the node's
// name is among the certificate's DNS names. Then both ends say who they are in at most 1 KiB, and nothing of the protocol is sent before each
// has agreed: to the version, the cluster, the protocol and the name. Who does not agree says why and closes the connection.
//
// A node that has no cluster yet may ask for Admin only. It takes what members of a cluster ask for: that is how it is joined. Which
// certificates a cluster's authority makes is therefore what decides who belongs to it.
//
// Whoever connects can hold up nobody: handshakes have a deadline and at most 64 run, the oldest giving way; connections that nobody accepts, and all
// that are open, are bounded. Run ends for its context and Close only. Connections that were handed out have no deadline: these are up
// to the protocol. Certificates are read again when their files change, for new connections.
//
//	frame    = "LEAT" kind:byte version:uint16 size:uint16 body
//	"H"ello  = protocol cluster node build, each its size in a byte and its text
//	"G"o     = empty: the dialler takes the answer
//	"R"efusal = reason:byte detail
//
// The dialler sends its hello, the other end answers with its own, the dialler says go and begins. Numbers are big-endian. The header and
// refusals stay as they are in later versions.
//
// Any goroutine may call anything. Goroutines: Run's, and one for each connection until it is accepted.
//
// What is not here: what the protocols say; who of the authority's nodes may ask for what; joining, which package admin asks for.
//
// Sources: RFC 8446, "The Transport Layer Security (TLS) Protocol Version 1.3", 2018, section 4.4.2; RFC 7301, "Transport Layer Security
// (TLS) Application-Layer Protocol Negotiation Extension", 2014.
package link
