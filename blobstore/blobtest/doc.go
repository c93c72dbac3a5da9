// Package blobtest is what every [blobstore.Store] must do, as a suite, and a store in memory that fails as a test tells
// it to.
//
// A [Factory] opens empty stores. [Run] runs the suite on them. A [Memory] is a store whose calls a [Plan] lets fail, with or
// without an effect, or answer late.
//
//	m := blobtest.NewMemory()
//	m.SetPlan(func(op blobtest.Op) blobtest.Fault {
//		if op.Kind == "put if absent" {
//			return blobtest.Lost // takes effect, and the answer is lost
//		}
//		return blobtest.None
//	})
//	err := m.PutIfAbsent(ctx, "a", data) // matches blobstore.ErrUnknown, and a holds data
//
// Guarantees: the suite uses no clock. A Memory does what the suite asks for where the plan has no fault, and everything
// in the order of the calls. Any goroutine may call it; the plan is called by one at a time.
//
// What is not here: faults of disks and of requests, which are tested beside the stores that have them.
//
// Source: package blobstore.
package blobtest
