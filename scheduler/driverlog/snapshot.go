package driverlog

import (
	"encoding/binary"
	"hash/crc32"
)

// A snapshot begins with these letters and a byte for the format version.
const (
	snapshotMagic = "LDL"
	// Version 2 is that of a state in which all applications run and no request of a Control is remembered, so that builds which know of none
	// can read it. Version 3 is that of all others.
	snapshotVersion        = 2
	controlSnapshotVersion = 3
)

// version returns that which a state is written in.
func (s *State) version() byte {
	for i := range s.Apps {
		if s.Apps[i].Status != Running {
			return controlSnapshotVersion
		}
	}
	for i := range s.recent.answers {
		if s.recent.answers[i].kind == Control {
			return controlSnapshotVersion
		}
	}
	return snapshotVersion
}

// What an encoded application says of its registration.
const (
	unregistered byte = iota
	registered
	withCheckpoint
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append returns dst with the encoding of s behind it. States that went through the same commands
// have equal bytes.
//
// Shape, version 2 or 3; primitives as in Command.Append:
//
//	magic      "LDL"
//	version    byte, 2 or 3
//	index      unsigned
//	epoch      unsigned
//	leader     string
//	apps       unsigned count, then of each, ascending by name:
//	  name     string
//	  next     unsigned
//	  open     unsigned count
//	  last     batch, only if next is more than open
//	  open     batches, oldest first
//	  known    byte: 0 for an application that is not registered, 1 for one that is, 2 for one with a checkpoint;
//	           version 1 ends the application before it
//	  zero     signed, unless known is 0
//	  text     bytes, unless known is 0: the description
//	  batch    unsigned, only if known is 2; so are keep unsigned, manifest bytes and index unsigned of the checkpoint
//	  status   byte, only in version 3, unless known is 0
//	  kept     unsigned count, unless known is 0, then all but the last kept batch, oldest first: the last is the one above
//	requests   unsigned count, then of each, oldest first:
//	  id       proposer unsigned, seq unsigned
//	  kind     byte
//	  app      string
//	  batch    unsigned
//	  index    unsigned
//	  epoch    unsigned
//	checksum   four bytes, little endian: CRC-32C of all before
//
// A batch is: time signed, epoch, begun, prepared, committed unsigned, inputs and manifest as in a
// command. Its id follows from next, open and kept.
func (s *State) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, snapshotMagic...)
	version := s.version()
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, s.Index)
	dst = binary.AppendUvarint(dst, s.Epoch)
	dst = appendBytes(dst, s.Leader)
	dst = binary.AppendUvarint(dst, uint64(len(s.Apps)))
	for i := range s.Apps {
		a := &s.Apps[i]
		dst = appendBytes(dst, a.Name)
		dst = binary.AppendUvarint(dst, uint64(a.Next))
		dst = binary.AppendUvarint(dst, uint64(len(a.Open)))
		if a.Oldest() > 0 {
			dst = appendBatch(dst, &a.Last)
		}
		for j := range a.Open {
			dst = appendBatch(dst, &a.Open[j])
		}
		dst = appendRegistered(dst, a, version)
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.recent.ids)))
	for i := range s.recent.ids {
		id, a := s.recent.at(i)
		dst = binary.AppendUvarint(dst, id.Proposer)
		dst = binary.AppendUvarint(dst, id.Seq)
		dst = append(dst, byte(a.kind))
		dst = appendBytes(dst, a.app)
		dst = binary.AppendUvarint(dst, uint64(a.batch))
		dst = binary.AppendUvarint(dst, a.result.Index)
		dst = binary.AppendUvarint(dst, a.result.Epoch)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendRegistered(dst []byte, a *App, version byte) []byte {
	if !a.Registered {
		return append(dst, unregistered)
	}
	known := registered
	if a.Checkpoint.Index > 0 {
		known = withCheckpoint
	}
	dst = append(dst, known)
	dst = binary.AppendVarint(dst, a.Zero)
	dst = appendBytes(dst, a.Description)
	if known == withCheckpoint {
		dst = binary.AppendUvarint(dst, uint64(a.Checkpoint.Batch))
		dst = binary.AppendUvarint(dst, uint64(a.Checkpoint.Keep))
		dst = appendBytes(dst, a.Checkpoint.Manifest)
		dst = binary.AppendUvarint(dst, a.Checkpoint.Index)
	}
	if version == controlSnapshotVersion {
		dst = append(dst, byte(a.Status))
	}
	dst = binary.AppendUvarint(dst, uint64(len(a.Kept)))
	for i := range len(a.Kept) - 1 {
		dst = appendBatch(dst, &a.Kept[i])
	}
	return dst
}

func appendBatch(dst []byte, b *Batch) []byte {
	dst = binary.AppendVarint(dst, b.Time)
	dst = binary.AppendUvarint(dst, b.Epoch)
	dst = binary.AppendUvarint(dst, b.Begun)
	dst = binary.AppendUvarint(dst, b.Prepared)
	dst = binary.AppendUvarint(dst, b.Committed)
	dst = appendInputs(dst, b.Inputs)
	return appendBytes(dst, b.Manifest)
}

// DecodeState returns the state that Append wrote, in this version or an earlier one, after checking that Step could have made it.
//
// Errors: *VersionError; *CorruptError.
func DecodeState(data []byte) (State, error) {
	d := decoder{data: data}
	for i := range len(snapshotMagic) {
		d.require(d.byte("magic") == snapshotMagic[i], "magic")
	}
	version := d.version(controlSnapshotVersion)
	if d.err != nil {
		return State{}, d.err
	}
	body := len(data) - crc32.Size
	if body < d.at || crc32.Checksum(data[:body], castagnoli) != binary.LittleEndian.Uint32(data[body:]) {
		return State{}, &CorruptError{What: "checksum", Offset: max(body, 0)}
	}
	d.data = data[:body]
	var s State
	s.Index = d.uvarint("index")
	s.Epoch = d.uvarint("epoch")
	d.require(s.Epoch <= s.Index, "epoch")
	s.Leader = string(d.bytes("leader", MaxName))
	d.require((s.Leader == "") == (s.Epoch == 0), "leader")
	for range d.count("apps", MaxApps) {
		a := d.app(&s, version)
		if d.err != nil {
			return State{}, d.err
		}
		s.Apps = append(s.Apps, a)
	}
	for range d.count("requests", Remembered) {
		id, a := d.answer(&s, version)
		if d.err != nil {
			return State{}, d.err
		}
		s.recent.add(id, a)
	}
	d.end()
	d.require(version == 1 || version == s.version(), "version")
	if d.err != nil {
		return State{}, d.err
	}
	return s, nil
}

func (d *decoder) app(s *State, version byte) App {
	a := App{Name: string(d.bytes("app name", MaxName))}
	d.require(a.Name != "" && (len(s.Apps) == 0 || s.Apps[len(s.Apps)-1].Name < a.Name), "app name")
	a.Next = int64(d.uvarint("next"))
	d.require(a.Next >= 0 && a.Next <= maxBatch+1, "next")
	open := d.count("open batches", Window)
	d.require(int64(open) <= a.Next, "open batches")
	if d.err != nil {
		return a
	}
	oldest := a.Next - int64(open)
	if oldest > 0 {
		a.Last = d.batch(s, oldest-1)
		d.require(a.Last.Committed > a.Last.Prepared && a.Last.Prepared > 0, "last batch")
	}
	for i := range int64(open) {
		last, any := a.Last.Time, oldest > 0
		decided := true
		if i > 0 {
			last, any = a.Open[i-1].Time, true
			decided = a.Open[i-1].Prepared > 0
		}
		b := d.batch(s, oldest+i)
		d.require(b.Committed == 0 && (b.Prepared == 0 || decided), "open batch")
		d.require(!any || b.Time > last, "batch time")
		if d.err != nil {
			return a
		}
		a.Open = append(a.Open, b)
	}
	if version > 1 {
		d.registered(s, &a, version)
	}
	d.require(a.Next > 0 || a.Registered, "next")
	return a
}

// registered reads what follows the open batches of a.
func (d *decoder) registered(s *State, a *App, version byte) {
	known := d.byte("registered")
	d.require(known <= withCheckpoint, "registered")
	if known == unregistered || d.err != nil {
		return
	}
	a.Registered = true
	a.Zero = d.varint("zero time")
	a.Description = append([]byte(nil), d.bytes("description", MaxPayload)...)
	if known == withCheckpoint {
		c := &a.Checkpoint
		c.Batch = int64(d.uvarint("checkpoint batch"))
		c.Keep = int64(d.uvarint("keep"))
		c.Manifest = append([]byte(nil), d.bytes("checkpoint manifest", MaxPayload)...)
		c.Index = d.uvarint("checkpoint index")
		d.require(c.Batch >= 0 && c.Batch < a.Oldest(), "checkpoint batch")
		d.require(c.Keep >= 0 && c.Keep <= c.Batch+1, "keep")
		d.require(c.Index > 0 && c.Index <= s.Index, "checkpoint index")
	}
	if version == controlSnapshotVersion {
		a.Status = Status(d.byte("status"))
		d.require(a.Status <= Stopped, "status")
	}
	kept := d.count("kept batches", MaxKept)
	first := a.Oldest() - int64(kept)
	d.require(first >= a.Checkpoint.Keep && (kept == 0 || kept+len(a.Open) <= MaxKept), "kept batches")
	for i := range kept - 1 {
		b := d.batch(s, first+int64(i))
		d.require(b.Committed > b.Prepared && b.Prepared > 0 && len(b.Manifest) == 0, "kept batch")
		d.require(i == 0 || a.Kept[i-1].Time < b.Time, "batch time")
		if d.err != nil {
			return
		}
		a.Kept = append(a.Kept, b)
	}
	if kept > 0 {
		d.require(kept == 1 || a.Kept[kept-2].Time < a.Last.Time, "batch time")
		last := a.Last.clone()
		last.Manifest = nil
		a.Kept = append(a.Kept, last)
	}
}

func (d *decoder) batch(s *State, id int64) Batch {
	b := Batch{ID: id, Time: d.varint("batch time")}
	b.Epoch = d.uvarint("batch epoch")
	b.Begun = d.uvarint("begun")
	b.Prepared = d.uvarint("prepared")
	b.Committed = d.uvarint("committed")
	b.Inputs = d.inputs()
	b.Manifest = append([]byte(nil), d.bytes("manifest", MaxPayload)...)
	d.require(b.Epoch > 0 && b.Epoch <= s.Epoch && b.Begun > b.Epoch, "batch epoch")
	d.require(max(b.Begun, b.Prepared, b.Committed) <= s.Index, "batch index")
	d.require(b.Prepared > b.Begun || b.Prepared == 0 && len(b.Manifest) == 0, "prepared")
	return b
}

func (d *decoder) answer(s *State, version byte) (RequestID, answer) {
	id := RequestID{Proposer: d.uvarint("proposer"), Seq: d.uvarint("seq")}
	a := answer{kind: Kind(d.byte("request kind"))}
	a.app = string(d.bytes("request app", MaxName))
	a.batch = int64(d.uvarint("request batch"))
	a.result = Result{Index: d.uvarint("request index"), Epoch: d.uvarint("request epoch")}
	_, known := s.recent.find(id)
	d.require(id != RequestID{} && !known, "request id")
	last := Checkpointed
	switch version {
	case 1:
		last = Committed
	case controlSnapshotVersion:
		last = Control
	}
	d.require(a.kind >= LeaderStart && a.kind <= last, "request kind")
	d.require((a.app == "") == (a.kind == LeaderStart) && a.batch >= 0, "request app")
	d.require(a.result.Epoch > 0 && a.result.Epoch <= s.Epoch && a.result.Index <= s.Index, "request index")
	return id, a
}
