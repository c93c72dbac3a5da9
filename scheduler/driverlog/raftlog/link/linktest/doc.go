// Package linktest is what tests and examples of package link need: an authority that makes certificates, good ones and bad ones, and a
// network without sockets.
//
// A [CA] makes certificates; [Certificate] says which. A [Network] is a network of pipes in memory, which works in testing/synctest.
//
//	ca, err := linktest.NewCA()
//	if err != nil {
//		return err
//	}
//	files, err := ca.Write(dir, linktest.Certificate{Names: []string{"driver-1"}})
//	if err != nil {
//		return err
//	}
//	l, err := link.Listen(link.Options{Name: "driver-1", TLS: &files})
//
// Guarantees: certificates are those that a cluster would use, but for what is asked to be wrong with them. Keys are new in each run and
// are written to the folder that is given only.
//
// Any goroutine may call anything. Nothing is started.
//
// What is not here: certificates for use. An authority whose key is made and forgotten by a test protects nobody.
package linktest
