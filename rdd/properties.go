package rdd

import (
	"context"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// WithPool returns a context whose actions run in a pool of the FAIR scheduler; the empty name is the default
// pool.
func WithPool(ctx context.Context, name string) context.Context {
	p := lineage.PropertiesOf(ctx)
	p.Pool = name
	return lineage.WithProperties(ctx, p)
}

// WithJobGroup returns a context whose actions belong to a group, by which their jobs can be cancelled together.
// The description is for people who look at the jobs.
func WithJobGroup(ctx context.Context, group, description string) context.Context {
	p := lineage.PropertiesOf(ctx)
	p.Group, p.Description = group, description
	return lineage.WithProperties(ctx, p)
}

// WithTags returns a context whose actions' jobs carry tags beside those that ctx gives them. A tag that is there
// already is not added again.
func WithTags(ctx context.Context, tags ...string) context.Context {
	p := lineage.PropertiesOf(ctx)
	p.Tags = slices.Clone(p.Tags)
	for _, tag := range tags {
		if !slices.Contains(p.Tags, tag) {
			p.Tags = append(p.Tags, tag)
		}
	}
	return lineage.WithProperties(ctx, p)
}
