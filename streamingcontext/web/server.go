package web

import (
	"bytes"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/leat-io/leat/streamingcontext/progress"
)

//go:embed pages
var files embed.FS

// DefaultRefresh is how often an open page asks for itself again.
const DefaultRefresh = 5 * time.Second

// Options set up a Server. The zero value works.
type Options struct {
	// Refresh is how often an open page is loaded again, in whole seconds. 0 means 5s, less than 0 never.
	Refresh time.Duration
	// Zone is where times are shown. Nil means the machine's. The JSON API has UTC.
	Zone *time.Location
	// Metrics answers /metrics. Nil: nothing does.
	Metrics http.Handler
	// TLS lets Run listen on any interface. It needs a certificate.
	TLS *tls.Config
	// Logger takes the address (Info), and what clients do wrong (Debug). Nil discards.
	Logger *slog.Logger
}

// Validate returns what is wrong with the options, joined.
func (o Options) Validate() error {
	var errs []error
	if o.Refresh > 0 && o.Refresh%time.Second != 0 {
		errs = append(errs, errors.New("web options: Refresh is not a whole number of seconds"))
	}
	if o.TLS != nil && len(o.TLS.Certificates) == 0 && o.TLS.GetCertificate == nil && o.TLS.GetConfigForClient == nil {
		errs = append(errs, errors.New("web options: TLS has no certificate"))
	}
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o Options) String() string {
	o = o.withDefaults()
	return fmt.Sprintf("refresh %v, zone %v, metrics %t, TLS %t", o.Refresh, o.Zone, o.Metrics != nil, o.TLS != nil)
}

func (o Options) withDefaults() Options {
	if o.Refresh == 0 {
		o.Refresh = DefaultRefresh
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Server is the pages and the JSON API of one program.
type Server struct {
	store *progress.Store
	opts  Options
	mux   *http.ServeMux
	pages *template.Template
	style []byte
}

// New returns a server of what store knows. It listens to nothing: Run does, or a server of the program's own.
//
// Errors: what Validate says about opts.
func New(store *progress.Store, opts Options) (*Server, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s := &Server{store: store, opts: opts.withDefaults(), mux: http.NewServeMux()}
	var err error
	if s.pages, err = template.ParseFS(files, "pages/*.html"); err != nil {
		return nil, err
	}
	if s.style, err = files.ReadFile("pages/style.css"); err != nil {
		return nil, err
	}
	s.route()
	return s, nil
}

func (s *Server) route() {
	s.mux.HandleFunc("GET /{$}", redirect("streaming/"))
	s.mux.HandleFunc("GET /streaming", redirect("streaming/"))
	s.mux.HandleFunc("GET /streaming/{$}", s.streamingPage)
	s.mux.HandleFunc("GET /streaming/batch", redirect("batch/"))
	s.mux.HandleFunc("GET /streaming/batch/{$}", s.batchPage)
	s.mux.HandleFunc("GET /streaming/style.css", s.styleSheet)
	s.mux.HandleFunc("GET /streaming/statistics", s.apiStatistics)
	s.mux.HandleFunc("GET /streaming/receivers", s.apiReceivers)
	s.mux.HandleFunc("GET /streaming/receivers/{id}", s.apiReceiver)
	s.mux.HandleFunc("GET /streaming/batches", s.apiBatches)
	s.mux.HandleFunc("GET /streaming/batches/{id}", s.apiBatch)
	s.mux.HandleFunc("GET /streaming/batches/{id}/operations", s.apiOperations)
	s.mux.HandleFunc("GET /streaming/batches/{id}/operations/{op}", s.apiOperation)
	if s.opts.Metrics != nil {
		s.mux.Handle("GET /metrics", s.opts.Metrics)
	}
}

// policy lets a browser load this server's style sheet and nothing else.
const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers a request. Other methods than GET and HEAD are refused, other paths not found.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	s.mux.ServeHTTP(w, r)
}

// redirect leads to a path next to the one asked for, also where the server is below another path.
func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			w.Header().Set("Location", to+"?"+r.URL.RawQuery)
		} else {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(http.StatusFound)
	}
}

func (s *Server) styleSheet(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=60")
	_, _ = w.Write(s.style) // a reader that has gone needs no answer
}

// show answers with a page, made whole before any of it is sent.
func (s *Server) show(w http.ResponseWriter, status int, page string, view any) {
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, page, view); err != nil {
		s.opts.Logger.Error("page not made", "page", page, "err", err)
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes())
}

// frame is what all pages have.
type frame struct {
	App     string
	Root    string // relative path of /streaming/
	Refresh int    // in seconds; 0: not
}

// refresh returns after how many seconds the page asked for is to be loaded again.
func (s *Server) refresh(r *http.Request) int {
	if s.opts.Refresh < 0 || r.URL.Query().Get("refresh") == "off" {
		return 0
	}
	return int(s.opts.Refresh / time.Second)
}

// message is the page for what cannot be shown.
type message struct {
	frame
	Title, Text string
}

func (s *Server) refuse(w http.ResponseWriter, status int, root, title, text string) {
	s.show(w, status, "message.html", message{frame{App: s.store.Snapshot().App, Root: root}, title, text})
}
