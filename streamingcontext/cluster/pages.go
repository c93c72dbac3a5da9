package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
)

const (
	requestTimeout = 5 * time.Second  // for a request to have come, with its body, which nobody reads
	answerTimeout  = 30 * time.Second // for the answer to have been made and taken
	idleTimeout    = 2 * time.Minute  // for the next request of a connection: those who scrape come sooner
	pageStop       = 5 * time.Second  // for answers to have gone, at a stop
	maxHeader      = 16 << 10
)

// pages serves the Handler of a node at Options.HTTP.
type pages struct {
	net.Listener
	server *http.Server
}

// listenPages listens at an address: without certificates one of the loopback interface, else for those whose certificate is of the
// authority.
func (n *Node) listenPages(address string, files *link.TLS) (*pages, error) {
	handler := n.Handler()
	if files == nil {
		if err := link.CheckLoopback(address); err != nil {
			return nil, err
		}
		handler = ofThisMachine(handler)
	}
	var config *tls.Config
	if files != nil {
		var err error
		if config, err = link.HTTPS(*files, n.opts.Logger); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &pages{Listener: l, server: newServer(handler, n.opts.Logger)}
	if config != nil {
		p.Listener = tls.NewListener(l, config)
	}
	return p, nil
}

// newServer returns a server that waits for nobody for long: who sends slowly, takes no answer or does nothing is hung up on.
func newServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug)}
}

// run serves until ctx ends.
func (p *pages) run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- p.server.Serve(p.Listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), pageStop)
	defer cancel()
	if p.server.Shutdown(limit) != nil {
		_ = p.server.Close() // who does not take the answer goes without
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// close gives up the port, if run has not.
func (p *pages) close() error {
	err := errors.Join(p.server.Close(), p.Listener.Close())
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ofThisMachine answers requests that name this machine's own interface: a page of another site cannot ask through somebody's browser.
func ofThisMachine(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if link.CheckLoopback(net.JoinHostPort(host, "0")) != nil {
			http.Error(w, "the host of the request is not this machine's own", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
