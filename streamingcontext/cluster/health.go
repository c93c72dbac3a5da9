package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/streamingcontext/metrics"
)

// A Status is what a node knows of itself. All of it is local: another node may know better.
type Status struct {
	admin.Status
	App  string `json:"app"`
	Does string `json:"does"` // "idle", "starting", "standing by", "beginning" or "leading"
	// What this node has heard of the application: the last batch that was committed, -1 if none, its time in milliseconds, and how many
	// were begun after it.
	Batch     int64 `json:"batch"`
	BatchTime int64 `json:"batch_time"`
	Open      int   `json:"open"`
}

// healthy says whether the process is one to be left alone.
func (s Status) healthy() bool { return s.Poisoned == "" && s.Does != string(idle) }

// ready says whether it has its place in the cluster.
func (s Status) ready() bool {
	return s.Poisoned == "" && (s.Does == string(leading) || s.Does == string(standingBy) && s.Leader.ID != "")
}

// Status returns what the node knows, without asking anybody.
func (n *Node) Status() Status {
	s := Status{Status: n.asked().Status(), Batch: -1}
	does, app := n.state.now()
	s.Does, s.App = string(does), app
	// The state of a leader is behind a barrier; this one has no time to wait for one.
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	if state, err := n.log.State(ctx); err == nil && app != "" {
		a := state.App(app)
		s.Open = len(a.Open)
		if a.Oldest() > 0 {
			s.Batch, s.BatchTime = a.Last.ID, a.Last.Time
		}
	}
	return s
}

// statusTimeout bounds how long a status may take.
const statusTimeout = time.Second

// Handler returns what answers about the node over HTTP:
//
//	/healthz  200 while its disk takes writes and Drive runs, else 503: a process to be started again
//	/readyz   200 where it leads or stands by and knows who leads, else 503
//	/status   a Status as JSON
//	/metrics  what Prometheus asks for: Measures, and Options.Progress
//
// Whoever serves it decides who may ask.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		s := n.Status()
		answer(w, s.healthy(), s)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		s := n.Status()
		answer(w, s.ready(), s)
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, true, n.Status()) })
	mux.Handle("GET /metrics", metrics.DriverHandler(n.Measures, n.opts.Progress))
	return mux
}

func answer(w http.ResponseWriter, well bool, s Status) {
	w.Header().Set("Content-Type", "application/json")
	if !well {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(s) // who has hung up needs no answer
}
