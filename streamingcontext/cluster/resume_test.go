package cluster_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

// An application that was stopped ends its drivers, also those that are started later. It goes on with drivers that are to resume it.
func TestAStoppedApplicationIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		open := func(resume bool) (all []*driver) {
			for _, name := range []string{"a", "b", "c"} {
				opts := d.reached(name, name == "a")
				opts.Resume = resume
				r := d.open(name, opts)
				d.drive(r)
				all = append(all, r)
			}
			return all
		}
		closed := func(all []*driver) {
			t.Helper()
			for _, r := range all {
				if err := errors.Join(<-r.ended, r.Close()); err != nil {
					t.Errorf("driver %s: %v", r.name, err)
				}
			}
		}
		all := open(false)
		<-d.led
		d.join(all[0], all[1])
		d.join(all[0], all[2])
		d.receive(numbers(0, 3)...)
		if err := driverlog.SetStatus(t.Context(), all[0].Log(), "counts", driverlog.Stopped); err != nil {
			t.Fatal(err)
		}
		closed(all)
		closed(open(false))
		for len(d.led) > 0 {
			<-d.led // one may lead for a moment before it knows
		}
		all = open(true)
		<-d.led
		d.receive(numbers(3, 6)...)
		if got, want := d.shown(6), numbers(0, 6); !slices.Equal(got, want) {
			t.Errorf("the sink shows %q, want %q", got, want)
		}
		for _, r := range all {
			r.stop()
		}
		closed(all)
	})
}

// A new application is nothing that could have been stopped.
func TestResumeOfANewApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		r := d.open("a", cluster.Options{Resume: true})
		d.drive(r)
		<-d.led
		r.stop()
		if err := errors.Join(<-r.ended, r.Close()); err != nil {
			t.Error(err)
		}
		// One that is never taken in ends all the same.
		r = d.open("b", cluster.Options{Resume: true, Listen: "b:7000", Network: d.net.From("b:7000")})
		d.drive(r)
		synctest.Wait()
		r.stop()
		if err := errors.Join(<-r.ended, r.Close()); err != nil {
			t.Error(err)
		}
	})
}
