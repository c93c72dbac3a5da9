// Package s3test is an object store in memory that speaks as much of the S3 protocol as a blob store needs, for tests that need
// no server.
//
// A [Server] is an http.Handler: puts with conditions, gets with ranges, heads, listings in pages, removal of one or many, uploads in
// parts. A [Plan] lets requests fail, lose their answer or break off. [Start] serves one for a test, [Bucket] makes a bucket on a real
// server instead, where there is one.
//
//	server, opts := s3test.Start(t)
//	store, err := s3store.Open(ctx, opts)
//	...
//	server.SetPlan(func(r s3test.Request) s3test.Fault {
//		if r.Method == "PUT" {
//			return s3test.Lost // takes effect, and the answer is lost
//		}
//		return s3test.None
//	})
//
// Guarantees: requests take effect one at a time. Digests of what is sent are compared, as a real server does; signatures are not,
// beyond there being one. Any goroutine may call anything.
//
// What is not here: versions, access rules, hosts named for buckets, bodies that are signed chunk by chunk.
//
// Source: Amazon, "Amazon S3 API Reference".
package s3test
