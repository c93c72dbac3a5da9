// Package admin asks a node of a cluster for its status and for changes of the cluster.
//
// A [Node] is what is asked: its [Status], and to let a [Member] join, to remove one, to transfer leadership, to take a snapshot; a [Controller] also sets the status
// of applications. [Serve], or a
// [Server], answers for a node. A [Client] asks. What a node refuses comes back as the error that it was: a [NotLeaderError], a
// [RequestError], a [NodeError].
//
//	go admin.Serve(ctx, l.Protocol(link.Admin), node) // and wait for it
//
//	client := &admin.Client{Dial: func(ctx context.Context, address string) (net.Conn, error) {
//		return dialer.DialContext(ctx, link.Admin, address)
//	}}
//	status, err := client.Status(ctx, "driver-1.example:7000")
//	if err != nil {
//		return err
//	}
//	err = client.Remove(ctx, status.Leader.Address, "driver-3-0123456789abcdef")
//
// Guarantees: a node that does not lead answers for its status only. Everything else it refuses with the leader's address, and forwards
// nothing: the client goes there itself, at most three times, and says so. A request whose answer is lost is not sent again: ErrUnknown says
// that it may have been done. Requests and replies are at most 64 KiB; a size is checked before anything is allocated.
//
//	request, reply = size:uint32 (big-endian) JSON
//
// A connection is for one request. When the client hangs up, what it asked for is cancelled.
//
// Any goroutine may call anything. Serve has a goroutine for each connection, at most 16.
//
// What is not here: who may ask. Whoever the listener lets in may; package link lets in those who have a certificate of the cluster's
// authority, and without TLS those on this machine.
//
// Sources: Ongaro, "Consensus: Bridging Theory and Practice", 2014, section 6.2 on routing requests to the leader.
package admin
