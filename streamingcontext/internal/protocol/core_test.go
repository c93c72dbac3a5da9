package protocol_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// describe does all actions of a chain, the way answer says, and returns them in words.
func describe(core *protocol.Core, a protocol.Action, answer func(a protocol.Action) protocol.Answer) (did []string) {
	for a.Do != 0 && len(did) < 100 {
		words := a.Do.String()
		for _, c := range a.Commands {
			words += fmt.Sprintf(" %s %d", c.Kind, c.Batch)
		}
		if a.Output != "" {
			words += " " + a.Output
		}
		if a.Wait > 0 {
			words += fmt.Sprintf(" after %v", a.Wait)
		}
		if did = append(did, words); a.Do == protocol.End || a.Do == protocol.Run {
			return did
		}
		a = core.Answered(a, answer(a))
	}
	return did
}

func well(protocol.Action) protocol.Answer { return protocol.Answer{} }

func staged(bytes string) []protocol.Staged {
	return []protocol.Staged{{Output: "rows", Bytes: []byte(bytes)}}
}

func leading(t *testing.T, opts protocol.Options) *protocol.Core {
	t.Helper()
	opts.App, opts.Epoch = "app", 1
	core := protocol.New(opts)
	if err := core.Read(driverlog.App{}, nil, false); err != nil {
		t.Fatal(err)
	}
	if a := core.Recover(); a.Do != 0 {
		t.Fatalf("recover: %s", a.Do)
	}
	return core
}

func TestABatchWaitsForThoseBeforeIt(t *testing.T) {
	core := leading(t, protocol.Options{})
	for ms := range int64(2) {
		want := []string{fmt.Sprint("propose begin ", ms), "run"}
		if got := describe(core, core.Begin(1000*(ms+1), nil), well); !slices.Equal(got, want) {
			t.Fatalf("begin: %q, want %q", got, want)
		}
	}
	if a := core.Whole(3000, nil); a.Do != 0 {
		t.Errorf("a batch behind open ones is done at once: %s", a.Do)
	}
	if got := describe(core, core.JobsEnded(1, false, protocol.Outcome{Staged: staged("x")}), well); !slices.Equal(got, []string{"tell"}) {
		t.Errorf("the second: %q", got)
	}
	want := []string{
		"propose prepared 0", "propose committed 0", "forget",
		"propose prepared 1", "commit rows", "propose committed 1", "clean rows", "forget", "tell",
	}
	if got := describe(core, core.JobsEnded(0, false, protocol.Outcome{}), well); !slices.Equal(got, want) {
		t.Errorf("the first: %q, want %q", got, want)
	}
	want = []string{"propose begin 2 prepared 2 committed 2", "planned", "forget"}
	if got := describe(core, core.Whole(3000, nil), well); !slices.Equal(got, want) {
		t.Errorf("a whole batch: %q, want %q", got, want)
	}
}

func TestNothingIsProposedAfterAnUnknownOutcome(t *testing.T) {
	for _, kind := range []driverlog.Kind{driverlog.Begin, driverlog.Prepared, driverlog.Committed} {
		t.Run(kind.String(), func(t *testing.T) {
			core := leading(t, protocol.Options{})
			lost := func(a protocol.Action) (ans protocol.Answer) {
				if a.Do == protocol.Propose && a.Commands[0].Kind == kind {
					ans.Err = driverlog.ErrUnknown
				}
				return ans
			}
			did := describe(core, core.Begin(1000, nil), lost)
			if kind != driverlog.Begin {
				did = describe(core, core.JobsEnded(0, false, protocol.Outcome{}), lost)
			}
			if last := did[len(did)-1]; last != "end" || !errors.Is(core.Over(), driverlog.ErrUnknown) {
				t.Fatalf("%q, over: %v", did, core.Over())
			}
			for name, a := range map[string]protocol.Action{
				"begin": core.Begin(2000, nil), "whole": core.Whole(2000, nil), "end": core.JobsEnded(0, false, protocol.Outcome{}), "recover": core.Recover(),
			} {
				if a.Do != protocol.End || !errors.Is(a.Err, driverlog.ErrUnknown) {
					t.Errorf("%s afterwards: %s, %v", name, a.Do, a.Err)
				}
			}
		})
	}
}

func TestASinkIsTriedAgainAtGrowingIntervals(t *testing.T) {
	core := leading(t, protocol.Options{})
	describe(core, core.Begin(1000, nil), well)
	tries, waited := 0, time.Duration(0)
	did := describe(core, core.JobsEnded(0, false, protocol.Outcome{Staged: staged("x")}), func(a protocol.Action) (ans protocol.Answer) {
		if a.Do == protocol.CommitOutput {
			tries++
			waited += a.Wait
			if tries < 10 {
				ans = protocol.Answer{Err: errors.New("not now"), Again: true}
			}
		}
		return ans
	})
	if tries != 10 || waited != 100*time.Millisecond*(1+2+4+8+16+32)+3*5*time.Second {
		t.Errorf("%d tries, waited %v: %q", tries, waited, did)
	}
}

