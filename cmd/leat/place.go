package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/folder"
	"github.com/leat-io/leat/blobstore/s3store"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/streamingcontext"
)

// What stores are named by.
const (
	bucketScheme = "s3://"
	folderScheme = "folderstore:"
)

// placeHelp says what PLACE is in command lines.
const placeHelp = `
PLACE is the folder that streamingcontext.GetOrCreate was given, or the store of streamingcontext.Options.Store:

  s3://BUCKET/PREFIX?endpoint=URL   a bucket of an object store. The endpoint is as http://127.0.0.1:9000; without it the bucket is
                                    at Amazon, in the region of region=REGION. path-style=true puts the bucket in the path.
  folderstore:DIR                   a store of package blobstore/folder

Keys are those of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or, for servers of tests, the user and password of
the endpoint. -driver says where in a store package objectlog has the driver log.`

// A place is where a program keeps its driver log and its checkpoints.
type place struct {
	dir    string          // a folder of GetOrCreate
	store  blobstore.Store // nil: all is in the folder
	driver string          // prefix of the driver log in the store
	close  func()
}

// isStore reports whether where is a store.
func isStore(where string) bool {
	return strings.HasPrefix(where, bucketScheme) || strings.HasPrefix(where, folderScheme)
}

// openPlace returns the place where, which is opened to be read.
func openPlace(ctx context.Context, where, driver string) (place, error) {
	pl := place{driver: driver, close: func() {}}
	if err := (objectlog.Options{Prefix: driver}).Validate(); err != nil {
		return pl, fmt.Errorf("-driver: %w", err)
	}
	switch {
	case strings.HasPrefix(where, bucketScheme):
		opts, err := bucketOptions(where, os.Getenv)
		if err != nil {
			return pl, err
		}
		store, err := s3store.Open(ctx, opts)
		if err != nil {
			return pl, err
		}
		pl.store, pl.close = store, store.Close
	case strings.HasPrefix(where, folderScheme):
		store, err := folder.Open(strings.TrimPrefix(where, folderScheme), folder.Options{ReadOnly: true})
		if err != nil {
			return pl, err
		}
		pl.store = store
	default:
		pl.dir = where
	}
	return pl, nil
}

// bucketOptions returns what the URL of a bucket says. Errors do not name the URL, which may hold a secret.
func bucketOptions(where string, getenv func(string) string) (opts s3store.Options, err error) {
	u, err := url.Parse(where)
	if err != nil {
		return opts, errors.New("s3://...: no URL")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return opts, errors.New("s3://...: what is behind the question mark cannot be read")
	}
	if u.User != nil {
		return opts, errors.New("s3://...: keys belong into the environment or into the endpoint")
	}
	for name, values := range query {
		if !slices.Contains([]string{"endpoint", "region", "path-style"}, name) || len(values) > 1 {
			return opts, fmt.Errorf("s3://...: %q is unknown, or there twice", name)
		}
	}
	opts = s3store.Options{
		Endpoint: query.Get("endpoint"), Region: query.Get("region"), Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), ReadOnly: true,
		AccessKey: getenv("AWS_ACCESS_KEY_ID"), SecretKey: getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: getenv("AWS_SESSION_TOKEN"),
	}
	switch style := query.Get("path-style"); style {
	case "", "false":
	case "true":
		opts.PathStyle = true
	default:
		return opts, errors.New("s3://...: path-style is true or false")
	}
	if opts.Endpoint == "" {
		if opts.Region == "" {
			return opts, errors.New("s3://...: neither endpoint nor region is given")
		}
		opts.Endpoint = "https://s3." + opts.Region + ".amazonaws.com"
	}
	endpoint, err := url.Parse(opts.Endpoint)
	if err != nil {
		return opts, errors.New("s3://...: the endpoint is no URL")
	}
	if endpoint.User != nil {
		opts.AccessKey, opts.SessionToken = endpoint.User.Username(), ""
		opts.SecretKey, _ = endpoint.User.Password()
		endpoint.User = nil
		opts.Endpoint = endpoint.String()
	}
	if opts.AccessKey == "" || opts.SecretKey == "" {
		return opts, errors.New("s3://...: no keys, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	}
	return opts, nil
}

// onFolders refuses the command of a place that is a store.
func onFolders(command string, places []string) error {
	if slices.ContainsFunc(places, isStore) {
		return fmt.Errorf("checkpoint %s works on folders alone, not on stores", command)
	}
	return nil
}

// placeCommand returns a command on one place.
func placeCommand(use, short string, run func(ctx context.Context, pl place) error) *cobra.Command {
	var driver string
	c := &cobra.Command{
		Use: use + " PLACE", Short: short, Long: short + ".\n" + placeHelp, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			pl, err := openPlace(c.Context(), args[0], driver)
			if err != nil {
				return err
			}
			defer pl.close()
			return run(c.Context(), pl)
		},
	}
	c.Flags().StringVar(&driver, "driver", objectlog.DefaultPrefix, "prefix of the driver log in a store")
	return c
}

// storedLog returns the log in the store, after calling each with its entries if it is not nil. An older snapshot than the newest
// may have been used, see Info.Damaged.
func (pl place) storedLog(ctx context.Context, each func(boltlog.Entry)) (info objectlog.Info, err error) {
	if each == nil {
		info, err = objectlog.Verify(ctx, pl.store, pl.driver)
	} else {
		info, err = objectlog.Dump(ctx, pl.store, pl.driver, func(e objectlog.Entry) error {
			each(boltlog.Entry(e))
			return nil
		})
	}
	if err == nil && info.ID == "" {
		err = fmt.Errorf("%s has no driver log %s: %w", pl.store, pl.driver, fs.ErrNotExist)
	}
	return info, err
}

// checkpoints returns the checkpoints of the place.
func (pl place) checkpoints(ctx context.Context) ([]streamingcontext.CheckpointInfo, error) {
	if pl.store == nil {
		return streamingcontext.Checkpoints(pl.dir)
	}
	info, err := pl.storedLog(ctx, nil)
	if err != nil {
		return nil, err
	}
	return streamingcontext.StoredCheckpoints(ctx, pl.store, info.State)
}

// verify checks what a program would go on from.
func (pl place) verify(ctx context.Context) (streamingcontext.CheckpointReport, error) {
	if pl.store == nil {
		return streamingcontext.VerifyCheckpoint(pl.dir)
	}
	info, err := pl.storedLog(ctx, nil)
	if err != nil {
		return streamingcontext.CheckpointReport{}, err
	}
	r, err := streamingcontext.VerifyStored(ctx, pl.store, info.State)
	r.Entries = info.Entries // which were checked before
	return r, errors.Join(info.Damaged, err)
}
