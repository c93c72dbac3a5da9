package driverlog

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// Bounds of the state. They are constants because every replica must refuse the same commands.
const (
	// Window is the number of batches that one application may have begun and not committed.
	Window = 64
	// MaxApps is the number of applications one log knows.
	MaxApps = 1024
	// MaxKept is the number of batches, open and kept, that a registered application may have: past it a
	// checkpoint must come before the next Begin.
	MaxKept = 65_536
	// Remembered is the number of request ids that the state keeps, the latest ones.
	Remembered = 256
)

// A State is what the decisions of a log amount to. The zero State is that of an empty log.
//
// Readers may look at the fields; only Step changes them. An assignment shares memory, Clone does
// not.
type State struct {
	Index  uint64 // log index of the last command that took effect
	Epoch  uint64 // epoch of the latest term, 0 before the first
	Leader string // node of the latest term
	Apps   []App  // ascending by name

	recent recent
}

// An App is one application's share of a State.
type App struct {
	Name string
	Next int64   // the id that the next Begin must carry
	Open []Batch // begun and not committed, ascending and dense, up to Next-1
	Last Batch   // the last committed batch, if Oldest is not 0

	Registered  bool   // an Application has been accepted; without one nothing below is set
	Zero        int64  // its zero time, milliseconds
	Description []byte // the manifest of the latest one
	Checkpoint  Checkpoint
	Status      Status // of the latest Control
	// Kept has the batches committed since the Application, from Checkpoint.Keep on, without their manifests; ascending and
	// dense, and where it is not empty it ends with the batch that Last is.
	Kept []Batch
}

// A Checkpoint is the latest one that an application has named.
type Checkpoint struct {
	Batch    int64  // the last batch it holds
	Keep     int64  // the first batch whose inputs stay
	Manifest []byte // of the Checkpointed
	Index    uint64 // log index of the Checkpointed, 0 before the first
}

// A Batch is what has been decided about one batch.
type Batch struct {
	ID    int64
	Time  int64  // milliseconds
	Epoch uint64 // the epoch that began it
	// Log indexes of the three decisions, 0 where one has not been taken.
	Begun, Prepared, Committed uint64
	Inputs                     []Input
	Manifest                   []byte // of the Prepared, nil before
}

// App returns the application called name; one that is not known has only its name.
//
// Cost: a binary search; the slices are shared with s.
func (s *State) App(name string) App {
	if i, ok := s.find(name); ok {
		return s.Apps[i]
	}
	return App{Name: name}
}

func (s *State) find(name string) (int, bool) {
	return slices.BinarySearchFunc(s.Apps, name, func(a App, name string) int { return strings.Compare(a.Name, name) })
}

// Oldest returns the id of the oldest batch that is not committed, Next if all are.
func (a *App) Oldest() int64 { return a.Next - int64(len(a.Open)) }

// LastTime returns the time of the last batch begun; ok is false before the first.
func (a *App) LastTime() (ms int64, ok bool) {
	if n := len(a.Open); n > 0 {
		return a.Open[n-1].Time, true
	}
	return a.Last.Time, a.Next > 0
}

// Batch returns batch id if it is open, was the last to be committed, or is kept; one that is only kept has no manifest. A
// new leader rolls forward those that are prepared and runs again, with the recorded inputs, those that are not.
func (a *App) Batch(id int64) (Batch, bool) {
	if b, ok := a.recent(id); ok {
		return b, true
	}
	if i := id - (a.Oldest() - int64(len(a.Kept))); i >= 0 && i < int64(len(a.Kept)) {
		return a.Kept[i], true
	}
	return Batch{}, false
}

// recent returns batch id if its manifest is known: if it is open or the last committed one.
func (a *App) recent(id int64) (Batch, bool) {
	switch i := id - a.Oldest(); {
	case i >= 0 && i < int64(len(a.Open)):
		return a.Open[i], true
	case i == -1 && id >= 0:
		return a.Last, true
	}
	return Batch{}, false
}

// due returns the oldest open batch that is not prepared, nil if all are.
func (a *App) due() *Batch {
	for i := range a.Open {
		if a.Open[i].Prepared == 0 {
			return &a.Open[i]
		}
	}
	return nil
}

// Clone returns a copy that shares nothing with s which Step or a caller could write to.
func (s *State) Clone() State {
	c := *s
	c.Apps = slices.Clone(s.Apps)
	for i := range c.Apps {
		a := &c.Apps[i]
		a.Last = a.Last.clone()
		a.Open = slices.Clone(a.Open)
		for j := range a.Open {
			a.Open[j] = a.Open[j].clone()
		}
		a.Description = slices.Clone(a.Description)
		a.Checkpoint.Manifest = slices.Clone(a.Checkpoint.Manifest)
		a.Kept = slices.Clone(a.Kept)
		for j := range a.Kept {
			a.Kept[j] = a.Kept[j].clone()
		}
	}
	c.recent = s.recent.clone()
	return c
}

func (b Batch) clone() Batch {
	b.Inputs = cloneInputs(b.Inputs)
	b.Manifest = slices.Clone(b.Manifest)
	return b
}

// cloneInputs copies inputs and their bytes with two allocations.
func cloneInputs(inputs []Input) []Input {
	if len(inputs) == 0 {
		return nil
	}
	out := make([]Input, len(inputs))
	data := make([]byte, 0, inputBytes(inputs))
	for i, in := range inputs {
		start := len(data)
		data = append(data, in.Data...)
		out[i] = Input{Stream: in.Stream, Data: data[start:len(data):len(data)]}
	}
	return out
}

// Digest returns the SHA-256 of the encoded state. Replicas that applied the same commands agree on
// it.
//
// Cost: an encoding of the whole state.
func (s *State) Digest() [sha256.Size]byte { return sha256.Sum256(s.Append(nil)) }
