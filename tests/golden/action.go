package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// An Action is a question of a case with its answer.
type Action struct {
	Act     string          `json:"act"`
	Of      string          `json:"of"`
	Cmp     string          `json:"cmp"`
	Want    json.RawMessage `json:"want"`
	Error   string          `json:"error"`
	Spark   string          `json:"spark"`
	Jobs    *[]JobShape     `json:"jobs"`
	F       string          `json:"f"`
	Seq     string          `json:"seq"`
	Comb    string          `json:"comb"`
	Zero    json.RawMessage `json:"zero"`
	Depth   *int            `json:"depth"`
	K       int             `json:"k"`
	Key     json.RawMessage `json:"key"`
	Edges   *[]float64      `json:"edges"`
	Buckets *int            `json:"buckets"`
	As      string          `json:"as"`
}

// ParseAction reads an action. A field it does not know is a NotBuiltError.
func ParseAction(raw json.RawMessage) (Action, error) {
	var a Action
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return a, &NotBuiltError{What: "action", Name: fmt.Sprintf("%s (%v)", raw, err)}
	}
	return a, nil
}

// Act runs an action on the dataset it names.
//
// Errors: *NotBuiltError for words it does not know; what the action returned.
func (b *Builder) Act(ctx context.Context, a Action) (Answer, error) {
	d := b.Named[a.Of]
	if d == nil {
		return nil, fmt.Errorf("action %s: no node %s", a.Act, a.Of)
	}
	for _, family := range []func(context.Context, Action, *Dataset) (Answer, error){
		b.collecting, b.folding, b.counting, b.looking,
	} {
		if answer, err := family(ctx, a, d); answer != nil || err != nil {
			return answer, err
		}
	}
	return nil, &NotBuiltError{What: "action", Name: a.Act}
}

// answered returns an answer only without an error.
func answered[A Answer](answer A, err error) (Answer, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// collecting answers with records as they are.
func (b *Builder) collecting(ctx context.Context, a Action, d *Dataset) (Answer, error) {
	switch a.Act {
	case "parts":
		parts, err := d.Rows().CollectPartitions(ctx)
		return answered(Parts(parts), err)
	case "collect":
		rows, err := d.Rows().Collect(ctx)
		return answered(Rows(rows), err)
	case "toLocalIterator":
		var rows Rows
		for x, err := range d.Rows().ToLocalIterator(ctx) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, x)
		}
		return rows, nil
	case "take":
		rows, err := d.Rows().Take(ctx, a.K)
		return answered(Rows(rows), err)
	case "first":
		x, err := d.Rows().First(ctx)
		return answered(One{x}, err)
	case "top":
		rows, err := rdd.TopFunc(ctx, d.Rows(), a.K, Compare)
		return answered(Rows(rows), err)
	case "takeOrdered":
		rows, err := rdd.TakeOrderedFunc(ctx, d.Rows(), a.K, Compare)
		return answered(Rows(rows), err)
	case "max":
		x, err := rdd.MaxFunc(ctx, d.Rows(), Compare)
		return answered(One{x}, err)
	case "min":
		x, err := rdd.MinFunc(ctx, d.Rows(), Compare)
		return answered(One{x}, err)
	case "lookup":
		key, err := ParseValue(a.Key)
		if err != nil {
			return nil, err
		}
		rows, err := rdd.Lookup(ctx, d.Pairs(), key)
		return answered(Rows(rows), err)
	}
	return nil, nil
}

