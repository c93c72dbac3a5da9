package rdd

import "context"

// read is push for a sink that leaves chunks as they are and keeps no reference to them: rows that a
// source has in memory need no copy then.
func (n *node[T]) read(t *task, part int, out sink[T]) error {
	if n.held == nil || n.clone != nil || n.level.Load() != nil || n.checkpoint.reader.Load() != nil {
		return n.push(t, part, out)
	}
	for rows := n.held(part); ; {
		if err := context.Cause(t.ctx); err != nil || len(rows) == 0 {
			return err
		}
		chunk := rows[:min(len(rows), chunkSize)]
		rows = rows[len(chunk):]
		t.env.Metrics().InputRows += int64(len(chunk))
		if err := out(chunk[:len(chunk):len(chunk)]); err != nil {
			return err
		}
	}
}
