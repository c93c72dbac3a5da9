package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// GetOrCreate returns a context whose batches outlive the process: it keeps in dir what was decided about them, and a
// context that is made on the same folder later, after a stop or a crash, goes on where that one was. setup declares inputs, streams
// and outputs; what comes after is as with New.
//
//	dir/driver.db     the driver log: which input each batch has, what is prepared, what is committed
//	dir/state         RDDs of streams with state
//	dir/received      blocks of receivers, before they are acknowledged
//	dir/checkpoints   what else recovery needs: which files hold which state, and what inputs remember
//
// setup is called with a fresh context each time, and twice in each process: it must declare the same, by the options and
// its own constants alone. A graph that comes out differently is refused, and so is one that differs from what the
// folder was written by.
//
// What goes on: every batch that was begun and not prepared is run again with the input it had; what was prepared is committed
// in the sinks; batch times that passed meanwhile follow in their order. Streams with state and windows go on from the RDDs
// written last and the inputs since. Outputs of SaveTo show each batch once. Those of ForeachRDD, and all others, may run
// again for the batch that was under way. Inputs are asked for what they recorded: files by their names, receivers by the log of
// their blocks, inputs of the program's own if they are a dstream.InputRecorder; one that is not must give the same for the same
// batch time, in every process. Broadcast values and accumulators are not kept.
//
// Cost: two or three flushes to disk a batch, one for each block that is received, and a small file whenever state was written.
// Errors: what setup returns; *boltlog.LockedError naming the process that has the folder; *dstream.ChangedError naming the first
// difference of the graphs, see dstream.NodeChanges; *FolderError for a folder of another application; ErrDamaged and what the driver log says about damage, naming the file; options that are not valid, and
// those that name a folder or log of their own. Start returns further ones.
func GetOrCreate(dir string, opts Options, setup func(ssc *Context) error) (*Context, error) {
	if setup == nil {
		return nil, fmt.Errorf("get or create streaming context: %w", dstream.ErrNilFunction)
	}
	c, err := getOrCreate(dir, opts, setup)
	if err != nil {
		return nil, fmt.Errorf("get or create streaming context in %s: %w", dir, err)
	}
	return c, nil
}

func getOrCreate(dir string, opts Options, setup func(ssc *Context) error) (*Context, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts, err := inFolder(dir, opts)
	if err != nil {
		return nil, err
	}
	// The last one made is the one that runs, so that variables which setup sets are those of it.
	trial := New(opts)
	err = declare(trial, setup)
	nodes := trial.graph.Nodes()
	if err := errors.Join(err, trial.Stop(context.Background(), StopOptions{})); err != nil {
		return nil, err
	}
	d, err := openDurable(dir, opts)
	if err != nil {
		return nil, err
	}
	c := New(opts)
	c.durable = d
	err = declare(c, setup)
	if err == nil {
		if diff := dstream.DiffNodes(nodes, c.graph.Nodes()); diff != nil {
			err = fmt.Errorf("setup declares something else each time: %w", diff)
		}
	}
	if err == nil {
		_, _, err = d.prior(context.Background(), c)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop(context.Background(), StopOptions{}))
	}
	return c, nil
}

// declare calls setup. Where that panics, or ends the goroutine, the context lets go of what it has all the same.
func declare(c *Context, setup func(ssc *Context) error) error {
	returned := false
	defer func() {
		if !returned {
			_ = c.Stop(context.Background(), StopOptions{}) // what the panic says comes first
		}
	}()
	err := setup(c)
	returned = true
	return err
}

// inFolder returns the options of a context in a folder.
func inFolder(dir string, opts Options) (Options, error) {
	if opts.Engine == nil {
		if opts.CheckpointDir != "" || opts.EngineOptions.CheckpointDir != "" {
			return opts, errors.New("CheckpointDir must be empty: it is below the folder")
		}
		opts.EngineOptions.CheckpointDir = filepath.Join(dir, "state")
		opts.EngineOptions.DurableCheckpoints = true
	} else if o := opts.Engine.rdds.Options(); o.CheckpointDir == "" || !o.DurableCheckpoints {
		return opts, fmt.Errorf("engine without durable checkpoints: %w", dstream.ErrCheckpointDirNotSet)
	}
	return opts, nil
}

// durable is what a context keeps in its folder.
type durable struct {
	dir    string
	app    string
	log    driverlog.Log
	ownLog bool
	blobs  *blobs
	blocks *receivedlog.Log // of receivers
}

// openDurable makes the folders and opens the log, which keeps other processes out.
func openDurable(dir string, opts Options) (*durable, error) {
	opts = opts.withDefaults()
	d := &durable{dir: dir, app: opts.App, log: opts.Log, blobs: &blobs{dir: filepath.Join(dir, "checkpoints")}}
	for _, name := range []string{"state", "received", "checkpoints"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	if err := syncFolder(dir); err != nil {
		return nil, err
	}
	if d.log == nil {
		log, err := boltlog.Open(filepath.Join(dir, "driver.db"), boltlog.Options{Node: opts.App, Logger: opts.Logger})
		if err != nil {
			return nil, err
		}
		d.log, d.ownLog = log, true
	}
	// Only now: it is the driver log that keeps other processes out.
	blocks, err := receivedlog.Open(filepath.Join(dir, "received"), receivedlog.Options{Logger: opts.Logger})
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.blocks = blocks
	return d, nil
}

// close lets go of the folder.
func (d *durable) close() error {
	if d == nil {
		return nil
	}
	var err error
	if d.blocks != nil {
		err = d.blocks.Close()
	}
	if d.ownLog {
		err = errors.Join(err, d.log.Close())
	}
	return err
}

// prior returns what the log has of the application and the newest checkpoint, nil if there is none, and checks that the
// graph is that of the application.
func (d *durable) prior(ctx context.Context, c *Context) (driverlog.App, *checkpointBody, error) {
	state, err := d.log.State(ctx)
	if err != nil {
		return driverlog.App{}, nil, err
	}
	app := state.App(d.app)
	if !app.Registered {
		return app, nil, d.fresh(state)
	}
	if _, err := d.changes(app, c.graph); err != nil {
		return app, nil, err
	}
	if app.Checkpoint.Index == 0 {
		return app, nil, nil
	}
	body, err := d.readCheckpoint(app.Checkpoint.Manifest)
	return app, body, err
}
