package objectlog

import (
	"context"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// Propose appends cmd and returns its answer once it is durable; a Committed alone is answered at once and becomes durable with the
// next command of another kind, or with Close. Calls that overlap share an object.
//
// Cost: the creation of an object; none for a Committed, a refusal or a duplicate.
// Errors: as driverlog.Log says; ErrNotLeader of a log that has not led. *driverlog.FencedError if another driver has taken over. A context
// that ends while others are written takes the command back; once its own object is being created it has no effect. Where that
// fails for Options.Timeout the error is ErrUnknown around a *StorageError, as is that of every later call; calls that were
// waiting behind it get ErrNotLeader around the same.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	return l.queue.Propose(ctx, cmd)
}

// ProposeAll appends cmds at consecutive indexes, in one object, and returns their answers.
//
// Cost: as of one Propose.
// Errors: as of Propose; the results before a refused command come with its error. More bytes than an object may have are refused
// with a *driverlog.LimitError.
func (l *Log) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	return l.queue.ProposeAll(ctx, cmds)
}

// maxGroup bounds the bytes of the commands of one call, and about those of an object.
const maxGroup = blobstore.MaxData / 4

// sizeOf returns a bound of the bytes of a command's encoding.
func sizeOf(cmd *driverlog.Command) int {
	n := 128 + len(cmd.Node) + len(cmd.App) + len(cmd.Manifest)
	for i := range cmd.Inputs {
		n += 16 + len(cmd.Inputs[i].Data)
	}
	return n
}
