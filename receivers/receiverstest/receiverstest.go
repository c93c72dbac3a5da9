package receiverstest

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
)

// Source is a fresh receiver and what it will deliver.
type Source[T any] struct {
	// Receiver is the receiver under test. Receive has not been called on it.
	Receiver receivers.Receiver[T]

	// Want are the first records the receiver stores, in order; four at least. It may store more after them, wait, or
	// end.
	Want []T

	// Read returns how many records were taken from the source so far. Nil leaves out the check that a receiver stops
	// reading while the sink waits; then say elsewhere why it cannot run ahead.
	Read func() int

	// Ahead is how many records the receiver may take from the source beyond the one the sink holds.
	Ahead int

	// Resumes says that a receiver which is started again goes on behind the last record that was taken. Others begin
	// with whatever the source sends then.
	Resumes bool
}

// Run checks the receiver of the source that factory makes, a fresh one for each check, inside testing/synctest. The
// source must not need the outside world: net.Pipe works there, a real socket does not.
//
// Errors: a failed subtest for each rule of [receivers.Receiver] that is broken.
func Run[T any](t *testing.T, factory func(t *testing.T) Source[T]) {
	t.Helper()
	for _, c := range checks[T]() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := c.run(t.Context(), factory(t), settle); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// pollers is how many descriptors the runtime itself may open meanwhile.
const pollers = 4

// settle lets a second of the bubble's time pass, so that what a receiver does late is seen, too.
func settle() {
	<-time.After(time.Second)
	synctest.Wait()
}

// RunReal is Run for a source that needs the outside world, in real time. It cannot tell when such a source has come
// to rest, so it looks at Read without waiting for that.
func RunReal[T any](t *testing.T, factory func(t *testing.T) Source[T]) {
	t.Helper()
	for _, c := range checks[T]() {
		t.Run(c.name, func(t *testing.T) {
			leaked := goleak.IgnoreCurrent()
			open, counted := Descriptors()
			// Registered before the factory's own cleanups, so it runs after them.
			t.Cleanup(func() {
				goleak.VerifyNone(t, leaked)
				// The first connection of a process opens what the runtime polls with, for good.
				if now, _ := Descriptors(); counted && now > open+pollers {
					t.Errorf("%d descriptors are open, %d were before", now, open)
				}
			})
			if err := c.run(t.Context(), factory(t), func() {}); err != nil {
				t.Error(err)
			}
		})
	}
}