func TestAFailedBatchStaysOrIsSetAside(t *testing.T) {
	bad := protocol.Outcome{Jobs: 1, Err: errors.New("bad"), Failures: []protocol.OutputFailure{{Output: 0, Err: errors.New("bad")}}}
	for aside, want := range map[bool][]string{
		false: {"tell", "end"},
		true:  {"propose prepared 0", "propose committed 0", "forget", "tell"},
	} {
		core := leading(t, protocol.Options{SetAside: aside, Repeats: true})
		describe(core, core.Begin(1000, nil), well)
		if got := describe(core, core.JobsEnded(0, false, bad), well); !slices.Equal(got, want) {
			t.Errorf("set aside %t: %q, want %q", aside, got, want)
		}
		if core.Room() != aside || len(core.Owed()) == 1 != aside || len(core.Open()) == 0 != aside {
			t.Errorf("set aside %t: room %t, owed %v, open %v", aside, core.Room(), core.Owed(), core.Open())
		}
	}
}

// TestManifests has the bytes of each version, which logs keep.
func TestManifests(t *testing.T) {
	mark := protocol.Mark{Output: "z", ID: 3}
	for _, tt := range []struct {
		name string
		m    protocol.Manifest
		want string
	}{
		{"done", protocol.Manifest{Kind: protocol.Done, Outputs: 2}, "\x01o\x02"},
		{"given up", protocol.Manifest{Kind: protocol.Abandoned}, "\x01a\x00"},
		{"not generated", protocol.Manifest{Kind: protocol.NotGenerated, Err: "why"}, "\x01g\x00\x03why"},
		{"set aside", protocol.Manifest{Kind: protocol.Aside, Outputs: 3, Failed: 1, Failures: []protocol.Failure{{Output: 2, Err: "x"}}}, "\x01s\x03\x01\x02\x01x"},
		{"staged", protocol.Manifest{Kind: protocol.Done, Outputs: 1, Staged: staged("ab")}, "\x02o\x01\x00\x01\x04rows\x02ab"},
		{"owed and marks", protocol.Manifest{Kind: protocol.Done, Owed: []int64{5, 7}, Marks: []protocol.Mark{mark}},
			"\x03o\x00\x02\x05\x02\x00\x00\x01\x01z\x03" + strings.Repeat("\x00", 32)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, list := tt.m.Append(nil, driverlog.MaxPayload)
			if string(head) != tt.want || list != nil {
				t.Fatalf("%q and %d bytes, want %q", head, len(list), tt.want)
			}
			got, reference, err := protocol.ReadManifest(head)
			if again, _ := got.Append(nil, driverlog.MaxPayload); err != nil || reference != nil || string(again) != tt.want {
				t.Errorf("read %+v, %v", got, err)
			}
			for n := range head { // none of it may panic
				if _, _, err := protocol.ReadManifest(head[:n]); err != nil && !errors.Is(err, protocol.ErrDamaged) {
					t.Errorf("%d bytes of it: %v", n, err)
				}
			}
		})
	}
	t.Run("in a blob", func(t *testing.T) {
		m := protocol.Manifest{Kind: protocol.Done, Staged: staged(strings.Repeat("x", 100)), Marks: []protocol.Mark{mark}}
		head, list := m.Append(nil, 50)
		data := append(head, make([]byte, protocol.ReferenceSize)...)
		got, reference, err := protocol.ReadManifest(data)
		if err != nil || len(reference) != protocol.ReferenceSize {
			t.Fatalf("%v, reference of %d bytes", err, len(reference))
		}
		if err := got.ReadList(list, protocol.Listed(data)); err != nil || len(got.Staged) != 1 || len(got.Marks) != 1 {
			t.Errorf("read %+v, %v", got, err)
		}
		if err := got.ReadList(list[:len(list)-1], true); !errors.Is(err, protocol.ErrDamaged) {
			t.Errorf("a blob cut short: %v", err)
		}
	})
}

// BenchmarkBatch is what the decisions about a batch cost without a log.
func BenchmarkBatch(b *testing.B) {
	core := protocol.New(protocol.Options{App: "app", Epoch: 1})
	ms := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		ms++
		a := core.Answered(core.Begin(ms, nil), protocol.Answer{})
		for a = core.JobsEnded(a.Batch.ID, false, protocol.Outcome{}); a.Do != 0; {
			a = core.Answered(a, protocol.Answer{})
		}
	}
}
