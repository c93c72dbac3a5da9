// Package s3store is a blob store in a bucket of an object store that speaks the S3 protocol.
//
// A [Store] is opened by [Open], which finds out that the store keeps its promises: one that ignores the conditions of a request
// would let two drivers both believe that they had decided something, and is refused.
//
//	store, err := s3store.Open(ctx, s3store.Options{
//		Endpoint: "https://s3.eu-central-1.amazonaws.com", Region: "eu-central-1",
//		Bucket: "checkpoints", Prefix: "counts", AccessKey: key, SecretKey: secret,
//	})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//
// Guarantees: those of package blobstore, from a store that is strongly consistent, as S3 has been since 2020. A name is created with
// If-None-Match and swapped with If-Match. Each such object carries a token, so that where an answer was lost the object itself says
// whether it was written. Requests that fail are repeated a few times. A blob of more than Options.PartSize is sent in parts, one
// of which is in memory at a time. Each request carries a digest of what it sends. What is read is compared with the digest
// that was stored with it: SHA-256, and for blobs in parts the store's own tag, where that is a digest of them; else their length
// alone. A connection that breaks while a blob is read is continued where it broke.
//
// Requests go over TLS, or to this machine. Credentials are those of the options; nothing is read from the environment.
//
// Any goroutine and any process may call anything. A call starts goroutines of package net/http alone.
//
// What is not here: buckets are not made; versions, and parts of uploads that a process that was killed leaves, are removed by a rule of
// the bucket.
//
// Source: Amazon, "Amazon S3 User Guide", sections on conditional requests, multipart upload and consistency.
package s3store
