module github.com/leat-io/leat

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/vmihailenco/msgpack/v5 v5.4.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

require (
	github.com/gofrs/flock v0.13.2
	github.com/klauspost/compress v1.20.4
)

require (
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
