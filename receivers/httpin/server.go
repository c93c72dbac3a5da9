package httpin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/leat-io/leat/receivers"
)

// maxHeader is the largest header of a request in bytes. Records are in its body.
const maxHeader = 64 << 10

// checkAddr returns what is wrong with a host and port to listen on. A host name other than localhost is not looked up.
func checkAddr(addr string, encrypted bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return &receivers.OptionError{Option: "addr", Value: addr, Reason: "want host:port"}
	}
	if ip := net.ParseIP(host); encrypted || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return &InsecureAddrError{Addr: addr}
}

// serve runs the receiver's own server until ctx ends or the server fails.
func (r *Receiver[T]) serve(ctx context.Context) error {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", r.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", r.addr, err)
	}
	addr := l.Addr()
	// What localhost means is up to the system.
	if tcp, ok := addr.(*net.TCPAddr); r.opts.TLS == nil && (!ok || !tcp.IP.IsLoopback()) {
		return errors.Join(&InsecureAddrError{Addr: addr.String()}, l.Close())
	}
	if r.opts.TLS != nil {
		own := r.opts.TLS.Clone()
		if len(own.NextProtos) == 0 {
			own.NextProtos = []string{"http/1.1"}
		}
		l = tls.NewListener(l, own)
	}
	var conns sync.WaitGroup
	server := &http.Server{
		Handler:           r,
		ReadHeaderTimeout: r.opts.ReadTimeout,
		ReadTimeout:       r.opts.ReadTimeout,
		WriteTimeout:      r.opts.ReadTimeout + r.opts.Wait + time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do wrong
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				conns.Add(1)
			case http.StateClosed:
				conns.Done()
			}
		},
	}
	var serving sync.WaitGroup
	failed := make(chan error, 1) // bounded: holds the one result of Serve
	serving.Go(func() { failed <- server.Serve(l) })
	told := false
	defer func() { // of a Listening that panics: the server must not outlive the call
		if !told {
			_ = server.Close() // what it holds was not answered
			serving.Wait()
			conns.Wait()
		}
	}()
	if r.opts.Listening != nil {
		r.opts.Listening(addr)
	}
	told = true
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case err = <-failed:
		err = fmt.Errorf("serve %s: %w", addr, err)
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.Grace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // cuts off what took too long
	}
	serving.Wait()
	conns.Wait() // each has a goroutine
	return err
}
