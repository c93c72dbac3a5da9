package rdd

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// Pipe returns the lines that a command prints for each partition, whose records it is given as lines, printed as by
// fmt.Println. env has settings of the form "NAME=value" that the command has besides those of this process.
//
//	records --Println--> standard input [ command ] standard output --lines--> records
//
// Shape: one process a partition, for an empty one as well; same partitions; no partitioner. The end of the task, for whatever
// reason, kills the process. A command need not read all it is given.
// Cost: the process and the copying; what has been given and what has been printed wait in bounded room.
// Errors: an empty command is ErrArgument; one that cannot be started, or whose exit code is not 0, fails the task as a
// *UserError with a *ProcessError.
func (r *RDD[T]) Pipe(command []string, env ...string) *RDD[string] {
	if len(command) == 0 {
		return broken[string](r.ctx, "pipe", fmt.Errorf("%w: no command", ErrArgument)).preferring(r.err)
	}
	return pipeThrough(r, slices.Clone(command), slices.Clone(env))
}

func pipeThrough[T any](r *RDD[T], command, env []string) *RDD[string] {
	child := newNode[string](r.ctx, "pipe", lineage.OneToOne(r.Node()))
	child.inherit(r.err)
	child.count = r.NumPartitions
	parent, self := r.node, &child.base
	child.compute = func(t *task, part int, out sink[string]) error {
		p, err := startProcess(t.ctx, command, env)
		if err != nil {
			return (&place{node: self, part: part}).failed(-1, err)
		}
		defer p.stop()
		if err := parent.push(t, part, func(chunk []T) error { return p.give(printed(chunk), out) }); err != nil {
			return err
		}
		if err := p.finish(out); err != nil {
			return err
		}
		if err := p.exit(); err != nil {
			return (&place{node: self, part: part}).failed(-1, err)
		}
		return nil
	}
	return child
}

// printed returns the records as lines.
func printed[T any](chunk []T) []byte {
	var text []byte
	if lines, ok := any(chunk).([]string); ok {
		for _, line := range lines {
			text = append(append(text, line...), '\n')
		}
		return text
	}
	for _, x := range chunk {
		text = fmt.Appendln(text, x)
	}
	return text
}
