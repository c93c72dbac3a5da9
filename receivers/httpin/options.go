package httpin

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/leat-io/leat/receivers"
)

// Defaults of [Options].
const (
	DefaultMaxBody     = 1 << 20
	DefaultMaxRecords  = 1 << 16
	DefaultMaxRequests = 64
	DefaultWait        = time.Second
	DefaultReadTimeout = 30 * time.Second
	DefaultGrace       = 3 * time.Second
)

// Options configures a [Receiver]. The zero value works.
type Options struct {
	// MaxBody is the largest body of a request in bytes. Zero means 1 MiB.
	MaxBody int64

	// MaxRecords is the largest number of records of a request. Zero means 65,536.
	MaxRecords int

	// MaxRequests is how many requests are held at the same time; others are answered with 429. Zero means 64.
	MaxRequests int

	// Wait is how long a request may wait for room in the block log until it is answered with 429. Zero means 1 s.
	Wait time.Duration

	// ReadTimeout is how long a request may take to arrive at the receiver's own server. Zero means 30 s.
	ReadTimeout time.Duration

	// Grace is how long requests in flight may take when the receiver stops. Zero means 3 s.
	Grace time.Duration

	// TLS is what the receiver's own server encrypts with. It must be given for an address that is not loopback.
	TLS *tls.Config

	// Listening is called when the receiver's own server takes requests, with its address. Nil does nothing.
	Listening func(addr net.Addr)
}

// Validate returns a [*receivers.OptionError] for each option that cannot be used, joined.
func (o Options) Validate() error {
	var errs []error
	for _, option := range []struct {
		name  string
		value int64
	}{
		{"MaxBody", o.MaxBody}, {"MaxRecords", int64(o.MaxRecords)}, {"MaxRequests", int64(o.MaxRequests)},
		{"Wait", int64(o.Wait)}, {"ReadTimeout", int64(o.ReadTimeout)}, {"Grace", int64(o.Grace)},
	} {
		if option.value < 0 {
			errs = append(errs, &receivers.OptionError{Option: option.name, Value: option.value, Reason: "want zero for the default, or more"})
		}
	}
	return errors.Join(errs...)
}

// String returns the options in effect, defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("bodies of at most %d bytes and %d records, %d at once, wait %v, arrive within %v, end within %v, TLS %t",
		o.MaxBody, o.MaxRecords, o.MaxRequests, o.Wait, o.ReadTimeout, o.Grace, o.TLS != nil)
}

func (o Options) withDefaults() Options {
	o.MaxBody = orDefault(o.MaxBody, DefaultMaxBody)
	o.MaxRecords = orDefault(o.MaxRecords, DefaultMaxRecords)
	o.MaxRequests = orDefault(o.MaxRequests, DefaultMaxRequests)
	o.Wait = orDefault(o.Wait, DefaultWait)
	o.ReadTimeout = orDefault(o.ReadTimeout, DefaultReadTimeout)
	o.Grace = orDefault(o.Grace, DefaultGrace)
	return o
}

func orDefault[V comparable](v, def V) V {
	var zero V
	if v == zero {
		return def
	}
	return v
}
