package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/leat-io/leat/blobstore"
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
// With Options.Store checkpoints and state are blobs "checkpoints/..." and "state/..." of the store, and the driver log is the program's,
// so that a context on another machine goes on. dir has the blocks of receivers only: what they acknowledged goes on on this
// machine alone. It may be empty where there are none. With Options.Blocks they are on other machines as well, and go on there: then
// dir has none, but for those of before.
//
// With Options.Cluster the context is that of one driver of several: nothing that the log says is looked at before Start, which
// waits to lead. It ends with its term; Drive makes the next one.
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
	trial := newContext(opts)
	err = declare(trial, setup)
	nodes := trial.graph.Nodes()
	if err := errors.Join(err, trial.Stop(context.Background(), StopOptions{})); err != nil {
		return nil, err
	}
	d, err := openDurable(dir, opts)
	if err != nil {
		return nil, err
	}
	c := newContext(opts)
	c.durable = d
	err = declare(c, setup)
	if err == nil {
		if diff := dstream.DiffNodes(nodes, c.graph.Nodes()); diff != nil {
			err = fmt.Errorf("setup declares something else each time: %w", diff)
		}
	}
	if err == nil && opts.Cluster == nil { // what a node that does not lead knows may be old
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
		opts.EngineOptions.CheckpointDir = filepath.Join(dir, stateFolder)
		opts.EngineOptions.DurableCheckpoints = true
		if opts.Store != nil {
			opts.EngineOptions.CheckpointDir, opts.EngineOptions.CheckpointStore = stateFolder, opts.Store
		}
	} else if o := opts.Engine.rdds.Options(); o.CheckpointDir == "" || !o.DurableCheckpoints {
		return opts, fmt.Errorf("engine without durable checkpoints: %w", dstream.ErrCheckpointDirNotSet)
	} else if (o.CheckpointStore == nil) != (opts.Store == nil) {
		return opts, errors.New("the engine must keep checkpoints in the Store of the context")
	}
	return opts, nil
}

// durable is what a context keeps in its folder.
type durable struct {
	dir     string
	app     string
	store   blobstore.Store // nil: all is in the folder
	storage storage
	log     driverlog.Log
	ownLog  bool
	blobs   *blobs
	blocks  BlockLog // of receivers; nil without a folder, and with Options.Blocks before the context leads
	copied  bool     // Options.Blocks has them
}

// stateFolder holds the RDDs of streams with state.
const stateFolder = "state"

// newDurable returns what a context keeps, with nothing opened.
func newDurable(dir string, opts Options) *durable {
	d := &durable{dir: dir, app: opts.App, log: opts.driverLog(), store: opts.Store, storage: folderStorage{dir}, copied: opts.Blocks != nil}
	if d.store != nil {
		d.storage = blobStorage{store: d.store}
	}
	d.blobs = &blobs{storage: d.storage, shared: d.store != nil}
	return d
}

// place names where checkpoints are.
func (d *durable) place() string {
	if d.store != nil {
		return d.store.String()
	}
	return d.dir
}

// states returns where the folders of state are that an engine writes below root.
func (d *durable) states(root string) storage {
	if d.store != nil {
		return blobStorage{store: d.store, prefix: filepath.ToSlash(root) + "/"}
	}
	return folderStorage{root}
}

// mayRemove reports whether a driver of an epoch may remove a file that it has no use for: not where it may be a newer one's.
func (d *durable) mayRemove(name string, epoch uint64) bool {
	if d.store == nil {
		return true
	}
	of, ok := epochOf(name)
	return ok && of <= epoch
}

// makeFolders makes the folders that are needed on this machine.
func (d *durable) makeFolders() error {
	names := []string{stateFolder, "received", checkpointsFolder}
	if d.store != nil {
		names = names[1:2]
	}
	if d.copied {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "received" })
	}
	if d.store != nil && d.dir == "" {
		return nil
	}
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(d.dir, name), 0o755); err != nil {
			return err
		}
	}
	return syncFolder(d.dir)
}

// openDurable makes the folders and opens the log, which keeps other processes out.
func openDurable(dir string, opts Options) (*durable, error) {
	opts = opts.withDefaults()
	d := newDurable(dir, opts)
	if err := d.makeFolders(); err != nil {
		return nil, err
	}
	if d.log == nil {
		log, err := boltlog.Open(filepath.Join(dir, "driver.db"), boltlog.Options{Node: opts.App, Logger: opts.Logger})
		if err != nil {
			return nil, err
		}
		d.log, d.ownLog = log, true
	}
	if d.store != nil && dir == "" || d.copied && !d.has("received") {
		return d, nil // receivers are refused, or have Options.Blocks
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
