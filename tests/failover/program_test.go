package failover

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

const (
	interval = 500 * time.Millisecond
	perBatch = 4 // records
)

// record returns a record of the source, which has no end.
func record(i int64) string { return fmt.Sprintf("k%d", (i*i+i/5)%7) }

// span is the records of a batch: from one up to another.
type span struct{ from, to int64 }

// spans is a source whose batches have the records that come after all those that batches it knows of have had.
type spans struct {
	p       *process
	batches map[dstream.Time]span
	end     int64 // of those
}

func (in *spans) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	s, ok := in.batches[t]
	if !ok {
		if err := in.p.do("plan", func() error { return nil }); err != nil {
			return nil, err
		}
		s = span{in.end, in.end + perBatch}
		in.set(t, s)
	}
	rows := make([]string, 0, s.to-s.from)
	for i := s.from; i < s.to; i++ {
		rows = append(rows, record(i))
	}
	return rdd.Parallelize(c, rows, 2), nil
}

func (in *spans) set(t dstream.Time, s span) {
	in.batches[t] = s
	in.end = max(in.end, s.to)
	delete(in.batches, t-dstream.Time(128*interval.Milliseconds())) // nobody asks for it any more
}

func (in *spans) Record(t dstream.Time) ([]byte, error) {
	return fmt.Appendf(nil, "%d-%d", in.batches[t].from, in.batches[t].to), nil
}

func parseSpan(text []byte) (s span, err error) {
	_, err = fmt.Sscanf(string(text), "%d-%d", &s.from, &s.to)
	return s, err
}

func (in *spans) Replay(t dstream.Time, recorded []byte) error {
	s, err := parseSpan(recorded)
	if err == nil {
		in.set(t, s)
	}
	return err
}

func (in *spans) Save() ([]byte, error) {
	var b []byte
	for _, t := range slices.Sorted(maps.Keys(in.batches)) {
		b = fmt.Appendf(b, "%d=%d-%d\n", t, in.batches[t].from, in.batches[t].to)
	}
	return b, nil
}

func (in *spans) Load(data []byte) error {
	for line := range strings.Lines(string(data)) {
		var t dstream.Time
		var s span
		if _, err := fmt.Sscanf(line, "%d=%d-%d", &t, &s.from, &s.to); err != nil {
			return err
		}
		in.set(t, s)
	}
	return nil
}

func add(a, b int64) int64 { return a + b }
func sub(a, b int64) int64 { return a - b }

// A build is a version of the program.
type build int

const (
	first    build = iota
	second         // other functions, names, and an output more; the same UIDs and state
	wider          // a window that needs batches which are forgotten
	nameless       // the total has another name, and no UID that says that it is the same
)

// marked is the last field of rows of the second build.
const marked = " by the second build"

// text is a row of the build.
func (b build) text(p rdd.Pair[string, int64]) string {
	if b == second {
		return fmt.Sprint(p.Key, " ", p.Value, marked)
	}
	return fmt.Sprint(p.Key, " ", p.Value)
}

// totalOf is total as the second build has it.
func totalOf(now []int64, old rdd.Option[int64]) rdd.Option[int64] {
	sum := int64(0)
	for i := range now {
		sum += now[len(now)-1-i]
	}
	return rdd.Option[int64]{Value: sum + old.Value, OK: true}
}

func total(now []int64, old rdd.Option[int64]) rdd.Option[int64] {
	for _, n := range now {
		old.Value += n
	}
	return rdd.Option[int64]{Value: old.Value, OK: true}
}

const windowBatches = 3

// declare declares four outputs: the records, an inverse window, a running total and a count by mapWithState.
func (p *process) declare(ssc *streamingcontext.Context) error {
	words := dstream.NewInput(ssc.Graph(), "source", "Source", dstream.Input[string](&spans{p: p, batches: map[dstream.Time]span{}}))
	to := gatedSink{files.New(p.c.out(), files.Options[string]{Format: files.TextFormat()}), p}
	dstream.SaveTo(words, "records", to)
	pairs := dstream.Map(words, func(k string) rdd.Pair[string, int64] { return rdd.Pair[string, int64]{Key: k, Value: 1} })
	text, sum, long := p.build.text, total, windowBatches*interval
	switch p.build {
	case second:
		sum = totalOf
	case wider:
		long += interval
	}
	window := dstream.ReduceByKeyAndWindow(pairs, add, sub, long, interval)
	dstream.SaveTo(dstream.Map(window, text), "window", to)
	totals := dstream.UpdateStateByKey(pairs, sum)
	switch p.build {
	case first, wider:
		totals.Named("totals").UID("totals")
	case second:
		totals.Named("running totals").UID("totals")
	case nameless:
		totals.Named("running totals")
	}
	dstream.SaveTo(dstream.Map(totals, text), "totals", to)
	seen := dstream.MapWithState(pairs, dstream.NewStateSpec(func(k string, v rdd.Option[int64], s *dstream.State[int64]) rdd.Pair[string, int64] {
		sum := s.Option().Value + v.Value
		_ = s.Update(sum) // no timeout
		return rdd.Pair[string, int64]{Key: k, Value: sum}
	}))
	dstream.SaveTo(dstream.Map(seen.DStream, text), "seen", to)
	if p.build == second {
		dstream.SaveTo(dstream.Map(totals, text), "more", to)
	}
	return errors.Join(window.Checkpoint(2*interval), totals.Checkpoint(2*interval), seen.Checkpoint(2*interval))
}

// rewritten changes rows of a batch of the first build to those of the second.
func rewritten(rows map[string]map[string]int, batch int64) {
	for _, output := range []string{"window", "totals", "seen"} {
		key := fmt.Sprint(output, " ", batch)
		if len(rows[key]) == 0 {
			continue
		}
		of := map[string]int{}
		for text, n := range rows[key] {
			of[text+marked] = n
		}
		rows[key] = of
	}
	if of := rows[fmt.Sprint("totals ", batch)]; len(of) > 0 {
		rows[fmt.Sprint("more ", batch)] = of
	}
}

// plainly returns the rows that the outputs are to have, by output and batch, of batches with these records. It uses nothing of leat.
func plainly(given []span) map[string]map[string]int {
	want := map[string]map[string]int{}
	row := func(output string, batch int, text string) {
		key := fmt.Sprint(output, " ", batch)
		if want[key] == nil {
			want[key] = map[string]int{}
		}
		want[key][text]++
	}
	totals := map[string]int64{}
	counts := make([]map[string]int64, len(given))
	for b, s := range given {
		counts[b] = map[string]int64{}
		for i := s.from; i < s.to; i++ {
			k := record(i)
			counts[b][k]++
			totals[k]++
			row("records", b, k)
			row("seen", b, fmt.Sprint(k, " ", totals[k]))
		}
		for k, n := range totals {
			row("totals", b, fmt.Sprint(k, " ", n))
			inWindow := int64(0)
			for _, c := range counts[max(0, b-windowBatches+1) : b+1] {
				inWindow += c[k]
			}
			row("window", b, fmt.Sprint(k, " ", inWindow))
		}
	}
	return want
}
