package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// maxPoolFile bounds what ReadPools reads, maxPoolDepth how deep pools may nest in it.
const (
	maxPoolFile  = 1 << 20
	maxPoolDepth = 64
)

// ReadPools returns the pools of a pool file, parents before what is nested in them, for
// Options.Pools. The file is JSON:
//
//	{"pools": [
//		{"name": "reports", "weight": 2, "minShare": 4, "mode": "FAIR", "pools": [{"name": "daily"}]},
//		{"name": "adhoc"}
//	]}
//
// A mode is FIFO or FAIR in any case. Blank or invalid values of weight, minShare and mode fall back to
// 1, 0 and FIFO; log is told which did. nil discards that.
//
// Errors: a file that is no JSON, has fields that are not known, is larger than 1 MiB or nests deeper
// than 64; a pool without a name or with a name that is used twice.
func ReadPools(r io.Reader, log *slog.Logger) ([]Pool, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxPoolFile+1))
	if err != nil {
		return nil, fmt.Errorf("read pools: %w", err)
	}
	if len(data) > maxPoolFile {
		return nil, fmt.Errorf("read pools: more than %d bytes", maxPoolFile)
	}
	var file struct {
		Pools []poolEntry `json:"pools"`
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("read pools: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read pools: something follows the pools")
	}
	p := poolReader{log: log, seen: map[string]bool{}}
	if err := p.add(file.Pools, "", 0); err != nil {
		return nil, fmt.Errorf("read pools: %w", err)
	}
	return p.pools, nil
}

// A poolEntry is a pool as a file has it. Its values may be anything.
type poolEntry struct {
	Name     string          `json:"name"`
	Weight   json.RawMessage `json:"weight"`
	MinShare json.RawMessage `json:"minShare"`
	Mode     json.RawMessage `json:"mode"`
	Pools    []poolEntry     `json:"pools"`
}

type poolReader struct {
	log   *slog.Logger
	seen  map[string]bool
	pools []Pool
}

func (r *poolReader) add(entries []poolEntry, parent string, depth int) error {
	if depth == maxPoolDepth {
		return fmt.Errorf("pool %q: nested deeper than %d", parent, maxPoolDepth)
	}
	for i, e := range entries {
		switch {
		case strings.TrimSpace(e.Name) == "" && parent == "":
			return fmt.Errorf("pool %d: no name", i)
		case strings.TrimSpace(e.Name) == "":
			return fmt.Errorf("pool %d in %q: no name", i, parent)
		case r.seen[e.Name]:
			return fmt.Errorf("pool %q: the name is used twice", e.Name)
		}
		r.seen[e.Name] = true
		r.pools = append(r.pools, Pool{Name: e.Name, Parent: parent, Mode: r.mode(e),
			Weight: r.number(e, "weight", e.Weight, 1, 1), MinShare: r.number(e, "minShare", e.MinShare, 0, 0)})
		if err := r.add(e.Pools, e.Name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// mode returns the mode of a pool, FIFO if it has no valid one.
func (r *poolReader) mode(e poolEntry) Mode {
	var text string
	if e.Mode == nil {
		return FIFO
	}
	if json.Unmarshal(e.Mode, &text) == nil {
		for _, m := range []Mode{FIFO, FAIR} {
			if strings.EqualFold(strings.TrimSpace(text), m.String()) {
				return m
			}
		}
	}
	r.fallBack(e, "mode", e.Mode, FIFO)
	return FIFO
}

// number returns a number of a pool that is at least least, otherwise if there is no such number.
func (r *poolReader) number(e poolEntry, field string, raw json.RawMessage, least, otherwise int) int {
	if raw == nil {
		return otherwise
	}
	var n int
	var text string
	if json.Unmarshal(raw, &text) == nil { // numbers in quotes are taken as well
		raw = json.RawMessage(strings.TrimSpace(text))
	}
	if string(raw) == "null" || json.Unmarshal(raw, &n) != nil || n < least {
		r.fallBack(e, field, raw, otherwise)
		return otherwise
	}
	return n
}

func (r *poolReader) fallBack(e poolEntry, field string, raw json.RawMessage, to any) {
	r.log.Warn("value of a pool is not valid", "pool", e.Name, "field", field, "value", string(raw), "using", fmt.Sprint(to))
}
