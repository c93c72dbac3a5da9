package cluster_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A driver whose folder is lost, and which is started again as it was, on an empty folder at the same address, is not taken for the member that it
// was: it has forgotten what that one has promised. With the leader gone, too, the third does not lead by its vote. Removed and joined it has its place.
func TestAnEmptyFolderAtAMembersAddressIsNotTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrivers(t)
		a, b, c := d.open("a", d.reached("a", true)), d.open("b", d.reached("b", false)), d.open("c", d.reached("c", false))
		for _, r := range []*driver{a, b, c} {
			d.drive(r)
		}
		<-d.led
		d.join(a, b)
		d.join(a, c)
		d.receive(numbers(0, 1)...)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-c.ended
		if err := os.RemoveAll(filepath.Join(d.root, "c")); err != nil {
			t.Fatal(err)
		}
		lost := c.Log().ID()
		c = d.open("c", d.reached("c", false))
		d.drive(c)
		d.receive(numbers(1, 2)...)
		time.Sleep(10 * time.Second)
		if s := c.Log().Status(); s.Cluster != "" || s.Applied != 0 || s.Leader.ID != "" {
			t.Errorf("the new driver has taken part in place of the lost one: %+v", s)
		}

		if err := a.Close(); err != nil {
			t.Error(err)
		}
		<-a.ended
		time.Sleep(10 * time.Second)
		if s := b.Log().Status(); s.Leader.ID == b.Log().ID() {
			t.Error("two of three members are gone, and the third leads by the vote of an empty folder")
		}

		a = d.open("a", d.reached("a", false))
		d.drive(a)
		time.Sleep(10 * time.Second)
		leader := a
		if b.Log().Status().Leader.ID == b.Log().ID() {
			leader = b
		}
		if err := leader.Log().Remove(t.Context(), lost); err != nil {
			t.Fatal(err)
		}
		d.join(leader, c)
		time.Sleep(10 * time.Second) // it is told after it is joined
		if s := c.Log().Status(); s.Cluster != a.Log().Cluster() {
			t.Errorf("once it has joined it is of cluster %q", s.Cluster)
		}
		for _, r := range []*driver{c, b, a} {
			r.stop()
			if err := <-r.ended; err != nil {
				t.Errorf("driver %s: %v", r.name, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
