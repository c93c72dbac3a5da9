package failover

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/streamingcontext"
)

// A history is what the log of a node says, command by command, of those that took effect.
type history struct {
	commands []driverlog.Command
	digests  map[uint64][32]byte // of the state, by index
	state    driverlog.State
}

// read reads the log of a node that is closed, and applies it to a state of its own.
func (c *cluster) read(dir string) (h history) {
	c.t.Helper()
	h.digests = map[uint64][32]byte{}
	info, err := raftlog.Dump(dir, func(e raftlog.Entry) error {
		for _, cmd := range e.Commands {
			res, err := driverlog.Step(&h.state, h.state.Index+1, cmd)
			if err != nil {
				break // those behind it did not take effect either
			}
			if !res.Duplicate {
				h.commands = append(h.commands, cmd)
				h.digests[h.state.Index] = h.state.Digest()
			}
		}
		return nil
	})
	switch {
	case err != nil:
		c.t.Fatal(err)
	case info.First > 1:
		c.t.Fatalf("the log of %s begins with entry %d", dir, info.First)
	case info.State.Digest() != h.state.Digest():
		c.t.Errorf("%s holds a state of index %d that is not what its entries come to, of index %d", dir, info.State.Index, h.state.Index)
	}
	return h
}

// check compares what the logs, the sink and the store hold after the last node is closed with what is to be.
func (c *cluster) check() (h history) {
	c.t.Helper()
	for i, p := range c.all() {
		if i == 0 {
			h = c.read(p.dir)
			continue
		}
		other := c.read(p.dir)
		for index := uint64(1); index <= min(h.state.Index, other.state.Index); index++ {
			if h.digests[index] != other.digests[index] {
				c.t.Errorf("d1 and %s differ at index %d (I9)", p.name, index)
				break
			}
		}
	}
	given := c.checkCommands(h.commands)
	c.checkAnswers(h.commands)
	for _, b := range c.breaches {
		c.t.Error(b)
	}

	want := plainly(given)
	for _, cmd := range h.commands {
		if cmd.Kind == driverlog.Prepared && c.ran[cmd.Epoch] == second {
			rewritten(want, cmd.Batch)
		}
	}
	if diff := cmp.Diff(want, c.rows()); diff != "" {
		c.t.Errorf("rows by output and batch, and how often they are there (I2, I3) (-want +got):\n%s", diff)
	}
	if report, err := files.Verify(c.out()); err != nil || report.Err() != nil {
		c.t.Errorf("the sink: %v, %v", report.Err(), err)
	}
	c.checkStore(h.state)
	return h
}

// rows returns what the outputs show, by output and batch, and how often.
func (c *cluster) rows() map[string]map[string]int {
	c.t.Helper()
	got := map[string]map[string]int{}
	for row, err := range files.Read(c.out(), files.ReadOptions{}) {
		if err != nil {
			c.t.Fatal(err)
		}
		key := fmt.Sprint(row.Output, " ", row.Batch)
		if got[key] == nil {
			got[key] = map[string]int{}
		}
		got[key][string(row.Line)]++
	}
	return got
}

// checkCommands checks what took effect, without Step's judgement, and returns the records of the batches. Shows I1, I4, I5, I7.
func (c *cluster) checkCommands(commands []driverlog.Command) (given []span) {
	c.t.Helper()
	epoch, last, next := uint64(0), int64(-1), int64(0)
	state := map[int64]driverlog.Kind{} // of the batch
	for i, cmd := range commands {
		index := uint64(i + 1)
		if cmd.Kind == driverlog.LeaderStart {
			epoch = index
			continue
		}
		if cmd.Epoch != epoch {
			c.t.Errorf("command %d, %s of batch %d, is of epoch %d, and %d stands (I5)", index, cmd.Kind, cmd.Batch, cmd.Epoch, epoch)
		}
		switch cmd.Kind {
		case driverlog.Begin:
			if cmd.Batch != next || last >= 0 && cmd.Time != last+interval.Milliseconds() {
				c.t.Errorf("batch %d of time %d is begun after %d of time %d (I4)", cmd.Batch, cmd.Time, next-1, last)
			}
			next, last = cmd.Batch+1, cmd.Time
			state[cmd.Batch] = cmd.Kind
			s := span{}
			for _, in := range cmd.Inputs {
				var err error
				if s, err = parseSpan(in.Data[min(2, len(in.Data)):]); err != nil { // behind the kind of the input
					c.t.Fatalf("input %q of batch %d: %v", in.Data, cmd.Batch, err)
				}
			}
			if want := int64(len(given)) * perBatch; s != (span{want, want + perBatch}) {
				c.t.Errorf("batch %d has the records %v, want %d of them from %d on (I1)", cmd.Batch, s, perBatch, want)
			}
			given = append(given, s)
		case driverlog.Prepared:
			if state[cmd.Batch] != driverlog.Begin {
				c.t.Errorf("batch %d is prepared after its %s (I7)", cmd.Batch, state[cmd.Batch])
			}
			state[cmd.Batch] = cmd.Kind
		case driverlog.Committed:
			if state[cmd.Batch] != driverlog.Prepared {
				c.t.Errorf("batch %d is committed after its %s", cmd.Batch, state[cmd.Batch])
			}
			state[cmd.Batch] = cmd.Kind
		}
	}
	for b := range next {
		if state[b] != driverlog.Committed {
			c.t.Errorf("batch %d stays %s", b, state[b])
		}
	}
	return given
}

// checkAnswers checks that what drivers were told has taken effect did, where they were told, and that what they were told was not appended was
// not. Shows I10.
func (c *cluster) checkAnswers(commands []driverlog.Command) {
	c.t.Helper()
	for i, cmd := range commands {
		if cmd.Kind != driverlog.LeaderStart && c.refused[decision{cmd.Epoch, cmd.Kind, cmd.Batch}] {
			c.t.Errorf("%s of batch %d in epoch %d was answered as not appended, and is command %d (I10)", cmd.Kind, cmd.Batch, cmd.Epoch, i+1)
		}
	}
	for _, a := range c.answers {
		if a.index == 0 || a.index > uint64(len(commands)) {
			if a.index > 0 {
				c.t.Errorf("%s of batch %d was answered with index %d, the log ends at %d (I10)", a.cmd.Kind, a.cmd.Batch, a.index, len(commands))
			}
			continue
		}
		if diff := cmp.Diff(a.cmd, commands[a.index-1]); diff != "" {
			c.t.Errorf("what was answered with index %d is not what is there (I10) (-answered +there):\n%s", a.index, diff)
		}
	}
}

// maxBlobs bounds the blobs of an application that has stopped as planned, however often its driver was lost: what it goes on from, and what has
// come since the last checkpoint.
const maxBlobs = 64

// checkStore checks that all is there that the log names, and nothing else is left. Shows I11.
func (c *cluster) checkStore(state driverlog.State) {
	c.t.Helper()
	store, err := folder.Open(c.blobs(), folder.Options{ReadOnly: true})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := streamingcontext.VerifyStored(c.t.Context(), store, state); err != nil {
		c.t.Errorf("the store: %v", err)
	}
	var names []string
	for info, err := range blobstore.All(c.t.Context(), store, "", "") {
		if err != nil {
			c.t.Fatal(err)
		}
		names = append(names, info.Name)
	}
	if len(names) > maxBlobs {
		slices.Sort(names)
		c.t.Errorf("%d blobs are left (I11): %q", len(names), names)
	}
}