// counting answers with numbers and with what was counted or gathered by key.
func (b *Builder) counting(ctx context.Context, a Action, d *Dataset) (Answer, error) {
	switch a.Act {
	case "count":
		n, err := d.Rows().Count(ctx)
		return answered(One{n}, err)
	case "countByKey":
		counts, err := rdd.CountByKey(ctx, d.Pairs())
		return answered(byKey(counts, Int), err)
	case "countByValue":
		counts, err := rdd.CountByValue(ctx, d.Rows())
		return answered(byKey(counts, Int), err)
	case "collectAsMap":
		last, err := rdd.CollectAsMap(ctx, d.Pairs())
		return answered(byKey(last, same), err)
	case "reduceByKeyLocally":
		f, err := binaryFunction(a.F)
		if err != nil {
			return nil, err
		}
		reduced, err := rdd.ReduceByKeyLocally(ctx, d.Pairs(), f)
		return answered(byKey(reduced, same), err)
	case "sum":
		sum, err := rdd.Sum(ctx, rdd.Map(d.Rows(), integer))
		return answered(Floats{"": {float64(sum)}}, err)
	case "mean":
		mean, err := rdd.Mean(ctx, rdd.Map(d.Rows(), integer))
		return answered(Floats{"": {mean}}, err)
	case "stats":
		s, err := rdd.Stats(ctx, rdd.Map(d.Rows(), integer))
		return answered(statistics(s), err)
	case "histogram":
		numbers := rdd.Map(d.Rows(), integer)
		if a.Edges != nil {
			counts, err := rdd.Histogram(ctx, numbers, *a.Edges)
			return answered(Floats{"counts": floats(counts)}, err)
		}
		if a.Buckets == nil {
			return nil, &NotBuiltError{What: "action", Name: "histogram without edges and buckets"}
		}
		edges, counts, err := rdd.HistogramBuckets(ctx, numbers, *a.Buckets)
		return answered(Floats{"edges": edges, "buckets": edges, "counts": floats(counts)}, err)
	}
	return nil, nil
}

// byKey returns pairs as sorted tuples.
func byKey[V any](pairs []rdd.Pair[Value, V], value func(V) Value) Rows {
	rows := make([]Value, len(pairs))
	for i, p := range pairs {
		rows[i] = Tuple(p.Key, value(p.Value))
	}
	return sorted(rows)
}

func floats(ns []int64) []float64 {
	out := make([]float64, len(ns))
	for i, n := range ns {
		out[i] = float64(n)
	}
	return out
}

// statistics names what Stats found, under each name in use for it.
func statistics(s rdd.Statistics) Floats {
	return Floats{
		"count": {float64(s.Count)}, "sum": {s.Sum()}, "mean": {s.Mean}, "min": {s.Min}, "max": {s.Max},
		"variance": {s.Variance()}, "popvariance": {s.Variance()}, "samplevariance": {s.SampleVariance()},
		"stdev": {s.StdDev()}, "stddev": {s.StdDev()}, "popstdev": {s.StdDev()},
		"samplestdev": {s.SampleStdDev()}, "samplestddev": {s.SampleStdDev()},
	}
}

// looking answers with what is known of an RDD, without a job but for isEmpty.
func (b *Builder) looking(ctx context.Context, a Action, d *Dataset) (Answer, error) {
	switch a.Act {
	case "isEmpty":
		empty, err := d.Rows().IsEmpty(ctx)
		return answered(Fact{empty}, err)
	case "npart":
		n, err := d.made.NumPartitions()
		return answered(Fact{n}, err)
	case "partitioner":
		if p := d.Partitioner(); p != nil {
			return Fact{p.String()}, nil
		}
		return Fact{"none"}, nil
	case "deps":
		kinds := []string{}
		for _, dep := range d.asked.Deps() {
			if dep.Shuffle != nil {
				kinds = append(kinds, "shuffle")
			} else {
				kinds = append(kinds, "narrow")
			}
		}
		return Fact{kinds}, nil
	case "shuffles":
		n := 0
		lineage.Walk(d.made, func(node lineage.Node) bool {
			for _, dep := range node.Deps() {
				if dep.Shuffle != nil {
					n++
				}
			}
			return true
		})
		return Fact{n}, nil
	case "same":
		other := b.Named[a.As]
		if other == nil {
			return nil, fmt.Errorf("action same: no node %s", a.As)
		}
		return Fact{d.made == other.made}, nil
	}
	return nil, nil
}
