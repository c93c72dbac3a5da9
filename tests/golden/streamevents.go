package golden

import (
	"cmp"
	"slices"
	"sync"

	"github.com/leat-io/leat/streamingcontext"
)

// An EventLog holds what a listener was told, in the words of the cases.
type EventLog struct {
	mu     sync.Mutex // guards events
	events []map[string]any
}

// Events returns what was told so far.
func (l *EventLog) Events() []map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]map[string]any{}, l.events...)
}

func (l *EventLog) add(event map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
}

// byBatch sorts events by the time of their batch, and leaves out that the streaming started.
func byBatch(events []map[string]any) []map[string]any {
	events = slices.DeleteFunc(events, func(e map[string]any) bool { return e["ev"] == "streaming-started" })
	slices.SortStableFunc(events, func(a, b map[string]any) int { return cmp.Compare(a["t"].(int64), b["t"].(int64)) })
	return events
}

// Listener returns what fills the log.
func (l *EventLog) Listener() streamingcontext.Listener {
	batch := func(word string) func(streamingcontext.BatchInfo) {
		return func(b streamingcontext.BatchInfo) { l.add(batchEvent(word, b)) }
	}
	output := func(word string) func(streamingcontext.OutputInfo) {
		return func(o streamingcontext.OutputInfo) { l.add(outputEvent(word, o)) }
	}
	return streamingcontext.Listener{
		StreamingStarted: func(int64) { l.add(map[string]any{"ev": "streaming-started"}) },
		BatchSubmitted:   batch("batch-submitted"),
		BatchStarted:     batch("batch-started"),
		BatchCompleted:   batch("batch-completed"),
		OutputStarted:    output("output-started"),
		OutputCompleted:  output("output-completed"),
	}
}

func batchEvent(word string, b streamingcontext.BatchInfo) map[string]any {
	event := map[string]any{"ev": word, "t": int64(b.Time), "outputs": len(b.Outputs), "records": b.Records()}
	var known []string
	if _, ok := b.SchedulingDelay(); ok {
		known = append(known, "scheduling")
	}
	if _, ok := b.ProcessingDelay(); ok {
		known = append(known, "processing")
	}
	if _, ok := b.TotalDelay(); ok {
		known = append(known, "total")
	}
	if known != nil {
		event["known"] = known
	}
	var failed []int
	for _, o := range b.Outputs {
		if o.Err != nil {
			failed = append(failed, o.ID)
		}
	}
	if failed != nil {
		event["failed"] = failed
	}
	return event
}

func outputEvent(word string, o streamingcontext.OutputInfo) map[string]any {
	event := map[string]any{"ev": word, "t": int64(o.Batch), "id": o.ID}
	var known []string
	if o.Started != streamingcontext.Unknown {
		known = append(known, "start")
	}
	if o.Ended != streamingcontext.Unknown {
		known = append(known, "end")
	}
	if known != nil {
		event["known"] = known
	}
	if o.Err != nil {
		event["failed"] = true
	}
	return event
}
