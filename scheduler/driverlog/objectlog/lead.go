package objectlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/groupcommit"
)

// Lead returns the current term, started by this call if there is none. Where the log has another owner it waits until that has
// ended or its record has lapsed.
//
// Cost: a swap of the owner's record and an object, if a term is started; a look at the record every so often while it waits.
// Errors: as driverlog.Log says; ErrUnknown once the log has given up; *StorageError alone if the record could not be written for
// Options.Timeout.
func (l *Log) Lead(ctx context.Context) (driverlog.Term, error) {
	term, err := l.lead(ctx)
	if err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	return term, nil
}

func (l *Log) lead(ctx context.Context) (driverlog.Term, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.Term{}, err
	}
	select {
	case l.leading <- struct{}{}:
		defer func() { <-l.leading }()
	case <-ctx.Done():
		return driverlog.Term{}, ctx.Err()
	}
	for {
		l.mu.Lock()
		term, leads, err := l.term, l.lost != nil, l.refusal()
		l.mu.Unlock()
		if err != nil {
			return driverlog.Term{}, err
		}
		if leads {
			return term, nil
		}
		if err := l.own(ctx); err != nil {
			if uerr := l.usable(); uerr != nil {
				return driverlog.Term{}, uerr
			}
			return driverlog.Term{}, err
		}
		c := &groupcommit.Call{Commands: []driverlog.Command{{Kind: driverlog.LeaderStart, Node: l.opts.Node}}, Lead: true}
		err = l.queue.Submit(ctx, c)
		if errors.Is(err, driverlog.ErrNotLeader) && l.usable() == nil {
			continue // another driver was faster, and what it wrote has been read
		}
		if err != nil {
			return driverlog.Term{}, err
		}
		l.logger.InfoContext(ctx, "leader term started", "node", l.opts.Node, "epoch", c.Term.Epoch)
		return c.Term, nil
	}
}

// own returns once the owner's record is ours, and is being renewed.
func (l *Log) own(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() { // Close ends the wait for another owner
		select {
		case <-l.stop:
			cancel()
		case <-ctx.Done():
		}
	})
	l.record <- struct{}{}
	defer func() { <-l.record }()
	l.note()
	if err := l.claim(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.renewing && !l.closed {
		l.renewing = true
		l.renewal.Go(l.keepOwning)
	}
	return nil
}

// claim claims the record, with l.record taken. A store that fails is asked again, for Options.Timeout.
func (l *Log) claim(ctx context.Context) error {
	l.owner.fine = time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := l.owner.claim(ctx, -1)
		var corrupt *CorruptError
		switch {
		case err == nil || ctx.Err() != nil || errors.As(err, &corrupt):
			return err
		case time.Since(l.owner.fine) > l.opts.Timeout:
			return &StorageError{Store: l.store.String(), Name: l.names.owner(), Err: err}
		}
		l.logger.Warn("driver log owner not claimed", "store", l.store.String(), "error", err)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}
