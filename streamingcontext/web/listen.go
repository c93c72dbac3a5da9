package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// DefaultAddr is where Run listens unless it is told.
const DefaultAddr = "localhost:4040"

// How long a reader may take. What takes longer is cut off.
const (
	headerTimeout   = 10 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 5 * time.Second
)

// ErrNotLoopback is returned for an address that others than this machine can reach, without TLS.
var ErrNotLoopback = errors.New("address is not of the loopback interface and there is no TLS")

// Run listens at addr, a host and port, and answers until ctx ends. Empty means localhost:4040; an address without
// a host is of all interfaces.
//
// Errors: as Listen and Serve. nil when ctx has ended.
func (s *Server) Run(ctx context.Context, addr string) error {
	l, err := s.Listen(ctx, addr)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return s.Serve(ctx, l)
}

// Listen returns a listener for Serve, for programs that want to know its address first. ctx counts for the call only.
//
// Errors: ErrNotLoopback; what listening returns.
func (s *Server) Listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = DefaultAddr
	}
	if s.opts.TLS == nil {
		if host, _, err := net.SplitHostPort(addr); err == nil && !loopback(host) {
			return nil, fmt.Errorf("listen on %s: %w", addr, ErrNotLoopback)
		}
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}

// Serve answers on a listener until ctx ends, and closes it.
//
// Errors: ErrNotLoopback; what serving returns. nil when ctx has ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if host, _, err := net.SplitHostPort(l.Addr().String()); s.opts.TLS == nil && (err != nil || !loopback(host)) {
		return errors.Join(fmt.Errorf("serve on %s: %w", l.Addr(), ErrNotLoopback), l.Close())
	}
	server := &http.Server{
		Handler: s, TLSConfig: s.opts.TLS.Clone(), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug),
	}
	if s.opts.TLS == nil {
		server.Handler = onlyLoopback(s)
	}
	s.opts.Logger.Info("streaming page served", "address", l.Addr().String())
	served := make(chan error, 1)
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() {
		if s.opts.TLS != nil {
			served <- server.ServeTLS(l, "", "")
			return
		}
		served <- server.Serve(l)
	})
	select {
	case err := <-served:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(closing); err != nil {
		_ = server.Close() // readers that do not let go are cut off
	}
	return nil
}

// onlyLoopback refuses requests for another host's name: a page of a foreign site that has its own name resolve
// to this machine could else read the answers.
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !loopback(host) {
			http.Error(w, "only requests for a loopback host are answered", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
