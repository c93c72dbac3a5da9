package scheduler

import (
	"context"
	"log/slog"
)

// Keys of log records.
const (
	keyJob       = "job"
	keyStage     = "stage"
	keyTask      = "task"
	keyAttempt   = "attempt"
	keyPartition = "partition"
	keyExecutor  = "executor"
	keyError     = "err"
)

// logAttempt writes a record about an attempt. Attempts are many: nothing is put together unless
// somebody reads it.
func (l *loop) logAttempt(level slog.Level, message string, a *attempt, err error) {
	ctx := context.Background() // records of the loop belong to no caller
	if !l.opts.Logger.Enabled(ctx, level) {
		return
	}
	at := a.task.Attempt
	attrs := []slog.Attr{
		slog.Int(keyJob, at.Job), slog.Int(keyStage, at.Stage), slog.Int(keyPartition, at.Partition),
		slog.Int(keyAttempt, at.Number), slog.Int64(keyTask, int64(a.task.ID)), slog.String(keyExecutor, string(a.task.Executor)),
	}
	if err != nil {
		attrs = append(attrs, slog.Any(keyError, err))
	}
	l.opts.Logger.LogAttrs(ctx, level, message, attrs...)
}
