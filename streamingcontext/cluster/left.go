package cluster

import (
	"errors"
	"fmt"
	"time"
)

// ErrLeftBehind is returned where a part of a node does not end because its disk does not answer. The process can only end.
var ErrLeftBehind = errors.New("does not end, and is left behind")

// leftAfter is how long a part is waited for once the node has stopped for good.
const leftAfter = 5 * time.Second

// ended waits until a part of the node has ended. A node whose disk hangs is not waited for: its part in the cluster is over, and the process is to end.
//
// Errors: ErrLeftBehind.
func (n *Node) ended(what string, wait func()) error {
	if n.log == nil {
		wait()
		return nil
	}
	done := make(chan struct{})
	go func() { // ends with what it waits for
		wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-n.log.Failed():
	}
	timer := time.NewTimer(leftAfter)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("%s: %w", what, ErrLeftBehind)
	}
}
