// Package httpin is receivers of records that clients post over HTTP.
//
// # Nouns
//
// [Lines] returns a receiver of the lines of request bodies, [JSON] one of the JSON values in them. A [Receiver] has a
// server of its own while it runs, at the address given; it is also a handler for the program's own server.
//
// # A program
//
//	clicks := httpin.JSON[Click]("localhost:8080", httpin.Options{})
//	stream := streamingcontext.Receive(ssc, clicks)
//
//	$ curl --data-binary @clicks.json http://localhost:8080/
//
// # What a client sees
//
//	204  all records of the request are stored; also for a request without any
//	400  a record is bad: the answer names it by its number in the body, from 1
//	403  a page in a browser tried to post from another origin
//	405  not a POST
//	413  the body, or the number of its records, is larger than allowed
//	415  the body is compressed
//	429  no room now; Retry-After says in how many seconds to try again
//	503  the receiver is not running, or the records could not be stored
//
// # Guarantees
//
// The records of a request are stored as one block, in order, before it is answered: all of them or, with any other
// answer than 204, none. So a client that posts again until it gets 204 loses nothing. An answer that does not arrive
// leaves it open whether they were stored; posting again may double them. Requests are independent of each other: their
// order is that in which they were stored.
//
// A rate limit does not hold for these blocks, so back-pressure does not slow clients down: only MaxRequests and a full
// block log do.
//
// No more than MaxRequests bodies of MaxBody bytes each, and their records, are held. While the block log is full
// a request waits for Wait at most.
//
// When the context ends the server takes no more requests, those in flight finish within Grace, and what is left is cut
// off.
//
// The server listens on a loopback address, unless TLS is given.
//
// # Who may call what
//
// ServeHTTP from any goroutine; Receive from one at a time, as the supervisor does.
//
// # What is not here
//
// Who a client is: put a handler that asks in front of the receiver, or a Config that wants certificates in TLS.
//
// Sources: RFC 9110, "HTTP Semantics"; RFC 6585, "Additional HTTP Status Codes", section "429 Too Many Requests".
package httpin
