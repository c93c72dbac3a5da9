package oracle

import "fmt"

// Work is how much runs did and what befell them.
type Work struct {
	Calls, Tasks int64 // calls of the pipeline's functions, tasks that started
	Lost         int64 // executors
	Spoiled      int64 // blocks and files
	Stalled      int64 // calls that waited
	Hung         int64 // attempts that never ran
	Meddled      int64 // attempts that failed, died or reported twice by the oracle's doing
	Copies       int64 // speculative ones that came through
	Spills       int64 // tasks that wrote rows to disk for want of memory
	Evictions    int64 // blocks that went from memory for want of it
}

func (w Work) add(o Work) Work {
	return Work{w.Calls + o.Calls, w.Tasks + o.Tasks, w.Lost + o.Lost, w.Spoiled + o.Spoiled, w.Stalled + o.Stalled,
		w.Hung + o.Hung, w.Meddled + o.Meddled, w.Copies + o.Copies, w.Spills + o.Spills, w.Evictions + o.Evictions}
}

// short returns an error if a kind of fault was met less often than it should have been.
func (w Work) short(least int64) error {
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"executors lost", w.Lost}, {"blocks spoiled", w.Spoiled}, {"calls stalled", w.Stalled}, {"attempts hung", w.Hung},
		{"attempts meddled with", w.Meddled}, {"copies", w.Copies}, {"spills", w.Spills}, {"evictions", w.Evictions},
	} {
		if f.n < least {
			return fmt.Errorf("%d %s, want %d at least: %+v", f.n, f.name, least, w)
		}
	}
	return nil
}
